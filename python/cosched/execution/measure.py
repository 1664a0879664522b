"""``execution.profile``: each code at each count, alone, pinned to that many cores."""

from __future__ import annotations

import datetime
import math
import signal
import socket
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cosched.core.arrays import integer, seed_of
from cosched.core.text import listed
from cosched.errors import InvalidInstance, shorten
from cosched.execution import process_tree
from cosched.execution.adaptive import Guarantee, measure_adaptively, measure_first
from cosched.execution.code import Code, fingerprint, output_names, values_of_sweep
from cosched.execution.codes import Codes
from cosched.execution.launchers import Launcher, launcher_of
from cosched.execution.planned import Plan, Step
from cosched.execution.processes import Ended, Meter, Pool, usage_of_step
from cosched.execution.runs import (
    Run,
    RunsFile,
    by_member,
    current,
    frame_of,
    last_words,
    notes_of,
    seconds_of,
    table_of,
)
from cosched.lazy import pd


def _steps(placed: Sequence[tuple[str, Sequence[int]]]) -> tuple[Step, ...]:
    return tuple(
        Step(task=k, name=name, kind=0, units=tuple(units), start=0.0, end=0.0)
        for k, (name, units) in enumerate(placed)
    )


#: Told after each run: runs done, runs in all (None: nobody knows), the run, seconds left.
Watch = Callable[[int, "int | None", Run, float], None]


@dataclass
class Bench:
    """Runs codes one after the other; a context."""

    codes: Codes
    launcher: Launcher
    outputs: Path
    file: RunsFile | None = None

    def __post_init__(self) -> None:
        self._names = output_names(self.codes)
        self._run = uuid.uuid4().hex
        self._pool = Pool(self._run, grace=self.launcher.grace, polite=self.launcher.polite)

    def __enter__(self) -> Bench:
        self.outputs.mkdir(exist_ok=True)
        self._pool.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.__exit__(*error)

    def measure(self, code: Code, count: int) -> Run:
        """One run, its row on the disk when this returns."""
        assert self.file is not None
        name = code.profile_name
        before = [run for run in self.file.runs if (run.task, run.processors) == (name, count)]
        run = self._alone(code, count, len(before) + 1)
        self.file.add([run])
        return run

    def _alone(self, code: Code, count: int, attempt: int) -> Run:
        """A code alone, with what it uses where that can be seen."""
        (step,) = _steps([(code.name, range(count))])
        plan = Plan(family="moldable", steps=(step,))
        started = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        meter = Meter(self._run) if self.launcher.here else None
        begin = self._start(step, plan, meter, "look")
        pause = None if meter is None else 0.0
        while not (ended := self._waited(pause)):
            pause = None if meter is None else meter.look()
        (one,) = ended
        status = one.why or ("completed" if one.exit_code == 0 else "failed")
        if status == "failed":
            status = f"failed ({one.exit_code})"
        seconds = one.end - begin
        if meter is not None:
            used = meter.usage(one, seconds, count)
        else:
            cores, ranks = self.launcher.cores_of(count), code.ranks_on(count)
            used = usage_of_step(self._output(code, count), ranks, seconds, cores)
        return Run(
            code.profile_name,
            count,
            seconds if status == "completed" else math.nan,
            status,
            started,
            socket.gethostname(),
            attempt,
            **asdict(used),
            command=fingerprint(code),
            parameters=values_of_sweep(code),
        )

    def while_beside(
        self, first: tuple[str, Sequence[int]], second: tuple[str, Sequence[int]] | None
    ) -> tuple[float, float]:
        """Seconds of the first code while the second runs all the time, and its processor seconds.

        The second is started again as often as it ends.
        """
        steps = _steps([first] if second is None else [first, second])
        plan = Plan(family="moldable", steps=steps)
        for step in reversed(steps):
            begin = self._start(step, plan)
        while True:
            for one in self._waited():
                if one.exit_code != 0:
                    raise InvalidInstance(
                        f"task {shorten(steps[one.key].name)} failed ({one.exit_code}): see "
                        f"{self.outputs}"
                    )
                if one.key == 0:
                    self._stopped()
                    return one.end - begin, self._cpu_seconds(steps[0], one)
                self._start(steps[one.key], plan)

    def _cpu_seconds(self, step: Step, ended: Ended) -> float:
        if self.launcher.here:
            return ended.cpu_seconds
        code, count = self.codes[step.name], len(step.units)
        return usage_of_step(self._output(code, count), code.ranks_on(count), 0, 1).cpu_seconds

    def _output(self, code: Code, count: int) -> Path:
        return self.outputs / f"{self._names[code.name]}-{count}.out"

    def _waited(self, seconds: float | None = None) -> list[Ended]:
        ended = self._pool.wait(seconds)
        if self._pool.interrupts:
            self._stopped()
            raise self._pool.interruption()
        return ended

    def _stopped(self) -> None:
        self._pool.stop(signal.SIGINT if not self.launcher.polite else signal.SIGTERM, "cancelled")
        if not self._pool.interrupts:
            self._pool.stop(signal.SIGKILL, "cancelled")
        while len(self._pool):
            self._pool.wait(None)

    def _start(
        self, step: Step, plan: Plan, meter: Meter | None = None, how: str = "wait"
    ) -> float:
        """Starts a step; the moment before, by the clock of :class:`Ended`."""
        code = self.codes[step.name]
        output = self._output(code, len(step.units))
        seen = () if self.launcher.here or step.task else process_tree.wrapper(output, how)
        launch = self.launcher.launch(step, code, plan, None, seen)
        try:
            begin = self._pool.start(step.task, launch, output, code.timeout)
        except (OSError, ValueError) as error:  # a zero byte in a name
            raise InvalidInstance(f"task {shorten(step.name)} cannot be started: {error}") from None
        if meter is not None:
            meter.begin(self._pool.number(step.task))
        return begin


