"""The runner of an allocation: agents that print, break or hang, signals, a second start."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cosched.execution import BatchTask, batch, batches

RUNNER = batches.runner.__file__


def until(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def task(name, command, **values):
    fields = {
        "name": name,
        "command": ["/bin/sh", "-c", command],
        "seconds": 1.0,
        "need": [1.0, 0.0, 0.0],
        "shared": [],
        "node": 0,
    }
    return fields | values


def part(folder, tasks, **values):
    """The file of an allocation of two cores."""
    fields = {"nodes": 1, "limit": 60.0, "node": [2.0, 0.0, 0.0], "shared": [], "tasks": tasks}
    path = folder / "part-001.json"
    path.write_text(json.dumps(fields | values))
    return path


def start(path, site=None, **variables):
    """The runner of an allocation; `site` is the text of a sitecustomize.py."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "SLURM", "COVERAGE"))
    }
    if site is not None:
        folder = path.parent / "site"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(site)
        environment["PYTHONPATH"] = str(folder)
    return subprocess.Popen(
        [sys.executable, RUNNER, path.name],
        cwd=path.parent,
        env=environment | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )


def entries(path):
    text = path.with_suffix(".journal.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


PRINTING = {
    "a banner": 'print("welcome to this site")',
    "half a line": 'import sys; sys.stdout.write("welcome")',
    "bytes that are no text": 'import os; os.write(1, b"\\xff\\xfe\\n{}\\n")',
    "what looks like a message": 'print(\'{"end": "a", "code": 3, "seconds": 1}\')',
    "a process that goes on": """
import os
if os.fork() == 0:
    os.setsid()
    import time
    for _ in range(300):
        try:
            os.write(1, b"still here")
        except OSError:
            os._exit(0)
        time.sleep(0.01)
    os._exit(0)
""",
}


@pytest.mark.parametrize("site", PRINTING.values(), ids=PRINTING)
def test_what_a_site_prints_is_no_message(site, tmp_path):
    path = part(tmp_path, [task("a", "echo hi"), task("b", "echo ho; exit 3")])
    runner = start(path, site)
    runner.communicate(timeout=30)
    ends = {entry["end"]: entry["code"] for entry in entries(path) if "end" in entry}
    assert ends == {"a": 0, "b": 3}
    assert runner.returncode == 1
    assert (tmp_path / "part-001.outputs" / "a.out").read_text() == "hi\n"


def test_an_agent_without_input_is_reported(tmp_path):
    path = part(tmp_path, [task("a", "true")])
    runner = start(path, "import os; os.close(0)")
    _, errors = runner.communicate(timeout=30)
    assert runner.returncode == 1
    assert "this node gets no more tasks" in errors


def test_what_a_module_prints_reads_and_starts_disturbs_nothing(tmp_path):
    (tmp_path / "talkative.py").write_text(
        "import os, signal, subprocess, sys\n"
        'print("imported", flush=True)\n'
        "assert sys.stdin.read() == ''\n"
        "subprocess.Popen(['true'])\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "signal.set_wakeup_fd(-1)\n"
        "def main(words):\n"
        "    print('called', *words)\n"
    )
    calls = [task(name, "exit 9", call=[name], directory=str(tmp_path)) for name in ("one", "two")]
    path = part(tmp_path, calls, module="talkative")
    runner = start(path)
    _, errors = runner.communicate(timeout=30)
    assert runner.returncode == 0, errors
    assert "imported" in errors
    assert (tmp_path / "part-001.outputs" / "one.out").read_text() == "called one\n"


@pytest.mark.parametrize("end", ["raise SystemExit(3)", "import os; os._exit(3)"])
def test_tasks_run_by_their_commands_where_a_module_cannot_be_imported(end, tmp_path):
    (tmp_path / "broken.py").write_text(end + "\n")
    calls = [task("a", "echo command", call=["a"], directory=str(tmp_path))]
    path = part(tmp_path, calls, module="broken")
    runner = start(path)
    _, errors = runner.communicate(timeout=30)
    assert runner.returncode == 0, errors
    assert (tmp_path / "part-001.outputs" / "a.out").read_text() == "command\n"
    assert ("is replaced" in errors) == ("os._exit" in end)


def test_an_agent_that_ends_is_replaced_and_its_tasks_start_again(tmp_path):
    once = f"echo x >> {tmp_path}/ran; test -e {tmp_path}/again && exit 0; touch {tmp_path}/again"
    # After half a second the runner knows that the task has begun.
    path = part(tmp_path, [task("a", f"{once}; sleep 0.5; kill -9 $PPID; sleep 30")])
    runner = start(path)
    _, errors = runner.communicate(timeout=30)
    assert runner.returncode == 0, errors
    assert "ended with -9" in errors
    assert "is replaced" in errors
    assert (tmp_path / "ran").read_text() == "x\nx\n"
    assert [entry["cut"] for entry in entries(path) if "cut" in entry] == ["a"]


def test_a_task_that_ends_each_agent_is_given_up(tmp_path):
    path = part(tmp_path, [task("a", f"echo x >> {tmp_path}/ran; kill -9 $PPID; sleep 30")])
    runner = start(path)
    _, errors = runner.communicate(timeout=30)
    assert runner.returncode == 1
    assert errors.count("is replaced\n") == 2
    assert "this node gets no more tasks" in errors
    assert (tmp_path / "ran").read_text() == "x\n" * 3
    assert entries(path)[-1]["left"] == ["a"]


def test_an_agent_that_does_not_answer_is_replaced(tmp_path):
    site = f"""
import os, sys, time
if "--agent" in sys.orig_argv:
    if not os.path.exists("{tmp_path}/hung"):
        open("{tmp_path}/hung", "w").close()
        time.sleep(60)
"""
    path = part(tmp_path, [task("a", "true")], patience=1.5)
    runner = start(path, site)
    _, errors = runner.communicate(timeout=30)
    assert runner.returncode == 0, errors
    assert "does not answer" in errors


HANGING = 'import sys, time\nif "--agent" in sys.orig_argv: time.sleep(60)\n'


def test_a_node_without_an_agent_is_reported(tmp_path):
    path = part(tmp_path, [task("a", "true")], patience=0.3)
    runner = start(path, HANGING)
    _, errors = runner.communicate(timeout=30)
    assert runner.returncode == 1
    assert "this node gets no more tasks" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_runner_whose_agent_hangs(number, tmp_path):
    path = part(tmp_path, [task("a", "true")])
    runner = start(path, HANGING)
    until(lambda: path.with_suffix(".journal.jsonl").exists() and entries(path))
    time.sleep(0.3)
    runner.send_signal(number)
    _, errors = runner.communicate(timeout=5)
    assert runner.returncode == 1
    assert "Traceback" not in errors
    assert entries(path)[-1]["left"] == ["a"]


def test_sigterm_ends_a_runner_whose_agent_is_stopped_with_full_pipes(tmp_path):
    many = [task(f"t{k}", f"sleep 30; : {'x' * 4000}") for k in range(200)]
    path = part(tmp_path, many, node=[200.0, 0.0, 0.0])
    pid = tmp_path / "pid"
    many[0]["command"][2] = f"echo $PPID > {pid}.new; mv {pid}.new {pid}; exec sleep 30"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"tasks": many[:1]}))
    runner = start(path)
    until(pid.exists)
    os.kill(int(pid.read_text()), signal.SIGSTOP)
    runner.terminate()
    _, errors = runner.communicate(timeout=25)
    assert runner.returncode == 1
    assert "Traceback" not in errors
    assert [entry["cut"] for entry in entries(path) if "cut" in entry] == ["t0"]


