"""``cosched slurm record --export``: what sacct and sacctmgr print, and jobs that hold memory."""

import os
import subprocess
import time

import pytest

import cosched as cs
from cosched import slurm_lab
from cosched.cli import main
from cosched.slurm_lab import EXPORTED, missing_packages, read_trace
from cosched.slurm_lab.job_program import JobProgram
from support import lacking

JOBS = """\
id,name,user,account,submit,runtime,limit,nodes,cores,mem,rss,array,dependency
a,relax,ada,physics,0,150,600,1,2,4000,1200,,
b,align,cam,biology,5,130,600,1,1,1000,300,1-2,
c,draw,ada,physics,10,120,600,1,1,1000,,,afterok:a
"""
CONF = """\
AccountingStorageEnforce=associations
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=60
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=30
NodeName=n[1-2] CPUs=4 RealMemory=8000
PartitionName=main Nodes=ALL Default=YES MaxTime=1:00:00 State=UP
"""
ACCOUNTS = """\
add account physics Fairshare=2
add account biology Fairshare=1
add user ada Account=physics
add user cam Account=biology
"""


@pytest.fixture
def lab(tmp_path):
    for name, text in (
        ("jobs.csv", JOBS),
        ("slurm.conf", CONF),
        ("accounts.txt", ACCOUNTS),
        ("notes.txt", ""),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path


def command(lab, *options):
    return ["slurm", "record", str(lab / "jobs.csv"), "--conf", str(lab / "slurm.conf"), *options,
            "-o", str(lab / "recording.json")]  # fmt: skip


def test_a_job_says_how_much_memory_it_really_holds(lab):
    jobs = read_trace(lab / "jobs.csv", 2)
    assert [job.get("rss") for job in jobs] == [1200, 300, None]


def resident_megabytes(process):
    with open(f"/proc/{process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


@pytest.mark.parametrize("can_be_suspended", [False, True])
def test_the_program_of_a_job_holds_memory_and_ends_after_its_time(tmp_path, can_be_suspended):
    program = JobProgram(tmp_path, can_be_suspended=can_be_suspended)
    process = subprocess.Popen(["sh", "-c", f"exec {program.command(1.5, 700)}"])
    deadline = time.monotonic() + 60
    peak = 0.0
    while process.poll() is None and time.monotonic() < deadline:
        peak = max(peak, resident_megabytes(process))
        time.sleep(0.05)
    assert process.wait(60) == 0
    assert 699 <= peak <= 702
    assert (tmp_path / "job_memory").stat().st_size == 2**28  # each job has the same pages


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--export", "out"], "--export: expected --dbd with it"),
        (["--export", "out", "--dbd", "accounts.txt", "--runs", "2"], "--runs 2: expected one run"),
        (["--export", "notes.txt", "--dbd", "accounts.txt"], "notes.txt: expected a folder"),
        (["--begin", "2026-11-23"], "--begin 2026-11-23: expected a date such as 2026-11-23T06:00"),
        (["--begin", "1999-12-31T00:00:00"], "of the years 2001 to 2037"),
        (["--begin", "9999-12-31T00:00:00"], "of the years 2001 to 2037"),
    ],
)
def test_an_export_that_cannot_be_is_refused_before_the_recording(
    lab, capsys, monkeypatch, options, message
):
    monkeypatch.chdir(lab)
    assert main(command(lab, *options)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line.replace("'", "")
    assert not (lab / "out").exists()
    assert not (lab / "recording.json").exists()


def test_a_recording_is_kept_where_its_export_fails(lab, capsys, monkeypatch):
    def record(*_, **options):
        raise slurm_lab.ExportError(f"{options['export']}: sacct failed", {"jobs": []})

    monkeypatch.setattr(slurm_lab, "record", record)
    options = ("--dbd", str(lab / "accounts.txt"), "--export", str(lab / "out"))
    assert main(command(lab, *options)) != 0
    assert capsys.readouterr().err.endswith(f"{lab / 'out'}: sacct failed\n")
    assert cs.io.read_json(lab / "recording.json") == {"jobs": []}


@pytest.mark.slurm
def test_what_sacct_and_sacctmgr_print_of_a_recording(lab):
    if missing_packages() or os.geteuid():
        lacking(missing_packages() or "only root submits for other users")
    folder = lab / "export"
    options = ("--dbd", str(lab / "accounts.txt"), "--export", str(folder), "--speed", "40")
    # Jobs end around midnight: without a time sacct would show those of the new day only.
    assert main(command(lab, *options, "--begin", "2026-11-23T23:46:00")) == 0
    assert {path.name for path in folder.iterdir()} == set(EXPORTED)
    machine = cs.cluster.Machine.read(lab / "slurm.conf", accounts=folder)
    log = cs.cluster.from_sacct(folder / "sacct.txt", machine)
    assert log.jobs["id"].tolist() == ["1", "2_1", "2_2", "4"]
    assert log.jobs["user"].tolist() == ["ada", "cam", "cam", "ada"]
    memory_of_job = dict(zip(log.jobs["id"], log.jobs["used_memory_gb"] * 1024, strict=True))
    assert 1199 <= memory_of_job["1"] <= 1202
    assert 299 <= memory_of_job["2_1"] <= 302
    assert memory_of_job["4"] < 20  # a job that holds none
    header, *rows = (folder / "sacct.txt").read_text().splitlines()
    columns = dict(zip(header.split("|"), rows[0].split("|"), strict=True))
    assert columns["Submit"].startswith(("2026-11-23T23:", "2026-11-24T00:"))
    assert "TotalCPU" not in columns
    ends = {row.split("|")[0]: row.split("|")[header.split("|").index("End")] for row in rows}
    starts = {row.split("|")[0]: row.split("|")[header.split("|").index("Start")] for row in rows}
    assert starts["4"] >= ends["1"]  # its dependency
    fit = cs.cluster.solve(log, "slurm-backfill")
    assert fit.schedule.to_frame()["start"].notna().all()
