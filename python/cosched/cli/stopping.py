"""Searches that a signal stops: what was found is shown before the command ends."""

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from cosched import _core
from cosched.cli.process import handled
from cosched.core import Result
from cosched.errors import Terminated, TimeLimit

#: This is the status of a row that a signal ended.
INTERRUPTED = "interrupted"

_Row = tuple[dict[str, Any], Result | None]

#: Seconds after which what has not ended, because it looks at no clock, ends without a result.
_PATIENCE = 1.5


class Stop:
    """Whether a signal came, and which."""

    kind: type[KeyboardInterrupt] | None = None

    def handle(self, number: int, frame: FrameType | None) -> None:
        """The first signal ends this search and those that follow, each with its best."""
        if self.kind is not None:
            raise self.kind
        self.kind = Terminated if number == signal.SIGTERM else KeyboardInterrupt
        _core.request_stop()
        signal.setitimer(signal.ITIMER_REAL, _PATIENCE)

    def rows(self, rows: Iterable[_Row]) -> Iterator[_Row]:
        """Rows of a table, with their results, up to the one that the signal ended: it says so.

        Then what came is raised.
        """
        for row, result in rows:
            ended = self.kind is not None and row["status"] == "time_limit"
            yield ({**row, "status": INTERRUPTED} if ended else row), result
            if self.kind is not None:
                raise self.kind

    def then(self, message: str) -> None:
        """Raise what came, now that the result has been shown."""
        if self.kind is not None:
            raise self.kind(f"interrupted: {message}")


@contextmanager
def best_so_far() -> Iterator[Stop]:
    """In this block a signal ends the search and not the command: its best so far is the result.

    A second one, and what has nothing to show when it is stopped, end the command.
    """
    numbers = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
    stop = Stop()
    try:
        with handled(dict.fromkeys((*numbers, signal.SIGALRM), stop.handle)):
            yield stop
    except TimeLimit:
        if stop.kind is None:
            raise
        raise stop.kind from None
    finally:
        _core.forget_stop()