def test_many_signals_do_not_lock_the_runner(tmp_path):
    path = part(tmp_path, [task("a", "trap '' TERM; sleep 1; exit 1")])
    runner = start(path)
    until(lambda: path.with_suffix(".journal.jsonl").exists() and len(entries(path)) == 2)
    for _ in range(500):
        runner.terminate()
        time.sleep(0.001)
    runner.communicate(timeout=25)
    assert runner.returncode == 1


def test_a_second_start_is_refused_while_the_first_one_runs(tmp_path):
    path = part(tmp_path, [task("a", f"echo x >> {tmp_path}/ran; sleep 4")])
    first = start(path)
    until((tmp_path / "ran").exists)
    second = start(path)
    _, errors = second.communicate(timeout=30)
    assert second.returncode == 2
    assert errors == (
        f"part-001.json runs already (job {first.pid}, process {first.pid} on "
        f"{os.uname().nodename}): expected one runner\n"
    )
    assert first.wait(30) == 0
    assert (tmp_path / "ran").read_text() == "x\n"
    third = start(path)
    assert third.wait(30) == 0
    first.communicate()
    third.communicate()


def test_a_runner_that_ends_at_once_lets_the_next_one_begin(tmp_path):
    path = part(tmp_path, [task("a", f"echo x >> {tmp_path}/ran; sleep 60")])
    first = start(path)
    until((tmp_path / "ran").exists)
    first.kill()
    first.communicate()
    second = start(path)
    until(lambda: (tmp_path / "ran").read_text() == "x\nx\n")
    second.terminate()
    second.communicate(timeout=20)


