"""Steps of the Slurm allocation that the driver runs in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence

import numpy as np

from cosched.errors import InvalidInstance, shorten
from cosched.execution.code import Code
from cosched.execution.codes import Codes
from cosched.execution.launchers.base import Launcher, environment_of
from cosched.execution.planned import Plan, Step
from cosched.execution.processes import Launch

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
    polite = True

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

    def check(self, plan: Plan, codes: Codes) -> tuple[str, ...]:
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
        step: Step,
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
                *srun_size(code, hosts, list(counts.values()), cpus),
                *command,
            ]
        return Launch(
            command=tuple(command),
            environment=environment,
            directory=code.filled_directory(len(step.units), step.units),
            makes_directory=code.makes_directory,
        )

    def forget(self) -> tuple[str, ...]:
        """Steps of this plan that a dead driver's srun left behind."""
        listed = subprocess.run(
            ["squeue", "--steps", f"--jobs={self.job}", "--noheader", "--format=%i %j"],
            capture_output=True,
            text=True,
        )
        lines = (line.split(maxsplit=1) for line in listed.stdout.splitlines())
        left = [parts[0] for parts in lines if len(parts) == 2 and parts[1] == self.step_name]
        if left:
            subprocess.run(["scancel", *left], capture_output=True)
        return tuple(left)

    def _counts_of(self, step: Step) -> Counter[int]:
        """Node of the allocation -> units of the step there, in order."""
        return Counter(sorted(self.node_of[unit] for unit in step.units))


def _gres(code: Code, nodes: int, plan: Plan) -> list[str]:
    """GPUs are those of a node; a step that says nothing takes all of the job's."""
    if code.gpus:
        return [f"--gres=gpu:{-(-code.gpus // nodes)}"]
    return ["--gres=none"] if np.any(plan.resources.get("gpus", 0)) else []


def require_ranks(step: Step, code: Code, nodes: Sequence[int]) -> None:
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
        *code.launch[1:],
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
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part.strip())
        if match is None:
            raise InvalidInstance(f"SLURM_JOB_CPUS_PER_NODE = {shorten(text)}: expected 4(x2),2")
        found += [int(match[1])] * int(match[2] or 1)
    return found


def _nodes(text: str) -> list[str]:
    shown = subprocess.run(["scontrol", "show", "hostnames", text], capture_output=True, text=True)
    if shown.returncode or not shown.stdout.split():
        raise InvalidInstance(f"SLURM_JOB_NODELIST = {shorten(text)}: {shown.stderr.strip()}")
    return shown.stdout.split()
