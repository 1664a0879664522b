"""Logs of PBS, Grid Engine, LSF and Flux, and Slurm's JSON, as jobs of an instance."""

import gzip
import io as text_io
import json
import lzma
import random
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from note_facts import counts, has_note, places

import cosched as cs
from cosched import NoteKind
from cosched.cluster.files.batch_systems import flux, grid_engine, job_record, lsf, pbs
from cosched.cluster.files.batch_systems.json_stream import Member, stream_members
from cosched.cluster.files.batch_systems.recognition import LogFormat, recognize_log
from cosched.cluster.files.batch_systems.sacct_json import COLUMNS, sacct_rows
from cosched.errors import InvalidInstance

FIXTURES = Path(__file__).parents[2] / "fixtures" / "sacct_json"
MACHINE = "[[nodes]]\ncount = 8\ncores = 16\nmemory_gb = 64\n"

PBS_PRO = (
    "06/27/2025 00:01:10;Q;1001.pbs;queue=workq\n"
    "06/27/2025 00:01:15;S;1001.pbs;user=vic queue=workq start=1750978875\n"
    "06/27/2025 01:01:15;E;1001.pbs;user=vic group=g project=_pbs_project_default jobname=run "
    "queue=workq ctime=1750978870 qtime=1750978870 etime=1750978872 start=1750978875 "
    "exec_host=n1/0*8+n2/0*8 exec_vnode=(n1:ncpus=8:mem=16gb)+(n2:ncpus=8:mem=16gb) "
    "Resource_List.mem=32gb Resource_List.ncpus=16 Resource_List.nodect=2 "
    'Resource_List.ngpus=4 Resource_List.walltime=02:00:00 account="my account" session=1 '
    "end=1750982475 Exit_status=0 resources_used.cput=07:00:00 resources_used.mem=9437184kb "
    "resources_used.ncpus=16 resources_used.walltime=01:00:00 run_count=1\n"
)
TORQUE = (
    "06/27/2025 01:01:15;E;7[3].head;user=ann group=g jobname=sweep queue=batch ctime=100 "
    "qtime=100 etime=100 start=200 owner=ann@head exec_host=n1/3+n1/2+n2/0-1 "
    "Resource_List.neednodes=2:ppn=2 Resource_List.nodect=2 "
    "Resource_List.nodes=2:ppn=2:gpus=1 Resource_List.walltime=00:01:00 "
    "Resource_List.pmem=500mb session=1 total_execution_slots=4 unique_node_count=2 end=261 "
    "Exit_status=271 resources_used.cput=10 resources_used.mem=2048kb "
    "resources_used.walltime=00:01:01\n"
)
SGE = (
    "# Version: 8.1.9\n"
    "long:n6:grp:vgl:run1:579398:sge:0:1490010000:1490016710:1490016904:0:0:194:0.02:0.01:3808.0"
    ":0:0:0:0:5000:0:0:0.0:0:0:0:0:100:20:NONE:defaultdepartment:mpi:16:0:2900.0:12.0:0.1"
    ":-u vgl -l h_rt=00:10:00,h_vmem=2G -pe mpi 16:0.0:NONE:1.2e9:0:0\n"
)
#: Times of Univa's versions are in milliseconds; the job was killed at its limit; task 4.
UGE = SGE.replace(
    "1490010000:1490016710:1490016904:0:0", "1490010000000:1490016710000:1490017310500:100:137"
).replace(":16:0:2900.0", ":16:4:2900.0")
OCS = json.dumps({
    "job_number": 10, "task_number": 1, "start_time": 1730532913429415,
    "end_time": 1730532973429415, "owner": "root", "group": "root", "account": "sge",
    "qname": "all.q", "hostname": "master", "department": "defaultdepartment", "slots": 2,
    "job_name": "echo", "priority": 0, "submission_time": 1730532912429415, "category": "-l gpu=1",
    "failed": 0, "exit_status": 1,
    "usage": {"rusage": {"ru_wallclock": 60, "ru_utime": 1.5, "ru_stime": 0.5, "ru_maxrss": 10284},
              "usage": {"wallclock": 60.1, "cpu": 2.5, "maxvmem": 21049344.0,
                        "maxrss": 1073741824}},
}) + "\n"  # fmt: skip
_RUSAGE = "2.5 0.5 " + "-1 " * 17
LSF = (
    '"JOB_FINISH" "10.1" 1527327585 7610 1000 33554438 1 1527326745 0 0 1527326746 "lsfadmin" '
    '"normal" "select[mem>10] rusage[mem=2048]" "" "" "head" "" "" "" "" "10/1527326745.7610" 1 '
    '"pac" 2 "4*n1" "4*n2" 32 60.0 "my ""job""" "sleep 1000\nsleep 2" '
    f'{_RUSAGE}"" "physics" 65280 1 "" "" 3 2097152 0 "" "" "" "" 0 "" 5 "" -1 "/lsfadmin" "" "" '
    '"" -1 "" "" 5136 "" 1527326746 "" "" 2 1032 "0" 1033 "0" 0 0 900 2048 '
    '"select[type == any] rusage[mem=4096.00,ngpus_physical=2.00] " "" -1\n'
    '"EVENT_ADRSV_FINISH" "10.1" 1527327586 1 2\n'
)
FLUX = json.dumps({"jobs": [
    {"id": 7, "username": "vic", "queue": "batch", "bank": "lab", "name": "run", "ntasks": 6,
     "ncores": 12, "nnodes": 2, "nodelist": "n[1-2]", "t_submit": 100.0, "t_depend": 101.0,
     "t_run": 110.5, "t_cleanup": 170.5, "t_inactive": 170.9, "duration": 3600.0,
     "result": "TIMEOUT", "returncode": 142},
    {"id": 8, "ntasks": 1, "nnodes": 1, "t_submit": 105.0, "t_run": 111.0, "state": "RUN"},
]}, indent=1)  # fmt: skip


