"""Snapshots that are shown to others: no name is left, and answers are the same."""

from __future__ import annotations

import json
import re
from functools import partial, reduce
from pathlib import Path

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.slurm.live.command_outputs import COMMANDS, read_outputs
from support import FIXTURES, unpacked

MARKER = "Zq7secret"
SERIES = ["live_fs", "live_qos", "live_burst", "gpu_a.1", "gpu_a_24.1", "mem_a_24.1", "misc_a.1",
          "node_a.1", "part_a_24.1"]  # fmt: skip
#: Of each there is one shape of squeue --json: 22.05's lists and 24.11's objects.
SHAPES = ["live_fs", "gpu_a_24.1", "live_qos"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Texts of one moment by series: what each command printed."""
    series_files = {}
    for series in SERIES:
        folder = tmp_path_factory.mktemp(series)
        unpacked(FIXTURES / "slurm" / "snapshots" / f"{series}.tar.xz", folder)
        last = max(folder.rglob("*squeue.json"), key=lambda p: (p.parent.name, p.name))
        series_files[series], _ = read_outputs(last.parent)
    return series_files


def read(texts):
    return cs.slurm.Snapshot.of_texts(texts, "folder")


@pytest.mark.parametrize("series", SERIES)
def test_answers_are_the_same(folders, tmp_path, series):
    snapshot = read(folders[series])
    assert snapshot.jobs
    snapshot.anonymised().write(tmp_path / "shown.json")
    anonymous_snapshot = cs.slurm.Snapshot.read(tmp_path / "shown.json")
    assert [job.id for job in anonymous_snapshot.jobs] == [job.id for job in snapshot.jobs]
    if not snapshot.pending:
        return
    full, anonymous_answer = (
        cs.slurm.when(each_snapshot, draws=10) for each_snapshot in (snapshot, anonymous_snapshot)
    )
    assert anonymous_answer.drop(columns="reason").equals(full.drop(columns="reason"))
    assert len(anonymous_answer.attrs["not_modelled"]) == len(full.attrs["not_modelled"])


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
        return (
            [planted(element, path[1:], change) for element in data]
            if isinstance(data, list)
            else data
        )
    if not isinstance(data, dict) or path[0] not in data:
        return data
    return data | {path[0]: planted(data[path[0]], path[1:], change)}


def changes(name, text):
    """What puts the marker into a field of the output, for each of its fields: its name, and a
    function of the text. Neighbours change different fields, where there are several."""
    if name.endswith(".json"):
        places = dict.fromkeys(texts_in(json.loads(text)))
        for change in (lambda _: MARKER, lambda value: value + MARKER):
            for path in places:
                yield str(path), partial(in_json, path, change)
    elif "|" in text:
        for column, title in enumerate(text.splitlines()[0].split("|")):
            yield title, partial(in_column, column)
    else:
        keys = dict.fromkeys(re.findall(r"([A-Za-z][\w:/-]*)\s*=", text))
        for value in (MARKER, rf"\g<2>{MARKER}", rf"\g<2>,{MARKER}=2", rf"{MARKER}(S:0-1)\g<2>"):
            for key in keys:
                yield key, partial(in_field, key, value)
        yield "the end of lines", lambda text: re.sub(r"(?m)$", f" Extra={MARKER}", text)


def in_json(path, change, text):
    return json.dumps(planted(json.loads(text), path, change))


def in_column(column, text):
    head, *rows = text.splitlines()
    rows_of_cells = [line.split("|") for line in rows]
    for cells in rows_of_cells:
        cells[column : column + 1] = [cells[column] + MARKER] if column < len(cells) else []
    return "\n".join([head, *("|".join(cells) for cells in rows_of_cells)])


def in_field(key, value, text):
    pattern = rf"(?m)(?<![\w:/-]){re.escape(key)}(\s*=\s*)([^\s,()]*)"
    return re.sub(pattern, rf"{key}\g<1>{value}", text)


PLAIN = ("scontrol_job.txt", "scontrol_node.txt", "scontrol_partition.txt")


def one_line(text):
    """As -o prints it: a record a line."""
    return "\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text))


def anonymised(texts):
    """What is written of these outputs, and how much of them was read; None: they are refused."""
    try:
        snapshot = read(texts)
    except InvalidInstance:
        return None
    plain = snapshot.anonymised()._to_dict()
    read_of = {name: len(part) for name, part in plain.items() if isinstance(part, (dict, list))}
    return json.dumps(cs.io.plain(plain)), read_of


def refused(texts, name, at_once):
    """How many changes of an output are refused, and of how many; no other shows the marker.

    So many changes are made at once; where one of them is refused, or hides a record from the
    others, each is made alone, and from then on all others of its field.
    """
    all_changes = list(changes(name, texts[name]))
    _, anonymous_text = anonymised(texts)
    waiting, none, apart = [], 0, set()

    def answer(several):
        text = reduce(lambda text, change: change[1](text), several, texts[name])
        answer = anonymised({**texts, name: text})
        assert answer is None or MARKER.lower() not in answer[0].lower(), (name, several)
        return answer

    def alone(change):
        nonlocal none
        answered = answer([change])
        none += answered is None
        if answered is None or answered[1] != anonymous_text:
            apart.add(change[0])

    for number, change in enumerate(all_changes, 1):
        if at_once == 1 or change[0] in apart:
            alone(change)
        else:
            waiting.append(change)
        if waiting and (len(waiting) == at_once or number == len(all_changes)):
            together = answer(waiting)
            if together is None or together[1] != anonymous_text:
                for change_alone in waiting:
                    alone(change_alone)
            waiting = []
    return none, len(all_changes)


#: By night each change alone.
NIGHT = pytest.mark.thorough
FORMS = ["as printed", "one line"]


@pytest.mark.parametrize(
    ("series", "form", "at_once"),
    [("live_qos", form, 12) for form in FORMS]
    + [pytest.param(series, form, 1, marks=NIGHT) for series in SHAPES for form in FORMS],
)
def test_no_field_of_any_command_is_passed_on(folders, series, form, at_once):
    texts = folders[series]
    names = {*COMMANDS, "sacct.txt", "sshare_long.txt"} & set(texts)
    if form == "one line":
        texts = {k: one_line(v) if k in PLAIN else v for k, v in texts.items()}
        names &= {*PLAIN}
    none, planted_in = np.sum([refused(texts, name, at_once) for name in names], axis=0)
    assert planted_in > 0
    assert none < planted_in / 2


@pytest.mark.parametrize("at_once", [12, pytest.param(1, marks=NIGHT)])
@pytest.mark.parametrize("series", SHAPES)
def test_jobs_alone_without_squeue(folders, series, at_once):
    texts = {k: v for k, v in folders[series].items() if k != "squeue.json"}
    none, planted_in = refused(texts, "scontrol_job.txt", at_once)
    assert none < planted_in


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
    anonymous_text, _ = anonymised(texts)
    assert MARKER in json.dumps(cs.io.plain(snapshot._to_dict()))
    assert MARKER.lower() not in anonymous_text.lower()
    anonymous_snapshot = snapshot.anonymised()
    (anonymous_job,) = anonymous_snapshot.jobs
    assert (
        anonymous_job.partition
        == re.search(r"PartitionName=(\S+)", anonymous_snapshot.scontrol_texts["partitions"])[1]
    )
    node_name = re.search(r"NodeName=(\S+)", anonymous_snapshot.scontrol_texts["nodes"])[1]
    assert f"Nodes={node_name} " in anonymous_snapshot.scontrol_texts["partitions"] + " "
    assert (anonymous_job.dependency, anonymous_job.state, anonymous_job.priority) == (
        "afterok:5",
        "PENDING",
        9,
    )


def test_the_command(folders, tmp_path, capsys):
    for name, text in folders["gpu_a.1"].items():
        (tmp_path / name).write_text(text)
    out = tmp_path / "shown.json"
    arguments = ["snapshot", "--from", str(tmp_path), "-o", str(out), "--anonymise"]
    assert main(arguments) == 0
    users = {job["user"] for job in json.loads(Path(out).read_text())["jobs"]}
    assert all(re.fullmatch(r"user[0-9]+|root|", user) for user in users)
