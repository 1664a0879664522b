"""``execution.run`` and ``execution.commands``."""

import shlex
import warnings
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from cosched.core import Result, Schedule
from cosched.core.arrays import positive
from cosched.errors import InvalidInstance
from cosched.execution.codes import Codes
from cosched.execution.driver import Driver
from cosched.execution.journal import Journal, Past, read_past
from cosched.execution.launchers import Launcher, launcher_of
from cosched.execution.plans import Plan
from cosched.execution.record import Execution
from cosched.execution.replanning import Replanner
from cosched.execution.run_state import Options, RunState, Watch, with_placements
from cosched.execution.tokens import Tokens


def run(
    schedule: Schedule | Result | Plan,
    codes: Codes,
    launcher: str | Launcher = "local",
    *,
    barrier: bool = True,
    journal: str | PathLike[str] = "journal.jsonl",
    resume: bool = False,
    repeat: bool = False,
    limit_factor: float | None = None,
    replan: float | None = None,
    stop_on_failure: bool = False,
    outputs: str | PathLike[str] | None = None,
    watch: Watch | None = None,
    tell: Callable[[str], None] | None = None,
    done: Callable[[Execution], None] | None = None,
    again: bool | None = None,
    **options: object,
) -> Execution:
    """Run a plan: every task as a process of its own, on the processors that the plan gives it.

    A pack starts when the one before has ended (`barrier`); without barrier, and in the other
    families, a task starts when the tasks before it on its processors have ended, in a task
    graph when its predecessors have completed, too. A task that fails does not keep the others
    from running, only what comes after it in the task graph, which is ``cancelled``. A task starts
    only when what it needs of memory, GPUs and licences is free beside what runs, in the order of
    the plan: as its code declares it, else as the plan has it.

    The journal is appended and synced before and after each start, and at each end. When the
    driver dies its tasks die with it: the kernel ends the processes that it started, and a
    watchdog (a small process that outlives it) all that they started. `resume` then runs what has
    not completed; what ran at that moment is marked ``lost`` in the journal and runs again. Ctrl-C
    and SIGTERM are forwarded to the tasks; after the launcher's `grace` they are killed.

    Parameters
    ----------
    schedule : Schedule, Result or Plan
        Of packs, moldable or dags.
    launcher : {"local", "slurm"} or Launcher
        Processors are cores of this host (:class:`Local`), or of the nodes of the Slurm allocation
        that this process is in (:class:`Slurm`).
    barrier : bool
        Packs only.
    journal : str or path-like
        JSON lines.
    resume : bool
        Go on with the journal that is there; without, one that is there is refused. The time when
        no driver ran does not count.
    repeat : bool
        Run a finished plan once more, in the same journal.
    limit_factor : float, optional
        End a task, as at its timeout, at so many times its planned seconds.
    replan : float, optional
        When a task's real time is off by more than this share of the planned one, plan the
        rest anew. Needs a plan that knows its times; dissolves the barriers between packs.
    stop_on_failure : bool
        Start nothing more once a task has failed.
    outputs : str or path-like, optional
        Folder of the tasks' outputs, a file an attempt. None: beside the journal, ``.outputs``.
    watch : callable, optional
        Called a few times a second with the state of the run; its ``execution()`` says how far all
        is.
    tell : callable, optional
        Called with a line for each task that has run for five times its planned seconds, and for
        what is cancelled because a task before it failed.
    done : callable, optional
        Called with the record when all has ended, after Ctrl-C or SIGTERM, too.
    again : bool, optional
        Deprecated name of `repeat`.
    **options
        Of a launcher that is given by its name: ``oversubscribe``, ``unit``, ``grace``.

    Raises
    ------
    InvalidInstance
        The plan does not fit the codes or the machine, or a journal is there; nothing has run.
    KeyboardInterrupt
        After Ctrl-C or SIGTERM, when all tasks have ended and the journal is whole.

    Examples
    --------
    >>> from cosched.execution import Code, Codes, run
    >>> inst = cs.packs.Instance([[0.1], [0.1]], names=["a", "b"])
    >>> codes = Codes(procs=1, codes={name: Code(name=name, command="true") for name in "ab"})
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> execution = run(cs.packs.solve(inst, "optimal"), codes, journal=folder / "journal.jsonl")
    >>> execution.to_frame()[["name", "state", "exit_code", "attempt"]].to_numpy().tolist()
    [['a', 'completed', 0, 1], ['b', 'completed', 0, 1]]
    """
    if again is not None:
        warnings.warn("run(again=) is now run(repeat=)", DeprecationWarning, stacklevel=2)
        repeat = again
    plan = Plan.of(schedule)
    chosen = launcher_of(launcher, **options)
    plan.check(codes)
    notes = chosen.check(plan, codes)
    factor = None if limit_factor is None else positive(limit_factor, "limit_factor")
    if resume and repeat:
        raise InvalidInstance("resume goes on with a run, repeat begins one: expected one of both")
    replanner = None if replan is None else Replanner.of(plan, codes, replan)
    Tokens.of(plan, codes)
    folder = Path(journal).with_suffix(".outputs") if outputs is None else Path(outputs)
    how = Options(
        outputs=folder,
        barrier=barrier,
        repeat_all=repeat,
        stop_on_failure=stop_on_failure,
        limit_factor=factor,
        on_update=watch,
        on_message=tell,
        on_end=done,
    )
    tasks = [step.task for step in plan.steps] if repeat else None
    book = Journal.open(journal, resume, plan.digest, tasks)
    try:
        folder.mkdir(exist_ok=True)
        state = RunState(plan, codes, book, how, chosen.name, notes)
        return Driver(state, chosen, replanner).drive()
    finally:
        book.close()


class CommandRow(NamedTuple):
    """A row of :func:`commands`."""

    name: str
    start: float
    cores: str
    command: str


def commands(
    schedule: Schedule | Result | Plan,
    codes: Codes,
    launcher: str | Launcher = "local",
    *,
    journal: str | PathLike[str] | None = None,
    **options: object,
) -> list[CommandRow]:
    """What :func:`run` would start, in order; nothing is run.

    A named tuple a task: its planned start (s), and the cores that it is pinned to, as text.

    Parameters
    ----------
    schedule : Schedule, Result or Plan
    launcher, **options
        As for :func:`run`.
    journal : str or path-like, optional
        Of a run that would be resumed: what completed there would not be started.

    Raises
    ------
    InvalidInstance
        The plan does not fit the codes or the machine.

    Examples
    --------
    >>> from cosched.execution import Code, Codes, commands
    >>> inst = cs.packs.Instance([[1.0]], names=["fem"])
    >>> codes = Codes(procs=1, codes={"fem": Code(name="fem", command="./fem {procs}")})
    >>> [row.command for row in commands(cs.packs.sequential(inst), codes)]
    ["/bin/sh -c './fem 1'"]
    """
    plan = Plan.of(schedule)
    chosen = launcher_of(launcher, **options)
    plan.check(codes)
    chosen.check(plan, codes)
    past = Past() if journal is None else read_past(journal)
    if past.runs and past.plan != plan.digest:
        raise InvalidInstance(f"{journal}: the journal of another plan")
    placed = with_placements(plan, past.replanned) if past.replanned else plan
    rows = []
    for step in placed.steps:
        if past.of(step.task).state == "completed":
            continue
        launch = chosen.launch(step, codes[step.name], placed)
        cores = "" if launch.cores is None else ",".join(map(str, sorted(launch.cores)))
        rows.append(CommandRow(step.name, step.start, cores, shlex.join(launch.command)))
    return rows