def jobs_of(tmp_path, text, name="log", **arguments):
    (tmp_path / "machine.toml").write_text(MACHINE)
    path = tmp_path / name
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text)
    return cs.cluster.Instance.read(path, machine=tmp_path / "machine.toml", **arguments)


def lines_of(text):
    return list(enumerate(text.splitlines(keepends=True), 1))


def test_pbs_pro(tmp_path):
    instance = jobs_of(tmp_path, PBS_PRO, "20250627")
    (job,) = instance.jobs.to_dict("records")
    assert job["id"] == 1001
    assert (job["user"], job["group"], job["account"]) == ("vic", "g", "my account")
    assert (job["tasks"], job["nodes"], job["hosts"]) == (16, 2, "n1,n2")
    assert (job["wait"], job["runtime"], job["estimate"]) == (5.0, 3600.0, 7200.0)
    assert (job["memory_gb"], job["gpus"], job["used_memory_gb"]) == (32.0, 4, 9.0)
    assert job["cpu_efficiency"] == pytest.approx(7 / 16)
    assert job["status"] == "completed"
    assert job["line"] == 3


def test_torque(tmp_path):
    (record,) = pbs.read_pbs(lines_of(TORQUE))
    assert record.number == "7_3"
    assert (record.cores, record.nodes, record.gpus) == (4, 2.0, 2)
    assert record.memory_gb == pytest.approx(4 * 500 / 1024)
    assert record.state == "TIMEOUT"  # signal 15 at the limit


