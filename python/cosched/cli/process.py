"""What a command has of its process. Ctrl-C and SIGTERM end it with 130 or 143; of standard output
and error one that is closed, or that nobody reads any more, ends what is said and not the work.
"""

import codecs
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, TextIO

from cosched.errors import Terminated, printable

#: Seconds after which a signal comes again whose exception Python has dropped.
_REPEAT_SECONDS = 0.01


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM raises, and so does Ctrl-C, which ended the process while modules were imported.

    Python drops what is raised while it ends an object, as often in an import: the signal then
    comes again.
    """
    usual_hook = sys.unraisablehook

    def hook(unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            usual_hook(unraisable)
            return
        is_term = issubclass(unraisable.exc_type, Terminated)
        number = signal.SIGTERM if is_term else signal.SIGINT
        _repeat_signal(number)

    sys.unraisablehook = hook
    try:
        with handled({signal.SIGTERM: _terminate}), handled(_handlers_of_interrupts()):
            yield
    finally:
        sys.unraisablehook = usual_hook


def _repeat_signal(number: int) -> None:
    """Send a signal to this process in a moment.

    On a busy machine it comes while its timer still starts, where it would be dropped again.
    """
    while True:
        try:
            repeat_timer = threading.Timer(_REPEAT_SECONDS, os.kill, (os.getpid(), number))
            repeat_timer.daemon = True
            repeat_timer.start()
            return
        except KeyboardInterrupt:
            continue


def _handlers_of_interrupts() -> dict[int, Any]:
    """Return Python's own handler where :mod:`cosched.interrupt` had put none."""
    is_default = signal.getsignal(signal.SIGINT) == signal.SIG_DFL
    return {signal.SIGINT: signal.default_int_handler} if is_default else {}


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def exit_code(stop: KeyboardInterrupt) -> int:
    """Says what ended the command; what a shell shows of a process that the signal ended."""
    print(printable(f"cosched: {stop}" if str(stop) else "cosched: interrupted"), file=sys.stderr)
    return 128 + (signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT)


@contextmanager
def handled(handlers: dict[int, Any]) -> Iterator[None]:
    """In this block signals have these handlers."""
    if threading.current_thread() is not threading.main_thread():  # others get no signals
        yield
        return
    previous_handlers = {
        number: signal.signal(number, handler) for number, handler in handlers.items()
    }
    try:
        yield
    finally:
        if signal.SIGALRM in handlers:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


class _Pipe(io.FileIO):
    """Drops what it cannot pass on, after one error; a reader that left is none."""

    lost = False

    def write(self, data) -> int:
        if not self.lost:
            try:
                return super().write(data)
            except OSError as error:
                self.lost = True
                if not isinstance(error, BrokenPipeError):
                    raise
        return memoryview(data).nbytes


@contextmanager
def patient() -> Iterator[None]:
    """In this block everything may be printed, whoever listens."""
    previous_streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_patient, previous_streams)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        sys.stdout, sys.stderr = previous_streams


def _patient(stream: TextIO | None) -> TextIO:
    if stream is None:  # closed by who started this
        return open(os.devnull, "w", encoding="utf-8")
    is_standard_stream = stream in (sys.__stdout__, sys.__stderr__)
    if not is_standard_stream or not isinstance(stream, io.TextIOWrapper):  # of a test, a notebook
        return stream
    # Names that the terminal's character set lacks are shown as Python writes them.
    foreign = codecs.lookup(stream.encoding).name != "utf-8"
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        errors="backslashreplace" if foreign else stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
