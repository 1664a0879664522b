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
    assert b"part-001 is gone: " in said
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