def test_a_second_runner_ends_what_the_first_one_and_its_agent_have_left(tmp_path):
    noted = tmp_path / "pid"
    command = f"test -e {noted} && exit 0; echo $$ $PPID > {noted}.new; mv {noted}.new {noted}"
    path = part(tmp_path, [task("a", f"{command}; (sleep 60 &); sleep 60")])
    first = start(path)
    until(noted.exists)
    pid, agent = map(int, noted.read_text().split())
    os.kill(agent, signal.SIGSTOP)  # or it ends its tasks when the runner is gone
    os.kill(first.pid, signal.SIGKILL)
    os.kill(agent, signal.SIGKILL)
    first.wait(30)
    first.stdout.close()
    first.stderr.close()
    assert is_running(pid)
    second = start(path)
    assert second.wait(30) == 0
    until(lambda: not is_running(pid), 1)
    assert batches.runner.processes_of(f"{path.resolve()}:0") == {}
    second.communicate()


def test_what_a_completed_task_has_left_runs_on_when_its_agent_is_replaced(tmp_path):
    daemon, pid = "setsid sleep 60 < /dev/null > /dev/null 2>&1 & echo $!", tmp_path / "pid"
    once = f"test -e {tmp_path}/again && exit 0; touch {tmp_path}/again; kill -9 $PPID; sleep 60"
    path = part(tmp_path, [task("a", f"{daemon} > {pid}"), task("b", once, after=["a"])])
    runner = start(path)
    _, said = runner.communicate(timeout=30)
    assert runner.returncode == 0, said
    assert "is replaced" in said
    left = int(pid.read_text())
    assert is_running(left)
    os.kill(left, signal.SIGKILL)


