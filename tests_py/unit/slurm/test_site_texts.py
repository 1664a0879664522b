"""Text that real sites print: each reader against a loop of its own, and what is refused."""

from __future__ import annotations

import gzip
import json

import pytest
import site_texts
from note_facts import has_note, places

import cosched as cs
from cosched import NoteKind
from cosched.errors import InvalidInstance
from cosched.slurm.accounts.accounting_dump import parse_accounts
from cosched.slurm.live import clocks, nodes
from cosched.slurm.live.job_records import parse_history
from support import FIXTURES

SITES = FIXTURES / "sites"
FILES = sorted(path for path in SITES.iterdir() if path.suffix != ".md")
LOG = (SITES / "sacct_flags.log").read_text()
SPRIO = (SITES / "sprio_qosname.txt").read_text()
NODE = "NodeName=n1 CPUTot=4 RealMemory=8000 State=IDLE Sockets=1 CoresPerSocket=4\n"
PART = "PartitionName=main Nodes=n1 MaxTime=UNLIMITED State={}\n"
JOB = {
    "job_id": 7, "job_state": "PENDING", "user_name": "ann", "account": "a", "partition": "main",
    "submit_time": 1700000000, "eligible_time": 1700000000, "time_limit": 60, "node_count": 1,
    "cpus": 2, "priority": 10, "state_reason": "Resources",
}  # fmt: skip
INFINITE = [{"set": True, "infinite": True, "number": 0}, {"set": False, "infinite": True},
            float("inf"), float("nan"), 10**400, -(10**400)]  # fmt: skip


def snapshot(*jobs, state="UP", partitions="", **texts):
    queue = {"jobs": [JOB | job for job in jobs or ({},)], "last_update": 1700000100}
    named = {f"{name}.txt": text for name, text in texts.items()}
    return cs.slurm.Snapshot.of_texts(
        {"squeue.json": json.dumps(queue), "scontrol_node.txt": NODE,
         "scontrol_partition.txt": PART.format(state) + partitions, **named}, "folder",
        timezone="UTC",
    )  # fmt: skip


