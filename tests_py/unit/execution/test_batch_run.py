"""Scripts of a batch run where there is no cosched: started again, looked at, what is left."""

import json
import os
import subprocess
import sys
import time

import pytest

from cosched.cli import main
from cosched.execution import BatchTask, batch, batches

HERE = max(len(os.sched_getaffinity(0)), 1)


def written(folder, tasks, **options):
    batch_plan = batch(tasks, limit=options.pop("limit", 60.0), cores=2, spread=0.0, **options)
    batches.write(batch_plan, folder)
    return batch_plan


def shell(name, command, seconds=1.0, after=(), memory=0.0):
    return BatchTask(
        name=name,
        seconds={1: seconds},
        commands={1: ("/bin/sh", "-c", command)},
        memory={1: memory},
        after=tuple(after),
    )


def script(folder, name="part-001.sh"):
    """The script alone, by a Python that knows no cosched."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "SLURM"))}
    environment["PATH"] = f"{os.path.dirname(sys.executable)}:{environment['PATH']}"
    return subprocess.Popen(["bash", name], cwd=folder, env=environment, start_new_session=True)


def test_tasks_run_in_order_within_what_a_node_has(tmp_path):
    jobs, notes = tmp_path / "jobs", tmp_path / "notes"
    echo = f'echo "$COSCHED_TASK %s" >> {notes}'
    note = f"{echo % '+'}; sleep 0.2; {echo % '-'}"
    tasks = [shell("b", note, after=["a"]), shell("a", note)]
    tasks += [shell(name, note, memory=3.0) for name in ("big", "huge")]
    written(jobs, tasks, memory=4.0)
    assert script(jobs).wait(30) == 0
    lines = notes.read_text().split("\n")
    assert lines.index("a -") < next(k for k, line in enumerate(lines) if line == "b +")
    place = {line: k for k, line in enumerate(lines)}
    starts = {name: place[f"{name} +"] for name in ("big", "huge")}
    first, second = sorted(("big", "huge"), key=starts.__getitem__)
    assert place[f"{first} -"] < starts[second]  # they need more memory than a node has
    (state,) = batches.status(jobs)
    assert sorted(state.completed) == ["a", "b", "big", "huge"]
    assert sorted(os.listdir(jobs / "part-001.outputs")) == sorted(
        f"{name}.out" for name in ("a", "b", "big", "huge")
    )


def test_submitted_again_it_runs_what_has_not_completed(tmp_path, capsys):
    jobs, notes = tmp_path / "jobs", tmp_path / "notes"
    once = f"echo good >> {notes}"
    tasks = [shell("good", once), shell("bad", f"test -e {tmp_path}/mended"),
             shell("behind", "true", after=["bad"])]  # fmt: skip
    written(jobs, tasks)
    assert script(jobs).wait(30) == 2
    (state,) = batches.status(jobs)
    assert (state.completed, state.failed, state.waiting) == (["good"], ["bad"], ["behind"])
    assert main(["batch", str(jobs), "--status"]) == 1
    output = capsys.readouterr().out
    assert "part-001.sh: 1 completed, 1 failed, 1 waiting" in output
    assert "failed: bad" in output
    assert main(["batch", str(jobs), "--rest", "-o", str(tmp_path / "rest")]) == 0
    allocations = json.loads((tmp_path / "rest" / "batch.json").read_text())["allocations"]
    assert [[task["name"] for task in allocation["tasks"]] for allocation in allocations] == [
        ["bad", "behind"]
    ]
    (tmp_path / "mended").touch()
    assert script(jobs).wait(30) == 0
    assert notes.read_text() == "good\n"
    assert main(["batch", str(jobs), "--status"]) == 0
    assert main(["batch", str(jobs), "--rest", "-o", str(tmp_path / "none")]) == 2
    assert "all tasks have completed" in capsys.readouterr().err


def test_a_task_that_is_cut_off_is_known_and_gets_more_time(tmp_path):
    jobs = tmp_path / "jobs"
    written(jobs, [shell("long", f"touch {tmp_path}/begun; exec sleep 60")])
    running = script(jobs)
    until(lambda: (tmp_path / "begun").exists())
    time.sleep(1.5)
    running.terminate()  # as Slurm does before the limit
    assert running.wait(30) == 1
    (state,) = batches.status(jobs)
    assert state.cut == ["long"]
    tasks, shape = batches.rest(jobs)
    assert tasks.tasks[0].seconds[1] > 1.5
    assert shape["limit"] == 60.0


def test_tasks_die_with_their_runner(tmp_path):
    jobs = tmp_path / "jobs"
    written(jobs, [shell("long", f"echo $$ > {tmp_path}/pid; exec sleep 60")])
    running = script(jobs)
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    until(lambda: '"start"' in (jobs / "part-001.journal.jsonl").read_text())
    running.kill()
    running.wait()
    pid = int((tmp_path / "pid").read_text())
    until(lambda: not os.path.exists(f"/proc/{pid}"))
    (state,) = batches.status(jobs)
    assert state.started == ["long"]  # nobody could say more


def until(what):
    deadline = time.monotonic() + 30
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_what_ends_too_late_is_left_for_the_rest(tmp_path):
    jobs = tmp_path / "jobs"
    written(
        jobs, [shell("first", "sleep 1.2", 1.0), shell("second", "true", 1.5, ["first"])], limit=2.5
    )
    assert script(jobs).wait(30) == 1
    (state,) = batches.status(jobs)
    assert (state.completed, state.waiting) == (["first"], ["second"])


def test_the_rest_is_planned_with_the_spread_of_the_first_plan(tmp_path):
    for level in (0.5, 0.8, 0.95):
        jobs = tmp_path / str(level)
        batch_plan = batch([shell("a", "true")], limit=60.0, cores=1, spread=0.2, chance=level)
        batches.write(batch_plan, jobs)
        assert batches.rest(jobs)[1]["spread"] == pytest.approx(0.2, rel=0.02)


def test_allocations_wait_for_each_other(tmp_path):
    jobs = tmp_path / "jobs"
    tasks = [shell("a", "true", 50.0), shell("b", "true", 50.0, ["a"]), shell("c", "true", 50.0)]
    batches.write(batch(tasks, limit=60.0, cores=1, spread=0.0), jobs, jobs=2)
    allocations = json.loads((jobs / "batch.json").read_text())["allocations"]
    names = [allocation["tasks"][0]["name"] for allocation in allocations]
    place = {name: k for k, name in enumerate(names)}
    assert allocations[place["b"]]["after"] == [place["a"]]
    submit = (jobs / "submit.sh").read_text()
    assert f"afterok:$j{place['a']}" in submit
    (tmp_path / "bin").mkdir()
    sbatch = tmp_path / "bin" / "sbatch"
    sbatch.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/sbatch.log; echo 4711\n')
    sbatch.chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    subprocess.run(["bash", jobs / "submit.sh"], env={**os.environ, "PATH": path}, check=True)
    assert len((tmp_path / "sbatch.log").read_text().splitlines()) == 3
    assert script(jobs, f"part-{place['b'] + 1:03d}.sh").wait(30) == 1  # a has not completed
    assert script(jobs, f"part-{place['a'] + 1:03d}.sh").wait(30) == 0
    assert script(jobs, f"part-{place['b'] + 1:03d}.sh").wait(30) == 0


def test_a_plain_list_from_standard_input(tmp_path):
    command = [
        sys.executable,
        "-m",
        "cosched",
        "batch",
        "-",
        "--time",
        "10",
        "--cores-per-node",
        "2",
    ]
    text = "command,seconds\n" + "".join(f"echo {k} >> {tmp_path}/out,1 1.1\n" for k in range(5))
    jobs = tmp_path / "jobs"
    subprocess.run([*command, "-o", jobs], input=text, text=True, check=True, capture_output=True)
    assert script(jobs).wait(30) == 0
    assert sorted((tmp_path / "out").read_text().split()) == list("01234")


def test_what_takes_the_whole_limit_is_begun(tmp_path):
    jobs = tmp_path / "jobs"
    note = f"echo $COSCHED_TASK >> {tmp_path}/notes"
    written(jobs, [shell(name, note, 3.0) for name in ("a", "b")], limit=3.0)
    assert script(jobs).wait(30) == 0
    assert sorted((tmp_path / "notes").read_text().split()) == ["a", "b"]
    list_ = tmp_path / "list.csv"
    list_.write_text(f"command,seconds\ntouch {tmp_path}/lucky,5.5\n")
    arguments = ["batch", str(list_), "--time", "0:05", "--cores-per-node", "1"]
    assert main([*arguments, "--chance", "0.1", "-o", str(tmp_path / "few")]) == 0
    assert script(tmp_path / "few").wait(30) == 0
    assert (tmp_path / "lucky").exists()
