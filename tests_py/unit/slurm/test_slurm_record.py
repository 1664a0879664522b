"""``cosched slurm record``: traces, the controller's log, and recordings made on this host."""

import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import psutil
import pytest

import cosched as cs
from cosched.cli import main
from cosched.slurm.recordings.agreement import agreement, read_recording, retraced
from cosched.slurm.recordings.recorded_runs import RecordedRun
from cosched.slurm.twin.host_clocks import HOST
from cosched.slurm_lab import conf, log, missing_packages, read_accounts, read_trace
from cosched.slurm_lab.daemons import end_all
from cosched.slurm_lab.trace import options_of
from support import lacking

TRACE = """\
id,submit,runtime,limit,cores,nodes,mem,mem_per_cpu,gres,gpus,constraint,licenses,array,name,dependency,begin,hold,exclusive,fail,no_requeue
b,10,60,61,2,,,500,gpu:1,,,,,,,,,,,
a,0,120,180,4,,2G,,,,,,,,,,,,,
c,20,100,180,,2,1000,,,,,,,,,,,yes,,
d,25,60,120,1,,500,,,,big,,,,,,,,yes,
e,30,50,60,1,,500,,,,,lic:1,0-3%2,,,,,,,
f,40,70,120,2,,500,,,a100:2,,,,x,"afterany:a,after:b:c",,,,,
g,50,70,120,2,,500,,,,,,,,afterok:d,,,,,
h,60,70,120,2,,500,,,,,,,x,singleton,,,,,
i,70,70,120,2,,500,,,,,,,,,120,,,,
j,80,70,120,2,,500,,,,,,,,,,100,,,yes
k,85,70,120,2,,500,,,,other,,,,,,,,,
m,90,70,120,2,,500,,,,,,,,afterany:k,,,,,
"""
CONF = """\
NodeName=n[1-3] CPUs=4 RealMemory=8000 Gres=gpu:a100:2 Feature=big
NodeName=n[4-6] CPUs=4 RealMemory=4000
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
SchedulerParameters=bf_interval=30,bf_resolution=60
Licenses=lic:2
"""


@pytest.fixture
def trace(tmp_path):
    (tmp_path / "jobs.csv").write_text(TRACE)
    (tmp_path / "slurm.conf").write_text(CONF)
    return tmp_path / "jobs.csv"


def test_daemons_are_asked_to_end_and_then_killed():
    stubborn = "trap '' TERM; echo; while :; do sleep 0.05; done"
    programs = ["true", "echo; exec sleep 60", stubborn]
    running = [psutil.Popen(["sh", "-c", program], stdout=subprocess.PIPE) for program in programs]
    for process in running[1:]:
        process.stdout.readline()
    running[0].wait()
    end_all(running, patience=0.3)
    assert [process.returncode for process in running] == [0, -signal.SIGTERM, -signal.SIGKILL]
    for process in running:
        process.stdout.close()


def test_what_jobs_ask_for(trace):
    jobs = read_trace(trace, 6)
    assert [job["submit"] for job in jobs] == [0, 10, 20, 25, 30, 40, 50, 60, 70, 80, 85, 90]
    assert jobs[0] == {"submit": 0, "runtime": 120, "limit": 180, "cores": 4, "mem": 2048}
    assert jobs[1] == {
        "submit": 10, "runtime": 60, "limit": 120, "cores": 2, "mem_per_cpu": 500, "gres": "gpu:1",
    }  # fmt: skip
    assert jobs[2]["exclusive"] is True
    assert "fail" not in jobs[2]
    assert jobs[5]["dependency"] == [["afterany", 0], ["after", 1], ["after", 2]]
    assert jobs[7]["dependency"] == [["singleton", None]]
    assert jobs[9]["hold"] == 100
    numbers = [*range(1, 11), None, None]
    options_of_jobs = [options_of(job, numbers) for job in jobs]
    assert options_of_jobs[1] == [
        "--ntasks=2", "--mem-per-cpu=500", "--gres=gpu:1", "--time=2",
    ]  # fmt: skip
    assert "--exclusive" in options_of_jobs[2]
    assert {"--array=0-3%2", "--licenses=lic:1"} <= set(options_of_jobs[4])
    assert "--dependency=afterany:1,after:2,after:3" in options_of_jobs[5]
    assert "--dependency=singleton" in options_of_jobs[7]
    assert "--begin=now+120" in options_of_jobs[8]
    assert {"--hold", "--no-requeue"} <= set(options_of_jobs[9])
    assert options_of_jobs[11] is None  # the job that it waits for was refused


