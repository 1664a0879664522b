"""The ``cosched`` command: the same verbs for each family.

``commands`` makes them from the registry, ``verbs`` says what each does, ``values`` reads what is
typed, ``files`` generates and fetches instances, ``own`` imports code of the user's own. The module
of a verb is imported when the verb is asked for, as the package does with its modules: most of
what a short command costs would be the imports of all others.
"""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from cosched.cli.on_demand import VERBS, made_on_demand
from cosched.cli.process import exit_code, patient, terminable
from cosched.cli.user_code import import_own
from cosched.errors import CoschedError, printable
from cosched.version import installed_version

_SMALLER = "expected a smaller instance, or a machine with more"


def _add(verb: str, to: typer.Typer) -> None:
    import_module(f"cosched.cli.{VERBS[verb].module}").add(to, verb)


app = typer.Typer(
    cls=made_on_demand(VERBS, _add, {verb: spec.about for verb, spec in VERBS.items()}),
    rich_markup_mode=None,  # its help takes as long to import as all the rest
    help="Understand, predict and improve scheduling on HPC clusters.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
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
        typer.echo(installed_version())
        raise typer.Exit()
    for name in import_ or ():
        import_own(name)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise ValueError("expected one of the commands above")


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
    """Run the command line; returns the exit code: 0, 2 on bad input, 130 on Ctrl-C, 143 on
    SIGTERM.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with patient(), terminable():
            return _run(words)
    except KeyboardInterrupt as stop:  # before the command began, or behind its end
        return exit_code(stop)


def _run(words: list[str]) -> int:
    usual_format = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: f"cosched: warning: {printable(message)}\n"
    try:
        code = app(_spread(words), prog_name="cosched", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except KeyboardInterrupt as stop:
        return exit_code(stop)
    except (CoschedError, ValueError, TypeError) as error:
        return _fail(str(error), 2)
    except MemoryError as error:  # numpy says how much it wanted
        return _fail(f"not enough memory ({str(error) or 'no more said'}): {_SMALLER}", 2)
    except OSError as error:
        name = error.filename2 or error.filename  # of a renaming: the name that was asked for
        return _fail(f"{printable(name)}: {error.strerror}" if name else str(error), 2)
    except Exception as error:
        # The option parser's own errors (typer has no public class for all of them).
        if not hasattr(error, "format_message"):
            if type(error).__name__ == "Abort":
                return _fail("interrupted", 130)
            raise
        return _fail(error.format_message() or "expected one of the commands above", 2)
    finally:
        warnings.formatwarning = usual_format


def _fail(message: str, code: int) -> int:
    line = printable(" ".join(message.split()))
    print(f"cosched: error: {line}", file=sys.stderr)
    return code


__all__ = ["VERBS", "app", "main"]
