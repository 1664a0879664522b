"""Runs of the simulator under settings, all with the same random scheduler timing."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from os import sched_getaffinity
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.instance import Instance
from cosched.cluster.page.what_if import what_if
from cosched.errors import CoschedError, InfeasibleError, InvalidInstance, printable
from cosched.slurm.tune.space import TODAY, Measure, Setting, change_of
from cosched.slurm.tune.weeks import Block
from cosched.slurm.twin.backfill import clocks_of, never_starting_jobs, times_of, with_remedy
from cosched.slurm.twin.twin import Twin, without_suspensions
from cosched.version import installed_version

#: Plain data: ``setting``, number of a ``block``, and which ``draw`` of its clocks.
Task = Mapping[str, Any]
#: Plain data: ``values``, a list of draws for each measure, or ``why`` there are none.
Row = dict[str, Any]


@dataclass(frozen=True)
class Simulated:
    """The jobs of a block under a setting, and when those that count start and end.

    `start`, `end` have a row a draw (s); `jobs` are those that count; `notes` say what the twin
    leaves out, `said` what the change does to jobs.
    """

    jobs: Instance
    start: np.ndarray
    end: np.ndarray
    notes: tuple[str, ...]
    said: str

    @classmethod
    def joined(cls, simulations: Sequence["Simulated"]) -> "Simulated":
        """The jobs of blocks that follow each other, which have the same number of draws."""
        first = simulations[0]
        if len(simulations) == 1:
            return first
        names = first.jobs.given
        columns = [{"id": each.jobs.ids, **each.jobs.given} for each in simulations]
        jobs = {name: np.concatenate([c[name] for c in columns]) for name in ("id", *names)}
        return cls(
            first.jobs._like(jobs)._without_bound(),
            np.concatenate([each.start for each in simulations], axis=1),
            np.concatenate([each.end for each in simulations], axis=1),
            tuple(dict.fromkeys(note for each in simulations for note in each.notes)),
            first.said,
        )

    @property
    def waits(self) -> np.ndarray:
        """Seconds, a row a draw."""
        # The controller starts jobs in whole seconds, which users do not wait for.
        return np.maximum(self.start - self.jobs.column("eligible"), 0)


@dataclass(frozen=True, eq=False)
class World:
    """All that a run needs; it is pickled for workers that are other processes."""

    keys: tuple[str, ...]
    blocks: tuple[Block, ...]
    measures: tuple[Measure, ...]
    draws: int
    seed: int

    def simulated(self, setting: Setting, number: int, first: int, last: int) -> Simulated:
        """A block under a setting, with draws [first, last) of the clocks of all settings.

        Raises
        ------
        CoschedError
            The setting contradicts itself, lets a job never start, or ends one before it is done
            today.
        """
        block = self.blocks[number]
        with _TWINS:
            changed, said, twin = _prepared(self, setting, number)
        clocks = clocks_of(block.instance, self.draws, self.seed + number)[first:last]
        begun, killed, paused = twin.futures(clocks)
        if never := int(np.isnan(begun).any(axis=0).sum()):
            raise InfeasibleError(f"{never:,} jobs would never start")
        start, end, early = times_of(changed, begun, killed, paused)
        # The log may not say partitions: then it is the twin that knows limits.
        cut = early.all(axis=0) & ~np.isin(changed.ids, block.ended)
        if setting and cut.any():
            ran = changed.column("runtime").copy()
            ran[cut] = (end - start)[:, cut].mean(axis=0)
            _require_work(block.instance, changed.replace(runtime=ran))
        rows = block.counted(changed)
        jobs = changed.take(rows)._without_bound()
        return Simulated(jobs, start[:, rows], end[:, rows], tuple(twin.notes), said)

    def run(self, task: Task) -> Row:
        """The measures of a task."""
        setting = tuple(task["setting"])
        try:
            found = self.simulated(setting, task["block"], task["draw"], task["draw"] + 1)
        except CoschedError as error:
            if setting == TODAY:
                raise
            return {"values": [], "why": str(error)}
        values = [measure.of(found.jobs, found.start, found.end) for measure in self.measures]
        return {"values": [of_each.tolist() for of_each in values], "why": ""}

    def digest(self) -> str:
        """Of all that decides what a run gives."""
        found = hashlib.sha256()
        for block in self.blocks:
            machine: Any = block.instance.machine
            whole = (block.spans, machine.nodes, machine.partitions, machine.slurm)
            found.update(repr(whole).encode())
            for name, column in sorted(block.instance.given.items()):
                found.update(f"{name}{column.tolist()}".encode())
        said = (self.keys, [str(one) for one in self.measures], self.draws, self.seed)
        return hashlib.sha256(f"{found.hexdigest()}{said}".encode()).hexdigest()


_TWINS = Lock()


# Draws of a block under a setting follow each other, and some run at the same time.
@lru_cache(maxsize=8)
def _prepared(world: World, setting: Setting, number: int) -> tuple[Instance, str, Twin]:
    """What all draws of a block under a setting share: jobs, what is said of them, the twin."""
    block = world.blocks[number]
    changed, said = block.instance, ""
    if setting:
        changed, said = what_if(block.instance, change_of(world.keys, setting))
        _require_work(block.instance, changed)
    return changed, said, Twin(changed, changed.machine, {}, approximate=True)


def _require_work(today: Instance, then: Instance) -> None:
    """A new limit ends no job that runs longer: a machine is no better where less is done."""
    ran = dict(zip(today.ids.tolist(), today.column("runtime").tolist(), strict=True))
    runtime = then.column("runtime")
    pairs = zip(then.ids.tolist(), runtime.tolist(), strict=True)
    lost = np.array([ran.get(job, now) - now for job, now in pairs])
    if (cut := lost > 0).any():
        hours = float((then.column("tasks") * lost)[cut].sum()) / 3600
        raise InfeasibleError(
            f"{cut.sum():,} jobs would end at the new limit, {hours:,.0f} core-hours of work lost"
        )


#: Where tasks run: it gives (place in the list, row) as they come.
Engine = Callable[[World, Sequence[Task]], Iterable[tuple[int, Row]]]


def threads(world: World, tasks: Sequence[Task]) -> Iterator[tuple[int, Row]]:
    """On all processors that this process may use."""
    pool = ThreadPoolExecutor(len(sched_getaffinity(0)))
    try:
        yield from enumerate(pool.map(world.run, tasks))
    finally:
        pool.shutdown(cancel_futures=True)


def startable(block: Block, draws: int, seed: int) -> Block:
    """Without jobs that never start as it is: Slurm refuses them, or lets them wait for ever.

    InfeasibleError where the machine does not hold a job at all.
    """
    instance = without_suspensions(block.instance, block.instance.machine)
    block = replace(block, instance=instance)
    try:
        twin = Twin(instance, instance.machine, {}, approximate=True)
    except InfeasibleError as error:
        raise with_remedy(error, instance) from None
    _, starts, killed, _, limits = twin.draws(clocks_of(block.instance, draws, seed))
    rows = list(never_starting_jobs(twin, starts, limits))
    if not rows:
        ended = block.instance.ids[~np.isnan(killed).all(axis=0)]
        return replace(block, ended=tuple(ended.tolist()))
    startable_rows = np.delete(np.arange(len(instance)), rows)
    rest = block.instance.take(startable_rows)._without_bound()
    return startable(replace(block, instance=rest), draws, seed)


class Runs:
    """What is known of each setting; a journal, where there is one, keeps every run at once."""

    def __init__(
        self, world: World, engine: Engine, path: Path | None, resume: bool, head: Any
    ) -> None:
        self.world, self._engine, self._path = world, engine, path
        self._rows: dict[str, Row] = {}
        self._asked: dict[tuple[Setting, int], int] = {}  # so many draws
        self.until = np.inf  # of time.monotonic(): no run begins after it
        self.cut = False  # whether one did not
        search = [] if path is None else [world.digest(), head]
        self._owner = json.dumps({"cosched": installed_version(), "search": search})
        if path is not None and path.exists():
            self._take_up(path, resume)

    def _take_up(self, path: Path, resume: bool) -> None:
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
                if why or shape == (len(self.world.measures), 1):
                    self._rows[key] = {"values": row["values"], "why": why}
            except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
                continue  # its process was killed while it wrote, or the file is damaged
        kept = [self._owner, *(f"[{key}, {json.dumps(row)}]" for key, row in self._rows.items())]
        path.write_text("\n".join(kept) + "\n", encoding="utf-8")

    def close(self) -> None:
        """The search has ended: nothing is left to go on with."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    @contextmanager
    def half_of_the_time(self) -> Iterator[None]:
        """Within it no run begins after half of the time that is left."""
        until = self.until
        now = time.monotonic()
        self.until = now + (until - now) / 2
        try:
            yield
        finally:
            self.until = until

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self.until

    @property
    def count(self) -> int:
        """How many draws of blocks ran."""
        asked = ((*of, draw) for of, count in self._asked.items() for draw in range(count))
        return sum(_key(*one) in self._rows for one in asked)

    def of(
        self, settings: Sequence[Setting], counts: Sequence[int]
    ) -> list[np.ndarray | str | None]:
        """The measures of settings on the first so many draws of each block.

        Returns
        -------
        list of (numpy.ndarray, shape (sum(counts), measures)) or str or None
            By block, then by draw; or why a setting has none; None: the time was over before.
        """
        tasks: list[Task] = []
        for setting in dict.fromkeys(settings):
            for block, last in enumerate(counts):
                first = self._asked.get((setting, block), 0)
                self._asked[setting, block] = max(first, last)
                # A draw is a task: the time is looked at behind each.
                new = range(first, last)
                tasks += [{"setting": setting, "block": block, "draw": draw} for draw in new]
        self._run([task for task in tasks if _key(**task) not in self._rows])
        return [self._gathered(setting, counts) for setting in settings]

    def _run(self, tasks: Sequence[Task]) -> None:
        rows = () if self.late or not tasks else self._engine(self.world, tasks)
        missing = len(tasks)
        for place, row in rows:
            key = _key(**tasks[place])
            if self._path is not None and key not in self._rows:
                with self._path.open("a", encoding="utf-8") as file:
                    head = "" if file.tell() else f"{self._owner}\n"
                    file.write(f"{head}[{key}, {json.dumps(row)}]\n")
            self._rows[key] = row
            missing -= 1
            if self.late:
                break  # the engine lets go of what has not begun
        self.cut |= missing > 0

    def _gathered(self, setting: Setting, counts: Sequence[int]) -> np.ndarray | str | None:
        found = []
        for block, count in enumerate(counts):
            for draw in range(count):
                row = self._rows.get(_key(setting, block, draw))
                if row is None:
                    return None
                if row["why"]:
                    return printable(row["why"])
                found.append(np.array(row["values"]))
        return np.concatenate(found, axis=1).T


def _key(setting: Sequence[str], block: int, draw: int) -> str:
    return json.dumps([list(setting), block, draw])
