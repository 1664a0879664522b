"""Files of Slurm with a damage: refused in one line, or read, and soon. `make fuzz` finds more."""

from __future__ import annotations

import pytest

import cosched as cs
from cosched.slurm.accounts.shown import Shown, accounts_shown
from cosched.slurm.live.clocks import told
from cosched.slurm.live.outputs import records
from cosched.slurm.machines import machine_shown
from cosched.slurm.recordings.files import read_recording
from cosched.slurm.requests.associations import Accounts

ASSOCIATION = (
    "ClusterName=a Account=root UserName= Partition= ID=1\n"
    "    SharesRaw/Norm/Level/Factor=1/0.1/1/0.1\n    UsageRaw/Norm/Efctv=24.5/1.0/1.0\n"
    "    GrpWall=N(45.65) GrpTRESMins=cpu=9(403),mem=N(0)\n"
)


@pytest.mark.parametrize("name", ["Account", "UserName", "UsageRaw", "SharesRaw"])
def test_an_association_that_lacks_something(name):
    text = ASSOCIATION.replace(name, "X")
    with pytest.raises(cs.InvalidInstance, match=rf"^a\.txt: .*: expected {name}\S*= there"):
        accounts_shown({"a.txt": text}, "a")


def test_an_association_is_read():
    (own,) = accounts_shown({"a.txt": ASSOCIATION}, "a").associations
    assert own["GrpTRESMins"] == "cpu=9"
    assert own["GrpTRESMins used"] == {"cpu": 403.0, "mem": 0.0}
    assert own["GrpWall used"] == 45.65


@pytest.mark.parametrize("value", ["(" * 60_000, "[" * 60_000, "9" * 60_000, "a=" * 30_000])
def test_a_long_value_takes_no_time(value):
    text = ASSOCIATION.replace("N(45.65)", value)
    assert len(accounts_shown({"a.txt": text}, "a").associations) == 1
    machine_shown("", f"NodeName=n1\n Gres={value}", "PartitionName=a")
    assert len(next(records(f"JobId=7 A={value}\n   B={value}", "JobId"))) == 3


@pytest.mark.parametrize("key", ["Share", "Usage", "Factor"])
@pytest.mark.parametrize("value", ["bio", "nan", "1e999"])
def test_numbers_of_associations(key, value):
    shown = Shown(({"Account": "root", key: value},))
    with pytest.raises(cs.InvalidInstance, match=rf"^account root: {key}: '{value}'"):
        Accounts(shown)


@pytest.mark.parametrize("key", ["Priority", "UsageFactor", "LimitFactor"])
def test_numbers_of_qos(key):
    with pytest.raises(cs.InvalidInstance, match=rf"^QOS normal: {key}: '5:0'"):
        Accounts(Shown((), ({"Name": "normal", key: "5:0"},)))


def test_a_grace_without_end():
    (qos,) = Accounts(Shown((), ({"Name": "normal", "GraceTime": "UNLIMITED"},))).qos
    assert qos["grace"] == 2**31 - 1


@pytest.mark.parametrize(
    "text", ["[]", '{"squeue.json": 7}', '{"squeue.json": [1, "x"]}', '{"squeue.json": [0, 1e300]}']
)
def test_a_moment_that_is_none(text):
    with pytest.raises(cs.InvalidInstance, match=r"^times\.json: "):
        told({"times.json": text})


def test_what_is_wrong_in_a_recording_names_it(tmp_path):
    config = {"Partitions": ["PartitionName=main Nodes=ALL"], "NodeLines": "one"}
    data = {"config": config, "nodes": 1, "jobs": [], "runs": [[{}]], "phases": [{}]}
    cs.io.write_json(data, tmp_path / "one.json")
    with pytest.raises(cs.InvalidInstance, match=r"one\.json: runs: expected all 0 jobs"):
        read_recording(tmp_path / "one.json")


def test_a_user_of_an_account_that_is_not_shown():
    rows = ({"Account": "root"}, {"Account": "bio", "User": "ann"})
    with pytest.raises(cs.InvalidInstance, match="account 'bio' is not shown: 'ann'"):
        Accounts(Shown(rows))


def test_nested_deeply():
    for parse in (cs.io.parse_json, cs.io.parse_toml):
        text = "[" * 200_000 if parse is cs.io.parse_json else "a = " + "[" * 200_000
        with pytest.raises(cs.InvalidInstance, match=r"^x: .*recursion"):
            parse(text, "x")


def test_an_error_is_a_line_that_can_be_read():
    assert len(str(cs.InvalidInstance(f"partition {'[' * 200_000} has 3"))) < 1500
