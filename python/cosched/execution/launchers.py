"""Launchers: how a step of a plan becomes a process, here or in an allocation of Slurm."""

import os
import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from cosched.core.arrays import nonnegative
from cosched.core.options import one_of
from cosched.core.text import unknown_name
from cosched.deprecation import DeprecatedAttribute
from cosched.errors import InvalidInstance, shorten
from cosched.execution.code import Code
from cosched.execution.codes import Codes
from cosched.execution.plans import Plan, PlanStep
from cosched.execution.processes import Launch
from cosched.notes import Note, NoteKind


class Launcher(ABC):
    """Where a plan runs, and how its processes end: makes commands of steps."""

    name: str
    #: Processes are asked to end (SIGTERM), and killed after `grace` seconds, also where the driver
    #: has died. Else they are interrupted (SIGINT), and killed at once where the driver has died.
    ends_gracefully = False
    #: The processes of tasks are on this host, and what they use can be seen.
    is_local = False

    def __init__(self, oversubscribe: bool, unit: str, grace: float) -> None:
        self.oversubscribe = oversubscribe
        self.unit = one_of(unit, "unit", ("core", "node"))
        self.grace = nonnegative(grace, "grace")

    @abstractmethod
    def check(self, plan: Plan, codes: Codes) -> tuple[Note, ...]:
        """Notes on how the plan fits here."""

    @abstractmethod
    def launch(
        self,
        step: PlanStep,
        code: Code,
        plan: Plan,
        gpus: Sequence[int] | None = None,
        around: Sequence[str] = (),
    ) -> Launch:
        """The command of a step, where it is pinned, its environment.

        `gpus`: the numbers of those that it has been given; None: nobody counts them. `around`:
        what runs the command where that is not on this host, and sees what it uses.
        """

    def cores_of(self, units: int) -> int:
        """Cores of so many processors of a plan."""
        return units

    def cancel_leftovers(self) -> tuple[str, ...]:
        """End what earlier drivers of this plan left running on other hosts; return what it was."""
        return ()

    polite = DeprecatedAttribute("ends_gracefully")
    here = DeprecatedAttribute("is_local")
    forget = DeprecatedAttribute("cancel_leftovers")


