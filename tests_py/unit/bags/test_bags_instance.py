"""bags: instances, readers and writers."""

import pickle
import warnings

import numpy as np
import pytest
from note_facts import has_note

import cosched as cs
from cosched import NoteKind
from support import data, small_bag as small

bags = cs.bags


def refused(text, **changes):
    with pytest.raises(cs.InvalidInstance) as caught:
        small(**changes)
    message = str(caught.value)
    assert text in message, message
    assert "\n" not in message


# --- instances ------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("table", ["etc", "apc"])
def test_bad_entries_are_named(table, bad):
    entries = np.full((3, 2), 5.0)
    entries[2, 1] = bad
    refused(f"{table}[2, 1] = ", **{table: entries})


def test_other_bad_input():
    refused("counts are all 0", counts=[0, 0, 0])
    refused("counts[0] = -3", counts=[-3, 1, 2])
    refused("counts[0] = 1.5", counts=[1.5, 1, 2])
    refused("counts is empty", counts=[])
    refused("machines is empty", machines=[])
    refused("machines are all 0", machines=[0, 0])
    refused("machines[1] = -1", machines=[2, -1])
    refused("allowed[1]: expected at least one machine type with machines", machines=[2, 0],
            allowed=[[1, 1], [0, 1], [1, 1]])  # fmt: skip
    refused("etc has shape (2, 2)", etc=np.ones((2, 2)))
    refused("apc has shape (3, 3)", apc=np.ones((3, 3)))
    refused("etc: expected 2-dimensional numbers", etc=[[1, 2], [1], [1, 2]])
    refused("etc: expected numbers", etc=[["a", "b"]] * 3)
    refused("price and gamma are both given", price=3.0)
    refused("price and gamma are both missing", gamma=None)
    refused("gamma = -1", gamma=-1.0)
    refused("gamma", energy_cost=0.0)
    refused("price = -1", gamma=None, price=-1)
    refused("price = inf", gamma=None, price=np.inf)
    refused("price = 'x'", gamma=None, price="x")
    refused("energy_cost = nan", energy_cost=np.nan)
    refused("idle_power[0] = 71 exceeds apc[2, 0] = 70", idle_power=[71, 1])
    refused("idle_power has 3 entries", idle_power=[1, 1, 1])
    refused("power_cap = 5", idle_power=1.0, power_cap=5)
    refused("allowed has shape (2,)", allowed=[True, False])
    refused("allowed[1]", allowed=[[1, 1], [0, 0], [1, 1]])
    refused("names has 1 entries for 3 task types", names=["a"])


def test_instance_is_immutable_and_pickles():
    inst = small(idle_power=[5, 10], power_cap=5e3, allowed=[[1, 1], [1, 0], [1, 1]])
    with pytest.raises(AttributeError):
        inst.price = 3
    for array in (inst.etc, inst.apc, inst.joules, inst.counts, inst.machines):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    copy = pickle.loads(pickle.dumps(inst))
    assert copy == inst
    assert copy.power_cap == 5e3
    assert np.isinf(copy.etc[1, 1])
    assert copy.allowed.tolist() == [[True, True], [True, False], [True, True]]
    assert inst != small()


def test_gamma_and_price_say_the_same():
    inst = small(energy_cost=3e-8)
    assert inst.least_energy == 40 * 900 + 30 * 640 + 7 * 2100
    assert inst.price == pytest.approx(1.4 * 3e-8 * inst.least_energy)
    assert inst.gamma == pytest.approx(1.4)
    assert inst.with_price(gamma=2.0).gamma == pytest.approx(2.0)
    assert inst.with_price(7.5).price == 7.5


def test_a_price_below_the_least_energy_warns_once():
    with pytest.warns(UserWarning, match="every plan is a loss") as caught:
        inst = small(gamma=0.9)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.loads(pickle.dumps(inst))
        for name in bags.ALGORITHMS:
            res = bags.solve(inst, name)
            assert res.profit_rate < 0
            assert res.bound.value == 0
            assert not np.signbit(res.bound.value)
            assert res.gap == np.inf
        assert bags.solve(small(gamma=1.0), "min-energy").profit_rate == pytest.approx(0, abs=1e-9)


# --- files ----------------------------------------------------------------------------------


def test_folder_round_trip(tmp_path):
    inst = small(allowed=[[1, 1], [1, 0], [1, 1]])
    inst.write(tmp_path / "bag")
    with pytest.raises(cs.InvalidInstance, match=r"ETC.csv: line 2, column 2: empty cell"):
        bags.Instance.read(tmp_path / "bag", gamma=1.4)
    reread_instance = bags.Instance.read(tmp_path / "bag", gamma=1.4, missing="drop")
    assert np.array_equal(reread_instance.etc, inst.etc)
    assert reread_instance.price == pytest.approx(inst.price)
    assert has_note(reread_instance.notes, NoteKind.DROPPED, "task type 1 on machine type 1")
    assert len(bags.Instance.read(tmp_path / "bag", gamma=1, missing="drop-tasks").counts) == 2
    assert len(bags.Instance.read(tmp_path / "bag", gamma=1, missing="drop-machines").machines) == 1


