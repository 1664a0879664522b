"""What runs use: memory of trees of processes, starved runs, counts that are ignored, old files."""

import contextlib
import math
import os
import signal
import subprocess
import sys
import time

import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.execution import Code, Codes, plan, processes, profile
from cosched.execution.measured_times import notes_of
from cosched.execution.runs_file import COLUMNS, RunsFile, read_runs

MB = 1_000_000
#: Takes pages, shares or drops them; a Python has some 9 MB of its own.
SHAPES = {
    # one process of 150 MB
    "plain": ("x = b'x' * (150 * MB); time.sleep(1.0)", 150),
    # four that share what their parent has
    "forks": (
        "x = b'x' * (150 * MB)\n"
        "for _ in range(4):\n"
        "    if not os.fork(): time.sleep(1.2); os._exit(0)\n"
        "for _ in range(4): os.wait()",
        150,
    ),
    # three of 60 MB each
    "children": (
        "for _ in range(3):\n"
        "    if not os.fork(): x = b'x' * (60 * MB); time.sleep(1.2); os._exit(0)\n"
        "for _ in range(3): os.wait()",
        180,
    ),
    # 20 ms of 400 MB between two looks
    "spike": (
        "time.sleep(0.33); m = mmap.mmap(-1, 400 * MB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        "for k in range(0, 400 * MB, 4096): m[k] = 1\n"
        "time.sleep(0.02); m.close(); time.sleep(0.6)",
        400,
    ),
}
HEAD = f"import mmap, os, time\nMB = {MB}\n"


def memory_of(folder, shape, out):
    text, expected = SHAPES[shape]
    (folder / "shape.py").write_text(HEAD + text)
    command = (sys.executable, "-I", "-S", str(folder / "shape.py"))
    codes = Codes(procs=1, codes={"a": Code(name="a", command=command, directory=folder)})
    row = profile(codes, repeat=1, out=out).iloc[0]
    assert row.status == "completed"
    return row, expected / 1000


@pytest.mark.parametrize("shape", SHAPES)
def test_memory_of_trees_of_processes(shape, tmp_path):
    row, expected = memory_of(tmp_path, shape, tmp_path / "runs.csv")
    assert expected <= row.memory + 0.001
    # An interpreter for each process that has its own pages, and what the kernel holds for it.
    assert row.memory <= 1.1 * expected + 0.035
    assert row.memory_by in ("pss", "rss")
    assert row.cpu_seconds > 0


def test_a_spike_is_seen_where_looking_at_all_pages_takes_long(tmp_path, monkeypatch):
    def slowly(looks):
        end = time.thread_time() + 0.1
        while time.thread_time() < end:
            pass

    monkeypatch.setattr(processes.ProcessTree, "hold", slowly)
    monkeypatch.setattr(processes, "bytes_of_line", lambda *_: math.inf)  # ours hides ru_maxrss
    row, expected = memory_of(tmp_path, "spike", tmp_path / "runs.csv")
    assert expected <= row.memory + 0.001
    assert row.memory_by == "rss"


#: All on one core of ours.
CORE = min(os.sched_getaffinity(0))
THERE = f"import os, time; os.sched_setaffinity(0, {{{CORE}}})\n"


