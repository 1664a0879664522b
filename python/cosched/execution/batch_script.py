"""``execution.script``: a plan as an sbatch script that needs no cosched on the cluster."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from cosched.core import Result, Schedule
from cosched.core.arrays import integer
from cosched.core.options import one_of
from cosched.core.precedence import before_of
from cosched.errors import InvalidInstance, shorten
from cosched.execution.code import Code, output_names
from cosched.execution.codes import Codes
from cosched.execution.launchers import hosts_of, own_environment, require_ranks, srun_size
from cosched.execution.plans import Plan, PlanStep
from cosched.execution.shell_text import quote_word
from cosched.execution.slurm_words import (
    amount_of,
    gpus_option,
    licence_name,
    licences_option,
    mebibytes,
    require_names,
)
from cosched.execution.tokens import Tokens, needs_of
from cosched.units import parse_duration

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, kw_only=True)
class ScriptJob:
    """What sbatch is asked for.

    Attributes
    ----------
    time : str or None
        ``4h``, or as Slurm has it (``2:00:00``); ``"auto"``: the end that the plan passes in 5% of
        the cases, and a minute more, where it knows that; None: the partition's.
    partition, account : str or None
        Of the job.
    chdir : path-like or None
        Where the job runs, and what paths are relative to.
    mem : str or None
        Memory of a node (``64G``); by default the capacity for memory, where steps ask for some.

    Examples
    --------
    >>> ScriptJob(partition="main").time
    'auto'
    """

    time: str | None = "auto"
    partition: str | None = None
    account: str | None = None
    chdir: str | PathLike[str] | None = None
    mem: str | None = None

    def __post_init__(self) -> None:
        for name, pattern, expected in _OPTIONS:
            value = getattr(self, name)
            if value is None:
                continue
            if name == "time" and parse_duration(str(value)) is not None:
                continue
            if not re.fullmatch(pattern, str(value)) or not str(value).isprintable():
                raise InvalidInstance(f"{name} = {shorten(value)}: expected {expected}")
        for name in ("partition", "account"):
            if (names := getattr(self, name)) is not None:
                require_names(names, name)

    def sbatch_lines(self, plan: Plan) -> Iterator[str]:
        """The job's options as lines of an sbatch script; the time limit is that of the `plan`."""
        time = self.time
        seconds = None if time is None else parse_duration(str(time))
        if time == "auto":
            late_end = plan.late_end
            time = None if late_end is None else str(math.ceil(late_end / 60) + 1)
        elif seconds is not None:
            time = str(max(math.ceil(seconds / 60), 1))
        options = {"time": time, "partition": self.partition, "account": self.account}
        for name, value in options.items():
            if value is not None:
                yield f"#SBATCH --{name}={value}"
        if self.chdir is not None:
            yield f'#SBATCH --chdir="{self.chdir}"'


_OPTIONS = (
    ("time", r"auto|[0-9]+(-[0-9]+)?(:[0-9]+){0,2}", "auto, 4h, minutes, H:MM:SS or D-HH:MM:SS"),
    ("chdir", r"""[^"'\\]+""", "a folder without quotes"),
    ("mem", r"[0-9]+[KMGT]?", "a number such as 64G"),
)


