"""The runs of a search: where they happen, and the journal of an interrupted search."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from os import sched_getaffinity
from pathlib import Path

import numpy as np

from cosched import io
from cosched.errors import InvalidInstance, printable
from cosched.io.append_only import AppendOnlyFile
from cosched.slurm.tuning.setting_simulation import (
    BlockSimulation,
    MeasureRow,
    SimulationContext,
    Task,
)
from cosched.slurm.tuning.space import BASELINE, Setting
from cosched.version import installed_version

#: Where tasks run: it yields the place of a task in the list, and its row, as they end.
Engine = Callable[[SimulationContext, Sequence[Task]], Iterable[tuple[int, MeasureRow]]]


def run_in_threads(
    context: SimulationContext, tasks: Sequence[Task]
) -> Iterator[tuple[int, MeasureRow]]:
    """Run tasks on all processors that this process may use."""
    pool = ThreadPoolExecutor(len(sched_getaffinity(0)))
    try:
        yield from enumerate(pool.map(context.run, tasks))
    finally:
        pool.shutdown(cancel_futures=True)


class RunCache:
    """The measures of all runs so far; a journal, where there is one, keeps each run at once.

    Parameters
    ----------
    context : SimulationContext
        Blocks, measures and seed.
    engine : Engine
        Where tasks run.
    path : Path or None
        The journal; None: there is none.
    resume : bool
        Whether to go on with a journal that is there; else that is an error.
    head : object
        What else identifies the search, as plain data: a journal of another search is refused.
    """

    def __init__(
        self,
        context: SimulationContext,
        engine: Engine,
        path: Path | None,
        resume: bool,
        head: object,
    ) -> None:
        self.context, self._engine, self._path = context, engine, path
        self._rows: dict[str, MeasureRow] = {}
        #: The journal, once this search has written to it.
        self._journal: AppendOnlyFile | None = None
        #: How many draws were requested, by setting and block.
        self._draws_requested: dict[tuple[Setting, int], int] = {}
        #: On the clock of time.monotonic(): no run begins after it.
        self.deadline = np.inf
        #: Whether some run did not begin because of the deadline.
        self.is_cut_short = False
        search = [] if path is None else [context.digest(), head]
        self._owner = json.dumps({"cosched": installed_version(), "search": search})
        if path is not None and path.exists():
            self._load_journal(path, resume)

    def _load_journal(self, path: Path, resume: bool) -> None:
        """Take over the rows of a journal of the same search, and write it anew without damage."""
        if not resume:
            raise InvalidInstance(
                f"{path}: runs of a search that did not end: --resume goes on with it, or remove it"
            )
        first, *lines = io.read_bytes(path).decode("utf-8", "replace").split("\n")
        if lines and first != self._owner:
            raise InvalidInstance(
                f"{path}: runs of another search (log, machine or options): remove it, if done"
            )
        for line in lines:
            try:
                (setting, block, draw), row = json.loads(line)
                key, why = _key(setting, block, draw), str(row["why"])
                shape = np.array(row["values"], dtype=float).shape
                if why or shape == (len(self.context.measures), 1):
                    self._rows[key] = {"values": row["values"], "why": why}
            except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
                continue  # its process was killed while it wrote, or the file is damaged
        rows_of_journal = (f"[{key}, {json.dumps(row)}]" for key, row in self._rows.items())
        undamaged_lines = "\n".join([self._owner, *rows_of_journal]) + "\n"
        self._journal = AppendOnlyFile(path)
        self._journal.replace(undamaged_lines.encode())

    def __enter__(self) -> RunCache:
        return self

    def __exit__(self, *_: object) -> None:
        """Let another search open the journal."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def keep_baselines(self, baselines: Sequence[BlockSimulation]) -> None:
        """Take over the first blocks as the machine is, of which there are simulations already."""
        for block, simulation in enumerate(baselines):
            for draw in range(self.context.draws):
                values = self.context.measure(simulation.draw(draw))
                self._rows[_key(BASELINE, block, draw)] = {"values": values, "why": ""}

    def remove_journal(self) -> None:
        """Remove the journal: the search has ended."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _keep(self, key: str, row: MeasureRow) -> None:
        """Append a row to the journal, if there is one: an interrupted search goes on from it."""
        if self._path is None:
            return
        head = ""
        if self._journal is None:
            self._journal = AppendOnlyFile(self._path)
            head = f"{self._owner}\n"
        self._journal.append(f"{head}[{key}, {json.dumps(row)}]\n".encode())

    @contextmanager
    def half_of_the_time(self) -> Iterator[None]:
        """Let no run begin after half of the remaining time, within the context."""
        deadline = self.deadline
        now = time.monotonic()
        self.deadline = now + (deadline - now) / 2
        try:
            yield
        finally:
            self.deadline = deadline

    @property
    def is_past_deadline(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() > self.deadline

    @property
    def count(self) -> int:
        """How many draws of blocks the search has used, those as the machine is included."""
        requested_draws = (
            (*setting_and_block, draw)
            for setting_and_block, count in self._draws_requested.items()
            for draw in range(count)
        )
        return sum(_key(*requested_draw) in self._rows for requested_draw in requested_draws)

    def evaluate(
        self, settings: Sequence[Setting], counts: Sequence[int]
    ) -> list[np.ndarray | str | None]:
        """Return the measures of settings on the first draws of each block, as many as `counts`.

        Returns
        -------
        list of (numpy.ndarray, shape (sum(counts), measures)) or str or None
            By block, then by draw; or why a setting has none; None: the time was over before.
        """
        tasks: list[Task] = []
        is_late = self.is_past_deadline
        for setting in dict.fromkeys(settings):
            for block, last in enumerate(counts):
                first = self._draws_requested.get((setting, block), 0)
                if not is_late:
                    self._draws_requested[setting, block] = max(first, last)
                # A draw is a task: the deadline is checked after each.
                missing_draws = range(first, last)
                tasks += [
                    {"setting": setting, "block": block, "draw": draw} for draw in missing_draws
                ]
        self._run([task for task in tasks if _key(**task) not in self._rows])
        return [self._collect_measures(setting, counts) for setting in settings]

    def _run(self, tasks: Sequence[Task]) -> None:
        """Run tasks until the deadline, and keep their rows."""
        rows = () if self.is_past_deadline or not tasks else self._engine(self.context, tasks)
        missing = len(tasks)
        for place, row in rows:
            key = _key(**tasks[place])
            if key not in self._rows:
                self._keep(key, row)
            self._rows[key] = row
            missing -= 1
            if self.is_past_deadline:
                break  # the engine lets go of what has not begun
        self.is_cut_short |= missing > 0

    def _collect_measures(self, setting: Setting, counts: Sequence[int]) -> np.ndarray | str | None:
        """Return the measures of a setting, a row per draw; why there are none; or None."""
        values_of_draws = []
        for block, count in enumerate(counts):
            for draw in range(count):
                row = self._rows.get(_key(setting, block, draw))
                if row is None:
                    return None
                if row["why"]:
                    return printable(row["why"])
                values_of_draws.append(np.array(row["values"]))
        return np.concatenate(values_of_draws, axis=1).T


def _key(setting: Sequence[str], block: int, draw: int) -> str:
    """Return the key of a run in the journal."""
    return json.dumps([list(setting), block, draw])