@pytest.mark.parametrize(
    ("exit_status", "end", "state"),
    [
        ("0", 3600, "COMPLETED"),
        ("1", 60, "FAILED"),
        ("271", 60, "CANCELLED"),
        ("143", 60, "CANCELLED"),
        ("265", 7200, "TIMEOUT"),
        ("-29", 60, "TIMEOUT"),
        ("-27", 60, "OUT_OF_MEMORY"),
        ("-3", 60, "FAILED"),
        ("", 60, "UNKNOWN"),
    ],
)
def test_states_of_pbs(exit_status, end, state):
    text = (
        f"06/27/2025 01:01:15;E;1.pbs;ctime=1 start=10 end={10 + end} "
        f"Resource_List.walltime=02:00:00 Exit_status={exit_status}"
    )
    (record,) = pbs.read_pbs([(1, text)])
    assert record.state == state


def test_a_run_that_was_requeued_and_whole_arrays_and_other_records_of_pbs():
    text = (
        "06/27/2025 01:01:15;R;1.pbs;ctime=1 start=10 end=20 Exit_status=0\n"
        "06/27/2025 01:01:15;R;2.pbs;ctime=1\n"
        "06/27/2025 01:01:15;E;3[].pbs;ctime=1 start=10 end=20\n"
        "06/27/2025 01:01:15;D;4.pbs;requestor=vic@head\n"
        "06/27/2025 01:01:15;L;license;floating license hour:1\n"
        "\n"
        "a line of something else\n"
    )
    records = list(pbs.read_pbs(lines_of(text)))
    assert [type(record).__name__ for record in records] == ["JobRecord"] + ["LeftOut"] * 4
    assert records[0].state == "REQUEUED"
    assert [record.line for record in records] == [1, 2, 3, 4, 7]


def test_sge(tmp_path):
    instance = jobs_of(tmp_path, SGE, "accounting")
    (job,) = instance.jobs.to_dict("records")
    assert job["id"] == 579398
    assert (job["user"], job["partition"], job["tasks"]) == ("vgl", "long", 16)
    assert (job["wait"], job["runtime"], job["estimate"]) == (6710.0, 194.0, 600.0)
    assert job["memory_gb"] == 32.0
    assert job["used_memory_gb"] == pytest.approx(1.2e9 / 2**30)
    assert job["cpu_seconds"] == 2900.0
    assert has_note(instance.notes, NoteKind.ASSUMED, "nodes")


def test_univas_milliseconds_and_tasks_and_limits():
    (record,) = grid_engine.read_grid_engine(lines_of(UGE))
    assert record.number == "579398_4"
    assert record.submit == 1490010000.0
    assert record.end - record.start == 600.5
    assert record.state == "TIMEOUT"


def test_json_lines_of_open_cluster_scheduler(tmp_path):
    (record,) = grid_engine.read_grid_engine(lines_of(OCS))
    assert (record.number, record.cores, record.gpus) == ("10_1", 2, 2)
    assert record.end - record.start == pytest.approx(60.0)
    assert (record.used_memory_gb, record.cpu_seconds, record.state) == (1.0, 2.5, "FAILED")
    path = tmp_path / "accounting.jsonl"
    path.write_text(OCS * 3)
    assert recognize_log(path) is LogFormat.GRID_ENGINE


def test_a_part_of_a_parallel_job_of_grid_engine_is_left_out():
    part = SGE.replace(":0.0:NONE:", ":0.0:1.n6:")
    (left_out,) = grid_engine.read_grid_engine(lines_of(part))
    assert left_out == job_record.LeftOut(2, "part of a parallel job, whose own record counts")


def test_lsf():
    (record,) = lsf.read_lsf(lines_of(LSF))
    assert record.line == 1
    assert record.number == "7610_3"
    assert record.name == 'my "job"'
    assert (record.cores, record.nodes, record.hosts) == (8, 2.0, "n1,n2")
    assert (record.submit, record.start, record.end) == (1527326745, 1527326746, 1527327585)
    assert (record.limit, record.memory_gb, record.gpus) == (900.0, 8.0, 4)
    assert (record.used_memory_gb, record.cpu_seconds) == (2.0, 3.0)
    assert (record.account, record.state) == ("physics", "TIMEOUT")


