"""``execution.script``: a plan as an sbatch script that needs no cosched on the cluster."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from cosched.core import Result, Schedule
from cosched.core.arrays import integer
from cosched.errors import InvalidInstance, shorten
from cosched.execution.codes import Code, Codes
from cosched.execution.launchers.slurm import require_ranks, srun_size
from cosched.execution.output_names import output_names
from cosched.execution.planned import Plan, Step

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def script(
    schedule: Schedule | Result | Plan,
    codes: Codes,
    *,
    unit: str = "core",
    nodes: int = 1,
    cpus_per_node: int | None = None,
    name: str = "cosched",
) -> str:
    """A plan as a script for ``sbatch``: ``srun --exact ... &`` for each task, ``wait``.

    Packs: all tasks of a pack, then a wait. Other plans: each task waits for those before it on
    its processors, and in a task graph for its predecessors; tasks are started in the order of
    their planned starts. The script ends with the number of tasks that failed (at most 125).

    Parameters
    ----------
    schedule : Schedule, Result or Plan
    unit : {"core", "node"}
        What a processor of the plan is.
    nodes : int
        Nodes over which cores are spread evenly (``unit="core"``).
    cpus_per_node : int, optional
        Cores of a node that a task may use (``unit="node"``); None: Slurm's default.
    name : str
        Of the job.

    Raises
    ------
    InvalidInstance
        The plan does not fit the codes, or one process would be on several nodes.

    Examples
    --------
    >>> import cosched as cs
    >>> from cosched.execution import Code, Codes, script
    >>> inst = cs.packs.Instance([[1.0]], names=["fem"])
    >>> codes = Codes(procs=1, codes={"fem": Code(name="fem", command="./fem {procs}")})
    >>> text = script(cs.packs.sequential(inst), codes)
    >>> "srun --exact" in text, "wait_all" in text.splitlines()
    (True, True)
    """
    plan = Plan.of(schedule)
    if unit not in ("core", "node"):
        raise InvalidInstance(f"unit = {unit!r}: expected 'core' or 'node'")
    for step in plan.steps:
        codes[step.name].require_count(len(step.units))
        if step.kind:
            raise InvalidInstance("script: accelerators are not placed: expected a plan of cores")
    size = _Size(plan, unit, integer(nodes, "nodes", 1), cpus_per_node)
    end = "exit $((failed > 125 ? 125 : failed))"
    lines = [*_head(plan, size, name), *_body(plan, codes, size), "", end]
    return "\n".join(lines) + "\n"


class _Size:
    """Where the units of a plan are."""

    def __init__(self, plan: Plan, unit: str, nodes: int, cpus_per_node: int | None) -> None:
        self.unit = unit
        self.units = max(plan.procs or 0, plan.units_of(0))
        self.nodes = self.units if unit == "node" else nodes
        self.each = 1 if unit == "node" else -(-self.units // nodes)
        self.cpus = 1 if cpus_per_node is None else integer(cpus_per_node, "cpus_per_node", 1)

    def nodes_of(self, step: Step) -> list[int]:
        return sorted({unit // self.each for unit in step.units})


def _head(plan: Plan, size: _Size, name: str) -> Iterator[str]:
    cores = size.cpus if size.unit == "node" else size.each
    yield from (
        "#!/bin/bash",
        f"#SBATCH --job-name={output_names([name])[name]}",
        f"#SBATCH --nodes={size.nodes} --ntasks-per-node=1 --cpus-per-task={cores}",
    )
    if size.unit == "node":
        yield "#SBATCH --exclusive"
    yield from (
        f"# {len(plan.steps)} tasks ({plan.family}), planned end {plan.makespan:.6g} s; written by",
        "# `cosched script`, needs Slurm and bash only. Outputs: NAME.out in this folder.",
        "",
        'mapfile -t NODE < <(scontrol show hostnames "$SLURM_JOB_NODELIST")',
        "unset SLURM_CPUS_PER_TASK SLURM_NTASKS SLURM_NTASKS_PER_NODE SLURM_NPROCS",
        "OUT=$PWD",
        "failed=0",
        "declare -A ended pid",
        "# Waits for tasks by their numbers; counts those that failed.",
        "wait_for() {",
        "  local k",
        '  for k in "$@"; do',
        '    [ -z "${ended[$k]}" ] || continue',
        "    ended[$k]=1",
        '    wait "${pid[$k]}" || { echo "task $k failed ($?)" >&2; failed=$((failed + 1)); }',
        "  done",
        "}",
        'wait_all() { wait_for "${!pid[@]}"; }',
    )


def _body(plan: Plan, codes: Codes, size: _Size) -> Iterator[str]:
    names = output_names(step.name for step in plan.steps)
    packs = plan.packs()
    if packs:
        for number, pack in enumerate(packs, start=1):
            first, last = plan.steps[pack[0]].start, max(plan.steps[k].end for k in pack)
            yield from ("", f"# pack {number}: planned {first:.6g} s to {last:.6g} s")
            for place in pack:
                step = plan.steps[place]
                yield from _start(step, codes, size, names[step.name])
            yield "wait_all"
        return
    waits = plan.waits_for(True)
    yield ""
    for place, step in enumerate(plan.steps):
        needed = sorted(plan.steps[k].task for k in waits[place])
        if needed:
            yield f"wait_for {' '.join(map(str, needed))}"
        yield from _start(step, codes, size, names[step.name])
    yield "wait_all"


def _start(step: Step, codes: Codes, size: _Size, output: str) -> Iterator[str]:
    code = codes[step.name]
    nodes = size.nodes_of(step)
    require_ranks(step, code, nodes)
    given = {
        "OMP_NUM_THREADS": str(len(step.units) * size.cpus),
        **code.environment,
        "COSCHED_TASK": step.name,
        "COSCHED_PROCS": str(len(step.units)),
        "COSCHED_CPUS": ",".join(map(str, step.units)),
    }
    where = ",".join(f"${{NODE[{node}]}}" for node in nodes)
    options = srun_size(step, code, nodes, size.cpus)
    limit = [] if code.timeout is None else ["timeout", f"{code.timeout:g}"]
    command = " ".join(map(_quoted, code.filled(len(step.units), step.units)))
    for key in given:
        if not _VARIABLE.fullmatch(key):
            raise InvalidInstance(
                f"task {shorten(step.name)}: environment {shorten(key)}: expected letters, digits "
                "and _ in a script"
            )
    exports = " ".join(f"{key}={_quoted(value)}" for key, value in given.items())
    yield f"( cd -- {_folder(code)} && export {exports}"
    yield (
        f"  exec {' '.join(limit)}{' ' if limit else ''}srun --exact --mem=0 --input=none "
        f"{' '.join(options)} --nodelist={where} {command}"
    )
    yield f') > "$OUT"/{output}.out 2>&1 &'
    yield f"pid[{step.task}]=$!"


def _folder(code: Code) -> str:
    return _quoted(str(Path(code.directory)))


def _quoted(text: str) -> str:
    """A word of bash on one line, whatever it holds."""
    if text.isprintable():
        return shlex.quote(text)
    escaped = (
        c
        if c.isprintable() and c not in "\\'"
        else "".join(f"\\x{byte:02x}" for byte in c.encode("utf-8", "surrogateescape"))
        for c in text
    )
    return f"$'{''.join(escaped)}'"
