"""What is known of a run: how far its plan is, by the journal and the clock."""

import functools
import graphlib
import math
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cosched.core.precedence import before_of
from cosched.errors import InvalidInstance
from cosched.execution.codes import Codes
from cosched.execution.journal import Attempt, Journal
from cosched.execution.plans import Plan, PlanStep
from cosched.execution.record import Execution, TaskRun
from cosched.execution.replanning import Situation
from cosched.execution.tokens import Tokens
from cosched.notes import Note, NoteKind

_END_STATES = ("completed", "failed", "timeout", "cancelled")


#: Called a few times a second while a plan runs.
Watch = Callable[["RunState"], None]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a plan is run; see :func:`cosched.execution.run`."""

    #: Folder of the tasks' outputs.
    outputs: Path
    #: A pack starts when the pack before it has ended.
    barrier: bool = True
    #: Run a finished plan once more.
    repeat_all: bool = False
    #: Start nothing more once a task has failed.
    stop_on_failure: bool = False
    #: End a task at so many times its planned seconds; None: at its timeout alone.
    limit_factor: float | None = None
    #: Called a few times a second with the state of the run.
    on_update: Watch | None = None
    #: Called with a line of text on what is late, ended or cancelled.
    on_message: Callable[[str], None] | None = None
    #: Called with the record when all has ended.
    on_end: Callable[[Execution], None] | None = None


@dataclass
class RunState:
    """A run under way: what each step of its plan waits for, is, and took."""

    #: The plan in force.
    plan: Plan
    #: What the tasks run.
    codes: Codes
    #: The file that has each event.
    journal: Journal
    #: How the plan is run.
    options: Options
    #: The name of the launcher.
    launcher: str
    #: What the user should know of the run.
    notes: tuple[Note, ...] = ()
    #: Tasks that this driver has started, or that had completed when it began.
    attempted_tasks: set[int] = field(default_factory=set)
    #: Tasks that are never started: one before them in the task graph failed.
    skipped_tasks: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.original = self.plan
        self.tokens = Tokens.of(self.plan, self.codes)
        # The clock stands still while no driver runs.
        elapsed = 0.0 if self.options.repeat_all else self.journal.past.elapsed
        self.offset = elapsed - time.monotonic()
        self.begun = time.time() - elapsed

    def now(self) -> float:
        """Seconds since the run began, in which a driver was at work."""
        return time.monotonic() + self.offset

    def begin(self) -> None:
        """Take up the plan, as it was planned last, where its last driver left it."""
        completed = (step for step in self.plan.steps if self.attempt(step).state == "completed")
        self.attempted_tasks.update(step.task for step in completed)
        replanned = self.journal.past.replanned
        self.adopt_plan(self.plan if replanned is None else with_placements(self.plan, replanned))

    def adopt_plan(self, plan: Plan) -> None:
        """Go on with the placements of this plan; with other processor counts tasks may need other
        amounts of memory, GPUs and licences."""
        self.plan = plan
        self.tokens.needs = Tokens.of(plan, self.codes).needs
        self._waits = plan.waits_for(self.options.barrier)
        predecessors = plan.needs()
        self._places = {step.task: place for place, step in enumerate(plan.steps)}
        self._ready = ReadySteps(
            self._waits, predecessors, [self._places[t] for t in self.attempted_tasks]
        )
        for step in plan.steps:
            if self.has_ended(step):
                self.mark_ended(step)

    def ready_steps(self) -> list[PlanStep]:
        """Return the steps that wait for no other, and for which there are enough resources."""
        return self.tokens.chosen(self.plan.steps[place] for place in self._ready.ready())

    def mark_started(self, step: PlanStep) -> None:
        """Note that a step is going to be started."""
        self._ready.start(self._places[step.task])
        self.attempted_tasks.add(step.task)

    def mark_ended(self, step: PlanStep) -> None:
        """Let steps that wait for this one go on; if it failed, those that need it are skipped."""
        good = self.attempt(step).state == "completed"
        self._ready.settle(self._places[step.task], good)

    def skip_followers(self, failed: PlanStep) -> list[PlanStep]:
        """Skip the steps that come after a failed one in the task graph; return those steps."""
        skipped: list[PlanStep] = []
        unvisited_tasks = [failed.task]
        while unvisited_tasks:
            for step in self._followers.get(unvisited_tasks.pop(), ()):
                if step.task not in self.skipped_tasks and step.task not in self.attempted_tasks:
                    self.skipped_tasks.add(step.task)
                    skipped.append(step)
                    unvisited_tasks.append(step.task)
        return skipped

    @functools.cached_property
    def _followers(self) -> dict[int, list[PlanStep]]:
        """Task -> steps that wait for it in the task graph."""
        of_task = {step.task: step for step in self.original.steps}
        followers = before_of((after, before) for before, after in self.original.edges)
        return {
            task: [of_task[place] for place in follower_places]
            for task, follower_places in followers.items()
        }

    def attempt(self, step: PlanStep) -> Attempt:
        """The last attempt at a step."""
        return self.journal.past.tasks.get(step.task, Attempt())

    def has_ended(self, step: PlanStep) -> bool:
        """Whether a step was started, or ended before, and has ended."""
        return step.task in self.attempted_tasks and self.attempt(step).state in _END_STATES

    def is_running(self, step: PlanStep) -> bool:
        """Whether a step was started and has not ended."""
        return self.attempt(step).state == "running" and step.task in self.attempted_tasks

    def expected_end(self) -> float:
        """Seconds at which all would be done if what has not ended takes its planned time."""
        now = self.now()
        ends: list[float] = []
        for step, needed in zip(self.plan.steps, self._waits, strict=True):
            attempt = self.attempt(step)
            if self.has_ended(step) or step.task in self.skipped_tasks:
                ends.append(0.0 if step.task in self.skipped_tasks else attempt.end)
                continue
            start = (
                attempt.start if self.is_running(step) else max([now, *(ends[k] for k in needed)])
            )
            ends.append(max(now, start + step.end - step.start))
        return max(ends, default=now)

    def incomplete_count(self) -> int:
        """How many tasks have not completed."""
        return sum(self.attempt(step).state != "completed" for step in self.plan.steps)

    def situation(self) -> Situation:
        """The moment as planning sees it; a task that failed counts as ended."""
        begun = [step for step in self.plan.steps if step.task in self.attempted_tasks]
        return Situation(
            plan=self.plan,
            now=self.now(),
            started={step.task: self.attempt(step).start for step in begun},
            ended={step.task: self.attempt(step).end for step in begun if self.has_ended(step)},
            left_out=frozenset(self.skipped_tasks),
        )

    def execution(self) -> Execution:
        """The record as it is now."""
        pack_of = {
            self.original.steps[place].task: number
            for number, pack in enumerate(self.original.packs())
            for place in pack
        }
        return Execution(
            family=self.original.family,
            launcher=self.launcher,
            barrier=self.options.barrier,
            host=socket.gethostname(),
            notes=(*self.notes, *self._resumed()),
            tasks=tuple(self._row(step, pack_of.get(step.task)) for step in self.original.steps),
            capacity=self.tokens.capacity,
        )

    def _resumed(self) -> tuple[Note, ...]:
        """Return a note of how many drivers have run the plan, one after the other."""
        runs = len(self.journal.past.at_work)
        if runs < 2:
            return ()
        text = f"{runs} drivers one after the other: the time when none ran does not count"
        return (Note(NoteKind.ASSUMED, text, subject="drivers", count=runs),)

    def _row(self, step: PlanStep, pack: int | None) -> TaskRun:
        attempt = self.attempt(step)
        state = attempt.state if attempt.state in _END_STATES else "pending"
        return TaskRun(
            task=step.task,
            name=step.name,
            kind=step.kind,
            units=step.units if attempt.units is None else attempt.units,
            planned_start=step.start,
            planned_end=step.end,
            start=attempt.start,
            end=attempt.end if state != "pending" else math.nan,
            state=state,
            exit_code=attempt.exit_code,
            attempt=attempt.attempt,
            pack=pack,
            cpu_seconds=attempt.cpu_seconds,
            needs=self.tokens.needs[step.task],
        )


def placements_of(plan: Plan) -> list[dict[str, Any]]:
    """The steps of a plan as a journal has them."""
    return [
        {"task": s.task, "units": list(s.units), "start": s.start, "end": s.end} for s in plan.steps
    ]


def with_placements(plan: Plan, placements: Sequence[Mapping[str, Any]]) -> Plan:
    """A plan with other placements; without packs, which replanning dissolves."""
    of_task = {step.task: step for step in plan.steps}
    if {row["task"] for row in placements} != of_task.keys():
        raise InvalidInstance("the journal places other tasks than the plan")
    steps = [
        replace(of_task[row["task"]], units=tuple(row["units"]), start=row["start"], end=row["end"])
        for row in placements
    ]
    return replace(plan, family="moldable", steps=tuple(steps))


class ReadySteps:
    """Steps by their positions, with those that each waits for.

    A step is *settled* when nothing runs there, or will: what waits for it may go on. A step whose
    predecessor in the task graph failed has nothing to work on: it is passed over.

    `waits`: positions that have to be settled before each step may start. `needs`: position -> its
    predecessors in the task graph, which are among its waits. Those `begun` are not to be started.
    """

    def __init__(
        self,
        waits: Sequence[Iterable[int]],
        needs: Mapping[int, Iterable[int]],
        begun: Iterable[int] = (),
    ) -> None:
        self._needs = needs
        self._order = graphlib.TopologicalSorter(dict(enumerate(waits)))
        self._order.prepare()
        self._begun = set(begun)
        self._good: dict[int, bool] = {}  # of what is settled
        self._open: set[int] = set()  # waits for nothing, and is not settled
        self._look()

    def _look(self) -> None:
        """Mark what waits for nothing any more; without what it works on it is settled at once."""
        while new := self._order.get_ready():
            for place in new:
                fell = any(self._good.get(k) is False for k in self._needs.get(place, ()))
                if fell and place not in self._begun:
                    self._good[place] = False
                if place in self._good:
                    self._order.done(place)
                else:
                    self._open.add(place)

    def ready(self) -> list[int]:
        """Steps that may start, in order."""
        return sorted(self._open - self._begun)

    def start(self, place: int) -> None:
        """A step has been started."""
        self._begun.add(place)

    def settle(self, place: int, good: bool) -> None:
        """A step has ended."""
        self._good[place] = good
        if place in self._open:
            self._open.remove(place)
            self._order.done(place)
            self._look()
