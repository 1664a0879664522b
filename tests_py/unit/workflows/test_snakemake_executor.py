"""``snakemake --executor cosched``: Snakemake's own tests, few submissions, what is lost."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import leavers
from cosched.execution.batches import runner
from support import library

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="Snakemake 9 needs Python 3.11")

WORKFLOW = """
rule all:
    input: "joined"
rule piece:
    output: "piece{i}"
    resources: runtime=600  # a limit is no reason to ask for more
    shell: "echo {wildcards.i} > {output}"
rule joined:
    input: expand("piece{i}", i=range(3))
    output: "joined"
    resources: attempt=lambda wildcards, attempt: attempt
    shell: "test {resources.attempt} -gt 1 && cat {input} > {output}"
rule long:
    output: "long"
    shell: "echo $PPID >> pids; test -e second || {{ touch second; sleep 300; }}; touch {output}"
"""


def command(folder: Path, *options: str) -> list[str]:
    library("snakemake")
    (folder / "Snakefile").write_text(WORKFLOW)
    return [
        *(sys.executable, "-m", "snakemake", "--executor", "cosched", "--jobs", "100"),
        *("--nocolor", "--latency-wait", "5", "--cosched-local", "--cosched-cores", "2", *options),
    ]


def test_snakemakes_own_tests_of_executors(tmp_path):
    library("snakemake")
    from snakemake.common.tests import TestWorkflowsLocalStorageBase

    from snakemake_executor_plugin_cosched import ExecutorSettings

    class Own(TestWorkflowsLocalStorageBase):
        def get_executor(self):
            return "cosched"

        def get_executor_settings(self):
            return ExecutorSettings(local=True, cores=2)

    Own().test_simple_workflow(tmp_path / "simple")
    Own().test_group_workflow(tmp_path / "group")


def test_a_look_before_the_first_job_finds_nothing():
    """Snakemake's thread looks while the executor is being made."""
    library("snakemake")
    from snakemake_executor_plugin_cosched import Executor

    async def looked() -> list:
        return [job async for job in Executor.__new__(Executor).check_active_jobs([])]

    assert asyncio.run(looked()) == []


def test_jobs_share_an_allocation_and_what_failed_is_tried_again(tmp_path):
    done = subprocess.run(
        command(tmp_path, "--retries", "1"),
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "joined").read_text() == "0\n1\n2\n"
    (run,) = (tmp_path / ".snakemake" / "cosched").iterdir()
    assert len(list(run.glob("part-*.sh"))) == 1
    assert not list((run / "new").iterdir())
    assert not list((run / "taken").glob("*/*"))


def test_jobs_are_as_if_each_had_a_process(tmp_path):
    """A working directory, numbers of chance, no threads, what a failed one printed."""
    call = command(tmp_path, "--keep-going")
    (tmp_path / "Snakefile").write_text(
        """
workdir: "in here"
rule all:
    input: expand("n{i}", i=range(3)), "none", "failed"
rule numbers:
    output: "n{i}"
    run:
        import numpy, random, sys
        with open(output[0], "w") as file:
            print(numpy.random.rand(), random.random(), sys.path[0], file=file)
rule none:
    output: "none"
    threads: 0
    shell: "pwd > {output}"
rule failed:
    output: "failed"
    shell: "echo what went wrong; exit 3"
"""
    )
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    at = tmp_path / "in here"
    words = [(at / f"n{i}").read_text().split() for i in range(3)]
    assert len({number for one in words for number in one[:2]}) == 6
    assert not any(".snakemake/cosched" in one[2] for one in words)
    assert (at / "none").read_text().strip() == str(at)
    assert done.returncode == 1
    outputs = at.glob(".snakemake/cosched/*/part-*.outputs/*.out")
    (output,) = (path for path in outputs if str(path) in done.stderr)
    assert "what went wrong" in output.read_text()