def is_running(pid):
    """Whether a process is there, and not only its exit code."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_journal_that_ends_within_a_line_is_continued_on_the_next_one(tmp_path):
    path = part(tmp_path, [task("a", "true"), task("b", "true")])
    journal = path.with_suffix(".journal.jsonl")
    journal.write_text('{"end": "a", "code": 0, "seconds": 0.1}\n{"end": "b", "co')
    runner = start(path)
    assert runner.wait(30) == 0
    runner.communicate()
    lines = journal.read_text().splitlines()
    assert lines[1] == '{"end": "b", "co'
    later = [json.loads(line) for line in lines[2:]]
    assert later[0]["begin"] == str(runner.pid)
    assert [entry["start"] for entry in later if "start" in entry] == ["b"]


def test_a_runner_that_cannot_write_its_journal_ends_its_tasks_and_says_so(tmp_path):
    """No more than 4 KiB fit, as on a full disk; then a start without that runs the others."""
    tasks = [task(f"t{number}", "true") for number in range(200)]
    path = part(tmp_path, [*tasks, task("long", "sleep 60")])
    limited = subprocess.run(
        ["bash", "-c", f"ulimit -f 4; exec {sys.executable} {RUNNER} {path.name}"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert limited.returncode == 2
    assert limited.stderr == "part-001.json cannot go on: [Errno 27] File too large\n"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"tasks": tasks}))
    unlimited = start(path)
    assert unlimited.wait(60) == 0
    unlimited.communicate()
    journal = list(batches.runner.read_entries(path.with_suffix(".journal.jsonl")))
    assert all(entry["code"] == 0 for entry in journal if "end" in entry)
    ends = [entry["end"] for entry in journal if "end" in entry]
    assert sorted(ends) == sorted(f"t{number}" for number in range(200))


def test_short_tasks_begin_in_their_order_and_never_beyond_what_the_node_has(tmp_path):
    """Tasks of one core, and some that need both and are alone then."""
    draw = random.Random(5)
    count, alone = f"{tmp_path}/count", f"mkdir {tmp_path}/alone && rmdir {tmp_path}/alone"
    check = f"exec 9>>{count}; flock -ns 9"
    tasks = [
        task(f"t{number}", f"exec 9>>{count}; flock -nx 9 && {alone}", need=[2.0, 0.0, 0.0])
        if draw.random() < 0.1
        else task(f"t{number}", check)
        for number in range(300)
    ]
    path = part(tmp_path, tasks)
    runner = start(path)
    _, said = runner.communicate(timeout=60)
    assert runner.returncode == 0, said
    starts = [entry["start"] for entry in entries(path) if "start" in entry]
    assert starts == [f"t{number}" for number in range(300)]


def test_an_agent_gives_back_what_it_cannot_begin_soon(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # and back at the end: an agent goes to the folders of its tasks
    monkeypatch.delenv("COSCHED_AGENT", raising=False)
    reads, writes = os.pipe()
    node_agent = batches.runner.Agent(writes, (reads, writes), None)
    node_agent.take_order({"node": [1.0, 0.0, 0.0], "completed": []})
    for name, command in (("long", "sleep 1"), ("short", "true"), ("other", "true")):
        node_agent.take_order(
            {
                "start": name,
                "need": [1.0, 0.0, 0.0],
                "command": command.split(),
                "call": None,
                "environment": {},
                "directory": str(tmp_path),
                "output": str(tmp_path / name),
            }
        )
    node_agent.begin_tasks()
    assert node_agent.patience() > 0.1
    time.sleep(node_agent.patience())
    node_agent.begin_tasks()
    assert node_agent.patience() is None
    node_agent.send()
    lines = os.read(reads, 1 << 16).decode().splitlines()
    messages = [json.loads(line.partition("@COSCHED_MESSAGE@")[2]) for line in lines]
    assert [message.get("started") for message in messages] == [None, "long", None, None]
    assert [message.get("back") for message in messages] == [None, None, "short", "other"]
    node_agent.end_tasks()
    os.close(reads)
    os.close(writes)


def test_a_short_task_behind_a_long_one_goes_to_the_other_node(tmp_path):
    """Two nodes of one core; the first tasks are short, so that tasks are given ahead."""
    tasks = [task(f"t{number}", "true") for number in range(150)]
    tasks[100:100] = [task("long", "sleep 3")]
    path = part(tmp_path, tasks, nodes=2, node=[1.0, 0.0, 0.0])
    runner = start(path)
    _, said = runner.communicate(timeout=60)
    assert runner.returncode == 0, said
    moments = {entry["end"]: entry["t"] for entry in entries(path) if "end" in entry}
    assert max(moments.values()) == moments["long"]


@pytest.mark.parametrize("seed", range(20))
def test_waiting_tasks_are_ready_when_those_before_them_have_completed(seed):
    """As a list that is searched from its beginning each time."""
    draw = random.Random(seed)
    names = [f"t{number}" for number in range(30)]
    tasks = [
        {"name": name, "after": draw.sample(names[:number], min(number, draw.choice((0, 0, 1, 3))))}
        for number, name in enumerate(names)
    ]
    completed = {"t0"}
    waiting = batches.runner.WaitingTasks(tasks[1:], set(completed))
    still, running = list(tasks[1:]), []
    while still or running:
        ready = [task for task in still if completed.issuperset(task["after"])]
        assert list(waiting.ready()) == ready
        assert waiting.names() == [task["name"] for task in still]
        assert len(waiting) == len(still)
        if ready and draw.random() < 0.6:
            task = ready[min(len(ready) - 1, draw.choice((0, 0, 1, 5)))]
            still.remove(task)
            running.append(task)
            waiting.remove(task)
            continue
        if not running:
            continue
        task = running.pop(draw.randrange(len(running)))
        if draw.random() < 0.3:  # its agent was lost
            waiting.add(task)
            still.append(task)
            still.sort(key=lambda task: names.index(task["name"]))
        else:
            waiting.complete(task["name"])
            completed.add(task["name"])


@pytest.mark.parametrize("site", [None, "import os\ndel os.posix_spawnp"], ids=["spawn", "fork"])
def test_a_task_has_what_it_was_promised(site, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "special").write_text("#!/bin/sh\necho found\n")
    (tools / "special").chmod(0o755)
    (tmp_path / "no-program").write_text("echo hi")
    path = part(
        tmp_path,
        [
            task("session", 'test "$(ps -o sid= -p $$)" -eq $$ && echo leader'),
            task("cores", "taskset -cp $$ | sed 's/.*: //'; echo $COSCHED_CPUS"),
            task("folder", "pwd", directory=str(tmp_path / "new" / "folder")),
            task("input", "cat; echo end"),
            task("pipe", "yes | head -1"),
            task("variable", "echo $GIVEN $COSCHED_TASK", environment={"GIVEN": "yes"}),
            task("path", "") | {"command": ["special"], "environment": {"PATH": str(tools)}},
            task("missing", "") | {"command": ["no-such-program"]},
            task("refused", "") | {"command": [str(tmp_path / "no-program")]},
            task("nowhere", "pwd", directory="/dev/null/folder"),
        ],
    )
    runner = start(path, site)
    _, errors = runner.communicate(timeout=60)
    codes = {entry["end"]: entry["code"] for entry in entries(path) if "end" in entry}
    outputs = {file.stem: file.read_text() for file in (tmp_path / "part-001.outputs").iterdir()}
    assert runner.returncode == 3, errors
    assert {name for name, code in codes.items() if code == 127} == {
        "missing",
        "refused",
        "nowhere",
    }
    assert outputs["session"] == "leader\n"
    affinity, core_list = outputs["cores"].split()
    assert affinity == core_list
    assert outputs["folder"] == f"{tmp_path}/new/folder\n"
    assert outputs["input"] == "end\n"
    assert outputs["pipe"] == "y\n"
    assert outputs["variable"] == "yes variable\n"
    assert outputs["path"] == "found\n"
    assert outputs["missing"].startswith("missing: ")
    assert outputs["refused"].startswith("refused: ")
    assert outputs["nowhere"].startswith("nowhere: ")


def squeue(folder, text):
    """A squeue that knows how long the job may still run; the path to find it."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    tool = tools / "squeue"
    tool.write_text(f"#!/bin/sh\n{text}\n")
    tool.chmod(0o755)
    return f"{tools}:{os.environ['PATH']}"


