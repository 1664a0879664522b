"""The ``cosched`` command.

``program`` lists the commands, ``commands`` has one file for each, ``shared_options`` has the
options that several share, ``option_types`` reads what is typed. The module of a command is
imported when the command is asked for: most of what a short command costs would be the imports of
all others.
"""

import os
import sys
import traceback
import warnings
from collections.abc import Sequence

import click

from cosched.cli import verbosity
from cosched.cli.process import exit_code, patient, terminable
from cosched.cli.program import COMMANDS, COMPLETION_VARIABLE, cosched
from cosched.errors import CoschedError, printable

_SMALLER = "expected a smaller instance, or a machine with more"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns
    -------
    int
        The exit code: 0, 2 on bad input, 130 on Ctrl-C, 143 on SIGTERM.
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
    verbosity.reset()
    try:
        if COMPLETION_VARIABLE in os.environ:
            return _complete(os.environ[COMPLETION_VARIABLE])
        with cosched.make_context("cosched", words) as context:
            cosched.invoke(context)
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as stop:
        sys.stdout.flush()
        return stop.exit_code
    except KeyboardInterrupt as stop:
        return exit_code(stop)
    except click.ClickException as error:
        return _fail(error.format_message(), 2)
    except (CoschedError, ValueError, TypeError) as error:
        return _fail(str(error), 2)
    except MemoryError as error:  # numpy says how much it wanted
        return _fail(f"not enough memory ({str(error) or 'no more said'}): {_SMALLER}", 2)
    except OSError as error:
        name = error.filename2 or error.filename  # of a renaming: the name that was asked for
        return _fail(f"{printable(name)}: {error.strerror}" if name else str(error), 2)
    finally:
        warnings.formatwarning = usual_format


def _complete(instruction: str) -> int:
    """Answer a shell that completes a command line."""
    from click.shell_completion import shell_complete

    return shell_complete(cosched, {}, "cosched", COMPLETION_VARIABLE, instruction)


def _fail(message: str, code: int) -> int:
    """Print an error as one line; with ``--verbose`` its traceback before."""
    if verbosity.is_verbose():
        traceback.print_exc()
    line = printable(" ".join(message.split()))
    print(f"cosched: error: {line}", file=sys.stderr)
    return code


__all__ = ["COMMANDS", "cosched", "main"]