def test_json_round_trip(tmp_path):
    inst = small(idle_power=[5, 10], power_cap=5e3, allowed=[[1, 1], [1, 0], [1, 1]])
    inst.write(tmp_path / "bag.json")
    assert bags.Instance.read(tmp_path / "bag.json") == inst
    assert bags.Instance.read(tmp_path / "bag.json", price=3e5).price == 3e5
    assert bags.Instance.read(tmp_path / "bag.json", gamma=2).gamma == pytest.approx(2)
    with pytest.raises(cs.InvalidInstance, match="ends in"):
        inst.write(tmp_path / "bag.csv")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("ETC.csv", "1,2\n3,-4\n", "ETC.csv: line 2, column 2: '-4'"),
        ("ETC.csv", "1,2\n3,0\n", "ETC.csv: line 2, column 2: '0'"),
        ("EPC.csv", "1,nan\n3,4\n", "EPC.csv: line 1, column 2: 'nan'"),
        ("EPC.csv", "1,2\n3,inf\n", "EPC.csv: line 2, column 2: 'inf'"),
        ("ETC.csv", "1,2\n3\n", "ETC.csv: line 2: 1 cells: expected 2"),
        ("ETC.csv", "", "ETC.csv: empty"),
        ("MPT.csv", "1\n-1\n", "MPT.csv: line 2, column 1: -1"),
        ("MPT.csv", "1\n", "MPT.csv: 1 entries: expected 2"),
        ("TPT.csv", "1\n2.5\n", "TPT.csv: line 2, column 1: '2.5'"),
        ("TPT.csv", "", "TPT.csv: 0 entries: expected 2"),
    ],
)
def test_bad_folders(tmp_path, file, text, message):
    good = {"ETC.csv": "1,2\n3,4\n", "EPC.csv": "5,6\n7,8\n", "MPT.csv": "1\n2", "TPT.csv": "3\n4"}
    for name, content in {**good, file: text}.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(cs.InvalidInstance) as caught:
        bags.Instance.read(tmp_path, gamma=1.1)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_arguments_of_read(tmp_path):
    small().write(tmp_path / "bag")
    with pytest.raises(cs.InvalidInstance, match="missing = 'skip'"):
        bags.Instance.read(tmp_path / "bag", gamma=1.1, missing="skip")
    with pytest.raises(cs.InvalidInstance, match="both missing"):
        bags.Instance.read(tmp_path / "bag")
    with pytest.raises(cs.InvalidInstance, match="for openbenchmarking"):
        bags.Instance.read(tmp_path / "bag", gamma=1.1, counts=30)
    with pytest.raises(FileNotFoundError):
        bags.Instance.read(tmp_path / "nothing", gamma=1.1)


@pytest.mark.data
def test_openbenchmarking_table():
    path = data("etc_apc", "openbenchmarking", "1204229-SU-CPUMONITO81_resource_data.csv")
    with pytest.raises(cs.InvalidInstance, match=r"line 43, column 8 \(Timed Linux Kernel"):
        bags.Instance.read(path, gamma=1.2)
    inst = bags.Instance.read(path, gamma=1.2, missing="drop")
    assert inst.etc.shape == (5, 9)
    assert inst.counts.tolist() == [2400] * 5
    assert inst.machines.tolist() == [40] * 9
    assert np.argwhere(~inst.allowed).tolist() == [[4, 5], [4, 6]]
    # The same benchmark is in the data of Tarplee et al., with the gaps filled.
    theirs = bags.Instance.read(data("etc_apc", "tarplee_9machBig"), gamma=1.2)
    allowed_pairs = inst.allowed
    assert np.allclose(inst.etc[allowed_pairs], theirs.etc[:5][allowed_pairs], rtol=1e-3)
    assert np.allclose(inst.apc[allowed_pairs], theirs.apc[:5][allowed_pairs], rtol=1e-3)
    tasks = bags.Instance.read(path, gamma=1.2, missing="drop-tasks", counts=[1, 2, 3, 4, 5])
    assert (tasks.counts.tolist(), tasks.etc.shape) == ([1, 2, 3, 4], (4, 9))
    machines = bags.Instance.read(path, gamma=1.2, missing="drop-machines", machines=2)
    assert (machines.machines.tolist(), machines.etc.shape) == ([2] * 7, (5, 7))
    with pytest.raises(cs.InvalidInstance, match="machines has 2 entries"):
        bags.Instance.read(path, gamma=1.2, missing="drop", machines=[1, 2])


def test_openbenchmarking_without_results(tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("Title,,\n ,,A,B\nThing - Speed (MIPS),HIB,3,4\n")
    with pytest.raises(cs.InvalidInstance, match="tests with a result and watts"):
        bags.Instance.read(path, gamma=1)
    path.write_text(
        " ,,A,B\nThing - Speed (MIPS),HIB,3,4\n"
        "Thing - System Power Consumption Monitor (Watts),LIB,3,4\n"
    )
    with pytest.raises(cs.InvalidInstance, match="line 2: Thing is in MIPS"):
        bags.Instance.read(path, gamma=1)
