"""Tasks that do nothing, by the runner of `cosched batch` and by others, in rounds.

``python tests_py/bench/bench_small_tasks.py [--tasks 10000] [--rounds 5]`` runs so many times
``true`` on two cores: with the runner of an allocation as `cosched batch` writes it (journal and
one file of output for each task included), with ``xargs -P 2`` (a plain fork and exec), and with
GNU parallel and HyperQueue where they are there (``apt install parallel``, ``pip install
hyperqueue``; HyperQueue may be in another Python, named by HYPERQUEUE_PYTHON).

With ``--slurm`` the same tasks run in one allocation of two nodes of one core on a private Slurm on
this host: the runner on the first node, and an agent that ``srun`` starts on the second one. Beside
it, as many tasks as ``--steps`` says with one ``srun`` each, two at a time.

Printed are medians over the rounds: milliseconds and milliseconds of processor time for each task,
start and end of the runner included, the largest resident memory of the process that was started
(without those that it starts), and the ratio to ``xargs`` in the same round.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cosched.execution.batches import runner
from cosched.slurm_lab import RealSlurm, plain_nodes

_CORES = 2
_HYPERQUEUE = f"""
import sys
from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig

with LocalCluster() as cluster:
    cluster.start_worker(WorkerConfig(cores={_CORES}))
    client, job = cluster.client(), Job()
    for number in range(int(sys.argv[1])):
        job.program(["true", str(number)], stdout=None, stderr=None)
    client.wait_for_jobs([client.submit(job)])
"""


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a whole command took: seconds, seconds of processor time, memory in MB."""

    wall: float
    processor: float
    memory: float


