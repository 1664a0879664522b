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

import numpy as np

from cosched.core.arrays import integer, seed_of
from cosched.core.text import count_of, percent
from cosched.errors import InvalidInstance, shorten
from cosched.execution import process_tree
from cosched.execution.adaptive import Guarantee, measure_adaptively, measure_first
from cosched.execution.code import Code, fingerprint, output_names, values_of_sweep
from cosched.execution.codes import Codes
from cosched.execution.launchers import Launcher, launcher_of
from cosched.execution.measured_times import (
    by_member,
    frame_of,
    last_words,
    note_of_unlimited,
    notes_of,
    runs_of_current_codes,
    seconds_of,
    table_of,
)
from cosched.execution.plans import Plan, PlanStep
from cosched.execution.processes import EndedProcess, Meter, ProcessPool, usage_of_step
from cosched.execution.runs_file import MeasuredRun, RunsFile
from cosched.lazy import pd
from cosched.notes import Note, NoteKind


def _steps(counts_of_names: Sequence[tuple[str, Sequence[int]]]) -> tuple[PlanStep, ...]:
    return tuple(
        PlanStep(task=k, name=name, kind=0, units=tuple(units), start=0.0, end=0.0)
        for k, (name, units) in enumerate(counts_of_names)
    )


#: Told after each run: runs done, runs in all (None: nobody knows), the run, seconds left.
Watch = Callable[[int, "int | None", MeasuredRun, float], None]


