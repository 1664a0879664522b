"""Groups of jobs under ``snakemake --executor cosched``: in turns where they are too wide."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cosched.errors import InvalidInstance
from stub_snakemake import StubGroup, StubJob
from support import library

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="Snakemake 9 needs Python 3.11")


def needs(job, cores: int = 4, memory_mb: float | None = None):
    library("snakemake")
    from snakemake_executor_plugin_cosched.groups import NodeSize, needs_of

    return needs_of(job, NodeSize(cores, memory_mb))


def members(count: int, **job):
    return [StubJob(f"member{number}", **job) for number in range(count)]


def test_a_group_that_fits_runs_beside_itself():
    assert needs(StubGroup(*members(4, runtime=2))) == (4, 0.0, False, 120.0)


def test_a_group_that_is_too_wide_runs_in_turns_on_a_whole_node():
    assert needs(StubGroup(*members(12, runtime=2))) == (4, 0.0, True, 3 * 120.0)
    first, *others = members(5, runtime=2)
    group = StubGroup(first, *others, after={job: [first] for job in others})
    assert needs(group) == (4, 0.0, True, 2 * 120.0)


def test_nothing_is_said_of_the_time_where_a_limit_is_missing():
    assert needs(StubGroup(*members(5, runtime=2), StubJob("free"))).limit is None


def test_memory_that_is_counted_splits_a_group():
    group = StubGroup(*members(4, mem_mb=3000, runtime=1))
    assert needs(group) == (4, 12000.0, False, 60.0)
    assert needs(group, memory_mb=8000.0) == (4, 8000.0, True, 2 * 60.0)


@pytest.mark.parametrize(
    ("job", "memory_mb", "words"),
    [
        (
            StubJob("wide", threads=5),
            None,
            "wide wide.out wants 5 cores, and a node of an allocation has 4 "
            "(--cosched-cores, or --max-threads)",
        ),
        (
            StubJob("large", mem_mb=9000),
            8000.0,
            "large large.out wants 9 GB, and a node of an allocation has 8 (--cosched-memory)",
        ),
        (
            StubGroup(StubJob("narrow"), StubJob("wide", threads=5)),
            None,
            "a group of 2 jobs cannot be split: wide wide.out wants 5 cores, and",
        ),
        (
            StubGroup(
                StubJob("first", threads=3, pipe_group="p"),
                StubJob("second", threads=2, pipe_group="p"),
            ),
            None,
            "first first.out, second second.out (connected by pipes or services) wants 5 cores",
        ),
    ],
)
def test_what_no_node_holds_is_refused_with_the_reason(job, memory_mb, words):
    with pytest.raises(InvalidInstance) as refusal:
        needs(job, memory_mb=memory_mb)
    assert words in str(refusal.value)


WORKFLOW = """
rule all:
    input: "joined"
rule piece:
    output: touch("piece{i}")
    group: "pieces"
    resources: mem_mb=600
    shell: "find . -name 'running*' | wc -l >> beside; touch running{wildcards.i}; "
        "sleep 2; rm running{wildcards.i}"
rule joined:
    input: expand("piece{i}", i=range(4))
    output: touch("joined")
    group: "pieces"
    shell: "true"
rule wide:
    output: touch("wide{i}")
    group: "wide"
    threads: 5
    shell: "true"
rule wide_ones:
    input: "wide0", "wide1"
"""


def run(folder: Path, target: str, *options: str) -> subprocess.CompletedProcess[str]:
    library("snakemake")
    (folder / "Snakefile").write_text(WORKFLOW)
    return subprocess.run(
        [
            *(sys.executable, "-m", "snakemake", target, "--executor", "cosched"),
            *("--jobs", "100"),
            *("--nocolor", "--latency-wait", "5", "--cosched-local", *options),
        ],
        cwd=folder, capture_output=True, text=True, timeout=400,
    )  # fmt: skip


def test_a_group_in_turns_keeps_the_memory_of_its_node(tmp_path):
    """Four cores, but memory for two jobs at a time."""
    options = ("--cosched-cores", "4", "--cosched-memory", "1.3")
    done = run(tmp_path, "joined", *options, "--group-components", "pieces=4")
    assert done.returncode == 0, done.stderr
    assert max(map(int, (tmp_path / "beside").read_text().split())) <= 1


def test_the_reason_of_a_refused_group_is_in_the_log(tmp_path):
    options = ("--cosched-cores", "4", "--group-components", "wide=2")
    done = run(tmp_path, "wide_ones", *options)
    assert done.returncode == 1
    reason = "a group of 2 jobs cannot be split: wide wide"
    (line,) = (line for line in done.stderr.splitlines() if reason in line)
    assert line.startswith("cosched: group wide: ")
    assert line.endswith(
        "wants 5 cores, and a node of an allocation has 4 (--cosched-cores, or --max-threads)"
    )
