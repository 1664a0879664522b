"""Ctrl-C while the ``cosched`` command imports its modules, before it can say anything.

Python's own handler would raise in the middle of an import and show a traceback. Until the command
has a handler of its own, the signal ends the process at once, as SIGTERM does.
"""

import os.path
import signal
import sys

#: Names of the program that pip installs.
_PROGRAMS = ("cosched", "cosched.exe")


def is_command(arguments: list[str]) -> bool:
    """Whether a process with these arguments, Python's own included, is the ``cosched`` command.

    Examples
    --------
    >>> is_command(["/usr/bin/python3", "/usr/bin/cosched", "audit"])
    True
    >>> is_command(["python", "-X", "utf8", "-m", "cosched", "audit"])
    True
    >>> is_command(["python", "study.py", "-m", "cosched"])
    False
    """
    options_with_value = ("-X", "-W")
    place = 1
    while place < len(arguments) and arguments[place].startswith("-"):
        if arguments[place] == "-m":
            return arguments[place + 1 : place + 2] == ["cosched"]
        place += 2 if arguments[place] in options_with_value else 1
    return any(os.path.basename(name) in _PROGRAMS for name in arguments[place : place + 1])


def end_command_at_interrupt() -> None:
    """In the process of the command: Ctrl-C ends it from here on; elsewhere nothing changes."""
    has_usual_handler = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if has_usual_handler and is_command(sys.orig_argv):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
