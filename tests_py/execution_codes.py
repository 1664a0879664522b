"""Fake codes of the execution tests: programs that note their affinity, start and end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from cosched.execution import Code, Codes

#: Notes what it sees, sleeps, notes its end. One line an event, appended in one write.
PROGRAM = """
import json, os, sys, time
def note(what):
    line = json.dumps({
        "what": what, "task": os.environ["COSCHED_TASK"], "cpus": os.environ["COSCHED_CPUS"],
        "procs": os.environ["COSCHED_PROCS"], "omp": os.environ["OMP_NUM_THREADS"],
        "cuda": os.environ.get("CUDA_VISIBLE_DEVICES"), "time": time.time(),
        "affinity": sorted(os.sched_getaffinity(0)), "pid": os.getpid()}) + "\\n"
    log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(log, line.encode())
    os.close(log)
note("start")
time.sleep(float(sys.argv[2]))
note("end")
sys.exit(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
"""


def noting(folder: Path, seconds: dict[str, float], procs: int = 16, **extra_fields) -> Codes:
    """Codes that note what they see in ``folder/notes``, and take these seconds on any count."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    codes = {
        name: Code(
            name=name,
            command=(sys.executable, "-I", "-S", str(program), str(folder / "notes"), str(length)),
            directory=folder,
            **extra_fields,
        )
        for name, length in seconds.items()
    }
    return Codes(procs=procs, codes=codes)


def shell_notes(folder: Path, commands: dict[str, str], procs: int = 16) -> Codes:
    """Codes of the shell, which starts in a millisecond; ``note WHAT`` appends to the notes."""
    note = (
        f"note() {{ echo \"$1 $COSCHED_TASK $COSCHED_CPUS $(date +%s.%N)\" >> '{folder}/notes'; }}"
    )
    codes = {
        name: Code(name=name, command=f"{note}; {command}", directory=folder)
        for name, command in commands.items()
    }
    return Codes(procs=procs, codes=codes)


def until(condition: str) -> str:
    """Of the shell: goes on when this holds, so that no sleep has to be long enough; within a
    minute, else the task ends with 9."""
    return f"for _ in $(seq 6000); do {condition} && break; sleep 0.01; done; {condition} || exit 9"


def read_notes(folder: Path) -> list[dict]:
    """What the codes noted, in order of time; of either kind."""
    path = folder / "notes"
    notes = []
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.startswith("{"):
            notes.append(json.loads(line))
        else:
            what, task, cpus, time = line.split()
            notes.append({"what": what, "task": task, "cpus": cpus, "time": float(time)})
    return sorted(notes, key=lambda note: note["time"])


def spans(folder: Path) -> dict[str, list[tuple[float, float, frozenset[int]]]]:
    """Task -> (start, end, cores) of each time that it ran to its end."""
    begun: dict[str, dict] = {}
    runs_of_task: dict[str, list] = {}
    for note in read_notes(folder):
        if note["what"] == "start":
            begun[note["task"]] = note
        else:
            cores = frozenset(map(int, note["cpus"].split(",")))
            runs_of_task.setdefault(note["task"], []).append(
                (begun[note["task"]]["time"], note["time"], cores)
            )
    return runs_of_task


def shared_cores(folder: Path) -> list[tuple[str, str]]:
    """Pairs of tasks that ran at the same moment on one core, by their own records."""
    every = [(task, *span) for task, of in spans(folder).items() for span in of]
    return [
        (a[0], b[0])
        for k, a in enumerate(every)
        for b in every[:k]
        if a[3] & b[3] and a[1] < b[2] and b[1] < a[2]
    ]


def run_script(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script for sbatch in a folder, where srun starts its command and nothing more."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    srun = '#!/bin/bash\nwhile [[ "$1" == --* ]]; do shift; done\nexec "$@"\n'
    for name, program in (("srun", srun), ("scontrol", "#!/bin/bash\necho n1\n")):
        (tools / name).write_text(program)
        (tools / name).chmod(0o755)
    return subprocess.run(
        ["bash", "-c", text],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
    )
