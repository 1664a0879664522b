"""Whether the runner of an allocation loses a task, runs one twice or hangs when it is attacked.

`fuzz_runner.py SEED [--count 200]` runs so many allocations of tasks. Each is hit by signals to the
runner, to an agent or to both at random moments, by second starts, and by damage to the end of its
journal between two starts; it is started again until all tasks have completed. A task notes that it
begins and holds a lock until it ends; some do not end at SIGTERM, print megabytes, close their
descriptors, or leave a process that runs on. It prints a line for each allocation, and at the end
how many went wrong:

- lost: a task has not completed when the runner says that all have;
- repeated: a task began although the journal had its end;
- doubled: a task began while the same task was running;
- hung: nothing was written to the journal for a minute;
- left: a task ran on when no runner was there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from cosched.execution.batches import runner

#: Starts in which an allocation is attacked at most, and all of its starts.
ATTACKED_STARTS, MAX_STARTS = 3, 12
#: Seconds without a new entry in the journal.
PATIENCE = 60.0
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGKILL)


class Allocation:
    """Tasks in a folder, and what is known about them."""

    def __init__(self, folder: Path, draw: random.Random) -> None:
        self.folder, self.draw = folder, draw
        self.path = folder.resolve() / "part-001.json"
        self.journal = folder / "part-001.journal.jsonl"
        self.notes = folder / "notes"
        self.attacks: list[str] = []
        (folder / "locks").mkdir()
        self.notes.touch()
        nodes = draw.choice((1, 1, 2))
        longest = draw.choice((0.0, 0.02, 0.2))
        tasks = [
            {
                "name": f"t{number}",
                "command": ["/bin/sh", "-c", self._script(f"t{number}", longest)],
                "seconds": 0.05,
                "need": [float(draw.choice((1, 1, 1, 2))), 0.0, 0.0],
                "shared": [],
                "node": number % nodes,
                "after": [f"t{draw.randrange(number)}"] if number and draw.random() < 0.1 else [],
            }
            for number in range(draw.choice((20, 50, 100)))
        ]
        self.names = {task["name"] for task in tasks}
        limits = {"nodes": nodes, "limit": 3600.0, "node": [2.0, 0.0, 0.0], "shared": []}
        self.path.write_text(json.dumps({**limits, "tasks": tasks}))

    def _script(self, name: str, longest: float) -> str:
        parts = [
            f"exec 9>>{self.folder}/locks/{name}",
            f"flock -n 9 || echo doubled {name} >>{self.notes}",
            f"echo began {name} >>{self.notes}",
        ]
        if self.draw.random() < 0.05:
            parts.insert(0, "trap '' TERM")
        if self.draw.random() < 0.03:
            parts.append("head -c 5000000 /dev/zero")
        if self.draw.random() < 0.05:
            parts.append("exec 0>&- 1>&- 2>&-")
        if self.draw.random() < 0.05:
            parts.append("(setsid sleep 2 9>&- &)")
        if self.draw.random() < 0.03:  # one that is likely to outlive what ends its runner
            parts.append("sleep 3")
        if longest:
            parts.append(f"sleep {self.draw.uniform(0, longest):.3f}")
        return "; ".join(parts)

    def completed(self) -> list[str]:
        """Names of tasks, once for each entry that says so."""
        if not self.journal.exists():
            return []
        return [
            name for name, state, _ in runner.read_journal(self.journal) if state == "completed"
        ]

    def run(self) -> str:
        """Start until all has completed: how it went wrong, or nothing."""
        attacked_starts = self.draw.randint(1, ATTACKED_STARTS)
        for start in range(MAX_STARTS):
            recorded, notes_before = set(self.completed()), len(self.notes.read_text())
            process = self._start()
            if start < attacked_starts:
                self._attack(process)
            if not self._has_ended(process):
                process.kill()
                return "hung"
            began = words_after("began", self.notes.read_text()[notes_before:])
            if recorded & began:
                return "repeated"
            if process.returncode == 0:
                break
            if self.journal.exists() and start < attacked_starts and self.draw.random() < 0.3:
                self._damage_journal()
        if words_after("doubled", self.notes.read_text()):
            return "doubled"
        if set(self.completed()) != self.names or process.returncode != 0:
            return "lost"
        return "left" if self._leftovers() else ""

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, runner.__file__, self.path.name]
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("SLURM", "PYTHON"))
        }
        with open(self.folder / "log", "ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _processes(self) -> list[int]:
        """Agents, tasks and what they have left."""
        return [pid for place in range(2) for pid in runner.processes_of(f"{self.path}:{place}")]

    def _agents(self) -> list[int]:
        return [pid for pid in self._processes() if "--agent" in command_of(pid)]

    def _leftovers(self) -> list[int]:
        """What is there after a second, but for the processes that tasks are meant to leave."""
        time.sleep(1.0)
        commands = {pid: command_of(pid) for pid in self._processes()}
        meant = ("", "sleep 2", "setsid sleep 2")  # one that has ended meanwhile has no command
        left = [pid for pid, command in commands.items() if command not in meant]
        self.attacks += [f"process {pid} is {commands[pid]}" for pid in left]
        return left

    def _attack(self, process: subprocess.Popen[bytes]) -> None:
        time.sleep(self.draw.uniform(0, 1.5) * self.draw.choice((0.2, 1, 3)))
        for _ in range(self.draw.choice((1, 1, 2))):
            victim = self.draw.choice(("runner", "agent", "both"))
            number = self.draw.choice(SIGNALS)
            pids = self._agents()[:1] if victim != "runner" else []
            pids += [process.pid] if victim != "agent" else []
            if process.poll() is None:
                for pid in pids:
                    send_signal(pid, number)
                self.attacks.append(f"{number.name} {victim}")
        if self.draw.random() < 0.3 and process.poll() is None:
            second = self._start()
            self._has_ended(second)
            self.attacks.append(f"second start: {second.returncode}")

    def _damage_journal(self) -> None:
        """The last line loses its end, as when a node loses its power; or nonsense follows it."""
        text = self.journal.read_bytes()
        if self.draw.random() < 0.5:
            self.journal.write_bytes(text[: len(text) - self.draw.randint(1, 20)])
        else:
            self.journal.write_bytes(text + self.draw.choice((b"\0" * 40, b'{"end": "t', b"[[\n")))
        self.attacks.append("journal damaged")

    def _has_ended(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether a runner ends; not where the journal has no new entry for long."""
        size, since = -1, time.monotonic()
        while time.monotonic() < since + PATIENCE:
            if process.poll() is not None:
                return True
            now = self.journal.stat().st_size if self.journal.exists() else 0
            if now != size:
                size, since = now, time.monotonic()
            time.sleep(0.02)
        return False


def words_after(word: str, text: str) -> set[str]:
    pairs = (line.split(" ", 1) for line in text.splitlines())
    return {pair[1] for pair in pairs if pair[0] == word}


def command_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        return text.rstrip("\0").replace("\0", " ")
    return ""


def send_signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def one_allocation(seed: int, folder: Path) -> str:
    """How the allocation of a seed went wrong, or nothing; a line about it."""
    folder.mkdir()
    allocation = Allocation(folder, random.Random(seed))
    begin = time.monotonic()
    wrong = allocation.run()
    took, count = time.monotonic() - begin, len(allocation.names)
    attacks = ", ".join(allocation.attacks)
    print(f"{seed}: {wrong or 'well'}, {count} tasks, {took:.1f} s: {attacks}", flush=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("--count", type=int, default=200)
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    with tempfile.TemporaryDirectory() as folders:
        ends = Counter(one_allocation(seed, Path(folders) / str(seed)) for seed in seeds)
    well = ends.pop("", 0)
    others = ", ".join(f"{count} {end}" for end, count in ends.items()) or "none went wrong"
    print(f"{arguments.count} allocations: {well} well; {others}")
    return 1 if ends else 0


if __name__ == "__main__":
    sys.exit(main())