def test_a_record_of_lsf_that_is_cut_is_left_out():
    text = LSF.replace("\n", " ").split('"EVENT')[0]
    for length in range(40, len(text) - 300, 37):
        (record,) = lsf.read_lsf([(5, text[:length])])
        assert record == job_record.LeftOut(
            5, "a record JOB_FINISH that is cut or has other fields"
        )


def test_flux(tmp_path):
    instance = jobs_of(tmp_path, FLUX, "jobs.json")
    (job,) = instance.jobs.to_dict("records")
    assert (job["id"], job["user"], job["account"], job["partition"]) == (7, "vic", "lab", "batch")
    assert (job["tasks"], job["nodes"], job["hosts"]) == (12, 2, "n[1-2]")
    assert (job["wait"], job["runtime"], job["estimate"]) == (10.5, 60.0, 3600.0)
    assert job["status"] == "timeout"
    assert has_note(instance.notes, NoteKind.DROPPED, "not ended yet")


def test_job_archive_of_flux(tmp_path):
    path = tmp_path / "job-archive.sqlite"
    nodes = [{"rank": "0-1", "children": {"core": "0-3", "gpu": "0"}}]
    resources = {"version": 1, "execution": {"R_lite": nodes, "nodelist": ["n[1-2]"]}}
    jobspec = {"attributes": {"system": {"duration": 120, "queue": "debug", "job": {"name": "a"}}}}
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE jobs(id INT, userid INT, ranks TEXT, t_submit REAL, t_run REAL, "
            "t_cleanup REAL, t_inactive REAL, eventlog TEXT, jobspec TEXT, R TEXT)"
        )
        row = (
            9,
            1000,
            "0-1",
            10.0,
            20.0,
            50.0,
            51.0,
            "",
            json.dumps(jobspec),
            json.dumps(resources),
        )
        database.execute("INSERT INTO jobs VALUES (?,?,?,?,?,?,?,?,?,?)", row)
    (record,) = flux.read_flux_archive(str(path))
    assert (record.number, record.cores, record.gpus, record.nodes) == ("9", 8, 2, 2.0)
    assert (record.limit, record.partition, record.name) == (120.0, "debug", "a")
    assert recognize_log(path) is LogFormat.FLUX_ARCHIVE
    (job,) = jobs_of(tmp_path, path.read_bytes(), "copy.db").jobs.to_dict("records")
    assert (job["runtime"], job["user"]) == (30.0, "1000")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
@pytest.mark.parametrize("name", ["log", "log.txt", "log.json", "log.swf.old", "20250627"])
@pytest.mark.parametrize(
    ("text", "log_format"),
    [(PBS_PRO, LogFormat.PBS), (SGE, LogFormat.GRID_ENGINE), (LSF, LogFormat.LSF),
     (FLUX, LogFormat.FLUX), (OCS, LogFormat.GRID_ENGINE)],
)  # fmt: skip
def test_the_content_tells_the_format(tmp_path, text, log_format, name, pack):
    path = tmp_path / name
    path.write_bytes(pack(text.encode()))
    assert recognize_log(path) is log_format
    assert len(jobs_of(tmp_path, pack(text.encode()), name).jobs) == 1


def test_a_folder_of_daily_files_is_one_log(tmp_path):
    folder = tmp_path / "accounting"
    folder.mkdir()
    (folder / "20250628").write_bytes(gzip.compress(PBS_PRO.replace("1001", "1002").encode()))
    (folder / "20250627").write_text(PBS_PRO)
    (folder / ".hidden").write_text("no log")
    (tmp_path / "machine.toml").write_text(MACHINE)
    instance = cs.cluster.Instance.read(folder, machine=tmp_path / "machine.toml")
    assert instance.jobs["id"].tolist() == [1001, 1002]
    assert instance.jobs["line"].tolist() == [3, 6]
    assert counts(instance.notes, NoteKind.READING)["files"] == 2


