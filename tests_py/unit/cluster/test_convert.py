"""Logs that are written in Standard Workload Format, CSV, JSON and Parquet, and read again."""

import numpy as np
import pandas as pd
import pytest
from note_facts import counts

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.cluster.files.swf import FIELDS, read_swf

SACCT = (
    "JobID|User|Group|Account|Partition|State|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS"
    "|ReqMem|TotalCPU|JobName|NodeList\n"
    "7|ann|lab|phys|main|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:05|2026-03-01T10:01:05"
    "|00:01:00|00:05:00|1|4|8Gn|00:02:00|sim|n1\n"
    "8|bob|lab|phys|short|TIMEOUT|2026-03-01T10:00:09|2026-03-01T10:01:05|2026-03-01T10:03:06"
    "|00:02:01|00:02:00|1|2|2Gn|00:01:00|sim|n1\n"
    "9|ann|lab|chem|main|CANCELLED by 5|2026-03-01T10:00:19|2026-03-01T10:04:05"
    "|2026-03-01T10:04:06|00:00:01|UNLIMITED|1|1|1Gn|00:00:00|other|n2\n"
)
MACHINE = (
    "[[nodes]]\ncount = 4\ncores = 4\nmemory_gb = 16\n"
    '[[partitions]]\nname = "main"\n[[partitions]]\nname = "short"\n'
)


@pytest.fixture
def instance(tmp_path):
    (tmp_path / "machine.toml").write_text(MACHINE)
    (tmp_path / "sacct.txt").write_text(SACCT)
    return cs.cluster.from_sacct(tmp_path / "sacct.txt", tmp_path / "machine.toml")


def test_fields_of_a_line(instance, tmp_path):
    notes = instance.write(tmp_path / "log.swf")
    table, swf = read_swf(tmp_path / "log.swf")
    assert swf.kept == 3
    assert not swf.dropped
    assert not swf.repaired
    job = table.iloc[0]
    assert list(FIELDS)[:4] == ["job", "submit", "wait", "run"]
    assert job[list(FIELDS)[:5]].tolist() == [7, 0, 5, 60, 4]
    assert job["average_cpu"] == 30.0
    assert job["requested_memory"] == 8 * 2**20 / 4
    assert table["status"].tolist() == [1, 0, 5]
    assert table["user"].tolist() == [1, 2, 1]
    assert table["executable"].tolist() == [1, 1, 2]
    assert table["partition"].tolist() == [1, 2, 1]
    assert np.isnan(table["requested_time"].iloc[2])
    assert counts(notes, NoteKind.ASSUMED) == {"time limits": 1}


def test_header_comments(instance, tmp_path):
    instance.write(tmp_path / "log.swf")
    header = read_swf(tmp_path / "log.swf")[1].header
    assert header["Version"] == "2.2"
    assert header["MaxJobs"] == "3"
    assert header["MaxProcs"] == "16"
    assert header["Partition"] == "1 main\n2 short"
    assert header["UnixStartTime"] == "1772359200"


def test_what_was_written_is_read_as_the_same_jobs(instance, tmp_path):
    instance.write(tmp_path / "log.swf")
    reread_log = cs.cluster.Instance.read(tmp_path / "log.swf", convention="rigid")
    for column in ("id", "submit", "tasks", "runtime", "wait", "cpu_seconds", "memory_gb",
                   "partition", "status"):  # fmt: skip
        written, read = instance.jobs[column].tolist(), reread_log.jobs[column].tolist()
        if column == "status":  # the format has no word for a job that was killed at its limit
            written = ["failed" if text == "timeout" else text for text in written]
        assert read == pytest.approx(written, nan_ok=True) if column in (
            "wait", "cpu_seconds", "memory_gb") else read == written, column  # fmt: skip


