"""Steps of the Slurm allocation that the driver runs in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence

from cosched.errors import InvalidInstance, shorten
from cosched.execution.codes import Code, Codes
from cosched.execution.launchers.base import Launcher, environment_of
from cosched.execution.planned import Plan, Step
from cosched.execution.processes import Launch


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

    @property
    def processors(self) -> int:
        return len(self.node_of)

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
            require_ranks(step, codes[step.name], self._nodes_of(step))
        return ()

    def launch(self, step: Step, code: Code, plan: Plan) -> Launch:
        nodes = self._nodes_of(step)
        command = [
            *("srun", "--exact", "--mem=0", "--input=none", f"--job-name={self.step_name}"),
            f"--nodelist={','.join(self.nodes[node] for node in nodes)}",
            *srun_size(step, code, nodes, self.cpus[nodes[0]] if self.unit == "node" else 1),
            *code.filled(len(step.units), step.units),
        ]
        return Launch(
            command=tuple(command),
            environment=environment_of(step, code, step.units, plan),
            directory=code.directory,
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

    def _nodes_of(self, step: Step) -> list[int]:
        return sorted({self.node_of[unit] for unit in step.units})


def require_ranks(step: Step, code: Code, nodes: Sequence[int]) -> None:
    """Refuse one process on several nodes."""
    if len(nodes) > 1 and code.ranks == "one":
        raise InvalidInstance(
            f'task {shorten(step.name)} is on {len(nodes)} nodes: expected ranks = "procs" in its '
            "code (srun starts one process a processor, as for MPI), or counts that fit one node"
        )


def srun_size(step: Step, code: Code, nodes: Sequence[int], cpus: int) -> list[str]:
    """Options of srun: nodes, processes, cores a process; `cpus` = cores of one unit."""
    count = len(step.units)
    tasks, each = (count, cpus) if code.ranks == "procs" else (1, count * cpus)
    return [f"--nodes={len(nodes)}", f"--ntasks={tasks}", f"--cpus-per-task={each}"]


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