@pytest.mark.parametrize("text", [PBS_PRO, SGE, LSF, FLUX])
def test_without_a_machine_the_format_is_named(tmp_path, text):
    path = tmp_path / "log"
    path.write_text(text)
    with pytest.raises(InvalidInstance, match=r"this is .*: expected a machine \(--machine\)"):
        cs.cluster.Instance.read(path)


def test_a_log_without_ended_jobs_says_what_it_has(tmp_path):
    with pytest.raises(InvalidInstance, match="no job that has ended: 1 line: not ended yet"):
        jobs_of(tmp_path, json.dumps({"jobs": [json.loads(FLUX)["jobs"][1]]}))


def slurm_job(**changes):
    """A job as data parser 0.0.40 writes it."""
    job = {
        "job_id": 7, "name": "x", "user": "vic", "group": "g", "account": "lab", "qos": "normal",
        "partition": "main", "cluster": "c", "nodes": "n1", "allocation_nodes": 1,
        "array": {"job_id": 0, "task": "",
                  "task_id": {"set": False, "infinite": False, "number": 0}},
        "het": {"job_id": 0, "job_offset": {"set": False, "infinite": False, "number": 0}},
        "state": {"current": ["COMPLETED"], "reason": "None"},
        "time": {"submission": 1750978870, "eligible": 1750978871, "start": 1750978875,
                 "end": 1750982475, "elapsed": 3600, "suspended": 0,
                 "limit": {"set": True, "infinite": False, "number": 120},
                 "total": {"seconds": 7200, "microseconds": 500000}},
        "required": {"CPUs": 8, "memory_per_node": {"set": True, "infinite": False,
                                                    "number": 16384}},
        "tres": {"allocated": [{"type": "cpu", "name": "", "id": 1, "count": 8},
                               {"type": "mem", "name": "", "id": 2, "count": 16384},
                               {"type": "node", "name": "", "id": 4, "count": 1},
                               {"type": "gres", "name": "gpu:a100", "id": 1001, "count": 2}],
                 "requested": []},
        "steps": [{"step": {"id": "7.batch", "name": "batch"}, "state": ["COMPLETED"],
                   "time": {"start": {"set": True, "number": 1750978875}, "elapsed": 3600,
                            "end": {"set": True, "number": 1750982475},
                            "total": {"seconds": 7200, "microseconds": 0}},
                   "tasks": {"count": 1}, "nodes": {"count": 1, "range": "n1"},
                   "tres": {"requested": {
                       "max": [{"type": "mem", "name": "", "count": 2147483648}],
                       "total": [{"type": "mem", "name": "", "count": 2147483648}]}}}],
    }  # fmt: skip
    return job | changes


def slurm_json(*jobs):
    meta = {"plugin": {"data_parser": "data_parser/v0.0.40"}, "slurm": {"release": "23.11.10"}}
    return json.dumps({"jobs": list(jobs), "meta": meta, "errors": [], "warnings": []}, indent=1)


def test_sacct_json_is_what_sacct_prints(tmp_path):
    instance = jobs_of(tmp_path, slurm_json(slurm_job()), "sacct.json")
    (job,) = instance.jobs.to_dict("records")
    assert (job["id"], job["user"], job["qos"], job["tasks"]) == (7, "vic", "normal", 8)
    assert (job["wait"], job["runtime"], job["estimate"]) == (5.0, 3600.0, 7200.0)
    assert (job["memory_gb"], job["gpus"], job["gpu_type"]) == (16.0, 2, "a100")
    assert (job["used_memory_gb"], job["cpu_seconds"]) == (2.0, 7200.5)
    assert instance.begins.isoformat().startswith("2025-06-26T23:01:10")