def starts(snapshot_input, **options):
    frame = cs.slurm.when(snapshot_input, draws=2, **options)
    return [value < 1e9 for value in frame["p50"]], frame.attrs["not_modelled"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_field_is_what_stands_there(path):
    read, refused, wrong, why = site_texts.looked_at(path.read_text())
    assert (refused, wrong, why) == (0, 0, "")
    assert read >= 4


# --- sacct ---


@pytest.fixture
def log(tmp_path):
    (tmp_path / "m.toml").write_text(site_texts.MACHINE)

    def read(text, name="jobs.log", **options):
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return cs.cluster.Instance.read(tmp_path / name, machine=tmp_path / "m.toml", **options)

    return read


@pytest.mark.parametrize("name", ["jobs.log", "jobs.csv", "jobs.out", "jobs", "jobs.log.gz"])
def test_sacct_is_known_by_its_header(log, name):
    assert log(LOG, name).jobs.id.tolist() == ["501", "502", "503", "504", "505_7", "507"]
    with pytest.raises(InvalidInstance, match="line 1: no header: sacct -P prints one"):
        log(LOG.partition("\n")[2], name)


def test_sacct_with_commas_in_csv(log):
    text = LOG.replace(",", " ").replace("|", ",")
    assert log(text, "jobs.csv", delimiter=",").jobs.account[1] == "phys"
    with pytest.raises(InvalidInstance, match="no header"):
        log("505_7.batch,512.batch,oak,,,\n", "jobs.txt", delimiter=",")


def test_memory_of_a_cpu_behind_a_flag(log):
    inst = log(LOG)
    memory_of_job = dict(zip(inst.jobs.id, inst.jobs.memory_gb * 1024, strict=True))
    assert memory_of_job["501"] == 2 * 12000
    assert memory_of_job["502"] == 8 * 3000
    plain = log(LOG.replace("2147486648Mn", "3000Mc")).jobs
    assert plain.memory_gb.tolist() == inst.jobs.memory_gb.tolist()


def test_columns_that_contradict_are_noted(log):
    inst = log(LOG)
    assert places(inst.notes, NoteKind.REPAIRED)["NCPUS"] == (1, "line 5")
    assert inst.jobs.set_index("id").threads["504"] == 100
    fits = log(LOG.replace("cpu=100,mem=280000M,node=1", "cpu=108,mem=280000M,node=9"))
    assert not has_note(fits.notes, NoteKind.REPAIRED, "NCPUS")


def test_a_history_without_a_header():
    with pytest.raises(InvalidInstance, match=r"sacct.txt: line 1: no header: expected JobID"):
        parse_history("7|COMPLETED|2026-01-05T10:00:00\n")
    with pytest.raises(InvalidInstance, match=r"line 1: no column End: expected JobID"):
        parse_history("JobID|Submit|Start\n7|2026-01-05T10:00:00|2026-01-05T10:00:00\n")


# --- sprio, sshare, sacctmgr, sdiag ---


def test_parts_beside_texts_and_numbers():
    priorities = clocks.parse_priorities(SPRIO)
    assert priorities[902] == {
        "PRIORITY": 376608, "SITE": 0, "AGE": 1475, "ASSOC": 0, "FAIRSHARE": 0, "JOBSIZE": 34,
        "PARTITION": 375000, "QOS": 99, "NICE": 0,
    }  # fmt: skip
    assert priorities[905]["NICE"] == 101
    bare = SPRIO.replace("     normal ", "            ")  # no QOS
    assert clocks.parse_priorities(bare)[901] == priorities[901]
    assert clocks.parse_priorities("") == clocks.parse_priorities(SPRIO.partition("\n")[0]) == {}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.partition("\n")[2], "line 1: no header"),
        (lambda t: t.replace("376608", "n/a"), "line 3: expected numbers: PRIORITY, SITE, AGE"),
        (lambda t: t.replace(" 901 batch ", " 901\n902 batch "), "line 2: expected numbers"),
        (lambda _: '{"jobs": []}', "sprio.txt: JSON: expected text, as Slurm prints it: sprio -l"),
    ],
)
def test_sprio_that_is_not_understood(change, said):
    with pytest.raises(InvalidInstance, match=said):
        snapshot(sprio=change(SPRIO))


@pytest.mark.parametrize("name", ["sshare", "sacctmgr_assoc", "sacctmgr_qos"])
def test_tables_without_a_header_or_with_ragged_rows(name):
    text = (SITES / f"{name}.txt").read_text()
    lines = text.splitlines()
    ragged, longer = (
        "\n".join([*lines[:2], lines[2].replace("||", bars, 1), *lines[3:]])
        for bars in ("|", "|||")
    )
    read = nodes.shares if name == "sshare" else nodes.limits
    bare = text.partition("\n")[2]
    for broken, message in ((bare, "no header"), (ragged, "line 3: "), (longer, "line 3: ")):
        with pytest.raises(InvalidInstance, match=f"{name}.txt: .*{message}"):
            read({f"{name}.txt": broken})
    with pytest.raises(InvalidInstance, match="no accounts: expected what sacctmgr"):
        parse_accounts({f"{name}.txt": bare}, name)
    with pytest.raises(InvalidInstance, match=f"{name}.txt:3: .* fields"):
        parse_accounts({f"{name}.txt": ragged}, name)


def test_a_part_of_the_shares_is_not_followed_and_said():
    rows = (SITES / "sshare.txt").read_text().splitlines()
    partial_snapshot = snapshot(sshare="\n".join([rows[0], rows[4].lstrip()]))
    assert partial_snapshot.shares == []
    assert has_note(partial_snapshot.missing, NoteKind.UNKNOWN, "sshare.txt")