def test_the_runner_ends_its_tasks_before_slurm_does(tmp_path):
    path = part(tmp_path, [task("a", "sleep 60", seconds=2.0)])
    runner = start(path, PATH=squeue(tmp_path, "echo 0:18"), SLURM_JOB_ID="17")
    time.sleep(3.0)
    assert runner.poll() is None  # the limit was asked for again: still 18 s
    squeue(tmp_path, "echo 0:15")
    runner.communicate(timeout=25)
    assert runner.returncode == 1
    stop, cut = entries(path)[-3:-1]
    assert (stop["stop"], cut["cut"]) == ("limit", "a")


def test_what_would_end_behind_the_limit_of_the_job_is_not_begun(tmp_path):
    tasks = [task("a", "sleep 0.2"), task("b", "true", seconds=40.0, after=["a"])]
    path = part(tmp_path, tasks)
    runner = start(path, PATH=squeue(tmp_path, "echo 50"), SLURM_JOB_ID="17")
    runner.communicate(timeout=30)
    assert runner.returncode == 0  # no limit is known from such an answer
    path.with_suffix(".journal.jsonl").unlink()
    runner = start(path, PATH=squeue(tmp_path, "echo 0:50"), SLURM_JOB_ID="17")
    runner.communicate(timeout=30)
    assert runner.returncode == 1
    assert entries(path)[-1]["left"] == ["b"]


