"""Snapshots that are shown to others: no name is left, and answers are the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.slurm.live.outputs import COMMANDS, collected
from support import FIXTURES, unpacked

MARKER = "Zq7secret"
SERIES = ["live_fs", "live_qos", "live_burst", "gpu_a.1", "gpu_a_24.1", "mem_a_24.1", "misc_a.1",
          "node_a.1", "part_a_24.1"]  # fmt: skip
#: Of each there is one shape of squeue --json: 22.05's lists and 24.11's objects.
SHAPES = ["live_fs", "gpu_a_24.1", "live_qos"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Texts of one moment by series: what each command printed."""
    found = {}
    for series in SERIES:
        folder = tmp_path_factory.mktemp(series)
        unpacked(FIXTURES / "slurm" / "snapshots" / f"{series}.tar.xz", folder)
        last = max(folder.rglob("*squeue.json"), key=lambda p: (p.parent.name, p.name))
        found[series], _ = collected(last.parent)
    return found


def read(texts):
    return cs.cluster.Snapshot.of_texts(texts, "folder")


@pytest.mark.parametrize("series", SERIES)
def test_answers_are_the_same(folders, tmp_path, series):
    snapshot = read(folders[series])
    assert snapshot.jobs
    snapshot.anonymised().write(tmp_path / "shown.json")
    shown = cs.cluster.Snapshot.read(tmp_path / "shown.json")
    assert [job.id for job in shown.jobs] == [job.id for job in snapshot.jobs]
    if not snapshot.pending:
        return
    full, own = (cs.cluster.when(one, draws=10) for one in (snapshot, shown))
    assert own.drop(columns="reason").equals(full.drop(columns="reason"))
    assert len(own.attrs["not_modelled"]) == len(full.attrs["not_modelled"])