def test_sdiag_in_json_tells_the_same():
    config = "Configuration data as of 2023-11-14T22:15:00\n"
    text = (
        "sdiag output at Tue Nov 14 22:15:00 2023 (1700000100)\nBackfilling stats\n"
        "\tLast cycle when: Tue Nov 14 22:14:50 2023 (1700000090)\n\tLast cycle: 2000\n"
        "\tLast depth cycle: 5\n\tLast depth cycle (try sched): 4\n"
    )
    sdiag_json = {"bf_when_last_cycle": {"set": True, "number": 1700000090}, "bf_cycle_last": 2000,
            "bf_last_depth_try": 4, "req_time": 1700000100}  # fmt: skip
    both = [
        snapshot(sdiag=sdiag_text, scontrol_config=config).clocks
        for sdiag_text in (text, json.dumps({"statistics": sdiag_json}))
    ]
    assert both[0] == both[1]
    assert both[0]["last_cycle"] == 1700000090
    assert both[0]["test"] == pytest.approx(0.0005)
    with pytest.raises(InvalidInstance, match=r"sdiag.txt: statistics: expected an object"):
        snapshot(sdiag='{"errors": []}')


@pytest.mark.parametrize("name", ["scontrol_config", "scontrol_job", "sshare", "sacct"])
def test_json_where_text_is_expected(name):
    with pytest.raises(InvalidInstance, match=f"{name}.txt: JSON: expected text, as Slurm"):
        snapshot(**{name: ' {"meta": {}}'})


def test_sinfo_that_tells_of_no_nodes():
    queue = json.dumps({"jobs": [JOB]})
    with pytest.raises(InvalidInstance, match=r"sinfo.json: expected nodes or sinfo"):
        cs.slurm.Snapshot.of_texts({"squeue.json": queue, "sinfo.json": '{"errors": []}'}, "f")


# --- squeue, scontrol ---


@pytest.mark.parametrize("value", INFINITE, ids=str)
def test_infinite_numbers(value):
    keys = ("submit_time", "eligible_time", "accrue_time", "start_time", "time_limit", "max_nodes",
            "node_count", "cpus", "memory_per_node", "memory_per_cpu", "nice", "array_job_id",
            "array_max_tasks", "billable_tres")  # fmt: skip
    assert starts(snapshot(*({"job_id": k, key: value} for k, key in enumerate(keys, 1))))
    with pytest.raises(InvalidInstance, match=r"jobs\[0\]: expected an object with a job_id"):
        snapshot({"job_id": value})
    if isinstance(value, int):
        with pytest.raises(InvalidInstance, match=r"jobs\[0\]: priority = .*a finite number"):
            snapshot({"priority": value})
    else:
        assert snapshot({"priority": value}).jobs[0].priority is None  # 0 would hold it


def test_a_licence_is_named_as_the_user_sees_it():
    array = {"licenses": "matlab:1", "array_job_id": 7, "array_task_string": "1-5"}
    _, messages = starts(snapshot(array))
    assert [line for line in messages if "licence" in line] == [
        "job 7: licence 'matlab': expected Licenses in the configuration"
    ]
    _, messages = starts(snapshot(array | {"licenses": "a:x"}, scontrol_config="Licenses = a:3\n"))
    assert [line for line in messages if "licence" in line] == [
        "job 7: licence 'a:x': expected a number of a"
    ]


@pytest.mark.parametrize("state", ["INACTIVE", "DOWN", "DRAIN", "UP"])
def test_jobs_wait_for_their_partition(state):
    runs = state in ("DRAIN", "UP")  # DRAIN takes no new jobs, those that are there start
    alone, messages = starts(snapshot(state=state))
    assert alone == [runs]
    assert any("State of partition main" in line for line in messages) == (not runs)
    requests = [{"nodes": 1, "time": 60}]
    if state in ("INACTIVE", "DRAIN"):  # sbatch refuses new jobs there
        with pytest.raises(cs.InvalidInstance, match=f"partition main: State={state}"):
            starts(snapshot(state=state), requests=requests)
    else:
        asked, _ = starts(snapshot(state=state), requests=requests)
        assert asked == [runs]
    other_partition = PART.format(state).replace("main", "other")
    jobs = [{"partition": "other,main"}, {"job_id": 8, "partition": "other"}]
    assert starts(snapshot(*jobs, partitions=other_partition))[0] == [True, runs]
