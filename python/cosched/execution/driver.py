"""Running a plan: one loop that starts what may start, waits, and writes down what happened."""

import math
import signal
import socket
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from cosched.core.text import listed
from cosched.execution import process_tree, watchdog
from cosched.execution.code import output_names
from cosched.execution.journal import FORMAT, VERSION
from cosched.execution.launchers import Launcher
from cosched.execution.planned import PlanStep
from cosched.execution.processes import NOT_EXECUTABLE, NOT_FOUND, Ended, ProcessPool
from cosched.execution.record import Execution
from cosched.execution.replanning import Replanner
from cosched.execution.run_state import RunState, placements_of

#: Seconds between two looks at the run where somebody watches.
TICK = 0.25
#: A task is reported as late at so many times its planned seconds, and not before so many
#: seconds after its planned end.
OVERTIME_FACTOR, OVERTIME_SECONDS = 5.0, 0.25


class Driver:
    """Starts the steps of a run, and writes down what becomes of them."""

    def __init__(
        self, state: RunState, launcher: Launcher, replanner: Replanner | None = None
    ) -> None:
        self.state, self.launcher, self.replanner = state, launcher, replanner
        self.journal, self.codes, self.options = state.journal, state.codes, state.options
        self.stopped = False
        self.run = uuid.uuid4().hex
        self._names = output_names(step.name for step in state.plan.steps)
        self._on: dict[PlanStep, None] = {}  # runs now
        self._reported_overtime: set[int] = set()

    def _say(self, line: str) -> None:
        if self.options.tell:
            self.options.tell(line)

    def drive(self) -> Execution:
        """Run what has not completed; see :func:`run`."""
        state, options = self.state, self.options
        self._begin()
        with ProcessPool(self.run, grace=self.launcher.grace, polite=self.launcher.polite) as pool:
            while not pool.interrupts:
                if not self.stopped:
                    self._start_ready(pool)
                if not len(pool):
                    break
                for ended in pool.wait(self._pause()):
                    self._end(ended)
                self._report_overtime()
                if options.watch:
                    options.watch(state)
                if self.replanner and not self.stopped:
                    self._replan(self.replanner)
            if pool.interrupts:
                self._interrupt(pool)
        if pool.interrupts:
            self.launcher.forget()
        self.journal.write("closed", time=state.now())
        if options.watch:
            options.watch(state)
        execution = state.execution()
        if options.done:
            options.done(execution)
        if pool.interrupts:
            raise pool.interruption(
                f"interrupted: {state.open_tasks()} of {len(state.plan.steps)} tasks are not done; "
                f"--resume goes on with {self.journal.path}"
            )
        return execution

    def _begin(self) -> None:
        past = self.journal.past
        leftovers = [process for run in past.runs for process in watchdog.end_all(run)]
        if past.runs:
            self.launcher.forget()
        self.journal.write(
            "run",
            format=FORMAT,
            version=VERSION,
            run=self.run,
            plan=self.state.original.digest,
            again=self.options.repeat_all and bool(past.runs),
            barrier=self.options.barrier,
            begun=self.state.begun,
            launcher=self.launcher.name,
            host=socket.gethostname(),
            ended_leftovers=leftovers,
        )
        for step in self.state.plan.steps:
            if self.state.attempt(step).state == "running":
                why = "it ran when its driver died; it was ended and is run again"
                self._write("lost", step, time=self.state.now(), why=why)
        self.state.begin()

    def _start_ready(self, pool: ProcessPool) -> None:
        """Start all that may start; what cannot be started has failed, and others may follow."""
        while not self.stopped and not pool.interrupts:
            ready = self.state.ready()
            if not ready:
                return
            # One by one, where the failure of a step to start keeps the others back.
            self._start(pool, ready[:1] if self.options.stop_on_failure else ready)

    def _start(self, pool: ProcessPool, ready: list[PlanStep]) -> None:
        """Start steps together: what is going to be started is on the disk before any is."""
        about = [
            {"task": s.task, "name": s.name, "attempt": self.state.attempt(s).attempt + 1}
            for s in ready
        ]
        self.journal.write_all(
            [
                ("starting", {**event, "units": step.units, "time": self.state.now()})
                for event, step in zip(about, ready, strict=True)
            ]
        )
        started = []
        for event, step in zip(about, ready, strict=True):
            self.state.start(step)
            try:
                begin = self._launch(pool, step) + self.state.offset
                started.append(("started", {**event, "pid": pool.number(step), "time": begin}))
            except (OSError, ValueError) as error:  # a zero byte in a name
                reason = f"cannot be started: {error}"
                with suppress(OSError), open(self._output(step), "a") as file:
                    file.write(f"cosched: {reason}\n")
                missing = isinstance(error, FileNotFoundError)
                code_of = NOT_FOUND if missing else NOT_EXECUTABLE
                self._over(step, "failed", code_of, self.state.now(), why=reason)
        self.journal.write_all(started)

    def _launch(self, pool: ProcessPool, step: PlanStep) -> float:
        """Return the moment before a step was started, by the pool's clock."""
        gpus = self.state.tokens.take(step)
        output = self._output(step)
        seen = () if self.launcher.here else process_tree.wrapper(output, "wait")
        launch = self.launcher.launch(step, self.codes[step.name], self.state.plan, gpus, seen)
        begin = pool.start(step, launch, output, self._limit(step))
        self._on[step] = None
        return begin

    def _limit(self, step: PlanStep) -> float | None:
        """Return seconds after which a step is ended."""
        limits = [self.codes[step.name].timeout]
        factor = self.options.limit_factor
        if factor is not None and step.end > step.start:
            limits.append(factor * (step.end - step.start))
        return min((limit for limit in limits if limit is not None), default=None)

    def _output(self, step: PlanStep) -> Path:
        attempt = self.state.attempt(step).attempt
        return self.options.outputs / f"{self._names[step.name]}-{attempt}.out"

    def _pause(self) -> float | None:
        """Return seconds until this has something to do though nothing ends."""
        moments = [
            self._overtime_begin(step)
            for step in self._on
            if step.task not in self._reported_overtime
        ]
        until_overtime = max(min(moments, default=math.inf) - self.state.now(), 0.0)
        tick = TICK if self.options.watch or self.replanner else math.inf
        return None if until_overtime == tick == math.inf else min(until_overtime, tick)

    def _overtime_begin(self, step: PlanStep) -> float:
        """Return the moment from which a running step is reported as late."""
        planned = step.end - step.start
        begin = self.state.attempt(step).start
        if planned <= 0 or math.isnan(begin):
            return math.inf
        return begin + max(OVERTIME_FACTOR * planned, planned + OVERTIME_SECONDS)

    def _report_overtime(self) -> None:
        now = self.state.now()
        for step in self._on:
            if step.task in self._reported_overtime or now < self._overtime_begin(step):
                continue
            self._reported_overtime.add(step.task)
            planned, had = step.end - step.start, now - self.state.attempt(step).start
            self.journal.write("late", task=step.task, name=step.name, planned=planned, time=now)
            self._say(
                f"{step.name} has run for {had:.3g} s, {had / planned:.3g} times its planned "
                f"{planned:.3g} s"
            )

    def _replan(self, replanner: Replanner) -> None:
        plan = replanner(self.state.situation(), self.options.barrier)
        if plan is not None:
            self.journal.write("replanned", time=self.state.now(), placements=placements_of(plan))
            self.state.take(plan)

    def _end(self, ended: Ended) -> None:
        state = ended.why or ("completed" if ended.exit_code == 0 else "failed")
        more: dict[str, Any] = {}
        if (used := self._cpu_seconds(ended)) is not None:
            more["cpu_seconds"] = used
        step, factor = ended.key, self.options.limit_factor
        if state == "timeout" and factor and self._limit(step) != self.codes[step.name].timeout:
            more["why"] = f"ended at {factor:g} times its planned {step.end - step.start:.3g} s"
            self._say(f"{step.name} was {more['why']}")
        self._over(step, state, ended.exit_code, ended.end + self.state.offset, **more)

    def _cpu_seconds(self, ended: Ended) -> float | None:
        if self.launcher.here:
            return ended.cpu_seconds
        step = ended.key
        ranks = self.codes[step.name].ranks_on(len(step.units))
        used = process_tree.usage_written(self._output(step), ranks)
        return None if used is None else used["cpu_seconds"]

    def _over(self, step: PlanStep, state: str, exit_code: int, end: float, **more: object) -> None:
        self.state.tokens.give_back(step)
        self._on.pop(step, None)
        self._write("ended", step, state=state, exit_code=exit_code, time=end, **more)
        self.state.settle(step)
        if state in ("failed", "timeout"):
            self._cancel_behind(step, state)
        if state != "completed" and self.options.stop_on_failure:
            self.stopped = True

    def _cancel_behind(self, failed: PlanStep, state: str) -> None:
        behind = self.state.leave_out_behind(failed)
        why = f"{failed.name} {'failed' if state == 'failed' else 'was ended at its limit'}"
        about = {"time": self.state.now(), "why": why}
        self.journal.write_all(
            [("cancelled", {"task": s.task, "name": s.name, **about}) for s in behind]
        )
        if behind:
            names = listed([step.name for step in behind])
            self._say(f"{why}: cancelled, not started: {names}")

    def _interrupt(self, pool: ProcessPool) -> None:
        """Forward Ctrl-C to the tasks; after the grace, or a second one, send SIGKILL."""
        number = signal.SIGTERM if self.launcher.polite else signal.SIGINT
        self.journal.write(
            "stopping", signal=number.name, time=self.state.now(), grace=self.launcher.grace
        )
        pool.stop(number, "cancelled")
        seen = pool.interrupts
        while len(pool):
            for ended in pool.wait(None):
                self._end(ended)
            if pool.interrupts > seen:
                pool.stop(signal.SIGKILL, "cancelled")

    def _write(self, event: str, step: PlanStep, **more: object) -> None:
        """Write a line of the journal about the last attempt at a step."""
        attempt = self.state.attempt(step).attempt
        self.journal.write(event, task=step.task, name=step.name, attempt=attempt, **more)
