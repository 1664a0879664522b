"""What a runner of plans has to show: 40 tasks on 16 processors, killed drivers, 1,000 tasks.

Real times are compared with planned ones in the reports of `tests_py/bench/bench_execution.py`:
a test asserts no time.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

import cosched as cs
from cosched.execution import Code, Codes, Plan, PlanStep, run
from cosched.execution.journal import read_past
from cosched.execution.watchdog import survivors
from execution_codes import read_notes, shared_cores, shell_notes, spans

#: 20 take a minute.
KILLS = int(os.environ.get("COSCHED_KILLS", "5"))


def forty_on_sixteen(seed: int, longest: float) -> tuple[cs.packs.Instance, dict[str, str]]:
    """Times t1 / q^0.8, and commands that sleep that long."""
    random = np.random.default_rng(seed)
    t1 = random.uniform(0.2, 1.0, 40) * longest
    times = t1[:, None] / np.arange(1, 17) ** 0.8
    names = [f"t{k}" for k in range(40)]
    commands = {
        name: f"note start; sleep $(awk -v q={{procs}} 'BEGIN {{ print {first:.6f} / q^0.8 }}'); "
        "note end"
        for name, first in zip(names, t1, strict=True)
    }
    return cs.packs.Instance(times, 8, names=names), commands


def test_forty_tasks_on_sixteen_processors_share_nothing(tmp_path):
    inst, commands = forty_on_sixteen(1, 1.0)
    result = cs.packs.solve(inst, "pack-by-pack-9")
    codes = shell_notes(tmp_path, commands)
    done = run(result, codes, journal=tmp_path / "journal.jsonl", oversubscribe=True)
    assert done.good
    assert not shared_cores(tmp_path)
    seen = spans(tmp_path)
    plan = Plan.of(result)
    packs = [[plan.steps[k].name for k in pack] for pack in plan.packs()]
    assert len(packs) > 1
    for before, after in itertools.pairwise(packs):
        assert max(seen[n][0][1] for n in before) <= min(seen[n][0][0] for n in after)
    (tmp_path / "notes").unlink()
    free = run(result, codes, barrier=False, journal=tmp_path / "free.jsonl", oversubscribe=True)
    assert free.good
    assert not shared_cores(tmp_path)


def started_in(journal: Path) -> int:
    """How many starts it has."""
    return journal.read_text().count('"event": "started"') if journal.exists() else 0


def test_each_task_ends_once_however_often_the_driver_is_killed(tmp_path):
    """Kills at random moments; what ran then may end twice, and the journal says which."""
    inst, commands = forty_on_sixteen(2, 1.5)
    cs.io.write_json(cs.packs.solve(inst, "pack-by-pack-9").to_dict(), tmp_path / "plan.json")
    text = "procs = 16\n"
    for name, command in commands.items():
        note = 'note() { echo "$1 $COSCHED_TASK $COSCHED_CPUS $(date +%s.%N)" >> notes; }; '
        text += f"[task.{name}]\ncommand = {json.dumps(note + command)}\n"
    (tmp_path / "codes.toml").write_text(text)
    command = [sys.executable, "-m", "cosched", "run", "plan.json", "--codes", "codes.toml"]
    command += ["--oversubscribe", "--resume"]
    journal = tmp_path / "plan.journal.jsonl"
    random = np.random.default_rng(8)
    for _ in range(KILLS):
        driver = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        before = started_in(journal)
        while driver.poll() is None and started_in(journal) == before:
            time.sleep(0.005)
        time.sleep(random.uniform(0, 0.25))
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    past = read_past(journal)
    assert {task.state for task in past.tasks.values()} == {"completed"}
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    lost = Counter(event["name"] for event in events if event["event"] == "lost")
    assert lost  # else this test has shown nothing
    ends = Counter(note["task"] for note in read_notes(tmp_path) if note["what"] == "end")
    for name in commands:
        assert 1 <= ends[name] <= 1 + lost[name], name
    completed = Counter(e["name"] for e in events if e.get("state") == "completed")
    assert set(completed.values()) == {1}
    for run_record in past.runs:
        assert not survivors(run_record)


def children() -> set[int]:
    """Processes whose parent is this one, zombies too."""
    child_ids = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            child_ids.add(int(path.parent.name))
    return child_ids


def test_a_thousand_tasks_leave_nothing(tmp_path):
    names = [f"t{k}" for k in range(1000)]
    steps = tuple(
        PlanStep(task=k, name=name, kind=0, units=(k % 8,), start=float(k // 8), end=k // 8 + 1.0)
        for k, name in enumerate(names)
    )
    codes = Codes(
        procs=8, codes={n: Code(name=n, command=("true",), directory=tmp_path) for n in names}
    )
    before, handles = children(), set(os.listdir("/proc/self/fd"))
    done = run(
        Plan(family="moldable", steps=steps),
        codes,
        journal=tmp_path / "journal.jsonl",
        oversubscribe=True,
    )
    assert done.good
    assert len(list((tmp_path / "journal.outputs").iterdir())) == 1000
    assert children() <= before
    assert len(os.listdir("/proc/self/fd")) == len(handles)
    assert not survivors(read_past(tmp_path / "journal.jsonl").runs[0])