def test_a_damaged_history_is_refused_once(tmp_path):
    (tmp_path / "times.json").write_text('{"broken')
    done = subprocess.run(
        command(tmp_path, "--cosched-history", "times.json"),
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count("times.json: line 1, column 2: not JSON") == 1


def test_what_a_killed_snakemake_left_ends_before_its_jobs_run_again(tmp_path):
    """And what one that lives has is left alone."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    first = subprocess.Popen(command(tmp_path, "long"), cwd=tmp_path, env=environment)
    until((tmp_path / "second").exists, first)
    (old,) = (tmp_path / ".snakemake" / "cosched").iterdir()
    subprocess.run(
        [*command(tmp_path), "--nolock", "piece0"], cwd=tmp_path, check=True, timeout=300
    )
    assert old.exists()
    first.kill()
    first.wait()
    subprocess.run(
        [*command(tmp_path), "--nolock", "--rerun-incomplete", "long"],
        cwd=tmp_path, check=True, timeout=300,
    )  # fmt: skip
    assert not old.exists()
    assert not leavers.alive(str(tmp_path))


def test_calls_of_a_module_that_cannot_be_imported_run_as_commands(tmp_path):
    (tmp_path / "broken.py").write_text("raise RuntimeError('not today')")
    task = {
        **{"name": "one", "seconds": 1, "need": [1, 0, 0], "shared": [], "node": 0},
        **{"command": ["/usr/bin/touch", "done"], "call": ["done"], "directory": str(tmp_path)},
    }
    allocation = {"nodes": 1, "limit": 60, "node": [1, 1e9, 0], "shared": [], "tasks": [task]}
    (tmp_path / "part-001.json").write_text(json.dumps({**allocation, "module": "broken"}))
    done = subprocess.run(
        [sys.executable, runner.__file__, "part-001.json"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0
    assert "broken: RuntimeError('not today')" in done.stderr
    assert (tmp_path / "done").exists()


def test_an_agent_or_a_runner_that_is_killed_leaves_no_job(tmp_path):
    """The runner replaces an agent, and starts its job again when the first run has ended."""
    allocation = {
        **{"nodes": 1, "limit": 600, "node": [1, 1e9, 0], "shared": []},
        "tasks": [
            {
                **{"name": "one", "seconds": 1, "need": [1, 0, 0], "shared": [], "node": 0},
                "command": ["/bin/sh", "-c", "trap '' TERM; echo $$ >> begun; sleep 300"],
                "directory": str(tmp_path),
            }
        ],
    }
    (tmp_path / "part-001.json").write_text(json.dumps(allocation))
    begun = tmp_path / "begun"
    running = subprocess.Popen(
        [sys.executable, runner.__file__, "part-001.json"],
        cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    until(begun.exists, running)
    assert leavers._processes(str(tmp_path))
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    (agent,) = children.read_text().split()
    os.kill(int(agent), signal.SIGKILL)
    until(lambda: len(begun.read_text().split()) == 2, running)
    first_run, _ = begun.read_text().split()
    until(lambda: not Path("/proc", first_run).exists(), running)  # killed, and waited for
    os.kill(running.pid, signal.SIGKILL)
    running.wait(timeout=60)
    assert not leavers.alive(str(tmp_path))


def test_a_runner_that_is_killed_loses_nothing(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # what is killed leaves files
    running = subprocess.Popen(
        command(tmp_path, "long"), cwd=tmp_path, env=environment, stderr=subprocess.PIPE
    )
    until(lambda: (tmp_path / "second").exists(), running)
    (run,) = (tmp_path / ".snakemake" / "cosched").iterdir()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            here = os.readlink(process / "cwd") == str(run)
        except OSError:
            continue
        if here and b"part-001.json" in words:
            os.kill(int(process.name), signal.SIGKILL)
    _, said = running.communicate(timeout=300)
    assert running.returncode == 0, said
    assert b"part-001 is gone (exit code -9): " in said
    assert (tmp_path / "long").exists()


def test_a_runner_that_is_believed_dead_takes_and_reports_no_more(tmp_path):
    """Its node was set down, and it lives on for a while."""
    for name in ("new", "taken", "ended", "lost"):
        (tmp_path / name).mkdir()
    allocation = {"nodes": 1, "limit": 60, "node": [1, 1e9, 0], "shared": [], "tasks": []}
    (tmp_path / "part-001.json").write_text(
        json.dumps({**allocation, "spool": str(tmp_path), "idle": 0.5})
    )

    def task(name: str, code: str) -> None:
        command = ["/bin/sh", "-c", code]
        given = {"name": name, "command": command, "seconds": 1, "need": [1, 0, 0]}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({**given, "shared": [], "node": 0, "directory": str(tmp_path)}))
        path.rename(tmp_path / "new" / path.name)

    task("first", "touch begun; while ! test -e second; do sleep 0.1; done")
    command = [sys.executable, runner.__file__, "part-001.json"]
    running = subprocess.Popen(command, cwd=tmp_path)
    until((tmp_path / "begun").exists, running)
    (tmp_path / "taken" / "part-001").rename(tmp_path / "lost" / "part-001")
    task("other", "true")
    (tmp_path / "second").touch()
    assert running.wait(timeout=60) == 0
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["other.json"]
    assert not list((tmp_path / "ended").iterdir())


def until(what, running):
    deadline = time.monotonic() + 200
    while not what():
        assert time.monotonic() < deadline
        assert running.poll() is None
        time.sleep(0.1)
