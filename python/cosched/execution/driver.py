"""Running a plan: one loop that starts what may start, waits, and writes down what happened."""

from __future__ import annotations

import functools
import math
import signal
import socket
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from cosched.core.text import listed
from cosched.errors import InvalidInstance
from cosched.execution import process_tree, watchdog
from cosched.execution.codes import Codes
from cosched.execution.journal import Attempt, Journal
from cosched.execution.launchers import Launcher
from cosched.execution.output_names import output_names
from cosched.execution.planned import Plan, Step
from cosched.execution.processes import NOT_EXECUTABLE, NOT_FOUND, Ended, Pool
from cosched.execution.ready_steps import ReadySteps
from cosched.execution.record import Execution
from cosched.execution.replanning import Replanner, Situation
from cosched.execution.task_run import TaskRun
from cosched.execution.tokens import Tokens

#: Seconds between two looks at the run where somebody watches.
TICK = 0.25
#: A task is late at so many times its planned seconds, and not before so many seconds more.
LATE, MOMENT = 5.0, 0.25
_OVER = ("completed", "failed", "timeout", "cancelled")

#: Called while a plan runs: what is known, seconds since the beginning.
Watch = Callable[["Driver"], None]


class Driver:
    """A run under way: the plan, the journal, the processes."""

    def __init__(
        self,
        plan: Plan,
        codes: Codes,
        launcher: Launcher,
        journal: Journal,
        *,
        barrier: bool,
        outputs: Path,
        stop_on_failure: bool,
        notes: tuple[str, ...],
        watch: Watch | None,
        replanner: Replanner | None,
        limit_factor: float | None = None,
        tell: Callable[[str], None] | None = None,
        done: Callable[[Execution], None] | None = None,
        again: bool = False,
    ) -> None:
        self.plan = self.original = plan
        self.codes = codes
        self.launcher = launcher
        self.journal = journal
        self.barrier = barrier
        self.outputs = outputs
        self._names = output_names(step.name for step in plan.steps)
        self.stop_on_failure = stop_on_failure
        self.notes = notes
        self.watch = watch
        self.replanner = replanner
        self.limit_factor = limit_factor
        self.again = again
        self.tell = tell
        self.done = done
        self.tokens = Tokens.of(plan, codes)
        self.stopped = False
        self.run = uuid.uuid4().hex
        self._fronted: tuple[Plan, ReadySteps, dict[int, int]] | None = None
        self._known: tuple[Plan, list[frozenset[int]], dict[int, set[int]]] | None = None
        self._on: dict[Step, None] = {}  # runs now
        self.tried: set[int] = set()  # started by this driver, or over when it began
        self.left_out: set[int] = set()  # never to be started: one before it in the graph failed
        # The clock stands still while no driver runs.
        elapsed = 0.0 if again else journal.past.elapsed
        self._offset = elapsed - time.monotonic()
        self._wall = time.time() - elapsed
        self._late: set[int] = set()

    # --- what is known --------------------------------------------------------------------

    def now(self) -> float:
        """Seconds since the run began, in which a driver was at work."""
        return time.monotonic() + self._offset

    def attempt(self, step: Step) -> Attempt:
        """The last attempt at a step."""
        return self.journal.past.tasks.get(step.task, Attempt())

    def over(self, step: Step) -> bool:
        """Whether nothing more is to be expected of a step."""
        return step.task in self.tried and self.attempt(step).state in _OVER

    def running(self, step: Step) -> bool:
        return self.attempt(step).state == "running" and step.task in self.tried

    def expected_end(self) -> float:
        """Seconds at which all would be done if what has not ended takes its planned time."""
        waits, _ = self._order()
        now = self.now()
        ends: list[float] = []
        for step, needed in zip(self.plan.steps, waits, strict=True):
            one = self.attempt(step)
            if self.over(step) or step.task in self.left_out:
                ends.append(0.0 if step.task in self.left_out else one.end)
                continue
            start = one.start if self.running(step) else max([now, *(ends[k] for k in needed)])
            ends.append(max(now, start + step.end - step.start))
        return max(ends, default=now)

    def execution(self) -> Execution:
        """The record as it is now."""
        pack_of = {
            self.original.steps[place].task: number
            for number, pack in enumerate(self.original.packs())
            for place in pack
        }
        return Execution(
            family=self.original.family,
            launcher=self.launcher.name,
            barrier=self.barrier,
            host=socket.gethostname(),
            notes=(*self.notes, *self._resumed()),
            tasks=tuple(self._row(step, pack_of.get(step.task)) for step in self.original.steps),
            capacity=self.tokens.capacity,
        )

    def _resumed(self) -> tuple[str, ...]:
        runs = len(self.journal.past.at_work)
        if runs < 2:
            return ()
        return (f"{runs} drivers one after the other: the time when none ran does not count",)

    def _row(self, step: Step, pack: int | None) -> TaskRun:
        one = self.attempt(step)
        state = one.state if one.state in _OVER else "pending"
        return TaskRun(
            task=step.task,
            name=step.name,
            kind=step.kind,
            units=step.units if one.units is None else one.units,
            planned_start=step.start,
            planned_end=step.end,
            start=one.start,
            end=one.end if state != "pending" else math.nan,
            state=state,
            exit_code=one.exit_code,
            attempt=one.attempt,
            pack=pack,
            cpu_seconds=one.cpu_seconds,
            needs=self.tokens.needs[step.task],
        )

    def situation(self) -> Situation:
        """This moment, as planning sees it; a task that failed is over all the same."""
        begun = [step for step in self.plan.steps if step.task in self.tried]
        return Situation(
            plan=self.plan,
            now=self.now(),
            started={step.task: self.attempt(step).start for step in begun},
            ended={step.task: self.attempt(step).end for step in begun if self.over(step)},
            left_out=frozenset(self.left_out),
        )

    # --- the loop -------------------------------------------------------------------------

    def drive(self) -> Execution:
        """Run what has not completed; see :func:`run`."""
        self._begin()
        with Pool(self.run, grace=self.launcher.grace, polite=self.launcher.polite) as pool:
            while not pool.interrupts:
                if not self.stopped:
                    self._start_ready(pool)
                if not len(pool):
                    break
                for ended in pool.wait(self._pause()):
                    self._end(ended)
                self._say_who_is_late()
                if self.watch:
                    self.watch(self)
                if self.replanner and not self.stopped:
                    self._replan(self.replanner(self.situation(), self.barrier))
            if pool.interrupts:
                self._interrupt(pool)
        if pool.interrupts:
            self.launcher.forget()
        self.journal.write("closed", time=self.now())
        if self.watch:
            self.watch(self)
        execution = self.execution()
        if self.done:
            self.done(execution)
        if pool.interrupts:
            left = sum(self.attempt(step).state != "completed" for step in self.plan.steps)
            raise pool.interruption(
                f"interrupted: {left} of {len(self.plan.steps)} tasks are not done; "
                f"--resume goes on with {self.journal.path}"
            )
        return execution

    def _pause(self) -> float | None:
        """Seconds until this has something to do though nothing ends."""
        moments = [self._late_from(step) for step in self._on if step.task not in self._late]
        next_one = max(min(moments, default=math.inf) - self.now(), 0.0)
        tick = TICK if self.watch or self.replanner else math.inf
        return None if next_one == tick == math.inf else min(next_one, tick)

    def _late_from(self, step: Step) -> float:
        """The moment from which a step that runs is called late."""
        planned = step.end - step.start
        begin = self.attempt(step).start
        if planned <= 0 or math.isnan(begin):
            return math.inf
        return begin + max(LATE * planned, planned + MOMENT)

    def _say_who_is_late(self) -> None:
        now = self.now()
        for step in self._on:
            if step.task in self._late or now < self._late_from(step):
                continue
            self._late.add(step.task)
            planned, had = step.end - step.start, now - self.attempt(step).start
            self.journal.write("late", task=step.task, name=step.name, planned=planned, time=now)
            if self.tell:
                self.tell(
                    f"{step.name} has run for {had:.3g} s, {had / planned:.3g} times its planned "
                    f"{planned:.3g} s"
                )

    def _begin(self) -> None:
        past = self.journal.past
        self.again = self.again and bool(past.runs)
        found = [process for run in past.runs for process in watchdog.end_all(run)]
        if past.runs:
            self.launcher.forget()
        self.journal.write(
            "run",
            format="cosched-journal",
            version=1,
            run=self.run,
            plan=self.original.digest,
            again=self.again,
            barrier=self.barrier,
            begun=self._wall,
            launcher=self.launcher.name,
            host=socket.gethostname(),
            ended_leftovers=found,
        )
        for step in self.plan.steps:
            one = self.attempt(step)
            if one.state == "running":
                self.journal.write(
                    "lost",
                    task=step.task,
                    name=step.name,
                    attempt=one.attempt,
                    time=self.now(),
                    why="it ran when its driver died; it was ended and is run again",
                )
            elif one.state == "completed":
                self.tried.add(step.task)
        if past.replanned is not None:
            self._take(with_placements(self.plan, past.replanned))

    def _start_ready(self, pool: Pool) -> None:
        """Start all that may start; what cannot be started has failed, and others may follow."""
        while not self.stopped and not pool.interrupts:
            ready = self.tokens.chosen(self._ready())
            if not ready:
                return
            self._start(pool, ready)

    def _ready(self) -> list[Step]:
        """Steps that wait for nothing, and have what they need."""
        return [self.plan.steps[place] for place in self._front().ready()]

    def _front(self) -> ReadySteps:
        if self._fronted is None or self._fronted[0] is not self.plan:
            waits, needs = self._order()
            places = {step.task: place for place, step in enumerate(self.plan.steps)}
            front = ReadySteps(waits, needs, [places[task] for task in self.tried])
            for place, step in enumerate(self.plan.steps):
                if self.over(step):
                    front.settle(place, self.attempt(step).state == "completed")
            self._fronted = (self.plan, front, places)
        return self._fronted[1]

    def _place(self, step: Step) -> int:
        self._front()
        assert self._fronted is not None
        return self._fronted[2][step.task]

    def _order(self) -> tuple[list[frozenset[int]], dict[int, set[int]]]:
        if self._known is None or self._known[0] is not self.plan:
            self._known = (self.plan, self.plan.waits_for(self.barrier), self.plan.needs())
        return self._known[1:]

    def _start(self, pool: Pool, ready: list[Step]) -> None:
        """Start steps together: what is going to be started is on the disk before any is."""
        about = [
            {"task": s.task, "name": s.name, "attempt": self.attempt(s).attempt + 1} for s in ready
        ]
        self.journal.write_all(
            [
                ("starting", {**one, "units": step.units, "time": self.now()})
                for one, step in zip(about, ready, strict=True)
            ]
        )
        started = []
        for one, step in zip(about, ready, strict=True):
            self._front().start(self._place(step))
            self.tried.add(step.task)
            code = self.codes[step.name]
            gpus = self.tokens.take(step)
            output = self._output(step, self.attempt(step).attempt)
            try:
                seen = () if self.launcher.here else process_tree.wrapper(output, "wait")
                launch = self.launcher.launch(step, code, self.plan, gpus, seen)
                begin = pool.start(step, launch, output, self._limit(step)) + self._offset
                self._on[step] = None
                started.append(("started", {**one, "pid": pool.number(step), "time": begin}))
            except (OSError, ValueError) as error:  # a zero byte in a name
                said = f"cannot be started: {error}"
                with suppress(OSError), open(output, "a") as file:
                    file.write(f"cosched: {said}\n")
                missing = isinstance(error, FileNotFoundError)
                code_of = NOT_FOUND if missing else NOT_EXECUTABLE
                self._over(step, "failed", code_of, self.now(), why=said)
        self.journal.write_all(started)

    def _limit(self, step: Step) -> float | None:
        """Seconds after which a step is ended."""
        limits = [self.codes[step.name].timeout]
        if self.limit_factor is not None and step.end > step.start:
            limits.append(self.limit_factor * (step.end - step.start))
        return min((limit for limit in limits if limit is not None), default=None)

    def _end(self, ended: Ended) -> None:
        state = ended.why or ("completed" if ended.exit_code == 0 else "failed")
        more: dict[str, Any] = {}
        if (used := self._cpu_seconds(ended)) is not None:
            more["cpu_seconds"] = used
        step, factor = ended.key, self.limit_factor
        if state == "timeout" and factor and self._limit(step) != self.codes[step.name].timeout:
            more["why"] = f"ended at {factor:g} times its planned {step.end - step.start:.3g} s"
            if self.tell:
                self.tell(f"{step.name} was {more['why']}")
        self._over(step, state, ended.exit_code, ended.end + self._offset, **more)

    def _output(self, step: Step, attempt: int) -> Path:
        return self.outputs / f"{self._names[step.name]}-{attempt}.out"

    def _cpu_seconds(self, ended: Ended) -> float | None:
        if self.launcher.here:
            return ended.cpu_seconds
        step = ended.key
        notes = self._output(step, self.attempt(step).attempt)
        used = process_tree.usage_written(notes, self.codes[step.name].ranks_on(len(step.units)))
        return None if used is None else used["cpu_seconds"]

    def _over(self, step: Step, state: str, exit_code: int, end: float, **more: Any) -> None:
        self.tokens.give_back(step)
        self._on.pop(step, None)
        self.journal.write(
            "ended",
            task=step.task,
            name=step.name,
            attempt=self.attempt(step).attempt,
            state=state,
            exit_code=exit_code,
            time=end,
            **more,
        )
        self._front().settle(self._place(step), state == "completed")
        if state in ("failed", "timeout"):
            self._leave_out_behind(step, state)
        if state != "completed" and self.stop_on_failure:
            self.stopped = True

    def _leave_out_behind(self, failed: Step, state: str) -> None:
        """What comes after a failed step in the graph has nothing to work on: it is cancelled."""
        followers = self._followers
        behind: list[Step] = []
        todo = [failed.task]
        while todo:
            for step in followers.get(todo.pop(), ()):
                if step.task not in self.left_out and step.task not in self.tried:
                    self.left_out.add(step.task)
                    behind.append(step)
                    todo.append(step.task)
        why = f"{failed.name} {'failed' if state == 'failed' else 'was ended at its limit'}"
        about = {"time": self.now(), "why": why}
        self.journal.write_all(
            [("cancelled", {"task": s.task, "name": s.name, **about}) for s in behind]
        )
        if self.tell and behind:
            names = listed([step.name for step in behind])
            self.tell(f"{why}: cancelled, not started: {names}")

    @functools.cached_property
    def _followers(self) -> dict[int, list[Step]]:
        """Task -> steps that wait for it in the task graph."""
        of_task = {step.task: step for step in self.original.steps}
        found: dict[int, list[Step]] = {}
        for before, after in self.original.edges:
            found.setdefault(before, []).append(of_task[after])
        return found

    def _interrupt(self, pool: Pool) -> None:
        """Ctrl-C: forwarded; after the grace, or a second one, SIGKILL."""
        number = signal.SIGTERM if self.launcher.polite else signal.SIGINT
        self.journal.write(
            "stopping", signal=number.name, time=self.now(), grace=self.launcher.grace
        )
        pool.stop(number, "cancelled")
        seen = pool.interrupts
        while len(pool):
            for ended in pool.wait(None):
                self._end(ended)
            if pool.interrupts > seen:
                pool.stop(signal.SIGKILL, "cancelled")

    def _replan(self, plan: Plan | None) -> None:
        if plan is None:
            return
        self.journal.write("replanned", time=self.now(), placements=placements_of(plan))
        self._take(plan)

    def _take(self, plan: Plan) -> None:
        """Go on with other placements, whose counts may need something else."""
        self.plan = plan
        self.tokens.needs = Tokens.of(plan, self.codes).needs


def placements_of(plan: Plan) -> list[dict]:
    """The steps of a plan as a journal has them."""
    return [
        {"task": s.task, "units": list(s.units), "start": s.start, "end": s.end} for s in plan.steps
    ]


def with_placements(plan: Plan, placements: list[dict]) -> Plan:
    """A plan with other placements; without packs, which replanning dissolves."""
    of_task = {step.task: step for step in plan.steps}
    if {row["task"] for row in placements} != of_task.keys():
        raise InvalidInstance("the journal places other tasks than the plan")
    steps = [
        replace(
            of_task[row["task"]],
            units=tuple(row["units"]),
            start=row["start"],
            end=row["end"],
        )
        for row in placements
    ]
    return replace(plan, family="moldable", steps=tuple(steps))