def environment_of(
    step: PlanStep, code: Code, cpus: Sequence[int], plan: Plan, gpus: Sequence[int] | None = None
) -> dict[str, str]:
    """The environment of a task: the driver's, what the code gives, and what it may look at."""
    variables = {**os.environ, **own_environment(step, code, cpus)}
    if gpus is not None:
        variables["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
    elif plan.has_accelerators:  # nobody uses one that is not given to him
        first = sum(plan.units_of(kind) for kind in range(1, step.kind))
        devices = [first + unit for unit in step.units] if step.kind else []
        variables["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, devices))
    return variables


def own_environment(
    step: PlanStep, code: Code, cpus: Sequence[int], each: int = 1
) -> dict[str, str]:
    """What a task gets, and its code gives; `each`: cores of a unit."""
    return {
        "OMP_NUM_THREADS": str(len(step.units) * each),
        **code.filled_environment(len(step.units), cpus),
        "COSCHED_TASK": step.name,
        "COSCHED_PROCS": str(len(step.units)),
        "COSCHED_CPUS": ",".join(map(str, cpus)),
    }


class Local(Launcher):
    """Cores of this host: unit k is the k-th that this process may use; tasks are pinned.

    Parameters
    ----------
    oversubscribe : bool
        Let processors of the plan share cores where there are too few.
    unit : str
        ``"core"``, nothing else.
    grace : float
        Seconds between the signal that asks a task to end and SIGKILL.

    Examples
    --------
    >>> Local(grace=1.0).name
    'local'
    """

    name = "local"
    is_local = True

    def __init__(
        self, *, oversubscribe: bool = False, unit: str = "core", grace: float = 5.0
    ) -> None:
        super().__init__(oversubscribe, unit, grace)
        if self.unit != "core":
            raise InvalidInstance("unit = 'node' needs the launcher slurm: expected 'core'")
        self.cores = tuple(sorted(os.sched_getaffinity(0)))

    def check(self, plan: Plan, codes: Codes) -> tuple[Note, ...]:
        for step in plan.steps:
            if codes[step.name].launch[:1] == ("srun",):
                raise InvalidInstance(
                    f"task {shorten(step.name)}: launch = 'srun' needs the launcher slurm: "
                    "expected mpirun, or none"
                )
        needed = plan.units_of(0)
        if needed <= len(self.cores):
            return ()
        if not self.oversubscribe:
            raise InvalidInstance(
                f"the plan uses {needed} processors, this process may use {len(self.cores)} cores: "
                "expected a plan for fewer, or --oversubscribe to share cores (times then mean "
                "little)"
            )
        text = (
            f"{needed} processors of the plan on {len(self.cores)} cores: processor k is core "
            f"number k modulo {len(self.cores)}, so tasks share cores; COSCHED_CPUS has k"
        )
        return (Note(NoteKind.ASSUMED, text, subject="processors", count=needed),)

    def launch(
        self,
        step: PlanStep,
        code: Code,
        plan: Plan,
        gpus: Sequence[int] | None = None,
        around: Sequence[str] = (),
    ) -> Launch:
        cores: frozenset[int] | None = None
        cpus: tuple[int, ...] = ()
        if not step.kind:  # on an accelerator, its host part goes where there is room
            pinned_cores = tuple(self.cores[unit % len(self.cores)] for unit in step.units)
            cores = frozenset(pinned_cores)
            cpus = step.units if plan.units_of(0) > len(self.cores) else pinned_cores
        return Launch(
            command=tuple(code.filled(len(step.units), cpus)),
            environment=environment_of(step, code, cpus, plan, gpus),
            directory=code.filled_directory(len(step.units), cpus),
            makes_directory=code.makes_directory,
            cores=cores,
        )


#: What sbatch tells of the job's own size, which srun would take for that of a step.
_OF_THE_JOB = (
    "SLURM_CPUS_PER_TASK", "SLURM_NTASKS", "SLURM_NTASKS_PER_NODE", "SLURM_NPROCS",
    "SLURM_DISTRIBUTION",
)  # fmt: skip


class Slurm(Launcher):
    """Unit k is the k-th core of the allocation, node by node (or its k-th node): ``srun --exact``.

    Slurm chooses which cores of a node a step gets; steps side by side never share one.

    Parameters
    ----------
    oversubscribe : bool
        False, nothing else.
    unit : {"core", "node"}
        What a processor of the plan is.
    grace : float
        Seconds between the signal that asks a task to end and SIGKILL.

    Examples
    --------
    >>> from cosched.execution import Slurm
    >>> Slurm.name
    'slurm'
    """

    name = "slurm"
    ends_gracefully = True

    def __init__(
        self, *, oversubscribe: bool = False, unit: str = "core", grace: float = 5.0
    ) -> None:
        super().__init__(oversubscribe, unit, grace)
        if self.oversubscribe:
            raise InvalidInstance("oversubscribe is for the launcher local")
        self.job = os.environ.get("SLURM_JOB_ID", "")
        if not self.job or shutil.which("srun") is None:
            raise InvalidInstance(
                "launcher slurm: no Slurm allocation here: expected to run inside sbatch or salloc "
                "(or use `cosched script`)"
            )
        self.nodes = _nodes(os.environ["SLURM_JOB_NODELIST"])
        self.cpus = cpus_of(os.environ["SLURM_JOB_CPUS_PER_NODE"])
        each = self.cpus if self.unit == "core" else [1] * len(self.nodes)
        #: Unit -> node of the allocation.
        self.node_of = [node for node, count in enumerate(each) for _ in range(count)]
        self.step_name = ""

    def check(self, plan: Plan, codes: Codes) -> tuple[Note, ...]:
        self.step_name = f"cosched-{plan.digest}"
        if plan.units_of(0) > len(self.node_of):
            raise InvalidInstance(
                f"the plan uses {plan.units_of(0)} {self.unit}s, the allocation has "
                f"{len(self.node_of)}: expected a larger one, or a plan for fewer"
            )
        for step in plan.steps:
            if step.kind:
                raise InvalidInstance("launcher slurm: accelerators are not placed: expected cores")
            require_ranks(step, codes[step.name], list(self._counts_of(step)))
        return ()

    def cores_of(self, units: int) -> int:
        return units if self.unit == "core" else sum(self.cpus[:units])

    def launch(
        self,
        step: PlanStep,
        code: Code,
        plan: Plan,
        gpus: Sequence[int] | None = None,
        around: Sequence[str] = (),
    ) -> Launch:
        counts = self._counts_of(step)
        hosts = [self.nodes[node] for node in counts]
        cpus = self.cpus[next(iter(counts))] if self.unit == "node" else 1
        where = hosts_of(hosts, list(counts.values()))
        command = code.filled(len(step.units), step.units, where, around)
        environment = environment_of(step, code, step.units, plan)
        for name in _OF_THE_JOB:
            environment.pop(name, None)
        if code.starts_ranks:
            environment |= {
                "SLURM_OVERLAP": "1",
                "SLURM_JOB_NAME": self.step_name,
                # mpirun takes its slots from the number of tasks of the job.
                "SLURM_TASKS_PER_NODE": os.environ["SLURM_JOB_CPUS_PER_NODE"],
            }
        else:
            command = [
                *("srun", "--exact", "--mem=0", "--input=none", f"--job-name={self.step_name}"),
                *_gres(code, len(counts), plan),
                *code.launch[1:],
                *srun_size(code, hosts, list(counts.values()), cpus),
                *command,
            ]
        return Launch(
            command=tuple(command),
            environment=environment,
            directory=code.filled_directory(len(step.units), step.units),
            makes_directory=code.makes_directory,
        )

    def cancel_leftovers(self) -> tuple[str, ...]:
        """Steps of this plan that a dead driver's srun left behind."""
        listed = subprocess.run(
            ["squeue", "--steps", f"--jobs={self.job}", "--noheader", "--format=%i %j"],
            capture_output=True,
            text=True,
        )
        lines = (line.split(maxsplit=1) for line in listed.stdout.splitlines())
        leftover_steps = [
            parts[0] for parts in lines if len(parts) == 2 and parts[1] == self.step_name
        ]
        if leftover_steps:
            subprocess.run(["scancel", *leftover_steps], capture_output=True)
        return tuple(leftover_steps)

    def _counts_of(self, step: PlanStep) -> Counter[int]:
        """Return the node of the allocation -> units of the step there, in order."""
        return Counter(sorted(self.node_of[unit] for unit in step.units))


def _gres(code: Code, nodes: int, plan: Plan) -> list[str]:
    """GPUs are those of a node; a step without ``--gres`` takes all GPUs of the job."""
    if code.gpus:
        return [f"--gres=gpu:{-(-code.gpus // nodes)}"]
    return ["--gres=none"] if np.any(plan.resources.get("gpus", 0)) else []


def require_ranks(step: PlanStep, code: Code, nodes: Sequence[int]) -> None:
    """Refuse one process on several nodes."""
    if len(nodes) > 1 and not code.a_rank_each and not code.starts_ranks:
        raise InvalidInstance(
            f'task {shorten(step.name)} is on {len(nodes)} nodes: expected ranks = "procs" in its '
            "code (srun starts one process a processor, as for MPI), or counts that fit one node"
        )


def hosts_of(hosts: Sequence[str], counts: Sequence[int]) -> str:
    """``n1:4,n2:2``, as mpirun has it."""
    return ",".join(f"{host}:{count}" for host, count in zip(hosts, counts, strict=True))


def srun_size(code: Code, hosts: Sequence[str], counts: Sequence[int], cpus: int) -> list[str]:
    """Options of srun: nodes, processes, cores a process; `cpus` = cores of one unit.

    Ranks are laid where the plan has its units: node by node, with a node named once a rank. Left
    to itself Slurm lays 4 and 2 as 3 and 3, where a step beside it has been given the fourth core.
    """
    units = sum(counts)
    tasks, each = (units, cpus) if code.a_rank_each else (1, units * cpus)
    size = [
        f"--nodes={len(hosts)}",
        f"--ntasks={tasks}",
        f"--cpus-per-task={each}",
    ]
    if tasks == 1 or len(hosts) == 1:
        return [*size, f"--nodelist={','.join(hosts)}"]
    ranks = [host for host, count in zip(hosts, counts, strict=True) for _ in range(count)]
    return [*size, "--distribution=arbitrary", f"--nodelist={','.join(ranks)}"]


def cpus_of(text: str) -> list[int]:
    """``4(x2),2`` as [4, 4, 2]."""
    cpu_counts: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part.strip())
        if match is None:
            raise InvalidInstance(f"SLURM_JOB_CPUS_PER_NODE = {shorten(text)}: expected 4(x2),2")
        cpu_counts += [int(match[1])] * int(match[2] or 1)
    return cpu_counts


def _nodes(text: str) -> list[str]:
    scontrol = subprocess.run(
        ["scontrol", "show", "hostnames", text], capture_output=True, text=True
    )
    if scontrol.returncode or not scontrol.stdout.split():
        raise InvalidInstance(f"SLURM_JOB_NODELIST = {shorten(text)}: {scontrol.stderr.strip()}")
    return scontrol.stdout.split()


LAUNCHERS: dict[str, type[Launcher]] = {"local": Local, "slurm": Slurm}


def launcher_of(launcher: str | Launcher, **options: Any) -> Launcher:
    """The launcher itself, or that of a name with these options; what cannot work is refused."""
    if isinstance(launcher, Launcher):
        if options:
            raise TypeError(
                f"{', '.join(options)}: expected as options of {launcher.name!r} itself"
            )
        return launcher
    if launcher not in LAUNCHERS:
        raise InvalidInstance(unknown_name("launcher", launcher, LAUNCHERS))
    unknown = options.keys() - {"oversubscribe", "unit", "grace"}
    if unknown:
        raise TypeError(f"unknown option {min(unknown)!r} (launchers: grace, oversubscribe, unit)")
    return LAUNCHERS[launcher](**options)
