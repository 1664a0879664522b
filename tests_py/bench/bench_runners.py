"""Nine real programs, and a thousand that do nothing, by four runners in an order that is drawn.

``python tests_py/bench/bench_runners.py [ROUNDS]``: the programs are measured and planned on two
cores; then `cosched run`, GNU parallel, ``xargs -P`` and HyperQueue (where they are there: apt
install parallel, pip install hyperqueue) run them in ROUNDS rounds. `cosched` gives programs the
processors of its plan; the others one each, in the order of the plan's times, the longest first.
Real = from the first start to the last end, as the programs note them.

On a machine that others use `nice` does not make that quiet, and does not treat the runners alike:
where the kernel groups by session (``/proc/sys/kernel/sched_autogroup_enabled``) it counts within
a session only, and `cosched run` and HyperQueue start each task in one of its own. A cgroup does
both: ``mkdir /sys/fs/cgroup/cpu/quiet; echo 100000 > /sys/fs/cgroup/cpu/quiet/cpu.shares; echo $$ >
/sys/fs/cgroup/cpu/quiet/cgroup.procs`` (v2: ``cpu.weight``), then this.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cosched.execution import Advice, Codes, plan, profile

CODES = Path(__file__).parents[2] / "notebooks" / "codes"
PROGRAMS = {
    "fractal": (f"{CODES}/build/fractal 700", None),
    "fractal-fine": (f"{CODES}/build/fractal 1000", None),
    "triad": (f"{CODES}/build/triad 8", None),
    "sieve": (f"{CODES}/build/sieve 20", [1]),
    "sieve-long": (f"{CODES}/build/sieve 30", [1]),
    "gzip": ("gzip -6 -c data > /dev/null", [1]),
    "xz": ("xz -1 -T{procs} -c data > /dev/null", None),
    "sort": ("sort --parallel={procs} -S 50M data > /dev/null", None),
    "sha512sum": ("for k in 1 2 3 4 5 6; do sha512sum data; done", [1]),
}
NOTE = "date +%s.%N >> "


def written(folder: Path) -> Path:
    subprocess.run(["make", "-s", "-C", str(CODES)], check=True)
    random = np.random.default_rng(0)
    words = random.integers(0, 10**9, 3_000_000)
    (folder / "data").write_text("\n".join(map(str, words.tolist())))
    text = "procs = 2\n"
    for name, (command, counts) in PROGRAMS.items():
        noted = f"{NOTE}{folder}/starts; {command}; {NOTE}{folder}/ends"
        text += f"[task.{name}]\ncommand = {json.dumps(noted)}\n"
        text += f"counts = {counts}\n" if counts else ""
    (folder / "codes.toml").write_text(text)
    return folder / "codes.toml"


def cosched(folder: Path, codes: Codes) -> None:
    command = [sys.executable, "-m", "cosched", "run", "plan.json", "--codes", "codes.toml"]
    resume_options = ["--again"] if (folder / "plan.journal.jsonl").exists() else []
    subprocess.run([*command, *resume_options], cwd=folder, check=True, capture_output=True)


def lines(codes: Codes) -> list[str]:
    return [
        shlex.join(["env", "OMP_NUM_THREADS=1", *code.filled(1, (0,))]) for code in codes.values()
    ]


def parallel(folder: Path, codes: Codes) -> None:
    command = ["parallel", "--will-cite", "-j2", "--joblog", "log", "--results", "results"]
    todo = "\n".join(lines(codes))
    subprocess.run(command, input=todo, text=True, cwd=folder, check=True, capture_output=True)
    shutil.rmtree(folder / "results")


def xargs(folder: Path, codes: Codes) -> None:
    todo = "\0".join(lines(codes))
    command = ["xargs", "-0", "-n", "1", "-P", "2", "sh", "-c"]
    subprocess.run(command, input=todo, text=True, cwd=folder, check=True, capture_output=True)


def hyperqueue(folder: Path, codes: Codes) -> None:
    program = (
        "import sys\nfrom hyperqueue import Job, LocalCluster\n"
        "from hyperqueue.cluster import WorkerConfig\n"
        "with LocalCluster() as cluster:\n"
        "    cluster.start_worker(WorkerConfig(cores=2))\n"
        "    client, job = cluster.client(), Job()\n"
        "    for k, line in enumerate(sys.stdin.read().split(chr(0))):\n"
        f"        job.program(['sh', '-c', line], cwd={str(folder)!r}, stdout=f'hq-{{k}}', "
        "stderr=f'hq-{k}')\n"
        "    client.wait_for_jobs([client.submit(job)])\n"
    )
    command = [os.environ.get("HYPERQUEUE_PYTHON", sys.executable), "-c", program]
    todo = "\0".join(lines(codes))
    subprocess.run(command, input=todo, text=True, cwd=folder, check=True, capture_output=True)


def runners() -> dict[str, Callable[[Path, Codes], None]]:
    runners_by_name: dict[str, Callable[[Path, Codes], None]] = {"cosched": cosched}
    runners_by_name |= {"parallel": parallel} if shutil.which("parallel") else {}
    runners_by_name |= {"xargs": xargs} if shutil.which("xargs") else {}
    python = os.environ.get("HYPERQUEUE_PYTHON", sys.executable)
    import_exit_code = subprocess.run(
        [python, "-c", "import hyperqueue"], capture_output=True
    ).returncode
    return runners_by_name | ({} if import_exit_code else {"hyperqueue": hyperqueue})


def nine(rounds: int) -> None:
    random = np.random.default_rng(rounds)
    real: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        codes = Codes.read(written(folder))
        frame = profile(codes, repeat=3, out=folder / "runs.csv")
        advice: Advice = plan(folder / "runs.csv", codes)
        (folder / "plan.json").write_text(json.dumps(advice.to_dict(), default=float))
        print("\n".join(advice.lines()))
        print(f"{int(frame.starved.sum())} of {len(frame)} runs starved")
        alone = frame[frame.processors == 1].groupby("task").seconds.median()
        order = alone.sort_values(ascending=False).index
        longest_first = Codes(procs=2, codes={task: codes[task] for task in order})
        every = runners()
        for k in range(rounds):
            for runner in random.permutation(list(every)).tolist():
                for file in ("starts", "ends"):
                    (folder / file).unlink(missing_ok=True)
                every[runner](folder, longest_first)
                starts, ends = (
                    [float(x) for x in (folder / file).read_text().split()]
                    for file in ("starts", "ends")
                )
                assert len(ends) == len(PROGRAMS)
                real.setdefault(runner, []).append(max(ends) - min(starts))
                load = os.getloadavg()[0]
                print(f"round {k} load {load:4.1f} {runner:10} {real[runner][-1]:6.2f} s")
    print(f"planned {advice.result.value:.2f} s; real, median of {rounds} (least, largest):")
    for runner, seconds in real.items():
        paired = np.array(seconds) / np.array(real["cosched"])
        print(
            f"{runner:10}  {np.median(seconds):6.2f} s  ({min(seconds):.2f}, {max(seconds):.2f})  "
            f"paired against cosched {np.median(paired):.2f}"
        )


def planned_sweep(folder: Path, command: str, size: int) -> Codes:
    """So many tasks of a sweep, measured, with a plan.json for two cores."""
    values = ", ".join(map(str, range(size)))
    (folder / "codes.toml").write_text(
        f"procs = 2\n[task.sweep]\ncommand = [{command}]\ncounts = [1]\n"
        f"parameters = {{ x = [{values}] }}\n"
    )
    codes = Codes.read(folder / "codes.toml")
    profile(codes, repeat=2, out=folder / "runs.csv")
    data = plan(folder / "runs.csv", codes).to_dict()
    (folder / "plan.json").write_text(json.dumps(data, default=float))
    return codes


def thousand(rounds: int) -> None:
    """Seconds and processor seconds of a thousand tasks that do nothing, over their number."""
    random = np.random.default_rng(rounds)
    found: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        codes = planned_sweep(folder, "'true', '{x}'", 1000)
        for _ in range(rounds):
            for runner in random.permutation(list(every := runners())).tolist():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                begin = time.monotonic()
                every[runner](folder, codes)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                found.setdefault(runner, []).append((time.monotonic() - begin, used))
    print("1,000 tasks that do nothing, a task (whole command, start of the runner included):")
    for runner, pairs in found.items():
        wall, used = np.median(np.array(pairs), axis=0)
        print(f"{runner:10}  {wall:6.2f} ms  {used:6.2f} ms of processor time")


def short(rounds: int) -> None:
    """Seconds of whole commands that run eight tasks of 0.34 s on two cores."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        codes = planned_sweep(folder, "'sleep', '0.34', '{x}e-9'", 8)
        for number in range(2 * rounds):
            runner = (cosched, xargs)[number % 2]
            begin = time.monotonic()
            runner(folder, codes)
            found.setdefault(runner.__name__, []).append(time.monotonic() - begin)
    print(f"eight tasks of 0.34 s on two cores, median of {rounds} rounds (whole command):")
    for name, seconds in found.items():
        print(f"{name:10}  {np.median(seconds):.2f} s")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        os.environ["PYTHONPATH"] = str(Path(__file__).parents[2] / "python")  # of `cosched run`
        short(10)
        thousand(5)
        nine(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