def cost_of(command: list[str], text: str | None, folder: Path) -> Cost:
    begin = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(text or "")
    process.stdin.close()
    assert process.stderr is not None
    reader = threading.Thread(target=process.stderr.read, daemon=True)  # a progress bar
    reader.start()
    memory, pid = 0.0, 0
    while pid == 0:
        memory = peak_memory(process.pid) or memory
        time.sleep(0.02)
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise SystemExit(f"{command[0]} ended with status {status}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, memory)


def peak_memory(pid: int) -> float:
    """Largest resident memory of a process so far, in MB; 0: it has ended."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1000
    return 0.0


def batch_runner(folder: Path, tasks: int) -> Cost:
    write_allocation(folder / "part-001.json", 1, _CORES, tasks)
    cost = cost_of([sys.executable, runner.__file__, "part-001.json"], None, folder)
    require_completed(read_journal(folder), tasks)
    return cost


def write_allocation(path: Path, nodes: int, cores: int, tasks: int) -> None:
    allocation = {
        "nodes": nodes,
        "limit": 86400.0,
        "node": [float(cores), 0.0, 0.0],
        "shared": [],
        "tasks": [
            {
                "name": f"task-{number}",
                "command": ["true", str(number)],
                "seconds": 0.01,
                "need": [1.0, 0.0, 0.0],
                "shared": [],
                "node": number % nodes,
            }
            for number in range(tasks)
        ],
    }
    path.write_text(json.dumps(allocation))


def read_journal(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "part-001.journal.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def require_completed(journal: list[dict[str, Any]], tasks: int) -> None:
    completed = {entry["end"] for entry in journal if entry.get("code") == 0}
    if len(completed) != tasks:
        raise SystemExit(f"{len(completed)} of {tasks} tasks completed")


def runner_on_slurm(slurm: RealSlurm, folder: Path, tasks: int) -> tuple[float, dict[str, int]]:
    """Seconds from the begin of the runner to its end, and how many tasks each node ran."""
    write_allocation(folder / "part-001.json", 2, 1, tasks)
    command = f"{sys.executable} {runner.__file__} part-001.json"
    run_allocation(slurm, folder, command)
    journal = read_journal(folder)
    require_completed(journal, tasks)
    nodes = Counter(str(entry["node"]) for entry in journal if "start" in entry)
    return journal[-1]["t"] - journal[0]["t"], dict(nodes)


def steps_on_slurm(slurm: RealSlurm, folder: Path, steps: int) -> float:
    """Seconds of so many calls of srun in an allocation, two at a time."""
    step = "srun --nodes=1 --ntasks=1 --exact true"
    words = f"date +%s.%N; seq {steps} | xargs -n 1 -P 2 sh -c '{step}' 2>/dev/null; date +%s.%N"
    begin, end = run_allocation(slurm, folder, words).split()
    return float(end) - float(begin)


def run_allocation(slurm: RealSlurm, folder: Path, words: str) -> str:
    """What a script in an allocation of two nodes prints."""
    script = folder / "script.sh"
    script.write_text(f"#!/bin/bash\n{words}\n")
    options = (f"--chdir={folder}", f"--output={folder}/log", "--nodes=2", "--ntasks=2")
    slurm.run("sbatch", "--wait", *options, str(script))
    return (folder / "log").read_text()


def measure_slurm(tasks: int, rounds: int, steps: int) -> None:
    main = ("PartitionName=main Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP",)
    settings = {"SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core"}
    walls: dict[str, list[float]] = {"agents": [], "steps": [], "plain": []}
    with (
        tempfile.TemporaryDirectory() as folders,
        RealSlurm(Path(folders) / "slurm", plain_nodes(2, 1), settings, main) as slurm,
    ):
        for number in range(rounds):
            folder = Path(folders) / str(number)
            folder.mkdir()
            wall, nodes = runner_on_slurm(slurm, folder, tasks)
            walls["agents"].append(wall / tasks * 1e3)
            walls["steps"].append(steps_on_slurm(slurm, folder, steps) / steps * 1e3)
            walls["plain"].append(xargs(folder, tasks).wall / tasks * 1e3)
            print(f"tasks of each node: {nodes}")
    agents, plain = walls["agents"], walls["plain"]
    ratio = statistics.median(one / two for one, two in zip(agents, plain, strict=True))
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    print(f"{tasks} times `true` on two nodes of a private Slurm, {rounds} rounds, load {load}")
    print(f"one agent a node: {statistics.median(agents):.2f} ms a task")
    print(f"xargs on the host: {statistics.median(plain):.2f} ms a task; ratio {ratio:.2f}")
    print(f"one srun a task ({steps} tasks): {statistics.median(walls['steps']):.0f} ms a task")


def numbers(tasks: int) -> str:
    return "".join(f"{number}\n" for number in range(tasks))


def xargs(folder: Path, tasks: int) -> Cost:
    return cost_of(["xargs", "-n", "1", "-P", str(_CORES), "true"], numbers(tasks), folder)


def parallel(folder: Path, tasks: int) -> Cost:
    command = ["parallel", "--will-cite", f"-j{_CORES}", "--joblog", "log", "true"]
    return cost_of(command, numbers(tasks), folder)


def hyperqueue(folder: Path, tasks: int) -> Cost:
    python = os.environ.get("HYPERQUEUE_PYTHON", sys.executable)
    return cost_of([python, "-c", _HYPERQUEUE, str(tasks)], None, folder)


def installed_runners() -> dict[str, Callable[[Path, int], Cost]]:
    runners: dict[str, Callable[[Path, int], Cost]] = {"cosched": batch_runner, "xargs": xargs}
    if shutil.which("parallel"):
        runners["parallel"] = parallel
    python = os.environ.get("HYPERQUEUE_PYTHON", sys.executable)
    if not subprocess.run([python, "-c", "import hyperqueue"], capture_output=True).returncode:
        runners["hyperqueue"] = hyperqueue
    return runners


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without", action="append", default=[], metavar="RUNNER")
    parser.add_argument("--slurm", action="store_true")
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()
    if arguments.slurm:
        measure_slurm(arguments.tasks, arguments.rounds, arguments.steps)
        return
    runners = {
        name: run for name, run in installed_runners().items() if name not in arguments.without
    }
    costs: dict[str, list[Cost]] = {name: [] for name in runners}
    # Folders stay until the end: ext4 looks for longer where files have just been deleted.
    with tempfile.TemporaryDirectory() as folders:
        for number in range(arguments.rounds):
            order = list(runners)
            for name in order[number % len(order) :] + order[: number % len(order)]:
                folder = Path(folders) / f"{name}-{number}"
                folder.mkdir()
                costs[name].append(runners[name](folder, arguments.tasks))
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    print(
        f"{arguments.tasks} times `true` on {_CORES} cores, {arguments.rounds} rounds, load {load}"
    )
    print("runner        ms a task  processor ms     MB  ratio to xargs")
    for name, all_costs in costs.items():
        wall = statistics.median(cost.wall for cost in all_costs) / arguments.tasks * 1e3
        processor = statistics.median(cost.processor for cost in all_costs) / arguments.tasks * 1e3
        memory = max(cost.memory for cost in all_costs)
        ratio = statistics.median(
            cost.wall / plain.wall for cost, plain in zip(all_costs, costs["xargs"], strict=True)
        )
        print(f"{name:12}  {wall:9.2f}  {processor:12.2f}  {memory:5.0f}  {ratio:14.2f}")


if __name__ == "__main__":
    main()