def test_the_same_trace_as_lists(trace, tmp_path):
    table = cs.io.read_csv(trace)
    columns = {
        name: [row[k] or None for _, row in table.rows] for k, name in enumerate(table.header)
    }
    for name in ("submit", "cores"):
        columns[name] = [None if cell is None else int(cell) for cell in columns[name]]
    cs.io.write_json({"nodes": 6, "jobs": columns}, tmp_path / "jobs.json")
    assert read_trace(tmp_path / "jobs.json", 6) == read_trace(trace, 6)


@pytest.mark.parametrize(
    ("column", "cell", "said"),
    [
        ("mem", "2 lots", "line 2, column 'mem': 2 lots: expected MB as 4000, or 4G"),
        ("mem", "4G", "line 2: mem and mem_per_cpu: expected one of the two"),
        ("cores", "0", "line 2, column 'cores'"),
        ("cores", "1.5", "line 2, column 'cores'"),
        ("nodes", "7", "line 2 wants 7 nodes: expected at most 6"),
        ("runtime", "-5", "line 2, column 'runtime'"),
        ("runtime", "", "line 2: no runtime"),
        ("limit", "", "line 2: no limit (or estimate)"),
        ("gres", "fpga:1", "column 'gres': fpga:1: expected gpu:2 or gpu:a100:2"),
        ("gpus", "two", "column 'gpus': two: expected 2 or a100:2"),
        ("constraint", "a b", "column 'constraint': a b: expected features"),
        ("licenses", "a:x", "column 'licenses': a:x: expected licences"),
        ("array", "1-", "column 'array': array 1-: expected 1-7%3"),
        ("dependency", "after", "column 'dependency': after: expected afterok:JOB"),
        ("dependency", "later:a", "column 'dependency': later:a: expected afterok:JOB"),
        ("dependency", "afterok:z", "job b, column 'dependency': job z: expected one that is"),
        ("dependency", "afterok:c", "job b, column 'dependency': job c: expected one that is"),
        ("hold", "long", "column 'hold'"),
        ("fail", "maybe", "column 'fail': maybe: expected yes or no"),
        ("id", "a", "id a: expected another for each job"),
    ],
)
def test_a_bad_cell_is_one_line(trace, tmp_path, capsys, column, cell, said):
    header, first, *rest = TRACE.splitlines()
    cells = first.split(",")
    cells[header.split(",").index(column)] = cell
    trace.write_text("\n".join([header, ",".join(cells), *rest]) + "\n")
    out = tmp_path / "out.json"
    asked = ["slurm", "record", str(trace), "--conf", str(tmp_path / "slurm.conf"), "-o", str(out)]
    assert main(asked) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said.replace("'", "") in line.replace("'", "")
    assert not out.exists()


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("submit,runtime,limit,nodes,gress", "line 1: column 'gress': expected submit, "),
        ("submit,runtime,limit,nodes,nodes", "line 1: 2 columns 'nodes'"),
        ("submit,limit,nodes,name,mem", "line 1: no column 'runtime'"),
    ],
)
def test_columns_that_are_none(tmp_path, header, said):
    (tmp_path / "jobs.csv").write_text(f"{header}\n0,1,60,1,1\n")
    with pytest.raises(cs.InvalidInstance, match=said):
        read_trace(tmp_path / "jobs.csv", 4)


def test_options_that_do_not_fit(trace, tmp_path, capsys):
    asked = ["slurm", "record", str(trace), "--conf", str(tmp_path / "slurm.conf")]
    for options, message in (
        (["--nodes", "5"], "--nodes 5: "),
        (["--speed", "0"], "--speed: '0'"),
        (["--runs", "0"], "--runs: 0"),
        (["--root", str(tmp_path)], "no Slurm there"),
        (["--dbd", str(trace)], "jobs.csv:1: 'id,submit"),
    ):
        assert main([*asked, *options, "-o", str(tmp_path / "out.json")]) == 2
        assert message in capsys.readouterr().err
    (tmp_path / "none.txt").write_text("# nothing\n")
    with pytest.raises(cs.InvalidInstance, match="expected lines of sacctmgr"):
        read_accounts(tmp_path / "none.txt")
    (tmp_path / "some.txt").write_text(
        "# first\nadd account a Fairshare=3 # more\n\nmodify qos b set x=1\n"
    )
    assert read_accounts(tmp_path / "some.txt") == (
        "add account a Fairshare=3",
        "modify qos b set x=1",
    )