def test_json_and_text_of_a_real_slurmdbd_are_the_same_jobs(tmp_path):
    """15 runs of jobs (arrays, a requeue, steps) that one slurmdbd printed twice."""
    (tmp_path / "machine.toml").write_text("[[nodes]]\ncount = 4\ncores = 2\nmemory_gb = 2\n")
    json_log, text_log = (
        cs.cluster.from_sacct(FIXTURES / name, tmp_path / "machine.toml")
        .jobs.sort_values(["id", "submit", "wait"])
        .reset_index(drop=True)
        for name in ("slurm_22.05.json.gz", "slurm_22.05.txt")
    )
    assert len(json_log) == 15
    assert set(json_log) - set(text_log) == {"licenses"}  # sacct -P of 22.05 has no such column
    for column in sorted(set(text_log) - {"line"}):
        pd.testing.assert_series_equal(json_log[column], text_log[column], check_dtype=False)


def texts_of(job):
    rows = list(sacct_rows([Member(1, "", job)]))
    return [dict(zip(COLUMNS, row.texts, strict=True)) for row in rows]


@pytest.mark.parametrize(
    ("changes", "column", "text"),
    [
        ({"state": {"current": "CANCELLED"}}, "State", "CANCELLED"),
        ({"state": {"current": ["RUNNING", "COMPLETING"]}}, "State", "RUNNING"),
        ({"array": {"job_id": 5, "task_id": 3, "task": ""}}, "JobID", "5_3"),
        (
            {"array": {"job_id": 5, "task_id": {"set": True, "number": 0}, "task": ""}},
            "JobID", "5_0",
        ),
        ({"array": {"job_id": 5, "task_id": {"set": False, "number": 0}, "task": "1-10%2"}},
         "JobID", "5_[1-10%2]"),
        ({"het": {"job_id": 4, "job_offset": {"set": True, "number": 1}}}, "JobID", "4+1"),
        ({"required": {"CPUs": 2, "memory": 0, "memory_per_cpu": {"set": True, "number": 100}}},
         "ReqMem", "100Mc"),
        ({"comment": {"job": "hello", "administrator": "JS1:x"}}, "AdminComment", "JS1:x"),
        ({"comment": {"job": "hello"}}, "Comment", "hello"),
        ({"name": None}, "JobName", ""),
    ],
)  # fmt: skip
def test_forms_of_the_data_parsers(changes, column, text):
    assert texts_of(slurm_job(**changes))[0][column] == text


@pytest.mark.parametrize(
    ("limit", "text"),
    [(60, "60"), ({"set": True, "infinite": False, "number": 60}, "60"),
     ({"set": False, "infinite": True, "number": 0}, "UNLIMITED"),
     ({"set": False, "infinite": False, "number": 0}, "Partition_Limit")],
)  # fmt: skip
def test_limits_of_the_data_parsers(limit, text):
    job = slurm_job()
    job["time"] = job["time"] | {"limit": limit}
    assert texts_of(job)[0]["TimelimitRaw"] == text


@pytest.mark.parametrize(
    ("identity", "name"),
    [("7.0", "7.0"), ({"job_id": 7, "step_id": "extern"}, "7.extern"),
     ({"job_id": 7, "step_id": 4294967291}, "7.batch"), ({"job_id": 7, "step_id": 2}, "7.2"),
     ({"job_id": 7, "step_id": -4}, "7.extern")],
)  # fmt: skip
def test_numbers_of_steps(identity, name):
    job = slurm_job()
    job["steps"][0]["step"]["id"] = identity
    assert texts_of(job)[1]["JobID"] == name


def test_what_is_no_job_of_slurm_is_counted(tmp_path):
    instance = jobs_of(tmp_path, slurm_json(7, slurm_job(), {"job_id": 8}), "sacct.json")
    assert len(instance.jobs) == 1
    assert counts(instance.notes, NoteKind.DROPPED)["no job of Slurm"] == 2


class SlowText(text_io.StringIO):
    """A text that gives few characters at a time."""

    def read(self, size=-1):
        return super().read(min(size, 7) if size > 0 else 7)