@dataclass
class Bench:
    """Runs codes one after the other; a context."""

    #: The codes that are run.
    codes: Codes
    #: What starts them.
    launcher: Launcher
    #: The folder of their outputs.
    outputs: Path
    #: The table to which each run is added; None: none is written.
    file: RunsFile | None = None

    def __post_init__(self) -> None:
        self._names = output_names(self.codes)
        self._run = uuid.uuid4().hex
        self._pool = ProcessPool(
            self._run, grace=self.launcher.grace, ends_gracefully=self.launcher.ends_gracefully
        )

    def __enter__(self) -> Bench:
        self.outputs.mkdir(exist_ok=True)
        self._pool.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.__exit__(*error)

    def measure(self, code: Code, count: int) -> MeasuredRun:
        """One run, its row on the disk when this returns."""
        assert self.file is not None
        name = code.profile_name
        earlier_runs = [
            run for run in self.file.runs if (run.task, run.processors) == (name, count)
        ]
        run = self._run_alone(code, count, len(earlier_runs) + 1)
        self.file.add([run])
        return run

    def _run_alone(self, code: Code, count: int, attempt: int) -> MeasuredRun:
        """Run a code alone and return its measured run."""
        (step,) = _steps([(code.name, range(count))])
        plan = Plan(family="moldable", steps=(step,))
        started = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        meter = Meter(self._run) if self.launcher.is_local else None
        begin = self._start(step, plan, meter, "look")
        pause = None if meter is None else 0.0
        while not (ended := self._wait(pause)):
            pause = None if meter is None else meter.look()
        (end_of_run,) = ended
        status = end_of_run.why or ("completed" if end_of_run.exit_code == 0 else "failed")
        if status == "failed":
            status = f"failed ({end_of_run.exit_code})"
        seconds = end_of_run.end - begin
        if meter is not None:
            usage = meter.usage(end_of_run, seconds, count)
        else:
            cores, ranks = self.launcher.cores_of(count), code.ranks_on(count)
            usage = usage_of_step(self._output(code, count), ranks, seconds, cores)
        return MeasuredRun(
            code.profile_name,
            count,
            seconds if status == "completed" else math.nan,
            status,
            started,
            socket.gethostname(),
            attempt,
            **asdict(usage),
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
            for ended in self._wait():
                if ended.exit_code != 0:
                    raise InvalidInstance(
                        f"task {shorten(steps[ended.key].name)} failed ({ended.exit_code}): see "
                        f"{self.outputs}"
                    )
                if ended.key == 0:
                    self._stop_all()
                    return ended.end - begin, self._cpu_seconds(steps[0], ended)
                self._start(steps[ended.key], plan)

    def _cpu_seconds(self, step: PlanStep, ended: EndedProcess) -> float:
        if self.launcher.is_local:
            return ended.cpu_seconds
        code, count = self.codes[step.name], len(step.units)
        return usage_of_step(self._output(code, count), code.ranks_on(count), 0, 1).cpu_seconds

    def _output(self, code: Code, count: int) -> Path:
        return self.outputs / f"{self._names[code.name]}-{count}.out"

    def _wait(self, seconds: float | None = None) -> list[EndedProcess]:
        ended = self._pool.wait(seconds)
        if self._pool.interrupts:
            self._stop_all()
            raise self._pool.interruption()
        return ended

    def _stop_all(self) -> None:
        self._pool.stop(
            signal.SIGINT if not self.launcher.ends_gracefully else signal.SIGTERM, "cancelled"
        )
        if not self._pool.interrupts:
            self._pool.stop(signal.SIGKILL, "cancelled")
        while len(self._pool):
            self._pool.wait(None)

    def _start(
        self, step: PlanStep, plan: Plan, meter: Meter | None = None, wrapper_mode: str = "wait"
    ) -> float:
        """Starts a step; the moment before, by the clock of :class:`EndedProcess`."""
        code = self.codes[step.name]
        output = self._output(code, len(step.units))
        wrapper = (
            ()
            if self.launcher.is_local or step.task
            else process_tree.wrapper(output, wrapper_mode)
        )
        launch = self.launcher.launch(step, code, plan, None, wrapper)
        try:
            begin = self._pool.start(step.task, launch, output, code.timeout)
        except (OSError, ValueError) as error:  # a zero byte in a name
            raise InvalidInstance(f"task {shorten(step.name)} cannot be started: {error}") from None
        if meter is not None:
            meter.begin(self._pool.process_id(step.task))
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
    **options: object,
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
    counts_of_profiles = _chosen_counts(codes, counts)
    runs_each, most_failures = integer(repeat, "repeat", 1), integer(attempts, "attempts", 1)
    chosen_launcher = launcher_of(launcher, **options)
    _check(codes, counts_of_profiles, chosen_launcher)
    random = np.random.default_rng(seed_of(seed))
    file = RunsFile(out)
    try:
        file.runs, changed = runs_of_current_codes(file.runs, codes)
        codes_of_timed_name = _codes_of_timed_name(codes, alike)
        unit_counts = {
            name: counts_of_profiles[members[0].profile_name]
            for name, members in codes_of_timed_name.items()
        }
        pairs = [
            (name, count) for name, pair_counts in unit_counts.items() for count in pair_counts
        ]
        todo = _RunsToDo(
            codes,
            codes_of_timed_name,
            pairs,
            file,
            runs_each,
            most_failures,
            watch,
            random,
            total=None if adaptive else 0,
        )
        folder = Path(out).with_suffix(".outputs")
        with Bench(codes, chosen_launcher, folder, file) as bench:
            try:
                if adaptive:
                    adaptive_options = adaptive if isinstance(adaptive, Adaptive) else Adaptive()
                    changed += _measure_adaptively(
                        codes, unit_counts, todo, bench, tolerance, adaptive_options
                    )
                else:
                    todo.in_rounds(bench)
            except KeyboardInterrupt as stop:
                raise type(stop)(
                    f"interrupted: {out} has {count_of(len(file.runs), 'run')}; the same command "
                    "goes on"
                ) from None
        frame = frame_of(file.runs)
        notes = (*changed, *todo.failures(out), *notes_of(file.runs, codes), *_unlimited(codes))
        frame.attrs["notes"] = notes
        frame.attrs["wanted"] = todo.pairs
        frame.attrs["units"] = [run.task for run in todo.runs()]
        return frame
    finally:
        file.close()


def _codes_of_timed_name(codes: Codes, alike: bool) -> dict[str, list[Code]]:
    """Return the codes whose times have one name: each code, or all codes of a sweep."""
    return codes.profiles() if alike else {code.name: [code] for code in codes.values()}


def _unlimited(codes: Codes) -> tuple[Note, ...]:
    """Return a note about what codes need of which nobody says how much there is."""
    needed_resources = {resource for code in codes.values() for resource in code.needs(1)}
    unlimited_resources = sorted(needed_resources - codes.capacity.keys() - {"memory"})
    return (note_of_unlimited(unlimited_resources),) if unlimited_resources else ()


@dataclass
class _RunsToDo:
    """What is still to be run."""

    codes: Codes
    #: Name -> codes that share its times.
    codes_of_timed_name: dict[str, list[Code]]
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
        self.level = {
            name: levels[unit_codes[0].profile_name]
            for name, unit_codes in self.codes_of_timed_name.items()
        }
        if self.total is not None:
            self.total = sum(self.runs_left(pair) for pair in self.pairs)

    def runs(self) -> list[MeasuredRun]:
        """The runs of the file under these names."""
        has_members = any(
            code.name in self.codes_of_timed_name for code in self.codes.values() if code.profile
        )
        return by_member(self.file.runs, self.codes) if has_members else self.file.runs

    def runs_left(self, pair: tuple[str, int]) -> int:
        """Runs that a code on a count still needs, if they complete."""
        return self._runs_left_of(
            [run for run in self.runs() if (run.task, run.processors) == pair]
        )

    def _runs_left_of(self, runs_of_pair: Sequence[MeasuredRun]) -> int:
        completed_runs = [run for run in runs_of_pair if not math.isnan(run.seconds)]
        if len(runs_of_pair) - len(completed_runs) >= self.attempts:
            return 0  # it cannot run there
        # A starved run is repeated, but a machine that is always busy has to be lived with.
        undisturbed_runs = sum(not run.starved for run in completed_runs)
        return max(min(self.repeat - undisturbed_runs, 2 * self.repeat - len(completed_runs)), 0)

    def runs_left_of_pairs(self) -> list[int]:
        """Runs that each pair still needs."""
        runs: dict[tuple[str, int], list[MeasuredRun]] = {}
        for run in self.runs():
            runs.setdefault((run.task, run.processors), []).append(run)
        return [self._runs_left_of(runs.get(pair, ())) for pair in self.pairs]

    def in_rounds(self, bench: Bench) -> None:
        while True:
            runs_left = self.runs_left_of_pairs()
            open_pairs = [pair for pair, count in zip(self.pairs, runs_left, strict=True) if count]
            if not open_pairs:
                return
            places = self.random.permutation(len(open_pairs)).tolist()
            # Stable: what a code reads of those that it comes after is there.
            for place in sorted(places, key=lambda place: self.level[open_pairs[place][0]]):
                self.run(bench, open_pairs[place])

    def run(self, bench: Bench, pair: tuple[str, int]) -> None:
        name, count = pair
        unit_codes = self.codes_of_timed_name[name]
        code = (
            unit_codes[int(self.random.integers(len(unit_codes)))]
            if len(unit_codes) > 1
            else unit_codes[0]
        )
        run = bench.measure(code, count)
        self.done += 1
        if self.watch is not None:
            runs_left = self.runs_left_of_pairs()
            total = None if self.total is None else self.done + sum(runs_left)
            self.watch(
                self.done, total, run, math.nan if total is None else self._seconds(runs_left)
            )

    def _seconds(self, runs_left: Sequence[int]) -> float:
        """Return seconds that the remaining runs take, by those of the same code that are known."""
        measured_seconds = seconds_of(self.runs())
        all_seconds = [
            t
            for of_counts in measured_seconds.values()
            for times in of_counts.values()
            for t in times
        ]
        total = 0.0
        for (name, count), runs in zip(self.pairs, runs_left, strict=True):
            seconds_of_counts = measured_seconds.get(name, {})
            times = (
                seconds_of_counts.get(count)
                or [t for of_counts in seconds_of_counts.values() for t in of_counts]
                or all_seconds
            )
            total += runs * float(np.mean(times)) if times else 0.0
        return total

    def failures(self, out: str | PathLike[str]) -> tuple[Note, ...]:
        """Notes about what failed on all of its counts."""
        measured_seconds = seconds_of(self.runs())
        failed = [
            name
            for name in self.codes_of_timed_name
            if name in measured_seconds and not any(measured_seconds[name].values())
        ]
        named_runs = list(zip(self.file.runs, by_member(self.file.runs, self.codes), strict=True))
        notes = []
        for name in failed:
            runs_of_name = [named for run, named in named_runs if name in (run.task, named.task)]
            text = f"{name} failed on all counts: {last_words(runs_of_name, out)}"
            notes.append(Note(NoteKind.FAILED, text, subject=name))
        return tuple(notes)


def _chosen_counts(codes: Codes, counts: Iterable[int] | None) -> dict[str, tuple[int, ...]]:
    if counts is None:
        return {name: codes.counts_of(name) for name in codes.profiles()}
    chosen_counts = sorted({integer(count, "counts", 1, codes.procs) for count in counts})
    counts_of_profiles = {}
    for name, (code, *_) in codes.profiles().items():
        counts_of_code = tuple(q for q in chosen_counts if code.counts is None or q in code.counts)
        if not counts_of_code:
            raise InvalidInstance(
                f"task {shorten(name)} may run on none of the counts {chosen_counts}: expected one "
                f"of {', '.join(map(str, codes.counts_of(name)))}"
            )
        counts_of_profiles[name] = counts_of_code
    return counts_of_profiles


def _check(
    codes: Codes, counts_of_profiles: dict[str, tuple[int, ...]], launcher: Launcher
) -> None:
    profiles = codes.profiles()
    for profile_name, counts in counts_of_profiles.items():
        units = tuple(range(max(counts)))
        name = profiles[profile_name][0].name
        step = PlanStep(task=0, name=name, kind=0, units=units, start=0.0, end=0.0)
        plan = Plan(family="moldable", steps=(step,))
        plan.check(codes)
        launcher.check(plan, codes)


def _measure_adaptively(
    codes: Codes,
    counts_of_names: dict[str, tuple[int, ...]],
    todo: _RunsToDo,
    bench: Bench,
    tolerance: float,
    options: Adaptive,
) -> tuple[Note, ...]:
    """Return notes about what it proved; what fails on all of its counts is left out of the
    proof."""
    names = list(counts_of_names)
    allowed = np.zeros((len(names), codes.procs), dtype=bool)
    for row, counts in enumerate(counts_of_names.values()):
        allowed[row, np.array(counts) - 1] = True

    def measure(task: int, count: int) -> float:
        pair = (names[task], count)
        while todo.runs_left(pair):
            todo.run(bench, pair)
        times = seconds_of(todo.runs())[pair[0]][count]
        return float(np.median(times)) if times else math.inf

    measured_table = table_of(seconds_of(todo.runs()), names, codes.procs)
    table = np.where(allowed, measured_table, np.nan)
    by_level = sorted(range(len(names)), key=lambda row: todo.level[names[row]])
    able_rows = sorted(row for row in by_level if measure_first(measure, table, allowed, row))
    if not able_rows:
        return ()
    assumptions = {"monotone_time": options.monotone_time, "monotone_work": options.monotone_work}
    gap = measure_adaptively(
        lambda place, count: measure(able_rows[place], count),
        table[able_rows],
        allowed[able_rows],
        tolerance=tolerance,
        watch=options.watch,
        **assumptions,
    )[1].gap
    restriction = "" if len(able_rows) == len(names) else f", of the {len(able_rows)} that can run"
    text = f"proved: gap {percent(gap)} of the guaranteed end to any schedule{restriction}"
    return (Note(NoteKind.PRECISION, text, subject="gap", count=len(able_rows)),)