def texts_in(data, path=()):
    """Places of texts in JSON: entries of a list are one place."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from texts_in(value, (*path, key))
    elif isinstance(data, list):
        for value in data:
            yield from texts_in(value, (*path, None))
    elif isinstance(data, str):
        yield path


def planted(data, path, change):
    """The same with each text at the place changed."""
    if not path:
        return change(data) if isinstance(data, str) else data
    if path[0] is None:
        return [planted(one, path[1:], change) for one in data] if isinstance(data, list) else data
    if not isinstance(data, dict) or path[0] not in data:
        return data
    return data | {path[0]: planted(data[path[0]], path[1:], change)}


def changes(name, text):
    """The output with the marker in each of its fields, one after another."""
    if name.endswith(".json"):
        data = json.loads(text)
        for path in dict.fromkeys(texts_in(data)):
            for change in (lambda _: MARKER, lambda value: value + MARKER):
                yield str(path), json.dumps(planted(data, path, change))
        return
    if "|" in text:
        head, *rows = text.splitlines()
        for column, title in enumerate(head.split("|")):
            own = [line.split("|") for line in rows]
            for one in own:
                one[column : column + 1] = [one[column] + MARKER] if column < len(one) else []
            yield title, "\n".join([head, *("|".join(one) for one in own)])
        return
    for key in dict.fromkeys(re.findall(r"([A-Za-z][\w:/-]*)\s*=", text)):
        pattern = rf"(?m)(?<![\w:/-]){re.escape(key)}(\s*=\s*)([^\s,()]*)"
        for value in (MARKER, rf"\g<2>{MARKER}", rf"\g<2>,{MARKER}=2", rf"{MARKER}(S:0-1)\g<2>"):
            yield key, re.sub(pattern, rf"{key}\g<1>{value}", text)
    yield "the end of lines", re.sub(r"(?m)$", f" Extra={MARKER}", text)


PLAIN = ("scontrol_job.txt", "scontrol_node.txt", "scontrol_partition.txt")


def one_line(text):
    """As -o prints it: a record a line."""
    return "\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text))


def shown(texts):
    """What is written of these outputs; None: they are refused."""
    try:
        snapshot = read(texts)
    except InvalidInstance:
        return None
    plain = snapshot.anonymised()._plain()
    return json.dumps(cs.io.plain(plain))


@pytest.mark.parametrize("form", ["as printed", "one line"])
@pytest.mark.parametrize(
    "series", [pytest.param(one, marks=pytest.mark.thorough) for one in SHAPES[:-1]] + SHAPES[-1:]
)
def test_no_field_of_any_command_is_passed_on(folders, series, form):
    texts = folders[series]
    if form == "one line":
        texts = {k: one_line(v) if k in PLAIN else v for k, v in texts.items()}
    planted_in, refused = 0, 0
    for name in {*COMMANDS, "sacct.txt", "sshare_long.txt"} & set(texts):
        if form == "one line" and name not in PLAIN:
            continue
        for field, text in changes(name, texts[name]):
            planted_in += 1
            found = shown({**texts, name: text})
            refused += found is None
            assert found is None or MARKER.lower() not in found.lower(), (name, field)
    assert planted_in > 0
    assert refused < planted_in / 2


def test_jobs_alone_without_squeue(folders):
    for series in SHAPES:
        texts = {k: v for k, v in folders[series].items() if k != "squeue.json"}
        for field, text in changes("scontrol_job.txt", texts["scontrol_job.txt"]):
            found = shown({**texts, "scontrol_job.txt": text})
            assert found is None or MARKER.lower() not in found.lower(), field


def test_reservations_licences_and_comments():
    """Fields that our own recordings do not have."""
    job = (
        f"JobId=7 JobName={MARKER}1\n UserId={MARKER}2(1) GroupId={MARKER}3(1) MCS_label={MARKER}4"
        "\n"
        f" Priority=9 Nice=0 Account={MARKER}5 QOS={MARKER}6\n JobState=PENDING Reason={MARKER}7\n"
        f" TimeLimit=01:00:00\n SubmitTime=2026-01-05T08:00:00\n Partition={MARKER}8\n"
        f" Comment={MARKER}9 WorkDir=/users/{MARKER} StdErr=/x/{MARKER}\n"
        f" Licenses={MARKER}@{MARKER}:3\n"
        f" Features={MARKER}&fast Reservation={MARKER} Dependency=afterok:5({MARKER})\n"
        f" TresPerNode=gres/gpu:{MARKER}:2 NumNodes=1 NumCPUs=4\n"
    )
    node = (
        f"NodeName={MARKER}n1 CPUTot=4 AvailableFeatures={MARKER},fast Gres=gpu:{MARKER}:2(S:0)\n"
        f" NodeAddr=10.0.0.{MARKER} NodeHostName={MARKER} OS={MARKER} RealMemory=1 State=IDLE\n"
        f" Owner={MARKER}(5) MCS_label={MARKER} Partitions={MARKER}8 Comment={MARKER}\n"
        f" Reason=broken {MARKER} [{MARKER}@2026-01-05T08:00:00]\n"
    )
    part = (
        f"PartitionName={MARKER}8 AllowGroups={MARKER} AllowAccounts={MARKER},{MARKER}5\n"
        f" AllowQos=ALL QoS={MARKER} Nodes={MARKER}n1 State=UP\n"
    )
    resv = (
        f"ReservationName={MARKER} StartTime=2026-01-06T08:00:00 EndTime=2026-01-06T09:00:00\n"
        f" Nodes={MARKER}n1 Users={MARKER} Accounts={MARKER} Licenses={MARKER} Flags=MAINT\n"
    )
    config = (
        "Configuration data as of 2026-01-05T09:00:00\nSLURM_VERSION = 22.05.8\n"
        f"ClusterName = {MARKER}\nSlurmctldHost[0] = {MARKER}\nLicenses = {MARKER}:4\n"
        f"SchedulerParameters = bf_window=60,{MARKER}=2\nEpilog = /opt/{MARKER}\n"
        f"SelectType = select/cons_tres\nPriorityWeightTRES = cpu=5,gres/gpu:{MARKER}=3\n"
    )
    texts = {
        "scontrol_job.txt": job, "scontrol_node.txt": node, "scontrol_partition.txt": part,
        "scontrol_reservation.txt": resv, "scontrol_config.txt": config,
    }  # fmt: skip
    snapshot = read(texts)
    found = shown(texts)
    assert MARKER in json.dumps(cs.io.plain(snapshot._plain()))
    assert MARKER.lower() not in found.lower()
    own = snapshot.anonymised()
    (one,) = own.jobs
    assert one.partition == re.search(r"PartitionName=(\S+)", own.shown["partitions"])[1]
    node_name = re.search(r"NodeName=(\S+)", own.shown["nodes"])[1]
    assert f"Nodes={node_name} " in own.shown["partitions"] + " "
    assert (one.dependency, one.state, one.priority) == ("afterok:5", "PENDING", 9)


def test_the_command(folders, tmp_path, capsys):
    for name, text in folders["gpu_a.1"].items():
        (tmp_path / name).write_text(text)
    out = tmp_path / "shown.json"
    given = ["snapshot", "--from", str(tmp_path), "-o", str(out), "--anonymise"]
    assert main(given) == 0
    users = {job["user"] for job in json.loads(Path(out).read_text())["jobs"]}
    assert all(re.fullmatch(r"user[0-9]+|root|", user) for user in users)
