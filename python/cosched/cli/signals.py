"""Ctrl-C and SIGTERM: the command ends with 130 or 143."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from cosched.errors import Terminated, printable


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM raises, as Ctrl-C does."""
    with handled({signal.SIGTERM: _terminate}):
        yield


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
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        if signal.SIGALRM in handlers:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
