"""Later rounds of a batch: what is left, what still runs, and how long allocations are then."""

import json
import os
import subprocess
import sys
import threading
import time

import pytest

from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.execution import BatchTask, batch, batches


def shell(name, command="true", seconds=1.0, after=()):
    return BatchTask(
        name=name,
        seconds={1: seconds},
        commands={1: ("/bin/sh", "-c", command)},
        after=tuple(after),
    )


def written(folder, tasks, **extra_options):
    options = {"limit": 90.0, "cores": 2, "spread": 0.0, **extra_options}
    batches.write(batch(tasks, **options), folder)
    return folder


def journal(folder, *entries, part="part-001"):
    lines = "".join(json.dumps(entry) + "\n" for entry in entries)
    (folder / f"{part}.journal.jsonl").write_text(lines)


def ended(name, code=0):
    return {"end": name, "code": code, "seconds": 1.0}


def names_in(folder):
    plan = json.loads((folder / "batch.json").read_text())
    return sorted(task["name"] for part in plan["allocations"] for task in part["tasks"])


def planned_again(folder, new, *options):
    return main(["batch", str(folder), "--rest", *options, "-o", str(new)])


def run(folder, **process_options):
    return subprocess.Popen(
        ["bash", folder / "part-001.sh"], start_new_session=True, **process_options
    )