@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_is_read_member_by_member_wherever_the_chunks_end(indent):
    value = {"a": [1, 2.5e3], "jobs": [{"x": '[]{},"\\'}, 12345, None, [1, [2]], "text"], "z": {}}
    text = json.dumps(value, indent=indent)
    members = list(stream_members(SlowText(text), "x", "jobs"))
    assert [member.value for member in members if not member.key] == value["jobs"]
    assert {member.key: member.value for member in members if member.key} == {
        "a": value["a"], "z": value["z"],
    }  # fmt: skip
    if indent:
        lines = text.splitlines()
        for member in members:
            if isinstance(member.value, int) and member.value == 12345:
                assert "12345" in lines[member.line - 1]


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"jobs"', '{"jobs": [1', '{"jobs": [1 2]}', '{"jobs": []} x', '{1: 2}', "[1,]", "7",
     '{"jobs": [' + "[" * 100_000],
)  # fmt: skip
def test_damaged_json_is_one_line_with_its_place(text):
    with pytest.raises(InvalidInstance, match=r"^x: line \d+: ") as error:
        list(stream_members(text_io.StringIO(text), "x", "jobs"))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["PBS_PRO", "TORQUE", "SGE", "OCS", "LSF", "FLUX", "SACCT"])
def test_damaged_logs_never_break_the_reader(tmp_path, name):
    text = slurm_json(slurm_job(), slurm_job(job_id=8)) if name == "SACCT" else 4 * globals()[name]
    text = FLUX if name == "FLUX" else text
    rng = random.Random(7)
    (tmp_path / "machine.toml").write_text(MACHINE)
    read_count = 0
    for number in range(60):
        data = bytearray(text.encode())
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(data))
            kind = rng.randrange(4)
            if kind == 0:
                data[place] = rng.randrange(256)
            elif kind == 1:
                del data[place : place + rng.randrange(1, 40)]
            elif kind == 2:
                data[place:place] = rng.choice(
                    [b"\n", b"-1", b"1e400", b"nan", b'"', b"\x00", b"9" * 30, b":", b"{", b","]
                )
            else:
                del data[place:]
            if not data:
                data = bytearray(b" ")
        path = tmp_path / f"log{number}"
        path.write_bytes(bytes(data))
        try:
            instance = cs.cluster.Instance.read(path, machine=tmp_path / "machine.toml")
        except InvalidInstance as error:
            message = str(error)
        else:
            message = str(path)
            read_count += 1
            assert np.isfinite(instance.jobs["runtime"]).all()
        assert str(path) in message or "job" in message
    assert read_count > 0


def test_what_a_log_does_not_say_is_counted_and_not_guessed(tmp_path):
    lines = (
        "06/27/2025 01:01:15;E;1.pbs;ctime=1 start=10 end=20 Resource_List.ncpus=2\n"
        "06/27/2025 01:01:15;E;2.pbs;ctime=1 start=10 end=20 Exit_status=0\n"
        "06/27/2025 01:01:15;E;3.pbs;etime=1 start=10 end=20 Resource_List.ncpus=2 Exit_status=0\n"
    )
    instance = jobs_of(tmp_path, lines)
    assert instance.jobs[["id", "status"]].to_numpy().tolist() == [[1, "unknown"]]
    dropped = places(instance.notes, NoteKind.DROPPED)
    assert dropped["no number of CPUs"] == (1, "line 2")
    assert dropped["Submit is no time"] == (1, "line 3")


def test_only_a_newline_ends_a_line(tmp_path):
    """A name may hold what Python's splitlines takes for a line end; logs of Windows have both."""
    text = PBS_PRO.replace("jobname=run", "jobname=a\x0b\u2028b").replace("\n", "\r\n")
    instance = jobs_of(tmp_path, text.encode())
    assert instance.jobs["line"].tolist() == [3]
    assert instance.jobs["wait"].tolist() == [5.0]