@contextlib.contextmanager
def burners(count):
    """So many processes that want the core all the time."""
    burn = [sys.executable, "-I", "-S", "-c", THERE + "while 1: pass"]
    processes = [subprocess.Popen(burn) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.wait()


#: Computes for a fixed while of processor time.
BUSY = THERE + "while time.process_time() < 0.4: pass"


def test_a_starved_run_is_marked_and_repeated(tmp_path):
    command = (sys.executable, "-I", "-S", "-c", BUSY)
    codes = Codes(procs=1, codes={"a": Code(name="a", command=command, directory=tmp_path)})
    with burners(3):
        frame = profile(codes, repeat=2, out=tmp_path / "runs.csv")
    assert frame.starved.sum() >= 3  # none of two was good: repeated
    assert len(frame) <= 4
    assert (frame.cpu_seconds < 0.9 * frame.seconds)[frame.starved].all()
    assert "were starved" in frame.attrs["notes"][0]
    assert [run.starved for run in read_runs(tmp_path / "runs.csv")] == frame.starved.tolist()


def test_a_code_that_sleeps_is_not_starved(tmp_path):
    codes = Codes(procs=1, codes={"a": Code(name="a", command="sleep 0.2", directory=tmp_path)})
    frame = profile(codes, repeat=1, out=tmp_path / "runs.csv")
    assert not frame.starved.any()


def row(task, processors, seconds, cpu, starved=0):
    return f"{task},{processors},{seconds},completed,,,1,{cpu},,,,{starved},,,"


def written(folder, *rows):
    path = folder / "runs.csv"
    path.write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
    return path


def test_codes_that_ignore_their_count_are_named(tmp_path):
    path = written(
        tmp_path,
        *(row("serial", 1, 4.0, 4.0), row("serial", 4, 4.1, 4.0)),
        *(row("stream", 1, 4.0, 4.0), row("stream", 4, 3.9, 15.0)),
        *(row("scales", 1, 4.0, 4.0), row("scales", 4, 1.0, 4.0)),
    )
    (note,) = notes_of(read_runs(path))
    assert note.startswith("serial ignores its count: 4 s on 1, 4.1 s on 4")
    assert "expected {procs} in its command, or counts = [1]" in note
    one_code = Codes(procs=4, codes={"serial": Code(name="serial", command="./serial {procs}")})
    (note,) = notes_of(read_runs(path), one_code)
    assert "expected a code that heeds the {procs} of its command, or counts = [1]" in note


def test_starved_runs_count_only_where_there_is_no_other(tmp_path):
    path = written(
        tmp_path,
        *(row("a", 1, 9.0, 4.0, 1), row("a", 1, 4.0, 4.0), row("b", 1, 8.0, 4.0, 1)),
    )
    assert cs.packs.Instance.read(path).times.tolist() == [[4.0], [8.0]]
    (note,) = notes_of(read_runs(path))
    assert note.startswith("2 of 3 runs were starved")
    assert "; 1 of them are left out" in note
    assert "nothing else is known of b on 1" in note


def test_profile_and_plan_leave_out_the_same_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, *(row("a", 1, t, 0, t == 9.0) for t in (2.0, 2.0, 2.0, 9.0, 9.0)))
    (tmp_path / "codes.toml").write_text('procs = 1\n[task.a]\ncommand = "true"\n')
    assert main(["profile", "codes.toml", "--repeat", "3"]) == 0
    output = capsys.readouterr().out
    assert "left out" in output
    cells = next(line for line in output.splitlines() if line.split()[:1] == ["a"]).split()
    assert [float(cells[k]) for k in (1, 2, 4, 5, 6)] == [1, 2.0, 3, 2, 0]
    advice = plan("runs.csv")
    assert advice.result.value == 2.0
    assert any(note.startswith("2 of 5 runs were starved") for note in advice.notes)


OLD = "task,processors,seconds,status,started,host,attempt\na,1,2.0,completed,,h,1\n"


def test_a_file_of_an_earlier_version_is_read_and_gets_the_new_columns(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(OLD)
    assert [run.seconds for run in read_runs(path)] == [2.0]
    assert cs.packs.Instance.read(path).times.tolist() == [[2.0]]
    path.write_text(OLD + "a,1,0.")  # a crash while a row was written
    codes = Codes(procs=1, codes={"a": Code(name="a", command="true", directory=tmp_path)})
    frame = profile(codes, repeat=2, out=path)
    assert frame.seconds.iloc[0] == 2.0
    assert len(frame) == 2
    assert path.read_text().splitlines()[0] == ",".join(COLUMNS)
    file = RunsFile(path)
    with pytest.raises(InvalidInstance, match="another run is at work"):
        RunsFile(path)
    file.close()


def test_a_file_without_the_last_columns_gets_them(tmp_path):
    path = tmp_path / "runs.csv"
    before = COLUMNS[: COLUMNS.index("beside")]
    path.write_text(",".join(before) + "\na,1,2.0,completed,,h,1,2.0,0.1,pss,0.5,0\n")
    file = RunsFile(path)
    file.close()
    assert path.read_text().splitlines()[0] == ",".join(COLUMNS)
    assert [(run.memory, run.starved, run.corunners) for run in read_runs(path)] == [
        (0.1, False, "")
    ]