def test_a_second_rest_plans_what_no_round_has_completed(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = written(tmp_path / "jobs", [shell(name) for name in "abc"])
    journal(jobs, ended("a"), ended("b", 3))
    assert planned_again(jobs, tmp_path / "again") == 0
    assert names_in(tmp_path / "again") == ["b", "c"]
    journal(tmp_path / "again", ended("b"), ended("c", 3))
    capsys.readouterr()
    assert main(["batch", "jobs", "--status"]) == 1
    output = capsys.readouterr().out
    assert "part-001.sh: 1 completed, 1 failed, 1 waiting\n" in output
    assert "  failed: b (completed in another round)\n" in output
    assert "again/part-001.sh: 1 completed, 1 failed\n" in output
    assert "all rounds: 2 of 3 tasks completed\n" in output
    assert planned_again(jobs, tmp_path / "third") == 0
    assert names_in(tmp_path / "third") == ["c"]
    assert planned_again(tmp_path / "again", tmp_path / "fourth") == 0
    journal(tmp_path / "fourth", ended("c"))
    capsys.readouterr()
    assert main(["batch", "jobs", "--status"]) == 0
    assert "all rounds: 3 of 3 tasks completed\n" in capsys.readouterr().out
    assert planned_again(jobs, tmp_path / "none") == 2
    assert "all tasks have completed" in capsys.readouterr().err


def test_a_round_that_has_not_started_keeps_its_tasks(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = written(tmp_path / "jobs", [shell("a"), shell("b"), shell("c", after=["b"])])
    journal(jobs, ended("a"), ended("b", 3))
    second_folder = tmp_path / "again"
    assert planned_again(jobs, second_folder) == 0
    assert "has not started" not in capsys.readouterr().out
    assert planned_again(jobs, tmp_path / "refused") == 2
    errors = capsys.readouterr().err
    assert (
        "jobs: nothing is left to plan: again/part-001.sh has not started: its 2 open tasks left "
        "out (start it, or delete it to plan them again)\n"
    ) in errors
    assert not (tmp_path / "refused").exists()
    (second_folder / "submitted.txt").write_text("part-001 17\n")
    squeue(tmp_path, ["17|CANCELLED|None"], monkeypatch)  # it was given up
    assert planned_again(jobs, tmp_path / "third") == 0
    assert names_in(tmp_path / "third") == ["b", "c"]
    journal(tmp_path / "third", ended("b"))
    (second_folder / "submitted.txt").unlink()
    assert planned_again(jobs, tmp_path / "refused") == 2
    assert "again/part-001.sh has not started: its 1 open task left" in capsys.readouterr().err
    (second_folder / "part-001.sh").unlink()
    assert planned_again(jobs, tmp_path / "fourth") == 0
    assert names_in(tmp_path / "fourth") == ["c"]


def test_what_waits_for_a_round_that_has_not_started_is_left_out_too(tmp_path, capsys):
    jobs = two_parts(tmp_path)
    (jobs / "submitted.txt").unlink()
    journal(jobs, ended("a", 3), ended("c", 3))
    journal(jobs, ended("b", 3), part="part-002")
    assert planned_again(jobs, tmp_path / "again") == 0
    (tmp_path / "again" / "part-002.sh").unlink()  # that of b, which waits for a
    assert planned_again(jobs, tmp_path / "third") == 2
    errors = capsys.readouterr().err
    assert "again/part-001.sh has not started: its 2 open tasks left out" in errors
    assert "1 task left out, too: expected to start after these" in errors


def test_a_folder_that_has_not_started_is_planned_anew_with_a_note(tmp_path, capsys):
    jobs = written(tmp_path / "jobs", [shell("a"), shell("b")])
    assert planned_again(jobs, tmp_path / "again", "--nodes", "2") == 0
    output = capsys.readouterr().out
    assert (
        "part-001.sh has not started and has these 2 open tasks, too: start one of both" in output
    )
    assert names_in(tmp_path / "again") == ["a", "b"]


def test_a_script_that_is_started_again_knows_what_later_rounds_did(tmp_path):
    note = f"echo $COSCHED_TASK >> {tmp_path}/ran"
    jobs = written(tmp_path / "jobs", [shell("a", note), shell("b", note)])
    journal(jobs, ended("a", 3))
    second_folder = tmp_path / "again"
    assert planned_again(jobs, second_folder) == 0
    journal(second_folder, ended("a"))
    assert run(jobs).wait(30) == 0
    assert (tmp_path / "ran").read_text() == "b\n"


def test_rounds_that_moved_together_know_each_other_and_one_that_is_gone_is_noted(tmp_path, capsys):
    (tmp_path / "one").mkdir()
    jobs = written(tmp_path / "one" / "jobs", [shell("a")])
    assert planned_again(jobs, tmp_path / "one" / "again") == 0
    journal(tmp_path / "one" / "again", ended("a"))
    os.rename(tmp_path / "one", tmp_path / "two")
    assert main(["batch", str(tmp_path / "two" / "jobs"), "--status"]) == 0
    os.rename(tmp_path / "two" / "again", tmp_path / "elsewhere")
    capsys.readouterr()
    assert main(["batch", str(tmp_path / "two" / "jobs"), "--status"]) == 1
    output = capsys.readouterr().out
    assert f"note: {tmp_path / 'two' / 'again'} is not there any more" in output


@pytest.mark.parametrize("text", ["{}", "[]", "{", '{"folders": 5}', '{"folders": [5]}'])
def test_a_damaged_file_of_rounds_is_refused_by_its_name(text, tmp_path, capsys):
    jobs = written(tmp_path / "jobs", [shell("a")])
    (jobs / "rest.json").write_text(text)
    assert main(["batch", str(jobs), "--status"]) == 2
    errors = capsys.readouterr().err
    assert f"{jobs / 'rest.json'}: " in errors
    assert errors.count("\n") == 1


def test_what_runs_is_said_and_left_out_of_the_rest(tmp_path, capsys):
    tasks = [shell("long", f"touch {tmp_path}/begun; sleep 60"), shell("behind", after=["long"])]
    jobs = written(tmp_path / "jobs", [*tasks, shell("other", seconds=80.0)], limit=81.0)
    parts = json.loads((jobs / "batch.json").read_text())["allocations"]
    assert len(parts) == 1  # so the other one is taken out by hand
    runner = run(jobs)
    try:
        while not (tmp_path / "begun").exists():
            time.sleep(0.05)
        assert planned_again(jobs, tmp_path / "again") == 2
        errors = capsys.readouterr().err
        assert "nothing is left to plan: part-001.sh runs (job " in errors
        assert main(["batch", str(jobs), "--status"]) == 1
        errors = capsys.readouterr().out
        assert "part-001.sh: " in errors
        assert "; runs (job " in errors
        assert f"it still runs, or waits in the queue: cosched batch {jobs} --wait" in errors
    finally:
        runner.terminate()
        assert runner.wait(30) == 2
    assert planned_again(jobs, tmp_path / "again") == 0
    assert names_in(tmp_path / "again") == ["behind", "long"]


def squeue(folder, rows, monkeypatch):
    """A squeue with these rows."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    text = "".join(f"echo '{row}'\n" for row in rows)
    (tools / "squeue").write_text(f"#!/bin/sh\n{text}")
    (tools / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")


def two_parts(folder):
    """Two allocations, the second after the first."""
    tasks = [shell("a", seconds=80.0), shell("b", seconds=80.0, after=["a"])]
    jobs = written(folder / "jobs", [*tasks, shell("c", seconds=80.0)])
    parts = json.loads((jobs / "batch.json").read_text())["allocations"]
    assert [sorted(task["name"] for task in part["tasks"]) for part in parts] == [["a", "c"], ["b"]]
    (jobs / "submitted.txt").write_text("part-001 17\npart-002 18\n")
    return jobs


def test_parts_that_wait_in_the_queue_are_left_out_with_what_waits_for_them(
    tmp_path, capsys, monkeypatch
):
    jobs = two_parts(tmp_path)
    squeue(tmp_path, ["17|PENDING|Priority", "18|CANCELLED|Dependency"], monkeypatch)
    assert main(["batch", str(jobs), "--status"]) == 1
    output = capsys.readouterr().out
    assert "part-001.sh: 2 waiting; waits in the queue (job 17: Priority)\n" in output
    assert "part-002.sh: 1 waiting; job 18 cancelled before it began\n" in output
    assert planned_again(jobs, tmp_path / "again") == 2
    assert "1 task left out, too" in capsys.readouterr().err
    squeue(tmp_path, ["18|PENDING|DependencyNeverSatisfied"], monkeypatch)
    journal(jobs, {"begin": "17", "pid": 5, "host": "n1"}, ended("c"), {"over": "17"})
    assert planned_again(jobs, tmp_path / "again") == 0
    assert names_in(tmp_path / "again") == ["a", "b"]
    assert main(["batch", str(jobs), "--status"]) == 1
    assert "job 18 waits for ever: a part before it failed" in capsys.readouterr().out


def test_where_squeue_does_not_answer_that_is_said(tmp_path, capsys, monkeypatch):
    jobs = two_parts(tmp_path)
    squeue(tmp_path, [], monkeypatch)
    (tmp_path / "bin" / "squeue").write_text(
        "#!/bin/sh\necho 'slurm_load_jobs error' >&2; exit 1\n"
    )
    assert planned_again(jobs, tmp_path / "again") == 0
    output = capsys.readouterr().out
    assert "may run or wait as job 17: squeue does not answer: its tasks may run twice" in output


def test_the_limit_gets_longer_where_it_was_the_reason(tmp_path, capsys):
    jobs = written(tmp_path / "jobs", [shell("long", seconds=85.0), shell("b")])
    stopped = [{"begin": "1", "pid": 1}, ended("b"), {"stop": "limit"}]
    journal(jobs, *stopped, {"cut": "long", "code": -15, "seconds": 100.0})
    assert planned_again(jobs, tmp_path / "again") == 0
    output = capsys.readouterr().out
    assert (
        "note: the limit cut off 1 task: allocations last 3 min instead of 2 ('long' needs "
        in output
    )
    (part,) = json.loads((tmp_path / "again" / "batch.json").read_text())["allocations"]
    assert (part["time"], part["limit"], part["tasks"][0]["end"]) == (180.0, 150.0, 120.0)
    assert "#SBATCH --time=3 " in (tmp_path / "again" / "part-001.sh").read_text()
    (tmp_path / "again" / "part-001.sh").unlink()
    assert planned_again(jobs, tmp_path / "typed", "--time", "10m") == 0
    (part,) = json.loads((tmp_path / "typed" / "batch.json").read_text())["allocations"]
    assert part["time"] == 600.0
    (tmp_path / "typed" / "part-001.sh").unlink()
    journal(jobs, ended("b"), {"stop": "signal"}, {"cut": "long", "code": -15, "seconds": 100.0})
    assert planned_again(jobs, tmp_path / "refused") == 2
    assert "expected a longer limit" in capsys.readouterr().err


@pytest.mark.parametrize(("typed", "fits"), [("2:00", 90), ("2m", 90), ("4h", 14370), ("0:05", 5)])
def test_a_plan_leaves_the_time_that_ends_an_allocation(typed, fits, tmp_path, capsys):
    rows = tmp_path / "list.csv"
    for seconds, code in ((fits, 0), (fits + 1, 2)):
        rows.write_text(f"command,seconds\ntrue,{seconds}\n")
        arguments = ["--time", typed, "--cores-per-node", "2", "--spread", "0"]
        out = tmp_path / f"jobs-{seconds}"
        assert main(["batch", str(rows), *arguments, "-o", str(out)]) == code
        assert out.exists() == (code == 0)
    assert (
        f"longer than the {fits} s that tasks may take in an allocation" in capsys.readouterr().err
    )


def test_wait_ends_with_the_last_task_and_watch_says_what_changes(tmp_path):
    jobs = written(tmp_path / "jobs", [shell("a", "sleep 3"), shell("b", "exit 3")])
    runner = run(jobs)
    command = [sys.executable, "-m", "cosched", "batch", str(jobs)]
    waiting = subprocess.Popen([*command, "--wait"], stdout=subprocess.PIPE, text=True)
    watched = subprocess.run(
        [*command, "--status", "--watch"], capture_output=True, text=True, timeout=60
    )
    assert watched.returncode == 1
    assert "1 of 2 tasks completed (50.00% of the work), 1 failed\n" in watched.stdout
    assert watched.stdout.endswith(f"cosched batch {jobs} --rest -o NEW\n")
    assert runner.poll() is not None
    output, _ = waiting.communicate(timeout=30)
    assert waiting.returncode == 1
    assert output.startswith("part-001.sh: 1 completed, 1 failed\n")


def test_wait_ends_where_nothing_was_started(tmp_path, monkeypatch):
    monkeypatch.setattr("cosched.cli.batch_folders._BEGIN", 0.1)
    monkeypatch.setattr("cosched.cli.batch_folders._LOOK", 0.1)
    jobs = written(tmp_path / "jobs", [shell("a")])
    assert main(["batch", str(jobs), "--wait"]) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--status", "--rest"], "--status and --rest: expected one of them"),
        (["--watch"], "--watch: expected --status, too"),
        (["--wait", "--seconds", "5"], "--seconds: the times are those of the folder"),
        (["--wait", "--partition", "a"], "--wait: expected the folder, and nothing beside it"),
    ],
)
def test_options_about_a_folder_that_do_not_fit_are_refused(options, said, tmp_path, capsys):
    jobs = written(tmp_path / "jobs", [shell("a")])
    assert main(["batch", str(jobs), *options]) == 2
    assert said in capsys.readouterr().err


def test_a_folder_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    place = tmp_path / "above" / "jobs"
    batch_plan = batch([shell(name) for name in "ab"], limit=60.0, cores=1, spread=0.0)
    monkeypatch.setattr("cosched.execution.batches.folder._to_dict", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        batches.write(batch_plan, place)
    assert os.listdir(tmp_path) == []
    monkeypatch.undo()
    place.mkdir(parents=True)
    batches.write(batch_plan, place)
    assert sorted(os.listdir(tmp_path / "above")) == ["jobs"]
    with pytest.raises(InvalidInstance, match="is there already"):
        batches.write(batch_plan, place)


def test_a_rest_that_its_folder_cannot_know_is_not_written(tmp_path, capsys):
    jobs = written(tmp_path / "jobs", [shell("a")])
    (jobs / "rest.json").mkdir()
    assert planned_again(jobs, tmp_path / "again") == 2
    assert not (tmp_path / "again").exists()


def copied(script, folder):
    """The script where Slurm puts a copy of it."""
    spool = folder / "spool"
    spool.mkdir(exist_ok=True)
    (spool / "slurm_script").write_bytes(script.read_bytes())
    return spool / "slurm_script"


def test_a_script_finds_its_folder_from_anywhere(tmp_path):
    note = f"echo $COSCHED_TASK >> {tmp_path}/ran"
    place = tmp_path / "with 'quotes' and 100%"
    jobs, other = written(place / "jobs", [shell("a", note)]), tmp_path / "other"
    written(other, [shell("b", note)])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script = copied(jobs / "part-001.sh", tmp_path)

    def started(submitted_in):
        environment = {**os.environ, "SLURM_SUBMIT_DIR": str(submitted_in)}
        return subprocess.run(
            ["bash", script], cwd=elsewhere, env=environment, capture_output=True, text=True
        )

    assert started(other).returncode == 0  # which has a part of that name, too
    assert (tmp_path / "ran").read_text() == "a\n"
    (jobs / "part-001.journal.jsonl").unlink()
    os.rename(jobs, tmp_path / "moved")
    assert started(tmp_path / "moved").returncode == 0
    assert (tmp_path / "ran").read_text() == "a\na\n"
    done = started(other)
    assert done.returncode == 2
    assert "part-001.sh: its folder is not found (was it moved?)" in done.stderr
    assert not (other / "part-001.journal.jsonl").exists()


def test_the_log_of_a_script_is_in_its_folder_wherever_it_is_submitted(tmp_path):
    jobs = written(tmp_path / "a b 100%", [shell("a")])
    text = (jobs / "part-001.sh").read_text()
    assert f'#SBATCH --output="{tmp_path}/a b 100%%/part-001.log" --open-mode=append' in text
    assert "sbatch --parsable --output=part-001.log part-001.sh" in (jobs / "submit.sh").read_text()


def test_a_plain_list_of_commands(tmp_path, capsys):
    commands = tmp_path / "list.txt"
    commands.write_text("# two commands\necho a,b\n\necho $HOME; true\n")
    arguments = ["batch", str(commands), "--time", "5m", "--cores-per-node", "1"]
    assert main([*arguments, "--seconds", "60 62 58", "-o", str(tmp_path / "jobs")]) == 0
    assert f"note: {commands}: 1 comment left out: lines that begin" in capsys.readouterr().out
    part = json.loads((tmp_path / "jobs" / "part-001.json").read_text())
    assert [task["command"][2] for task in part["tasks"]] == ["echo a,b", "echo $HOME; true"]
    assert [task["name"] for task in part["tasks"]] == ["task 1", "task 2"]
    assert {task["seconds"] for task in part["tasks"]} == {60.0}
    assert main([*arguments, "--seconds", "1m", "-o", str(tmp_path / "minutes")]) == 0
    assert main([*arguments, "-o", str(tmp_path / "none")]) == 2
    assert "; of a list of commands: expected --seconds\n" in capsys.readouterr().err


def test_a_list_with_measured_times(tmp_path, capsys):
    commands = tmp_path / "list.csv"
    commands.write_text("command,name,cores\n./fem a,a,1\n./fem b,,2\n")
    runs = tmp_path / "runs.csv"
    runs.write_text("task,processors,seconds\na,1,10\na,1,12\n./fem b,2,7\na,2,5\n")
    arguments = [
        "batch",
        str(commands),
        "--time",
        "5m",
        "--cores-per-node",
        "2",
        "--runs",
        str(runs),
    ]
    assert main([*arguments, "-o", str(tmp_path / "jobs")]) == 0
    part = json.loads((tmp_path / "jobs" / "part-001.json").read_text())
    assert {task["name"]: task["seconds"] for task in part["tasks"]} == {"a": 11.0, "task 2": 7.0}
    commands.write_text("command,name,cores\n./fem a,a,1\n./fem c,c,2\n")
    assert main([*arguments, "-o", str(tmp_path / "none")]) == 2
    errors = capsys.readouterr().err
    assert f"{commands}: line 3: {runs} has no completed run of 'c' or './fem c' on 2" in errors
    assert main([*arguments, "--seconds", "9", "-o", str(tmp_path / "filled")]) == 0


@pytest.mark.parametrize(
    ("after", "expected"),
    [("task 1", ["task 1"]), ("b task 1  b", ["b", "task 1", "b"]), ("task 12 task 1", None)],
)
def test_default_names_stand_in_after(after, expected, tmp_path, capsys):
    rows = tmp_path / "list.csv"
    rows.write_text(f"command,seconds,after,name\ntrue,1,,\ntrue,1,,b\ntrue,1,{after},\n")
    arguments = ["--time", "5m", "--cores-per-node", "1", "-o", str(tmp_path / "jobs")]
    assert main(["batch", str(rows), *arguments]) == (0 if expected else 2)
    if expected is None:
        assert "task 'task 3': after: unknown task 'task'" in capsys.readouterr().err
        return
    part = json.loads((tmp_path / "jobs" / "part-001.json").read_text())
    assert [task["after"] for task in part["tasks"] if task["name"] == "task 3"] == [expected]


def test_names_that_can_be_read_in_two_ways_are_refused(tmp_path, capsys):
    rows = tmp_path / "list.csv"
    names = ["a", "b", "a b", "last"]
    lines = [f"true,1,{'a b' if name == 'last' else ''},{name}" for name in names]
    rows.write_text("\n".join(["command,seconds,after,name", *lines]) + "\n")
    arguments = ["--time", "5m", "--cores-per-node", "1", "-o", str(tmp_path / "jobs")]
    assert main(["batch", str(rows), *arguments]) == 2
    errors = capsys.readouterr().err
    assert f"{rows}: line 5, column 'after': 'a b': these are names in more than one way" in errors


def test_a_status_beside_a_runner_that_begins_never_keeps_it_from_its_lock(tmp_path):
    jobs = written(tmp_path / "jobs", [shell("a")])
    (jobs / "part-001.journal.jsonl").touch()
    is_over = threading.Event()

    def look():
        while not is_over.is_set():
            batches.runner.is_locked(str(jobs / "part-001.journal.jsonl"))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        assert run(jobs).wait(30) == 0
    finally:
        is_over.set()
        looking.join()
