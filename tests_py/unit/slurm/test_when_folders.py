"""Snapshots as people collect them: zones, shares, clocks that are off."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import numpy as np
import pytest
from note_facts import has_note

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.slurm.live.time_texts import duration
from cosched.units import format_duration
from support import FIXTURES, unpacked

DATE = "%Y-%m-%dT%H:%M:%S"


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """What commands printed on a cluster whose clock is UTC."""
    folder = tmp_path_factory.mktemp("live")
    unpacked(FIXTURES / "slurm" / "snapshots" / "live_fs.tar.xz", folder)
    (moment_folder,) = folder.rglob("t02700")
    return {path.name: path.read_text() for path in moment_folder.iterdir()}


@pytest.fixture
def written(tmp_path, collected):
    """A folder with some of these files, local dates `hours` ahead."""

    def write(names, hours=0, **others):
        for path in tmp_path.iterdir():
            path.unlink()
        for name in names:
            text = others.get(name.partition(".")[0], collected[name])
            if name in ("scontrol_config.txt", "sacct.txt", "scontrol_job.txt"):
                text = _later(text, hours)
            if name == "sdiag.txt":
                text = text.replace("Nov 23 01:33", f"Nov 23 {1 + hours:02d}:33")
            (tmp_path / name).write_text(text)
        return tmp_path

    return write


def _later(text, hours):
    import re

    def moved(match):
        return (datetime.strptime(match[0], DATE) + timedelta(hours=hours)).strftime(DATE)

    return re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d", moved, text)


NODES = ("squeue.json", "scontrol_config.txt", "scontrol_node.txt", "scontrol_partition.txt")


@pytest.mark.parametrize(
    "more", [["sdiag.txt"], ["times.json"], ["scontrol_job.txt"], ["sacct.txt"]], ids=lambda m: m[0]
)
def test_the_zone_follows_from_what_is_told_both_ways(written, more):
    answers = []
    for hours in (0, 1):
        snapshot = cs.slurm.Snapshot.read(written([*NODES, *more], hours))
        answers.append((snapshot.time, snapshot.clocks.get("boot"), snapshot.history))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("hours", [0, 1, -5])
def test_where_only_jobs_tell_the_zone_it_is_said(written, hours):
    snapshot = cs.slurm.Snapshot.read(written(NODES, hours))
    true = cs.slurm.Snapshot.read(written(NODES), timezone="UTC")
    assert snapshot.time == true.time
    assert has_note(snapshot.missing, NoteKind.ASSUMED, "time zone")
    assert not has_note(true.missing, NoteKind.ASSUMED, "time zone")


def test_the_zone_by_its_name(written, capsys):
    folder = written(NODES, 1)
    snapshot = cs.slurm.Snapshot.read(folder, timezone="Europe/Berlin")  # an hour ahead in November
    assert snapshot.time == cs.slurm.Snapshot.read(written(NODES), timezone="UTC").time
    assert main(["when", str(written(NODES, 1)), "--draws", "5", "--timezone", "Asia/Tokyo"]) == 0
    assert main(["when", str(folder), "--draws", "5", "--timezone", "Europe/Nowhere"]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "expected a name such as" in line


def test_dates_of_no_zone_are_refused(written, collected):
    config = collected["scontrol_config.txt"].replace("2026-11-23", "2020-11-23")
    with pytest.raises(InvalidInstance, match=r"time zone .* scontrol_config.txt .* --timezone"):
        cs.slurm.Snapshot.read(written(NODES, scontrol_config=config))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.replace("\n ", "\nroot|", 1), "is not below root|fields: expected"),
        (lambda t: "\n".join(line.lstrip() for line in t.splitlines()), "is not below root"),
        (lambda t: t.partition("\n")[2], "no header"),
        (lambda t: t.replace("\n ", "\nroot||1||||||||||\n ", 1), "is not below|fields: expected"),
    ],
)  # fmt: skip
def test_shares_whose_tree_is_lost_are_refused(written, collected, change, said):
    text = change(collected["sshare.txt"])
    folder = written([*NODES, "times.json", "sshare.txt"], sshare=text)
    with pytest.raises(InvalidInstance, match=said):
        cs.slurm.Snapshot.read(folder)


@pytest.fixture
def snapshot(written, collected, tmp_path):
    path = tmp_path / "now.json"
    cs.slurm.Snapshot.read(written(collected)).write(path)
    return path


@pytest.mark.parametrize("parent", [-5, 3, 99, -1])
def test_parents_that_are_none_are_refused(snapshot, parent):
    data = json.loads(snapshot.read_text())
    data["shares"][2]["parent"] = parent
    snapshot.write_text(json.dumps(data))
    with pytest.raises(InvalidInstance, match="association 2 below"):
        cs.slurm.when(cs.slurm.Snapshot.read(snapshot), draws=2)


@pytest.mark.parametrize("value", [0, 1.0, 4e9])
def test_a_last_pass_long_ago_is_one_of_many(snapshot, value):
    data = json.loads(snapshot.read_text())
    data["clocks"]["last_pass"] = value
    snapshot.write_text(json.dumps(data))
    estimates = cs.slurm.when(cs.slurm.Snapshot.read(snapshot), draws=3)
    assert np.isfinite(estimates.p50).all()


def test_shares_of_the_parent_are_followed(snapshot):
    data = json.loads(snapshot.read_text())
    for share in data["shares"]:
        share["shares"] = None if share["user"] else share["shares"]
    snapshot.write_text(json.dumps(data))
    estimates = cs.slurm.when(cs.slurm.Snapshot.read(snapshot), draws=3)
    assert not any("Fairshare" in text for text in estimates.attrs["not_modelled"])


def test_pending_jobs_alone_say_what_is_missing(tmp_path, capsys):
    lines = (
        "JobId=7 JobName=a UserId=u(1) Priority=1 JobState=PENDING Partition=p NumNodes=2",
        "TimeLimit=01:00:00 SubmitTime=2026-01-01T00:00:00 EligibleTime=2026-01-01T00:00:00",
    )
    (tmp_path / "scontrol_job.txt").write_text("\n   ".join(lines) + "\n")
    assert main(["when", str(tmp_path)]) == 2
    message = "no scontrol_node.txt and no sinfo.json, and no job runs: nothing tells of nodes"
    assert capsys.readouterr().err == f"cosched: error: {message}\n"


def test_times_in_words():
    texts = [duration(seconds) for seconds in (-7140, -700, -3, 0, 59, 3600, np.inf, -np.inf)]
    assert texts == [
        "1 h 59 min ago", "11 min 40 s ago", "3 s ago", "0 s", "59 s", "1 h 00 min", "never",
        "never",
    ]  # fmt: skip
    assert duration(np.nan) == ""
    durations = [format_duration(seconds) for seconds in (-7140, -3, 59)]
    assert durations == ["-1 h 59 min", "-3 s", "59 s"]
