"""``cosched audit``, ``rightsize``, ``tune``: what a log says to those who run a batch system."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import cluster, io, plot
from cosched.cli import report
from cosched.cli.commands import adds_of_cluster
from cosched.cli.parameters import Arguments
from cosched.cli.values import PICTURES, check_files, read
from cosched.cluster.page.judgement import lines_of_judgement
from cosched.cluster.sizing.page import FORMS, above_the_promise, export, limit_as_typed
from cosched.core import Presentation
from cosched.core.text import count_of, unknown_name
from cosched.errors import InvalidInstance, printable, shorten
from cosched.execution.plan_input import toml_of
from cosched.lazy import Lazy, pd
from cosched.slurm.tune.space import vary_of_texts
from cosched.slurm.tune.trials import Engine, threads
from cosched.slurm.tune.tuned import outcome_sentence

_OF_AUDIT = ("time_limit", "what_if", "rightsize", "draws", "reference", "json")
_OF_TUNE = ("objective", "constraint", "weeks", "days", "budget", "draws", "seed", "time_limit",
            "resume", "subject")  # fmt: skip


def audit(
    of: Presentation,
    file: Path,
    given: dict[str, Any],
    *,
    output: Path,
    options: Annotated[dict[str, Any], Arguments(cluster.audit, *_OF_AUDIT)],
    picture: Path | None = None,
) -> None:
    check_files((output, (".html",)), (picture, PICTURES), (options["json"], (".json",)))
    instance = read(of, file, given)
    with report.working(f"audit of {file.name}"):
        judgement, notes = _judgement_with_running(of, file, given, instance)
        instance = instance.with_notes(notes)
        figure = cluster.audit(instance, output, **options, judgement=judgement, say=report.say)
        if picture is not None and figure is not None:
            plot.save(figure, picture)
    report.show_notes(instance)
    report.say(f"wrote {output}")


#: How a note of the reader says that it left out jobs that run still.
_NOT_ENDED = "not ended yet"


def _judgement_with_running(
    of: Presentation, file: Path, given: dict[str, Any], instance: cluster.Instance
) -> tuple[cluster.LogJudgement | None, list[str]]:
    """The judgement of the log as ``slurm check`` judges it: with the jobs that run still, and with
    waits from when jobs were eligible; None: the instance is that log, or has no slurm.conf. And a
    note on the jobs that only the judgement counts."""
    is_of_slurm = instance.machine is not None and instance.machine.slurm is not None
    counts_from_submission = given["wait_from"] == "submit"
    lacks_running_jobs = any(_NOT_ENDED in note for note in instance.notes)
    if not is_of_slurm or not (counts_from_submission or lacks_running_jobs):
        return None, []
    of_log = {**given, "wait_from": None}
    if lacks_running_jobs:
        of_log["include_running"] = True
    judged = read(of, file, of_log)
    running_jobs = len(judged) - len(instance)
    notes = []
    if running_jobs > 0:
        verb = "runs" if running_jobs == 1 else "run"
        notes.append(
            f"assumed: {count_of(running_jobs, 'job')} that still {verb} at the end of the log: "
            "the judgement of the log counts them, all other numbers do not (--include-running)"
        )
    return cluster.judge_log(judged), notes


_ROWS = 12
_HIDDEN = ("risk", "enough", "nodes", "node_memory_gb", "unused_core_hours", "used_limit_p50",
           "used_memory_p50")  # fmt: skip


def rightsize(
    of: Presentation,
    file: Path,
    given: dict[str, Any],
    *,
    promise: Annotated[dict[str, Any], Arguments(cluster.rightsize, "risk", "by")],
    limits: Annotated[dict[str, Any], Arguments(cluster.RightSize.replay, "time_limit")],
    form: str | None = None,
    as_json: Path | None = None,
    user: str | None = None,
    output: Path | None = None,
) -> None:
    pages = (".html", *([".txt"] if user is not None else []))
    check_files((as_json, (".json",)), (output if form is None else None, pages))
    if form is not None and form not in (*FORMS, "codes"):
        raise InvalidInstance(f"--export {shorten(form)}: expected {', '.join(FORMS)}, codes")
    if form == "codes":
        for option, value in (("--user", user), ("--json", as_json), ("--by", promise["by"])):
            if value is not None:
                raise InvalidInstance(f"{option} does not apply to --export codes")
        _hand_out(toml_of(file, promise["risk"]), output)
        return
    instance = read(of, file, given)
    with report.working(f"right sizes of {file.name}"):
        found = cluster.rightsize(instance, **promise)
        advice = found.advice_for(user)
        held = found.backtest()
    if as_json is not None:
        tables = {"advice": advice, "backtest": held}
        rows = {name: io.plain(table.to_dict("records")) for name, table in tables.items()}
        io.write_json({"risk": found.risk, "by": list(found.use.group_columns), **rows}, as_json)
    if form is not None:
        _hand_out(export(advice, form, found.risk), output)
        return
    if user is not None and output is None:
        with report.working("schedules"):
            text = found.mail(user, **limits)
        typer.echo(text, nl=False)
        return
    report.show_notes(instance)
    for note in found.notes:
        report.say(f"note: {note}")
    if user is None:
        _show(found, advice, held)
    if output is not None:
        with report.working("schedules"):
            found.write(output, user, **limits)
        report.say(f"wrote {output}")


def _hand_out(text: str, output: Path | None) -> None:
    if output is None:
        typer.echo(text, nl=False)
    else:
        io.write_text(text, output)


def _show(found: cluster.RightSize, advice: pd.DataFrame, held: pd.DataFrame) -> None:
    shown = advice.head(_ROWS).drop(columns=[name for name in _HIDDEN if name in advice])
    for name in ("asked_limit", "used_limit_p95", "limit"):
        shown[name] = ["-" if not value > 0 else limit_as_typed(value) for value in shown[name]]
    known = shown.columns[shown.notna().any()]
    report.show_frame("advice: those first that leave most unused", shown[known].round(1))
    if len(advice) > len(shown):
        report.say(f"... and {len(advice) - len(shown):,} more groups; --json FILE has them all")
    covered = advice["jobs"][advice["enough"]].sum() / max(advice["jobs"].sum(), 1)
    report.say(
        f"promised: killed at most {100 * found.risk:g}% of the jobs; advice for "
        f"{int(advice['enough'].sum()):,} of {len(advice):,} groups, {covered:.0%} of the jobs"
    )
    if len(held):
        period = held.columns[0]
        report.show_frame(f"would it have held? each {period} from what was known before it", held)
        report.say(above_the_promise(found))
    else:
        report.say(
            "no backtest: before no day of the log had enough like jobs ended for an advice "
            f"(a risk of {100 * found.risk:g}%)"
        )


#: Studies need packages that a search on this machine does not.
_tuning: Any = Lazy("cosched.experiments.tuning")
_ENGINES = ("local", "dask", "slurm")


def tune(
    of: Presentation,
    file: Path,
    given: dict[str, Any],
    *,
    vary: list[str],
    output: Path,
    options: Annotated[dict[str, Any], Arguments(cluster.tune, *_OF_TUNE)],
    engine: str = "local",
    dask: str | None = None,
    jobs: str = "4",
    as_json: Path | None = None,
) -> None:
    check_files((output, (".html",)), (as_json, (".json",)))
    journal = output.with_suffix(".runs.jsonl")
    where = _engine(engine, dask, io.parse_integer(jobs, "--jobs", 1, 10**4), journal)
    if deprecated_constraints := options.pop("subject"):
        report.complain("--subject is deprecated: use --constraint")
        options["constraint"] = [*options["constraint"], *deprecated_constraints]
    instance = read(of, file, given)
    with report.progress(counted=True) as bar, where as runs:
        task = bar.add_task(printable(f"tune {file.name}"), total=options["budget"])
        try:
            judgement, notes = _judgement_with_running(of, file, given, instance)
            instance = instance.with_notes(notes)
            found = cluster.tune(
                instance,
                judgement=judgement,
                vary=vary_of_texts(vary),
                **options,
                engine=runs,
                journal=journal,
                progress=lambda done, total, best: bar.update(
                    task, completed=done, total=total, description=printable(best)
                ),
            )
        except KeyboardInterrupt as stop:
            kept = f"interrupted: the runs so far are kept in {journal}; --resume goes on"
            raise type(stop)(kept) from None
    found.write(output)
    if as_json is not None:
        found.write(as_json)
    report.show_notes(instance)
    report.say(outcome_sentence(found))
    for line in [] if found.judgement is None else lines_of_judgement(found.judgement):
        report.say(line)
    if found.stopped:
        report.say(f"the search stopped {found.stopped}")
    for line in (*found.idle, *found.lines()):
        report.say(line)
    report.say(f"wrote {output}")


def _engine(
    name: str, dask: str | None, jobs: int, journal: Path
) -> AbstractContextManager[Engine]:
    """The engines of studies; they need the extra that studies need."""
    if name not in _ENGINES:
        raise InvalidInstance(unknown_name("--engine", name, _ENGINES))
    if (dask is not None) != (name == "dask"):
        raise InvalidInstance(f"--engine {name}: expected --dask with --engine dask, and only then")
    if name == "local":
        return nullcontext(threads)
    return _tuning.engine(journal.parent, dask, jobs)


add = adds_of_cluster(audit=audit, rightsize=rightsize, tune=tune)