def test_a_log_of_the_archive_keeps_all_fields(tmp_path):
    text = (
        "; Version: 2.2\n; MaxProcs: 64\n"
        "1 0 5 60.5 4 20 1024 4 120 2048 1 3 2 7 1 2 -1 -1\n"
        "2 9 0 30 2 -1 -1 2 -1 -1 0 1 1 1 1 1 -1 -1\n"
    )
    (tmp_path / "a.swf").write_text(text)
    first = cs.cluster.Instance.read(tmp_path / "a.swf", convention="rigid")
    first.write(tmp_path / "b.swf")
    second = cs.cluster.Instance.read(tmp_path / "b.swf", convention="rigid")
    pd.testing.assert_frame_equal(
        first.jobs.drop(columns="line"), second.jobs.drop(columns="line"), check_dtype=False
    )


def test_random_logs_survive_the_round_trip(tmp_path):
    rng = np.random.default_rng(3)
    for trial in range(20):
        count = int(rng.integers(1, 60))
        submit = np.sort(rng.integers(0, 10**5, count))
        jobs = {
            "submit": submit, "tasks": rng.integers(1, 65, count), "cpu": np.ones(count),
            "memory": np.ones(count), "runtime": rng.integers(0, 10**5, count),
            "estimate": rng.integers(1, 10**5, count), "user": rng.integers(1, 9, count),
            "wait": rng.integers(0, 10**4, count), "id": rng.permutation(count) + 1,
        }  # fmt: skip
        first = cs.cluster.Instance(jobs, nodes=64)
        first.write(tmp_path / f"{trial}.swf")
        second = cs.cluster.Instance.read(tmp_path / f"{trial}.swf", convention="rigid")
        for column in jobs:
            assert second.jobs[column].tolist() == first.jobs[column].tolist(), column


def test_names_become_stable_numbers(instance, tmp_path):
    instance.write(tmp_path / "log.csv", anonymise=True)
    text = (tmp_path / "log.csv").read_text()
    table = pd.read_csv(tmp_path / "log.csv")
    assert table["user"].tolist() == ["u1", "u2", "u1"]
    assert table["account"].tolist() == ["a1", "a1", "a2"]
    assert table["partition"].tolist() == ["q1", "q2", "q1"]
    for name in ("ann", "bob", "lab", "phys", "chem", "main", "sim", "n1"):
        assert name not in text
    instance.write(tmp_path / "log.json", anonymise=True)
    assert "ann" not in (tmp_path / "log.json").read_text()
    instance.write(tmp_path / "log.swf", anonymise=True)
    assert "main" not in (tmp_path / "log.swf").read_text()


def test_parquet_is_the_table(instance, tmp_path):
    pytest.importorskip("pyarrow")
    instance.write(tmp_path / "log.parquet")
    table = pd.read_parquet(tmp_path / "log.parquet")
    assert table["runtime"].tolist() == [60.0, 121.0, 1.0]


@pytest.mark.parametrize("suffix", ["swf", "csv", "json"])
def test_the_command_writes_what_another_command_reads(tmp_path, capsys, suffix):
    (tmp_path / "machine.toml").write_text(MACHINE)
    (tmp_path / "sacct.txt").write_text(SACCT)
    arguments = [str(tmp_path / "sacct.txt"), "--machine", str(tmp_path / "machine.toml")]
    output = tmp_path / f"log.{suffix}"
    assert main(["convert", *arguments, "--anonymise", "-o", str(output)]) == 0
    assert f"wrote {output}: 3 jobs" in capsys.readouterr().out
    reread_log = cs.cluster.Instance.read(
        output, **({"convention": "rigid"} if suffix == "swf" else {"nodes": 16})
    )
    assert reread_log.jobs["runtime"].tolist() == [60.0, 121.0, 1.0]


def test_another_suffix_is_refused_before_the_log_is_read(tmp_path, capsys):
    assert main(["convert", str(tmp_path / "none.txt"), "-o", str(tmp_path / "log.xlsx")]) == 2
    assert "unsupported format (use .swf or .csv" in capsys.readouterr().err
