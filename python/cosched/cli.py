"""The ``cosched`` command: the same verbs for each family.

Written once against the registry: a family contributes its instance arguments, files that
``solve`` writes and pictures (``Family.arguments``, ``outputs``, ``panels``).
"""

from __future__ import annotations

import ast
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched.core.family import FAMILIES, Argument, Family, family
from cosched.core.family import Output as Out
from cosched.errors import CoschedError, InvalidInstance, InvalidSchedule, shorten
from cosched.experiments.cli import app as study_app

EXAMPLES = {
    "solve": "cosched solve {family} {file} {arguments} --algorithm {algorithm} -o plan.json",
    "compare": "cosched compare {family} {file} {arguments} --plot best.png -o table.md",
    "bound": "cosched bound {family} {file} {arguments}",
    "validate": "cosched validate {family} {file} plan.json {arguments}",
    "generate": "cosched generate packs_ii --seed 1 -o times.csv",
    "fetch": "cosched fetch HPC2N-2002 --out logs",
}

app = typer.Typer(
    help="Published schedulers for parallel machines, with a proven bound beside every result.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and stop.")] = False,
    import_: Annotated[
        list[str] | None,
        typer.Option(
            "--import",
            help="FILE.py or module that registers algorithms of one's own; before the verb, "
            "repeatable: cosched --import mine.py compare packs times.csv",
        ),
    ] = None,
) -> None:
    if version:
        import cosched

        typer.echo(cosched.__version__)
        raise typer.Exit()
    for name in import_ or ():
        from cosched.core.own import import_own

        import_own(name)


# --- parameters -----------------------------------------------------------------------------

Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write to this file too (by its suffix).")
]
Plot = Annotated[
    Path | None, typer.Option("--plot", help="Picture (of the best): .png, .svg or .pdf.")
]
Seed = Annotated[str, typer.Option("--seed", help="Seed wherever there is chance.")]
Options = Annotated[
    list[str] | None, typer.Option("--option", help="KEY=VALUE for the algorithm; repeatable.")
]