def script(
    schedule: Schedule | Result | Plan,
    codes: Codes,
    *,
    unit: str = "core",
    nodes: int = 1,
    cpus_per_node: int | None = None,
    name: str = "cosched",
    job: ScriptJob | None = None,
    relative_to: str | PathLike[str] | None = None,
) -> str:
    """A plan as a script for ``sbatch``: ``srun --exact ... &`` for each task, ``wait``.

    Packs: all tasks of a pack, then a wait. Other plans: each task waits for those before it on
    its processors, and in a task graph for its predecessors; tasks are started in the order of
    their planned starts. Where capacities are known a task also waits until its needs fit beside
    what may still run; its step gets ``--mem``, ``--gres`` and ``--licenses``. The script ends
    with the number of tasks that failed (at most 125). Submitted again, it runs what has not
    completed: a file ``cosched-PLAN.done`` has that, until all have. In a task graph what comes
    after a task that failed is left out.

    Parameters
    ----------
    schedule : Schedule, Result or Plan
    unit : {"core", "node"}
        What a processor of the plan is.
    nodes : int
        Nodes over which cores are spread evenly (``unit="core"``).
    cpus_per_node : int, optional
        Cores of a node that a task may use (``unit="node"``); by default Slurm's.
    name : str
        Of the job.
    job : ScriptJob, optional
        What sbatch is asked for.
    relative_to : path-like, optional
        Folders below it are written relative to where the job runs; None: ``job.chdir``, if given.

    Raises
    ------
    InvalidInstance
        The plan does not fit the codes, or one process would be on several nodes.

    Examples
    --------
    >>> from cosched.execution import Code, Codes, script
    >>> inst = cs.packs.Instance([[1.0]], names=["fem"])
    >>> codes = Codes(procs=1, codes={"fem": Code(name="fem", command="./fem {procs}")})
    >>> text = script(cs.packs.sequential(inst), codes)
    >>> "srun --exact" in text, "wait_all" in text.splitlines()
    (True, True)
    """
    plan = Plan.of(schedule)
    one_of(unit, "unit", ("core", "node"))
    plan.require_order_of(codes)
    for step in plan.steps:
        codes[step.name].require_count(len(step.units))
        if step.kind:
            raise InvalidInstance("script: accelerators are not placed: expected a plan of cores")
    size = _Size(plan, unit, integer(nodes, "nodes", 1), cpus_per_node)
    asked = ScriptJob() if job is None else job
    base = asked.chdir if relative_to is None else relative_to
    writer = _Writer(plan, codes, size, None if base is None else Path(base).absolute())
    lines = [*_head(plan, codes, size, name, asked), *writer.body(), *_TAIL]
    return "\n".join(lines) + "\n"