def test_a_slurm_conf_and_its_devices(tmp_path):
    lines = CONF.splitlines()[:2]
    configuration = conf.Configuration(tmp_path, lines, {"Licenses": "lic:2"}, ("PartitionName=a",))
    text = configuration.slurm(20.0, {}, since_24=False)
    assert configuration.names == [f"n{k}" for k in range(1, 7)]
    assert f"port=[{configuration.port + 4}-{configuration.port + 6}]" in text
    for line in ("GresTypes=gpu", "Licenses=lic:2", "corespersocket=4", "MessageTimeout=400"):
        assert line in text
    assert configuration.gres() == (
        f"NodeName=n[1-3] Name=gpu Type=a100 File={tmp_path}/devices/gpu[0-1]\n"
    )
    assert (tmp_path / "devices" / "gpu1").exists()
    other = conf.Configuration(tmp_path, ["NodeName=x Gres=gpu:2,gpu:b:1,mic:3"], {}, ())
    assert other.gres().splitlines() == [
        f"NodeName=x Name=gpu File={tmp_path}/devices/gpu[0-1]",
        f"NodeName=x Name=gpu Type=b File={tmp_path}/devices/gpu2",
        "NodeName=x Name=mic Count=3",
    ]
    since = other.slurm(1.0, {}, since_24=True)
    assert "accounting_storage/none" not in since
    assert "MessageTimeout" not in since


CONTROLLER = """\
[2026-11-23T09:00:00.100] slurmctld version 22.05.8 started on cluster cosched
[2026-11-23T09:00:01.616] Running as primary controller
[2026-11-23T09:00:06.933] priority/multifactor: _read_last_decay_ran: No last decay (x) to recover
[2026-11-23T09:00:10.500] _slurm_rpc_submit_batch_job: JobId=1 InitPrio=11000 usec=7960
[2026-11-23T09:00:12.250] _slurm_rpc_submit_batch_job: JobId=3 InitPrio=11000 usec=4540
[2026-11-23T09:00:13.026] sched: Allocate JobId=1 NodeList=n[1,3] #CPUs=4 Partition=main
[2026-11-23T09:00:20.000] sched/backfill: _attempt_backfill: beginning
[2026-11-23T09:00:20.100] sched/backfill: _start_job: Started JobId=3_1(4) in main on n2
[2026-11-23T09:00:20.200] sched/backfill: _dump_job_sched: JobId=3_* to start at 2026-11-23T09:05:00, end at 2026-11-23T09:07:00 on nodes n2 in partition main
[2026-11-23T09:00:20.500] sched/backfill: _attempt_backfill: completed testing 60(1) jobs, usec=50
[2026-11-23T09:00:50.000] sched/backfill: _attempt_backfill: beginning
[2026-11-23T09:00:50.100] sched/backfill: _dump_job_sched: JobId=3_* to start at 2026-11-23T09:06:00, end at 2026-11-23T09:08:00 on nodes n2 in partition main
[2026-11-23T09:00:50.200] sched/backfill: _attempt_backfill: yielding locks after testing 20(20) jobs, usec=2000090
[2026-11-23T09:00:50.300] TRACE_JOBS: deallocate_nodes: JobId=3_1(4)
[2026-11-23T09:00:50.350] TRACE_JOBS: cleanup_completing: JobId=3_1(4)
[2026-11-23T09:00:50.700] sched/backfill: _attempt_backfill: BACKFILL: test for JobId=9 Prio=1 Partition=main
[2026-11-23T09:00:50.800] sched/backfill: _attempt_backfill: yielding locks after testing 50(30) jobs tested, 40 time slots, usec=2000090
[2026-11-23T09:00:50.990] sched/backfill: _attempt_backfill: BACKFILL: system state changed, breaking out after testing 50(30) jobs
[2026-11-23T09:00:51.000] sched/backfill: _attempt_backfill: completed testing 50(9) jobs, usec=90
[2026-11-23T09:01:00.000] Time limit exhausted for JobId=1
"""  # noqa: E501
SCHEDULER = """\
sched: [2026-11-23T09:00:13.021] Running job scheduler for default depth.
sched: [2026-11-23T09:00:13.082] JobId=3_*. State=PENDING. Reason=Resources. Priority=11000. Partition=main.
sched: [2026-11-23T09:01:13.021] Running job scheduler for full queue.
sched: [2026-11-23T09:01:13.082] JobId=3_*. State=PENDING. Reason=Resources. Priority=11000. Partition=main.
sched: [2026-11-23T09:01:23.082] JobId=3_*. State=PENDING. Reason=Priority. Priority=11000. Partition=main.
"""  # noqa: E501
_JOB = (
    "JobId={} {}Account=(null) QOS=(null) JobState={} Reason=None SubmitTime=2026-11-23T09:00:{} "
    "EligibleTime=2026-11-23T09:00:{} StartTime={} EndTime={} Partition=main NodeList={} NumCPUs=4"
)
SHOWN = "\n".join(
    (
        _JOB.format(1, "", "TIMEOUT", 10, 10, "2026-11-23T09:00:13", "2026-11-23T09:01:00",
                    "n[1,3]") + "  Nodes=n[1,3] CPU_IDs=0-1 Mem=500 GRES=",
        _JOB.format(2, "", "FAILED", 11, 11, "Unknown", "Unknown", "(null)"),
        _JOB.format(3, "ArrayJobId=3 ArrayTaskId=2-4 ", "PENDING", 12, 12, "Unknown", "Unknown",
                    "(null)"),
        _JOB.format(4, "ArrayJobId=3 ArrayTaskId=1 ", "COMPLETED", 12, 12, "2026-11-23T09:00:20",
                    "2026-11-23T09:01:20", "n2"),
    )
)  # fmt: skip