def removed(key):
    return lambda fields: {name: value for name, value in fields.items() if name != key}


def changed(**values):
    return lambda fields: fields | values


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (removed("command"), "task 2 ('b'): no 'command': expected a list of texts"),
        (removed("need"), "task 2 ('b'): no 'need': expected at most [2.0, 0.0, 0.0]"),
        (removed("name"), "task 2: no 'name': expected a text"),
        (removed("seconds"), "task 2 ('b'): no 'seconds': expected seconds"),
        (removed("shared"), "task 2 ('b'): no 'shared': expected at most []"),
        (removed("node"), "task 2 ('b'): no 'node': expected an integer"),
        (changed(command=[]), "task 2 ('b'): command = []: expected a list of texts"),
        (changed(command="ls"), "task 2 ('b'): command = 'ls': expected a list of texts"),
        (changed(command=["a\0"]), "command = ['a\\x00']: expected a list of texts"),
        (changed(need=[1, 0]), "need = [1, 0]: expected at most [2.0, 0.0, 0.0]"),
        (changed(need=[3, 0, 0]), "need = [3, 0, 0]: expected at most [2.0, 0.0, 0.0]"),
        (changed(seconds=float("nan")), "seconds = nan: expected seconds"),
        (changed(after="a"), "after = 'a': expected a list of texts"),
        (changed(environment={"A": 1}), "environment = {'A': 1}: expected a table of texts"),
        (changed(environment=None), "environment = None: expected a table of texts"),
        (changed(output="../a"), "output = '../a': expected a file name"),
        (lambda fields: 5, "task 2: expected a table"),
    ],
)
def test_a_damaged_task_is_refused_in_one_line(change, said, tmp_path):
    path = part(tmp_path, [task("a", "true"), change(task("b", "true"))])
    done = subprocess.run(
        [sys.executable, RUNNER, path], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"{path} is not what cosched batch wrote: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not path.with_suffix(".journal.jsonl").exists()


def test_a_damaged_task_of_a_spool_is_reported_and_the_others_run(tmp_path):
    spool = tmp_path / "spool"
    for name in ("new", "taken", "ended"):
        (spool / name).mkdir(parents=True)
    (spool / "new" / "1.json").write_text("{")
    (spool / "new" / "2.json").write_text(json.dumps(removed("need")(task("b", "true"))))
    (spool / "new" / "3.json").write_text(json.dumps(task("c", "true")))
    path = part(tmp_path, [], spool=str(spool), idle=0.5)
    runner = start(path)
    _, errors = runner.communicate(timeout=30)
    assert runner.returncode == 0
    assert errors.count(" is no task: ") == 2
    assert os.listdir(spool / "ended") == ["3.json"]


def test_what_a_batch_writes_passes_the_checks_of_the_runner(tmp_path):
    batch_task = BatchTask(
        name="a", seconds={1: 1.0}, commands={1: ("true",)}, gpus=1, licences={"solver": 1}
    )
    batch_plan = batch(
        [batch_task], limit=60.0, cores=2, gpus=1, licences={"solver": 2}, spread=0.0
    )
    batches.write(batch_plan, tmp_path / "jobs")
    batches.runner.require_part(json.loads((tmp_path / "jobs" / "part-001.json").read_text()))
