"""Run a plan: start the steps that may start, wait, and write what happened to the journal."""

import math
import signal
import socket
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cosched.core.text import listed
from cosched.execution import process_tree, watchdog
from cosched.execution.code import output_names
from cosched.execution.journal import FORMAT, VERSION
from cosched.execution.launchers import Launcher
from cosched.execution.plans import PlanStep
from cosched.execution.processes import NOT_EXECUTABLE, NOT_FOUND, EndedProcess, ProcessPool
from cosched.execution.record import Execution
from cosched.execution.replanning import Replanner
from cosched.execution.run_state import RunState, placements_of

#: Seconds between two calls of the functions that watch or replan a run.
UPDATE_SECONDS = 0.25
#: A task is reported as late when it has run for so many times its planned seconds ...
OVERTIME_FACTOR = 5.0
#: ... and for so many seconds more than planned: short tasks are late by chance.
OVERTIME_SECONDS = 0.25


class Driver:
    """Starts the steps of one run, waits for them, and writes the journal.

    Parameters
    ----------
    state : RunState
        The plan, what has completed of it, and the options of the run.
    launcher : Launcher
        Makes processes of steps.
    replanner : Replanner, optional
        Plans the rest anew where real times differ from the planned ones.
    """

    def __init__(
        self, state: RunState, launcher: Launcher, replanner: Replanner | None = None
    ) -> None:
        self.state = state
        self.launcher = launcher
        self.replanner = replanner
        self.journal = state.journal
        self.codes = state.codes
        self.options = state.options
        #: No further step is started: one failed, and the run stops on failure.
        self.has_stopped = False
        #: Name of this run in the journal and in the environment of its processes.
        self.run_id = uuid.uuid4().hex
        self._output_names = output_names(step.name for step in state.plan.steps)
        #: Steps that run now, in the order of their starts.
        self._running_steps: dict[PlanStep, None] = {}
        #: Tasks that have been reported as late.
        self._reported_tasks: set[int] = set()

    def drive(self) -> Execution:
        """Run what has not completed.

        Returns
        -------
        Execution
            The record of all tasks.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C or SIGTERM, when all processes have ended and the journal is closed.
        """
        self._begin()
        with ProcessPool(
            self.run_id,
            grace=self.launcher.grace,
            ends_gracefully=self.launcher.ends_gracefully,
        ) as pool:
            self._run_steps(pool)
            if pool.interrupts:
                self._end_all(pool)
        if pool.interrupts:
            self.launcher.cancel_leftovers()
        self.journal.write("closed", time=self.state.now())
        self._report_update()
        execution = self.state.execution()
        if self.options.on_end:
            self.options.on_end(execution)
        if pool.interrupts:
            raise pool.interruption(
                f"interrupted: {self.state.incomplete_count()} of {len(self.state.plan.steps)} "
                f"tasks are not done; --resume goes on with {self.journal.path}"
            )
        return execution

    def _begin(self) -> None:
        """End what earlier drivers of this plan left running, and open the run in the journal."""
        past = self.journal.past
        leftovers = [process for run_id in past.runs for process in watchdog.end_all(run_id)]
        if past.runs:
            self.launcher.cancel_leftovers()
        self.journal.write(
            "run",
            format=FORMAT,
            version=VERSION,
            run=self.run_id,
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
                self._write_event("lost", step, time=self.state.now(), why=why)
        self.state.begin()

    def _run_steps(self, pool: ProcessPool) -> None:
        """Start steps and wait for them until all have ended, or a signal interrupts the run."""
        while not pool.interrupts:
            if not self.has_stopped:
                self._start_ready_steps(pool)
            if not len(pool):
                return
            for ended in pool.wait(self._seconds_until_update()):
                self._record_end(ended)
            self._report_overtime()
            self._report_update()
            if self.replanner and not self.has_stopped:
                self._replan(self.replanner)

    def _start_ready_steps(self, pool: ProcessPool) -> None:
        """Start the steps that may start; a step that cannot be started has failed.

        A failed start may let others go on, or stop the run, so ready steps are asked for again.
        Where the run stops on failure, steps start one by one.
        """
        while not self.has_stopped and not pool.interrupts:
            ready_steps = self.state.ready_steps()
            if not ready_steps:
                return
            self._start(pool, ready_steps[:1] if self.options.stop_on_failure else ready_steps)

    def _start(self, pool: ProcessPool, steps: Sequence[PlanStep]) -> None:
        """Start steps; the journal names all of them before the first process starts."""
        events: list[dict[str, Any]] = [
            {
                "task": step.task,
                "name": step.name,
                "attempt": self.state.attempt(step).attempt + 1,
            }
            for step in steps
        ]
        self.journal.write_all(
            [
                ("starting", {**event, "units": step.units, "time": self.state.now()})
                for event, step in zip(events, steps, strict=True)
            ]
        )
        started_events = []
        for event, step in zip(events, steps, strict=True):
            self.state.mark_started(step)
            try:
                start = self._launch(pool, step) + self.state.offset
                details = {**event, "pid": pool.process_id(step), "time": start}
                started_events.append(("started", details))
            except (OSError, ValueError) as error:  # ValueError: a zero byte in a name
                self._record_failed_start(step, error)
        self.journal.write_all(started_events)

    def _record_failed_start(self, step: PlanStep, error: OSError | ValueError) -> None:
        """Record that a step could not be started, with the exit code that a shell would give."""
        reason = f"cannot be started: {error}"
        with suppress(OSError), open(self._output_path(step), "a") as file:
            file.write(f"cosched: {reason}\n")
        exit_code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
        self._finish(step, "failed", exit_code, self.state.now(), why=reason)

    def _launch(self, pool: ProcessPool, step: PlanStep) -> float:
        """Start the process of a step; return the moment before (s, by the clock of the pool)."""
        gpus = self.state.tokens.acquire(step)
        output = self._output_path(step)
        # On another host a wrapper sees what the process uses.
        wrapper = () if self.launcher.is_local else process_tree.wrapper(output, "wait")
        launch = self.launcher.launch(step, self.codes[step.name], self.state.plan, gpus, wrapper)
        start = pool.start(step, launch, output, self._time_limit(step))
        self._running_steps[step] = None
        return start

    def _time_limit(self, step: PlanStep) -> float | None:
        """Return the seconds after which a step is ended: the timeout of its code, or a multiple of
        its planned time, whichever is less; None: no limit."""
        limits = [self.codes[step.name].timeout]
        factor = self.options.limit_factor
        if factor is not None and step.end > step.start:
            limits.append(factor * (step.end - step.start))
        return min((limit for limit in limits if limit is not None), default=None)

    def _output_path(self, step: PlanStep) -> Path:
        """Return the file of the output of the last attempt at a step."""
        attempt = self.state.attempt(step).attempt
        return self.options.outputs / f"{self._output_names[step.name]}-{attempt}.out"

    def _seconds_until_update(self) -> float | None:
        """Return the seconds until there is something to do though no process ends: a task is
        late, or somebody watches or replans the run; None: nothing will be."""
        overtimes = [
            self._overtime_begin(step)
            for step in self._running_steps
            if step.task not in self._reported_tasks
        ]
        until_overtime = max(min(overtimes, default=math.inf) - self.state.now(), 0.0)
        has_updates = self.options.on_update or self.replanner
        seconds = min(until_overtime, UPDATE_SECONDS if has_updates else math.inf)
        return None if math.isinf(seconds) else seconds

    def _overtime_begin(self, step: PlanStep) -> float:
        """Return the second of the run from which a running step is reported as late."""
        planned = step.end - step.start
        start = self.state.attempt(step).start
        if planned <= 0 or math.isnan(start):
            return math.inf
        return start + max(OVERTIME_FACTOR * planned, planned + OVERTIME_SECONDS)

    def _report_overtime(self) -> None:
        """Write each step that has become late to the journal, and report it, once."""
        now = self.state.now()
        for step in self._running_steps:
            if step.task in self._reported_tasks or now < self._overtime_begin(step):
                continue
            self._reported_tasks.add(step.task)
            planned = step.end - step.start
            elapsed = now - self.state.attempt(step).start
            self.journal.write("late", task=step.task, name=step.name, planned=planned, time=now)
            self._report(
                f"{step.name} has run for {elapsed:.3g} s, {elapsed / planned:.3g} times its "
                f"planned {planned:.3g} s"
            )

    def _replan(self, replanner: Replanner) -> None:
        """Go on with a better plan for the rest, if there is one."""
        plan = replanner(self.state.situation(), self.options.barrier)
        if plan is not None:
            self.journal.write("replanned", time=self.state.now(), placements=placements_of(plan))
            self.state.adopt_plan(plan)

    def _record_end(self, ended: EndedProcess) -> None:
        """Record that the process of a step has ended."""
        step: PlanStep = ended.key
        outcome = ended.why or ("completed" if ended.exit_code == 0 else "failed")
        details: dict[str, Any] = {}
        cpu_seconds = self._cpu_seconds(ended)
        if cpu_seconds is not None:
            details["cpu_seconds"] = cpu_seconds
        factor = self.options.limit_factor
        is_planned_limit = factor and self._time_limit(step) != self.codes[step.name].timeout
        if outcome == "timeout" and is_planned_limit:
            why = f"ended at {factor:g} times its planned {step.end - step.start:.3g} s"
            details["why"] = why
            self._report(f"{step.name} was {why}")
        end = ended.end + self.state.offset
        self._finish(step, outcome, ended.exit_code, end, **details)

    def _cpu_seconds(self, ended: EndedProcess) -> float | None:
        """Return the processor time of a step (s): here as the kernel tells it, elsewhere as its
        wrapper wrote it; None: it is not known."""
        if self.launcher.is_local:
            return ended.cpu_seconds
        step: PlanStep = ended.key
        ranks = self.codes[step.name].ranks_on(len(step.units))
        usage = process_tree.usage_written(self._output_path(step), ranks)
        return None if usage is None else usage["cpu_seconds"]

    def _finish(
        self, step: PlanStep, outcome: str, exit_code: int, end: float, **details: object
    ) -> None:
        """Release the resources of a step that has ended, write it to the journal, and cancel what
        needs it if it failed."""
        self.state.tokens.release(step)
        self._running_steps.pop(step, None)
        self._write_event("ended", step, state=outcome, exit_code=exit_code, time=end, **details)
        self.state.mark_ended(step)
        if outcome in ("failed", "timeout"):
            self._cancel_followers(step, outcome)
        if outcome != "completed" and self.options.stop_on_failure:
            self.has_stopped = True

    def _cancel_followers(self, failed: PlanStep, outcome: str) -> None:
        """Cancel the steps that come after a failed one in the task graph."""
        cancelled = self.state.skip_followers(failed)
        why = f"{failed.name} {'failed' if outcome == 'failed' else 'was ended at its limit'}"
        now = self.state.now()
        self.journal.write_all(
            [
                ("cancelled", {"task": step.task, "name": step.name, "time": now, "why": why})
                for step in cancelled
            ]
        )
        if cancelled:
            names = listed([step.name for step in cancelled])
            self._report(f"{why}: cancelled, not started: {names}")

    def _end_all(self, pool: ProcessPool) -> None:
        """Forward Ctrl-C or SIGTERM to all processes, and wait until they have ended.

        Processes that still run after the launcher's grace, or after a second signal, are killed.
        """
        number = signal.SIGTERM if self.launcher.ends_gracefully else signal.SIGINT
        self.journal.write(
            "stopping", signal=number.name, time=self.state.now(), grace=self.launcher.grace
        )
        pool.stop(number, "cancelled")
        interrupts_before = pool.interrupts
        while len(pool):
            for ended in pool.wait(None):
                self._record_end(ended)
            if pool.interrupts > interrupts_before:
                pool.stop(signal.SIGKILL, "cancelled")

    def _write_event(self, event: str, step: PlanStep, **details: object) -> None:
        """Write an event of the last attempt at a step to the journal."""
        attempt = self.state.attempt(step).attempt
        self.journal.write(event, task=step.task, name=step.name, attempt=attempt, **details)

    def _report(self, message: str) -> None:
        """Give a message to the caller of the run, if it wants messages."""
        if self.options.on_message:
            self.options.on_message(message)

    def _report_update(self) -> None:
        """Give the state of the run to its caller, if it watches the run."""
        if self.options.on_update:
            self.options.on_update(self.state)