def _parameters(
    of: Family, own: Sequence[inspect.Parameter], outputs: Sequence[Out]
) -> list[inspect.Parameter]:
    """FILE, the family's instance arguments and files, then the verb's own parameters."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    file = Annotated[Path, typer.Argument(help=f"The {of.name} instance.", show_default=False)]
    found = [inspect.Parameter("file", keyword, annotation=file)]
    for argument in of.arguments:
        if argument.parse is bool:
            annotation: Any = Annotated[bool, typer.Option(argument.flag, help=argument.help)]
            default: Any = False
        else:
            annotation = Annotated[str | None, typer.Option(argument.flag, help=argument.help)]
            default = None
        found.append(
            inspect.Parameter(argument.keyword, keyword, default=default, annotation=annotation)
        )
    for out in outputs:
        annotation = Annotated[Path | None, typer.Option(out.flag, help=out.help)]
        found.append(inspect.Parameter(out.keyword, keyword, default=None, annotation=annotation))
    return found + list(own)


def _example(verb: str, name: str) -> str:
    file, arguments, algorithm = family(name).example
    return EXAMPLES[verb].format(family=name, file=file, arguments=arguments, algorithm=algorithm)


def _add(verb: str, run: Callable[..., None], help_text: str) -> None:
    """One command a family under `verb`."""
    group = typer.Typer(
        help=f"{help_text}\n\nExample: {_example(verb, FAMILIES[0])}", no_args_is_help=True
    )
    app.add_typer(group, name=verb)
    signature = inspect.signature(run, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
    for name in FAMILIES:

        def command(*, _name: str = name, **given: Any) -> None:
            of = family(_name)
            keywords = {argument.keyword for argument in of.arguments}
            keywords |= {out.keyword for out in of.outputs}
            own_of_family = {key: given.pop(key) for key in list(given) if key in keywords}
            try:
                run(of, given.pop("file"), own_of_family, **given)
            except KeyboardInterrupt as stop:  # typer would end without a word
                print(f"cosched: {stop}" if str(stop) else "cosched: interrupted", file=sys.stderr)
                raise typer.Exit(130) from None

        outputs = family(name).outputs if verb == "solve" else ()
        parameters = _parameters(family(name), own, outputs)
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in parameters}
        command.__doc__ = f"{help_text}\n\nExample: {_example(verb, name)}"
        group.command(name)(command)


# --- reading --------------------------------------------------------------------------------


def _parse(argument: Argument, text: str) -> Any:
    try:
        return argument.parse(text)
    except InvalidInstance as error:
        raise InvalidInstance(f"{argument.flag} {text}: {error}") from None
    except ValueError:
        kind = {"int": "an integer", "float": "a number"}.get(
            argument.parse.__name__, "another form"
        )
        raise InvalidInstance(f"{argument.flag} {shorten(text)}: expected {kind}") from None


def _read(of: Family, file: Path, given: dict[str, Any]) -> Any:
    """The one instance that file and arguments describe."""
    values = {}
    for argument in of.arguments:
        value = given.get(argument.keyword)
        if value is not None:
            values[argument.keyword] = value if isinstance(value, bool) else _parse(argument, value)
    return of.instance_type.read(file, **values)  # type: ignore[attr-defined]


def _read_all(of: Family, file: Path, given: dict[str, Any]) -> list[tuple[dict[str, Any], Any]]:
    """Instances for every combination of comma-separated values: ({keyword: value}, instance)."""
    varied = {
        argument.keyword: given[argument.keyword].split(",")
        for argument in of.arguments
        if argument.vary and given.get(argument.keyword) and "," in given[argument.keyword]
    }
    found = []
    for values in product(*varied.values()):
        chosen = dict(zip(varied, values, strict=True))
        found.append((chosen, _read(of, file, {**given, **chosen})))
    return found


def _options(given: Sequence[str] | None) -> dict[str, Any]:
    options = {}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InvalidInstance(f"--option {shorten(text)}: expected KEY=VALUE")
        try:
            options[key.replace("-", "_")] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            options[key.replace("-", "_")] = value
    return options


def _seed(text: str) -> int:
    from cosched.io import parse_integer

    return parse_integer(text, "--seed", 0, 2**63 - 1)


# --- verbs ----------------------------------------------------------------------------------


def _solve(
    of: Family,
    file: Path,
    given: dict[str, Any],
    *,
    algorithm: Annotated[str | None, typer.Option(help="Name; see the list below.")] = None,
    seed: Seed = "0",
    option: Options = None,
    plot: Plot = None,
    output: Output = None,
) -> None:
    from cosched import report

    files = [(out, given[out.keyword]) for out in of.outputs if given[out.keyword] is not None]
    _check_output((output, _RESULTS), (plot, _PICTURES), *((p, out.suffixes) for out, p in files))
    instance = _read(of, file, given)
    name = algorithm or _required("--algorithm", of.algorithms)
    options = _options(option)
    for out, _ in files:
        options.update(out.options)
    with report.working(f"{of.name} {name}"):
        result = of.solve(instance, name, seed=_seed(seed), **options)
        result.schedule.validate()
    report.show_notes(instance)
    report.show_result(of, result)
    if output is not None:
        report.write_result(result, output)
    for out, path in files:
        out.write(result, path)
    if plot is not None:
        report.draw([(f"{of.name} {name}", result)], of, plot)


def _compare(
    of: Family,
    file: Path,
    given: dict[str, Any],
    *,
    algorithms: Annotated[
        list[str] | None,
        typer.Option("--algorithms", "--policies", help="Names A B C; default: those that suit."),
    ] = None,
    seed: Seed = "0",
    time_limit: Annotated[
        str | None,
        typer.Option(help="Seconds for each algorithm, or 'none'; default: the family's."),
    ] = None,
    plot: Plot = None,
    output: Output = None,
) -> None:
    from cosched import io, report

    _check_output((output, (".csv", ".json", ".md")), (plot, _PICTURES))
    limit = of.patience if time_limit is None else _time_limit(time_limit)
    instances = _read_all(of, file, given)
    report.show_notes(instances[0][1])
    table, best, left = report.compare_all(of, instances, algorithms, _seed(seed), limit)
    report.show_table(of, table)
    if output is not None:
        io.write_frame(table, output)
    if plot is not None:
        report.draw(best, of, plot)
    if left:
        kept = "shown above" if output is None else f"in {output}"
        raise KeyboardInterrupt(
            f"interrupted: the {len(table)} finished rows are {kept}; not run: {', '.join(left)}"
        )


def _bound(
    of: Family,
    file: Path,
    given: dict[str, Any],
    *,
    bound: Annotated[str | None, typer.Option(help="Name; default: the family's.")] = None,
    option: Options = None,
    output: Output = None,
) -> None:
    from cosched import io, report

    if output is not None:
        io.check_suffix(output, (".json",))
    instance = _read(of, file, given)
    with report.working(f"{of.name} bound"):
        found = of.bound(instance, bound, **_options(option))
    sense = "at most" if of.maximise else "at least"
    typer.echo(f"{of.objective} {sense} {found.value:.9g} ({found.method})")
    if output is not None:
        io.write_json({"family": of.name, "method": found.method, "value": found.value}, output)


def _validate(
    of: Family,
    file: Path,
    given: dict[str, Any],
    *,
    schedule: Annotated[Path, typer.Argument(help="What `cosched solve -o` wrote.")],
) -> None:
    from cosched import io, report
    from cosched.core.result import relative_gap

    instance = _read(of, file, given)
    data = io.read_json(schedule)
    try:
        if not isinstance(data, dict) or data.get("family", of.name) != of.name:
            raise InvalidSchedule(f"not a schedule of the family {of.name}")
        found = of.schedule_type.from_dict(instance, data)
        found.validate()
        value = of.result_of(instance, found).value
        stated = data.get("value", value)
        if not isinstance(stated, (int, float)) or abs(value - stated) > 1e-9 * abs(value):
            raise InvalidSchedule(f"states {of.objective} {shorten(stated)}, it is {value:.17g}")
    except InvalidSchedule as error:
        raise InvalidSchedule(f"{schedule}: {error}") from None
    stated_bound = data.get("bound") or {}
    text = f"valid: {len(found)} placements, {of.objective} {value:.9g}"
    if isinstance(stated_bound.get("value"), (int, float)):
        from cosched.core import Bound

        gap = relative_gap(value, Bound(stated_bound["value"], ""), of.maximise)
        text += f", stated bound {stated_bound['value']:.9g} (gap {report.percent(gap)})"
    typer.echo(text)


_add(
    "solve",
    _solve,
    "Run one algorithm; show its schedule's value and how far it can be from the best.",
)
_add(
    "compare",
    _compare,
    "Run several algorithms and show them side by side. FILE goes before --algorithms.",
)
_add("bound", _bound, "A proven bound on the optimum.")
_add("validate", _validate, "Check a schedule file against its instance.")


app.add_typer(study_app, name="study")


@app.command(help=f"Write a generated workload.\n\nExample: {EXAMPLES['generate']}")
def generate(
    workload: Annotated[str, typer.Argument(help="Name; unknown names list the known ones.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write (.csv, .json).")],
    seed: Seed = "0",
    option: Options = None,
) -> None:
    from cosched import io, report
    from cosched.core.family import _near
    from cosched.workloads import WORKLOADS

    name = workload.replace("-", "_")
    if name not in WORKLOADS:
        raise InvalidInstance(_near("workload", workload, WORKLOADS))
    with report.working(name):
        made = WORKLOADS[name](seed=_seed(seed), **_options(option))
    if hasattr(made, "write"):
        made.write(output)
    else:
        io.write_frame(made, output)
    typer.echo(f"wrote {output}: {made if hasattr(made, 'write') else f'{len(made)} rows'}")


@app.command(
    help="Download a log of the Parallel Workloads Archive, with its checksum verified."
    f"\n\nExample: {EXAMPLES['fetch']}"
)
def fetch(
    name: Annotated[str | None, typer.Argument(help="Name of a log; see --list.")] = None,
    out: Annotated[Path, typer.Option("--out", help="Existing folder to write into.")] = Path("."),
    list_: Annotated[bool, typer.Option("--list", help="Show the known logs and stop.")] = False,
) -> None:
    from cosched import report, workloads

    if list_:
        for known, log in workloads.LOGS.items():
            typer.echo(f"{known:16} {log.about}\n{'':16} {log.url}")
        return
    name = name or _required("NAME", workloads.LOGS)
    with report.working(f"fetching {name}"):
        path = workloads.fetch(name, out)
    typer.echo(f"wrote {path}")


def _required(flag: str, names: Any) -> str:
    raise InvalidInstance(f"{flag} is missing: one of {', '.join(names)}")


def _time_limit(text: str) -> float | None:
    if text.lower() == "none":
        return None
    from cosched.io import parse_positive

    return parse_positive(text, "--time-limit", "a positive number of seconds, or 'none'")


_RESULTS = (".json", ".csv", ".md")
_PICTURES = (".png", ".svg", ".pdf")


def _check_output(*files: tuple[Path | None, tuple[str, ...]]) -> None:
    """Refuse a bad output name before the work, not after it."""
    from cosched import io

    for path, suffixes in files:
        if path is None:
            continue
        io.check_suffix(path, suffixes)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{path.parent}: no such folder to write {path.name} into")


# --- entry ----------------------------------------------------------------------------------


def _spread(arguments: Sequence[str]) -> list[str]:
    """``--algorithms A B`` as ``--algorithms A --algorithms B``: what option parsers take."""
    spread: list[str] = []
    flag = None
    for text in arguments:
        if text in ("--algorithms", "--policies"):
            flag = text
        elif text.startswith("-"):
            flag = None
            spread.append(text)
        elif flag is not None:
            spread += [flag, text]
        else:
            spread.append(text)
    return spread


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, 2 on bad input, 130 on Ctrl-C."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    usual_format = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: f"cosched: warning: {message}\n"
    try:
        code = app(_spread(given), prog_name="cosched", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:  # `cosched ... | head`: nothing left to say, nobody to say it to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (CoschedError, ValueError, TypeError) as error:
        return _fail(str(error), 2)
    except OSError as error:
        where = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return _fail(where, 2)
    except Exception as error:
        # The option parser's own errors (typer has no public class for all of them).
        if not hasattr(error, "format_message"):
            if type(error).__name__ == "Abort":
                return _fail("interrupted", 130)
            raise
        return _fail(error.format_message(), 2)
    finally:
        warnings.formatwarning = usual_format


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    print(f"cosched: error: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
