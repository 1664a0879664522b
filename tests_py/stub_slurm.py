"""``sbatch``, ``squeue``, ``scancel`` and ``sinfo`` of tests: jobs are processes of this host.

The programs keep their state in the folder that :func:`install` is given: a line of
``submissions`` for each call of sbatch, and below ``jobs`` a file for each job.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

REFUSAL = "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy"


def install(folder: Path, answers: list[str]) -> dict[str, str]:
    """The environment in which the programs are found.

    Parameters
    ----------
    folder : pathlib.Path
        For the programs and their state.
    answers : list of str
        Of each call of sbatch: ``grant``, ``lose`` (the job starts, but sbatch fails), or the text
        with which it is refused. The last one is repeated.
    """
    programs = folder / "bin"
    programs.mkdir(parents=True)
    (folder / "jobs").mkdir()
    (folder / "answers.json").write_text(json.dumps(answers))
    for name in ("sbatch", "squeue", "scancel"):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} {folder} {name} "$@"\n')
        program.chmod(0o755)
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}


def submissions(folder: Path) -> int:
    """Calls of sbatch."""
    calls = folder / "submissions"
    return len(calls.read_text().splitlines()) if calls.exists() else 0


def main(folder: Path, program: str, arguments: list[str]) -> int:
    return {"sbatch": _sbatch, "squeue": _squeue, "scancel": _scancel}[program](folder, arguments)


def _sbatch(folder: Path, arguments: list[str]) -> int:
    call = submissions(folder)
    with open(folder / "submissions", "a") as calls:
        print(*arguments, file=calls)
    answers = json.loads((folder / "answers.json").read_text())
    answer = answers[min(call, len(answers) - 1)]
    print("welcome to this site")
    if answer not in ("grant", "lose"):
        print(answer, file=sys.stderr)
        return 1
    script = Path(arguments[-1])
    with open(script.with_suffix(".log"), "a") as log:
        process = subprocess.Popen(
            ["bash", script],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    job = {"name": script.stem, "folder": os.getcwd()}
    (folder / "jobs" / str(process.pid)).write_text(json.dumps(job))
    if answer == "lose":
        print("sbatch: error: Socket timed out on send/recv operation", file=sys.stderr)
        return 1
    print(process.pid)
    return 0


def _squeue(folder: Path, arguments: list[str]) -> int:
    print("welcome to this site")
    options = dict(word.split("=", 1) for word in arguments if "=" in word)
    for path in sorted((folder / "jobs").iterdir()):
        job = json.loads(path.read_text())
        state = "RUNNING" if _is_alive(path.name) else "COMPLETED"
        if "--jobs" in options and path.name in options["--jobs"].split(","):
            print(path.name, state, sep="|")
        if "--name" in options and job["name"] in options["--name"].split(","):
            print(path.name, job["name"], job["folder"], sep="|")
    return 0


def _is_alive(pid: str) -> bool:
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _scancel(folder: Path, arguments: list[str]) -> int:
    del folder
    for pid in filter(_is_alive, arguments):
        os.kill(int(pid), signal.SIGTERM)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