@dataclass(frozen=True, kw_only=True)
class Adaptive:
    """How :func:`profile` measures as little as a proof needs.

    Attributes
    ----------
    monotone_time, monotone_work : bool
        What it may assume; see :func:`bounds_of_times`.
    watch : callable, optional
        Told of each :class:`Guarantee` that it comes to.

    Examples
    --------
    >>> Adaptive(monotone_work=False).monotone_time
    True
    """

    monotone_time: bool = True
    monotone_work: bool = True
    watch: Callable[[Guarantee], None] | None = None


def profile(
    codes: Codes,
    counts: Iterable[int] | None = None,
    repeat: int = 3,
    out: str | PathLike[str] = "runs.csv",
    adaptive: bool | Adaptive = False,
    tolerance: float = 0.05,
    *,
    attempts: int = 2,
    alike: bool = False,
    launcher: str | Launcher = "local",
    seed: int | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Measure codes: each at each count, alone, pinned to that many cores; a row a run.

    A code whose command, launch or environment has changed since is measured anew, and so is a
    sweep whose values have. A run that had less than 0.9 of its processors, because others had
    them, is *starved*: it is repeated (a busy machine: until there are twice as many runs), and
    counts only where no other run of its code on its count completed. Each task of a sweep is
    measured on its own; with `alike` some combination is drawn for each run of the sweep.

    Rounds: every code on every count once, in an order that is drawn anew for each round, so that
    drift of the machine does not fall on one code; what comes after others is measured behind them.
    A row is on the disk as soon as its run has ended, and the same call goes on where another
    stopped. A run that fails is a row with its exit code; where `attempts` runs have failed and
    none completed, the code cannot run there.
    The rows of the file that are of the codes' commands as they are now: ``task, processors,
    seconds, status, started, host, attempt, command`` (a hash), ``parameters`` (JSON: values of the
    sweep), and of each run that could be seen ``cpu_seconds``, ``memory`` (GB, the peak of all its
    processes together; of ranks the sum of their peaks), ``memory_by`` (pss or rss), ``load`` (of
    the machine before) and ``starved``; ``attrs["notes"]``: what is to be said of them.

    Parameters
    ----------
    counts : iterable of int, optional
        Only these; None: those of the codes, or the powers of two and ``codes.procs``.
    repeat : int
        Runs that complete, of each code on each count.
    out : str or path-like
        .csv; what is there is kept and counts.
    adaptive : bool or Adaptive
        Measure as little as a proof needs. See :func:`measure_adaptively`.
    tolerance : float
        Of `adaptive`: gap of the guaranteed end to the bound.
    attempts : int
        Failures after which a count is impossible.
    alike : bool
        The tasks of a sweep take the same time: measure them as one.
    launcher, **options
        As for :func:`run`.
    seed : int, optional
        Of the order; None means 0.
    watch : callable, optional
        Told after each run.

    Raises
    ------
    InvalidInstance
        A count that a code may not run on, or too few cores, or another file; nothing has run.
    KeyboardInterrupt
        After Ctrl-C: the run at hand is lost, no other.

    Examples
    --------
    >>> from cosched.execution import Code, Codes, profile
    >>> codes = Codes(procs=1, codes={"a": Code(name="a", command="true")})
    >>> frame = profile(codes, repeat=2, out=pathlib.Path(tempfile.mkdtemp()) / "runs.csv")
    >>> frame[["task", "processors", "status"]].to_numpy().tolist()
    [['a', 1, 'completed'], ['a', 1, 'completed']]
    """
    wanted = _wanted(codes, counts)
    runs_each, most_failures = integer(repeat, "repeat", 1), integer(attempts, "attempts", 1)
    chosen = launcher_of(launcher, **options)
    _check(codes, wanted, chosen)
    random = np.random.default_rng(seed_of(seed))
    file = RunsFile(out)
    try:
        file.runs, changed = current(file.runs, codes)
        units = _units(codes, alike)
        unit_counts = {name: wanted[members[0].profile_name] for name, members in units.items()}
        pairs = [(name, count) for name, of in unit_counts.items() for count in of]
        todo = _Todo(
            codes, units, pairs, file, runs_each, most_failures, watch, random,
            total=None if adaptive else 0,
        )  # fmt: skip
        folder = Path(out).with_suffix(".outputs")
        with Bench(codes, chosen, folder, file) as bench:
            try:
                if adaptive:
                    how = adaptive if isinstance(adaptive, Adaptive) else Adaptive()
                    changed += _adaptively(codes, unit_counts, todo, bench, tolerance, how)
                else:
                    todo.in_rounds(bench)
            except KeyboardInterrupt as stop:
                raise type(stop)(
                    f"interrupted: {len(file.runs)} runs are in {out}; the same command goes on"
                ) from None
        frame = frame_of(file.runs)
        notes = (*changed, *todo.failures(out), *notes_of(file.runs, codes), *_unlimited(codes))
        frame.attrs["notes"] = notes
        frame.attrs["wanted"] = todo.pairs
        frame.attrs["units"] = [run.task for run in todo.runs()]
        return frame
    finally:
        file.close()


def _units(codes: Codes, alike: bool) -> dict[str, list[Code]]:
    """What has times of its own: each code, or each sweep as a whole."""
    return codes.profiles() if alike else {code.name: [code] for code in codes.values()}


def _unlimited(codes: Codes) -> tuple[str, ...]:
    """A note about what codes need of which nobody says how much there is."""
    needed = {what for code in codes.values() for what in code.needs(1)}
    unlimited = sorted(needed - codes.capacity.keys() - {"memory"})
    return (f"no [capacity] for {listed(unlimited)}: no limit",) if unlimited else ()


@dataclass
class _Todo:
    """What is still to be run."""

    codes: Codes
    #: Name -> codes that share its times.
    units: dict[str, list[Code]]
    pairs: list[tuple[str, int]]
    file: RunsFile
    repeat: int
    attempts: int
    watch: Watch | None
    random: np.random.Generator
    done: int = 0
    total: int | None = 0  # None: nobody knows

    def __post_init__(self) -> None:
        levels = self.codes.levels()
        self.level = {name: levels[of[0].profile_name] for name, of in self.units.items()}
        if self.total is not None:
            self.total = sum(self.left(pair) for pair in self.pairs)

    def runs(self) -> list[Run]:
        """The runs of the file under the names of these units."""
        has_members = any(code.name in self.units for code in self.codes.values() if code.profile)
        return by_member(self.file.runs, self.codes) if has_members else self.file.runs

    def left(self, pair: tuple[str, int]) -> int:
        """Runs that a code on a count still needs, if they complete."""
        return self._left([run for run in self.runs() if (run.task, run.processors) == pair])

    def _left(self, mine: Sequence[Run]) -> int:
        ended = [run for run in mine if not math.isnan(run.seconds)]
        if len(mine) - len(ended) >= self.attempts:
            return 0  # it cannot run there
        # A starved run is repeated, but a machine that is always busy has to be lived with.
        good = sum(not run.starved for run in ended)
        return max(min(self.repeat - good, 2 * self.repeat - len(ended)), 0)

    def left_of_pairs(self) -> list[int]:
        """Runs that each pair still needs."""
        runs: dict[tuple[str, int], list[Run]] = {}
        for run in self.runs():
            runs.setdefault((run.task, run.processors), []).append(run)
        return [self._left(runs.get(pair, ())) for pair in self.pairs]

    def in_rounds(self, bench: Bench) -> None:
        while True:
            left = self.left_of_pairs()
            open_pairs = [pair for pair, count in zip(self.pairs, left, strict=True) if count]
            if not open_pairs:
                return
            places = self.random.permutation(len(open_pairs)).tolist()
            # Stable: what a code reads of those that it comes after is there.
            for place in sorted(places, key=lambda place: self.level[open_pairs[place][0]]):
                self.run(bench, open_pairs[place])

    def run(self, bench: Bench, pair: tuple[str, int]) -> None:
        name, count = pair
        mine = self.units[name]
        code = mine[int(self.random.integers(len(mine)))] if len(mine) > 1 else mine[0]
        run = bench.measure(code, count)
        self.done += 1
        if self.watch is not None:
            left = self.left_of_pairs()
            total = None if self.total is None else self.done + sum(left)
            self.watch(self.done, total, run, math.nan if total is None else self._seconds(left))

    def _seconds(self, left: Sequence[int]) -> float:
        """Seconds that the remaining runs take, by those of the same code that are known."""
        known = seconds_of(self.runs())
        every = [t for of in known.values() for times in of.values() for t in times]
        total = 0.0
        for (name, count), runs in zip(self.pairs, left, strict=True):
            mine = known.get(name, {})
            times = mine.get(count) or [t for of in mine.values() for t in of] or every
            total += runs * float(np.mean(times)) if times else 0.0
        return total

    def failures(self, out: str | PathLike[str]) -> tuple[str, ...]:
        """Notes about what failed on all of its counts."""
        known = seconds_of(self.runs())
        failed = [name for name in self.units if name in known and not any(known[name].values())]
        measured = list(zip(self.file.runs, by_member(self.file.runs, self.codes), strict=True))
        notes = []
        for name in failed:
            own = [named for run, named in measured if name in (run.task, named.task)]
            notes.append(f"{name} failed on all counts: {last_words(own, out)}")
        return tuple(notes)


def _wanted(codes: Codes, counts: Iterable[int] | None) -> dict[str, tuple[int, ...]]:
    if counts is None:
        return {name: codes.counts_of(name) for name in codes.profiles()}
    chosen = sorted({integer(count, "counts", 1, codes.procs) for count in counts})
    wanted = {}
    for name, (code, *_) in codes.profiles().items():
        mine = tuple(q for q in chosen if code.counts is None or q in code.counts)
        if not mine:
            raise InvalidInstance(
                f"task {shorten(name)} may run on none of the counts {chosen}: expected one of "
                f"{', '.join(map(str, codes.counts_of(name)))}"
            )
        wanted[name] = mine
    return wanted


def _check(codes: Codes, wanted: dict[str, tuple[int, ...]], launcher: Launcher) -> None:
    profiles = codes.profiles()
    for profile_name, counts in wanted.items():
        units = tuple(range(max(counts)))
        name = profiles[profile_name][0].name
        step = Step(task=0, name=name, kind=0, units=units, start=0.0, end=0.0)
        plan = Plan(family="moldable", steps=(step,))
        plan.check(codes)
        launcher.check(plan, codes)


def _adaptively(
    codes: Codes,
    wanted: dict[str, tuple[int, ...]],
    todo: _Todo,
    bench: Bench,
    tolerance: float,
    how: Adaptive,
) -> tuple[str, ...]:
    """Notes about what it proved; what fails on all of its counts is left out of the proof."""
    names = list(wanted)
    allowed = np.zeros((len(names), codes.procs), dtype=bool)
    for row, counts in enumerate(wanted.values()):
        allowed[row, np.array(counts) - 1] = True

    def measure(task: int, count: int) -> float:
        pair = (names[task], count)
        while todo.left(pair):
            todo.run(bench, pair)
        times = seconds_of(todo.runs())[pair[0]][count]
        return float(np.median(times)) if times else math.inf

    known = table_of(seconds_of(todo.runs()), names, codes.procs)
    table = np.where(allowed, known, np.nan)
    by_level = sorted(range(len(names)), key=lambda row: todo.level[names[row]])
    good = sorted(row for row in by_level if measure_first(measure, table, allowed, row))
    if not good:
        return ()
    assumed = {"monotone_time": how.monotone_time, "monotone_work": how.monotone_work}
    gap = measure_adaptively(
        lambda place, count: measure(good[place], count),
        table[good],
        allowed[good],
        tolerance=tolerance,
        watch=how.watch,
        **assumed,
    )[1].gap
    others = "" if len(good) == len(names) else f", of the {len(good)} that can run"
    return (f"proved: gap {100 * gap:.1f}% of the guaranteed end to any schedule{others}",)