class _Size:
    """Where the units of a plan are."""

    def __init__(self, plan: Plan, unit: str, nodes: int, cpus_per_node: int | None) -> None:
        self.unit = unit
        self.units = max(plan.procs or 0, plan.units_of(0))
        self.nodes = self.units if unit == "node" else nodes
        self.each = 1 if unit == "node" else -(-self.units // nodes)
        self.cpus = 1 if cpus_per_node is None else integer(cpus_per_node, "cpus_per_node", 1)

    def counts_of(self, step: PlanStep) -> Counter[int]:
        """Node -> units of the step there, in order."""
        return Counter(sorted(unit // self.each for unit in step.units))


def _head(plan: Plan, codes: Codes, size: _Size, name: str, job: ScriptJob) -> Iterator[str]:
    cores = size.cpus if size.unit == "node" else size.each
    yield from (
        "#!/bin/bash",
        f"#SBATCH --job-name={output_names([name])[name]}",
        f"#SBATCH --nodes={size.nodes} --ntasks-per-node=1 --cpus-per-task={cores}",
    )
    if size.unit == "node":
        yield "#SBATCH --exclusive"
    yield from job.sbatch_lines(plan)
    yield from _whole_needs(plan, codes, size, job)
    yield from (
        f"# {len(plan.steps)} tasks ({plan.family}), planned end {plan.makespan:.6g} s; written",
        "# by `cosched script`, needs Slurm and bash only. Outputs: NAME.out in this folder.",
        "# Submitted again, it runs what has not completed.",
        "",
        'mapfile -t NODE < <(scontrol show hostnames "$SLURM_JOB_NODELIST")',
        "unset SLURM_CPUS_PER_TASK SLURM_NTASKS SLURM_NTASKS_PER_NODE SLURM_NPROCS",
        "OUT=$PWD",
        f'DONE="$OUT"/cosched-{plan.digest}.done',
        *_functions(in_order=bool(plan.edges)),
    )


def _functions(*, in_order: bool) -> Iterator[str]:
    """Return functions of bash; where tasks have an order, with what starts those whose
    predecessors completed."""
    for line in _FUNCTIONS.splitlines():
        yield line.replace(_ENDED, f"{_ENDED} && over[$k]=1") if in_order else line
    yield from (_OF_ORDER + _MAY_START).splitlines() if in_order else ()


#: Of bash; the last one is for tasks with an order.
_FUNCTIONS, _OF_ORDER, _MAY_START = (
    Path(__file__).with_suffix(".sh").read_text("utf-8").partition("# Whether those")
)
_ENDED = 'wait "${pid[$k]}"'
_TAIL = ("", '[ $failed != 0 ] || rm -f -- "$DONE"', "exit $((failed > 125 ? 125 : failed))")


def _whole_needs(plan: Plan, codes: Codes, size: _Size, job: ScriptJob) -> Iterator[str]:
    """Yield what the job needs so that its steps can have theirs."""
    every = [
        {what: amount_of(need, what) for what, need in needs_of(step, codes, plan).items()}
        for step in plan.steps
    ]
    needed_resources = {what for needs in every for what, need in needs.items() if need}
    capacity = {
        what: amount_of(most, f"capacity.{what}")
        for what, most in {**plan.capacity, **codes.capacity}.items()
    }
    if job.mem is not None:
        yield f"#SBATCH --mem={job.mem}"
    elif "memory" in needed_resources:
        most = capacity.get("memory")  # all of the node's, where nobody says
        yield f"#SBATCH --mem={0 if most is None else f'{mebibytes(most / size.nodes)}M'}"
    sums = {
        what: capacity.get(what, sum(n.get(what, 0) for n in every))
        for what in sorted(needed_resources)
    }
    if "gpus" in needed_resources:
        yield f"#SBATCH {gpus_option(sums['gpus'] / size.nodes)}"
    licences = {name: most for what, most in sums.items() if (name := licence_name(what))}
    if option := licences_option(licences):
        yield f"#SBATCH {option}"


class _Writer:
    """The steps of a plan, in the order in which they are started."""

    def __init__(self, plan: Plan, codes: Codes, size: _Size, base: Path | None) -> None:
        self.plan, self.codes, self.size, self.base = plan, codes, size, base
        self.names = output_names(step.name for step in plan.steps)
        self.tokens = Tokens.of(plan, codes)
        self.has_gpus = any(needs_of(step, codes, plan).get("gpus") for step in plan.steps)
        self.running: dict[int, PlanStep] = {}  # started, and nobody has waited for it
        self.before = before_of(plan.edges)  # task -> its predecessors in the task graph

    def body(self) -> Iterator[str]:
        plan = self.plan
        packs = plan.packs()
        for number, pack in enumerate(packs, start=1):
            first, last = plan.steps[pack[0]].start, max(plan.steps[k].end for k in pack)
            yield from ("", f"# pack {number}: planned {first:.6g} s to {last:.6g} s")
            for place in pack:
                yield from self._start(plan.steps[place])
            yield "wait_all"
            for step in list(self.running.values()):
                self._forget(step)
        if packs:
            return
        waits = plan.waits_for(True)
        yield ""
        for place, step in enumerate(plan.steps):
            yield from self._wait([plan.steps[k] for k in waits[place]])
            yield from self._start(step)
        yield "wait_all"

    def _wait(self, steps: Sequence[PlanStep]) -> Iterator[str]:
        if steps:
            yield f"wait_for {' '.join(map(str, sorted(step.task for step in steps)))}"
            for step in steps:
                self._forget(step)

    def _forget(self, step: PlanStep) -> None:
        self.running.pop(step.task, None)
        self.tokens.release(step)

    def _start(self, step: PlanStep) -> Iterator[str]:
        while not self.tokens.chosen([step]):  # what runs and holds what it needs, the first to end
            needs = self.tokens.needs[step.task]
            holding = [s for s in self.running.values() if needs.keys() & self.tokens.needs[s.task]]
            yield from self._wait([min(holding, key=lambda s: (s.end, s.task))])
        self.tokens.acquire(step)
        self.running[step.task] = step
        yield from self._lines(step, self.codes[step.name])

    def _lines(self, step: PlanStep, code: Code) -> Iterator[str]:
        counts = self.size.counts_of(step)
        require_ranks(step, code, list(counts))
        hosts = [f"${{NODE[{node}]}}" for node in counts]
        limit = [] if code.timeout is None else ["timeout", f"{code.timeout:g}"]
        words = code.filled(len(step.units), step.units, _HOSTS)
        command = [_with_hosts(word, hosts_of(hosts, list(counts.values()))) for word in words]
        if not code.starts_ranks:
            command = [
                *("srun", "--exact", *self._needs(step, counts), "--input=none"),
                *map(quote_word, code.launch[1:]),
                *srun_size(code, hosts, list(counts.values()), self.size.cpus),
                *command,
            ]
        exports = " ".join(f"{k}={quote_word(v)}" for k, v in self._environment(step, code).items())
        if code.starts_ranks:  # mpirun takes its slots from the number of tasks of the job
            exports += ' SLURM_OVERLAP=1 SLURM_TASKS_PER_NODE="$SLURM_JOB_CPUS_PER_NODE"'
        folder = quote_word(str(self._folder(step, code)))
        make_directory = f"mkdir -p -- {folder} && " if code.makes_directory else ""
        before = " ".join(map(str, sorted(self.before.get(step.task, ()))))
        may_start = f" ! may_start {step.task} {before} ||" if before else ""
        yield f'[ -n "${{over[{step.task}]}}" ] ||{may_start} {{'
        yield f"( {make_directory}cd -- {folder} && export {exports} &&"
        yield f"  {' '.join([*limit, *command])}"
        yield f'  and_done {step.task} ) > "$OUT"/{self.names[step.name]}.out 2>&1 &'
        yield f"pid[{step.task}]=$!; }}"

    def _environment(self, step: PlanStep, code: Code) -> dict[str, str]:
        variables = own_environment(step, code, step.units, self.size.cpus)
        for key in variables:
            if not _VARIABLE.fullmatch(key):
                raise InvalidInstance(
                    f"task {shorten(step.name)}: environment {shorten(key)}: expected letters, "
                    "digits and _ in a script"
                )
        return variables

    def _needs(self, step: PlanStep, counts: Counter[int]) -> list[str]:
        """Return options of srun: memory and GPUs are those of a node."""
        needs = needs_of(step, self.codes, self.plan)
        share = max(counts.values()) / len(step.units)
        memory, gpus = needs.get("memory"), needs.get("gpus")
        options = [f"--mem={f'{mebibytes(memory * share)}M' if memory else 0}"]
        if gpus:
            options.append(gpus_option(gpus / len(counts)))
        elif self.has_gpus:
            options.append("--gres=none")  # without a word a step takes all of the job's
        licences = {name: need for what, need in needs.items() if (name := licence_name(what))}
        option = licences_option(licences)
        return options if option is None else [*options, option]

    def _folder(self, step: PlanStep, code: Code) -> Path:
        folder = code.filled_directory(len(step.units), step.units)
        if self.base is not None and folder.absolute().is_relative_to(self.base):
            return folder.absolute().relative_to(self.base)
        return folder


#: Stands for the nodes of a step until its words are quoted.
_HOSTS = "\0hosts\0"


def _with_hosts(word: str, hosts: str) -> str:
    return hosts.join(quote_word(part) if part else "" for part in word.split(_HOSTS)) or "''"