def test_what_the_logs_tell():
    run_log = log.RunLog(CONTROLLER, SCHEDULER, [1, None, 3])
    phases = run_log.phases(SHOWN)
    assert run_log.version == "22.05.8"
    assert run_log.epoch == 1795424410
    assert phases["controller_start"] == -8.384
    assert phases["decay_thread_start"] == -3.067
    assert phases["submit_exact"] == [0.5, 2.25]
    assert phases["bf_cycles"] == [10.0, 40.0]
    assert phases["bf_ends"] == [[10.5, 60], [41.0, 50]]
    # In the middle of the 50th job, behind which it gave up.
    assert phases["bf_yields"] == [[40.2, 20, 40.7, False], [40.8, 49, None, True]]
    assert phases["ends"] == [[40.3, 40.35, [2, 1]]]
    assert phases["main_passes"] == [[3.021, "default"], [63.021, "full"]]
    assert phases["kills"] == [50.0]
    assert phases["starts"] == [
        [3.026, 0, "main", "n[1,3]", "main"], [10.1, [2, 1], "backfill", "n2", "main"],
    ]  # fmt: skip
    assert phases["plans"] == [
        [10.0, [[[2, "*"], 290, 410, "n2", "main"]]], [40.0, [[[2, "*"], 350, 470, "n2", "main"]]],
    ]  # fmt: skip
    assert phases["reasons"] == [[2, [[3.082, "Resources"], [73.082, "Priority"]]]]
    first, refused, array = run_log.jobs(SHOWN, [{}, {}, {}])
    assert (first["start"], first["end"], first["by"]) == (3, 50, "main")
    assert first["alloc"] == {"n[1,3]": {"cpus": "0-1", "mem": 500}}
    assert refused is None
    assert [(task["task"], task["start"], task["by"]) for task in array["tasks"]] == [
        (1, 10, "backfill")
    ]
    with pytest.raises(cs.CoschedError, match="does not tell of job"):
        log.RunLog(CONTROLLER, SCHEDULER, [1, 9])


def test_how_long_a_launch_takes():
    ends = np.array([100.0, 160.0, 300.0, 130.0])
    run = RecordedRun(
        np.zeros(4), np.array([0.0, 50.0, 10.0, 100.0]), ends, ((), (), (), ()), -20.0, 0
    )
    # Ended by their limit, and by a node that was lost: they do not tell how long a launch takes.
    runtime, limit = np.array([70.0, 80.0, 500.0, 60.0]), np.array([200.0, 200.0, 290.0, 200.0])
    assert run.launch(runtime, limit) == 30.0
    assert run.launch(runtime + 200, limit) == HOST["launch"]


def recorded(trace: Path, *options: str) -> Path:
    out = trace.with_name("recording.json")
    asked = ["slurm", "record", str(trace), "--conf", str(trace.with_name("slurm.conf"))]
    assert main([*asked, *options, "-o", str(out)]) == 0
    return out


@pytest.mark.slurm
def test_a_recording_of_all_that_jobs_ask_for(trace):
    path = recorded(trace)
    data, recording = cs.io.read_json(path), read_recording(path)
    (run,) = recording.runs
    run_agreement = agreement(recording, run, replay=True)
    assert run_agreement.off_by_60 == 0
    assert run_agreement.good >= len(run.start) - 2
    assert set(data["phases"][0]["refused"]) == {"10", "11"}
    assert data["cancelled_at_end"] == [[6]]  # after a job that failed
    assert data["phases"][0]["main_passes"]
    assert data["runs"][0][9]["eligible"] >= 180


ACCOUNTS = """\
add qos high Priority=100 MaxJobsPerUser=1
modify qos normal set Priority=10
add account physics Fairshare=3
add account bio Fairshare=1
add user alice Account=physics QOS=normal,high Fairshare=2
add user bob Account=physics QOS=normal,high
add user carol Account=bio QOS=normal,high
"""
WHOLE = """\
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n[1-6] CPUs=4 RealMemory=4000
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
"""
WEIGHTS = """\
PriorityType=priority/multifactor
PriorityWeightFairshare=10000
PriorityWeightQOS=4000
PriorityWeightAge=1000
PriorityMaxAge=0-01:00:00
PriorityCalcPeriod=1
PriorityDecayHalfLife=0-00:30:00
"""


@pytest.mark.slurm
def test_a_recording_with_accounts(tmp_path):
    if missing_packages() or os.geteuid():
        lacking(missing_packages() or "only root submits for other users")
    rows = ["submit,runtime,limit,nodes,user,account,qos"]
    for k in range(24):
        user = ("alice", "bob", "carol")[k * k % 3]
        rows.append(
            f"{17 * k},{90 + 37 * k % 250},{400 + 60 * (k % 3)},{(1, 2, 4, 1)[k % 4]},"
            f"{user},{'bio' if user == 'carol' else 'physics'},"
            f"{'high' if k % 7 == 3 else ''}"
        )
    (tmp_path / "jobs.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "slurm.conf").write_text(WHOLE + WEIGHTS)
    (tmp_path / "accounts.txt").write_text(ACCOUNTS)
    path = recorded(tmp_path / "jobs.csv", "--dbd", str(tmp_path / "accounts.txt"))
    data, recording = cs.io.read_json(path), read_recording(path)
    (run,) = recording.runs
    run_agreement = agreement(recording, run, replay=True)
    assert run_agreement.good >= 0.8 * len(run.start)
    planned, alike = run_agreement.planned
    assert alike >= 0.8 * planned > 0
    row = {
        (association["Account"], association.get("User")): k
        for k, association in enumerate(data["associations"])
    }
    samples = data["samples"][0]
    sample_count = 0
    for sample, simulated in zip(
        samples, retraced(recording, run, [sample["t"] for sample in samples]), strict=True
    ):
        for account, user, *cells in sample["sshare"]:
            if user:
                assert abs(simulated.factors[row[account, user]] - float(cells[5])) < 1e-4
        for job, priority, *_ in sample["sprio"]:
            assert abs(simulated.priorities[job] - priority) <= 15
            sample_count += 1
    assert sample_count > 0


@pytest.mark.slurm
def test_a_recording_of_another_slurm(trace):
    root = os.environ.get("COSCHED_SLURM_ROOT")
    if not root:
        pytest.skip("COSCHED_SLURM_ROOT: no Debian root with another Slurm (mmdebstrap makes one)")
    recording = read_recording(recorded(trace, "--root", root))
    assert not recording.slurm.startswith("22.05")
    (run,) = recording.runs
    assert agreement(recording, run, replay=True).off_by_60 == 0
