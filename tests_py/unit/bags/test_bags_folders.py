"""Folders of bags: labels, idle power and cap, types of which there are none."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import cosched as cs
from cosched.cli import main
from support import small_bag as small

bags = cs.bags
TASKS, MACHINES = ["7-Zip, big", "11", "v1[/a]"], ["Xeon", "Phi"]


# --- what a folder keeps --------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"idle_power": [5, 10]},
        {"power_cap": 5e3},
        {"idle_power": 5, "power_cap": 5e3, "names": TASKS},
        {"machine_names": MACHINES},
        {"idle_power": [5, 10], "power_cap": 5e3, "names": TASKS, "machine_names": MACHINES},
        {"counts": [40, 0, 7], "machines": [0, 3], "names": TASKS, "idle_power": [0.5, 0]},
    ],
    ids=str,
)
def test_a_folder_keeps_all_but_the_price(more, tmp_path):
    inst = small(**more)
    inst.write(tmp_path / "bag")
    assert bags.Instance.read(tmp_path / "bag", price=inst.price) == inst
    other = small(gamma=1.4)  # nothing of the old instance stays behind
    other.write(tmp_path / "bag")
    assert bags.Instance.read(tmp_path / "bag", price=other.price) == other


def test_arguments_come_before_what_the_folder_says(tmp_path):
    small(idle_power=[5, 10], power_cap=5e3).write(tmp_path / "bag")
    read = bags.Instance.read(tmp_path / "bag", gamma=1.4, idle_power=[1, 2], power_cap=6e3)
    assert (read.idle_power.tolist(), read.power_cap) == ([1, 2], 6e3)


def frames():
    inst = small()
    etc = pd.DataFrame(inst.etc, TASKS, MACHINES)
    epc = pd.DataFrame(inst.apc, TASKS, MACHINES)
    counts = pd.Series(inst.counts, TASKS, name="tasks")
    return inst, etc, epc, counts, pd.Series(inst.machines, MACHINES, name="machines")


@pytest.mark.parametrize("numbers", ["series", "frame", "plain"])
@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("label", [None, "type"])
def test_tables_as_pandas_writes_them(numbers, index, label, tmp_path):
    inst, etc, epc, counts, machines = frames()
    for name, table in (("ETC", etc), ("EPC", epc)):
        table.to_csv(tmp_path / f"{name}.csv", index=index, index_label=label)
    for name, column in (("TPT", counts), ("MPT", machines)):
        path = tmp_path / f"{name}.csv"
        if numbers == "plain":
            column.to_csv(path, index=False, header=False)
        else:
            of = column if numbers == "series" else column.to_frame()
            of.to_csv(path, index=index, index_label=label)
    read = bags.Instance.read(tmp_path, price=inst.price)
    assert read.names == (tuple(TASKS) if index else inst.names)
    assert read.machine_names == tuple(MACHINES)
    assert np.array_equal(read.etc, inst.etc)
    assert np.array_equal(read.apc, inst.apc)
    assert read.counts.tolist() == inst.counts.tolist()
    assert read.machines.tolist() == inst.machines.tolist()


@pytest.mark.parametrize("header", [True, False])
def test_numbers_of_pandas_are_no_labels(header, tmp_path):
    inst, *tables = frames()
    for name, table in zip(("ETC", "EPC", "TPT", "MPT"), tables, strict=True):
        plain = table.reset_index(drop=True)
        if plain.ndim == 2:
            plain.columns = range(2)
        else:
            plain = plain.rename(None)
        plain.to_csv(tmp_path / f"{name}.csv", index=header, header=header)
    assert bags.Instance.read(tmp_path, price=inst.price) == inst


def test_labels_have_to_agree(tmp_path):
    _, etc, epc, counts, machines = frames()
    for name, table in (("ETC", etc), ("EPC", epc), ("TPT", counts), ("MPT", machines)):
        table.to_csv(tmp_path / f"{name}.csv")
    for name, table, text in (
        ("EPC", epc[MACHINES[::-1]], "EPC.csv: 'Phi': expected 'Xeon'"),
        ("TPT", counts[::-1], r"TPT.csv: 'v1\[/a\]': expected '7-Zip, big'"),
        ("MPT", machines.rename({"Phi": "phi"}), "MPT.csv: 'phi': expected 'Phi'"),
    ):
        before = (tmp_path / f"{name}.csv").read_text()
        table.to_csv(tmp_path / f"{name}.csv")
        with pytest.raises(cs.InvalidInstance, match=text):
            bags.Instance.read(tmp_path, gamma=1.4)
        (tmp_path / f"{name}.csv").write_text(before)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("IDLE.csv", "1\n-2\n", "IDLE.csv: line 2, column 1: '-2'"),
        ("IDLE.csv", "1\n", "IDLE.csv: 1 entries: expected 2"),
        ("IDLE.csv", "1\nnan\n", "IDLE.csv: line 2, column 1: 'nan'"),
        ("CAP.csv", "5\n6\n", "CAP.csv: 2 numbers: expected one"),
        ("CAP.csv", "1_0\n", "CAP.csv: 0 numbers"),
        ("CAP.csv", "0\n", "CAP.csv: line 1, column 1: '0'"),
        ("TPT.csv", ",tasks\na,3\nb,4.5\n", "TPT.csv: line 3, column 2: '4.5'"),
        ("TPT.csv", "4O\n4\n", "TPT.csv: 1 entries: expected 2, as ETC.csv has (line 1 is"),
        ("ETC.csv", ",x,y\na,1,2\nb,3\n", "ETC.csv: line 3: 2 cells: expected 3"),
        ("ETC.csv", ",x,y\na,1,2\nb,3,-1\n", "ETC.csv: line 3, column 3: '-1'"),
        ("ETC.csv", "x,y\n", "ETC.csv: empty"),
    ],
)  # fmt: skip
def test_bad_cells_say_where(file, text, message, tmp_path):
    good = {"ETC.csv": "1,2\n3,4\n", "EPC.csv": "5,6\n7,8\n", "MPT.csv": "1\n2", "TPT.csv": "3\n4"}
    for name, content in {**good, file: text}.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(cs.InvalidInstance) as caught:
        bags.Instance.read(tmp_path, gamma=1.1)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_idle_power_and_cap_on_the_command_line(tmp_path, capsys):
    small(names=TASKS, machine_names=MACHINES).write(tmp_path / "bag")
    folder, plan = str(tmp_path / "bag"), str(tmp_path / "plan.json")
    arguments = ["--gamma", "1.4", "--idle-power", "5,10", "--power-cap", "900"]
    assert main(["solve", "bags", folder, *arguments, "--algorithm", "ttb", "-o", plan]) == 0
    printed = capsys.readouterr().out
    inst = bags.Instance.read(folder, gamma=1.4, idle_power=[5, 10], power_cap=900)
    assert f"profit rate {bags.solve(inst, 'ttb').value:.9g} a second" in printed
    assert "Xeon" in printed
    assert main(["validate", "bags", folder, plan, *arguments]) == 0
    assert main(["validate", "bags", folder, plan, "--gamma", "1.4"]) == 2  # another power
    for bad in ("x", "5,", "nan", "1_0", "-1", "1,2,3"):
        assert main(["bound", "bags", folder, "--gamma", "1.4", f"--idle-power={bad}"]) == 2
        assert "idle" in capsys.readouterr().err


# --- types of which there are none ----------------------------------------------------------


def with_none(inst, tasks, machines):
    """The instance with further types of which there are none, at these places."""
    counts = np.insert(inst.counts, tasks, 0)
    units = np.insert(inst.machines, machines, 0)

    def wider(table, value):
        rows = np.insert(np.array(table, dtype=float), tasks, value, axis=0)
        return np.insert(rows, machines, value, axis=1)

    # Short, long, cold or hot: what is not there must not matter.
    random = np.random.default_rng(len(tasks) + 5 * len(machines))
    seconds, watts = random.choice([1e-3, 1.0, 1e4]), random.choice([20.0, 900.0])
    idle = np.insert(inst.idle_power, machines, watts / 2)
    cap = None if np.isinf(inst.power_cap) else inst.power_cap
    return bags.Instance(counts, units, wider(inst.etc, seconds), wider(inst.apc, watts),
                         inst.price, inst.energy_cost, idle_power=idle, power_cap=cap)  # fmt: skip


@st.composite
def bag_and_places(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    t, m = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    etc, apc = rng.uniform(1, 20, (t, m)), rng.uniform(50, 200, (t, m))
    idle = draw(st.sampled_from([0, 10.0]))
    cap = draw(st.sampled_from([None, 400.0 + 200 * m]))
    counts, machines = rng.integers(1, 30, t), rng.integers(1, 4, m)
    inst = bags.Instance(counts, machines, etc, apc, gamma=draw(st.sampled_from([1.1, 2.0])),
                         idle_power=idle, power_cap=cap)  # fmt: skip
    places = st.lists(st.integers(0, t), max_size=2), st.lists(st.integers(0, m), max_size=2)
    return inst, draw(places[0]), draw(places[1])


@given(bag_and_places())
def test_types_of_which_there_are_none_change_nothing(drawn):
    inst, tasks, machines = drawn
    wide = with_none(inst, tasks, machines)
    assert wide.least_energy == pytest.approx(inst.least_energy)
    rows, columns = np.flatnonzero(wide.counts), np.flatnonzero(wide.machines)
    for name in bags.ALGORITHMS:
        given_wide, given_narrow = bags.solve(wide, name), bags.solve(inst, name)
        given_wide.schedule.validate()
        assert given_wide.value == pytest.approx(given_narrow.value, rel=1e-9)
        assert given_wide.counts.shape == wide.etc.shape
        assert given_wide.counts.sum(axis=1).tolist() == wide.counts.tolist()
        assert given_wide.counts[np.ix_(rows, columns)].sum() == inst.counts.sum()
        assert [len(loads) for loads in given_wide.loads] == wide.machines.tolist()
        assert given_wide.metrics()["makespan"] > 0
    for name in bags.BOUNDS:
        assert float(bags.bound(wide, name)) == pytest.approx(float(bags.bound(inst, name)))
    least_makespan = bags.least_makespan(inst)
    assert bags.least_makespan(wide) == pytest.approx(least_makespan)
    for makespan in (least_makespan * 0.9, least_makespan * 1.1, least_makespan * 3):
        for method in ("front", "glpk"):
            relaxation = bags.relaxation(wide, makespan, method=method)
            same = bags.relaxation(inst, makespan, method=method)
            assert relaxation.status == same.status
            if relaxation.status == "optimal":
                assert relaxation.energy == pytest.approx(same.energy)
                assert relaxation.x.shape == wide.etc.shape
                rounded = bags.round_relaxation(wide, relaxation)
                assert rounded.sum(axis=1).tolist() == wide.counts.tolist()


def test_nothing_runs_where_there_is_no_machine():
    inst = small(machines=[0, 3])
    frame = pd.DataFrame({"task_type": [0], "machine_type": [0], "machine": [0], "count": [40],
                          "start": 0.0, "end": 400.0})  # fmt: skip
    with pytest.raises(cs.InvalidSchedule, match="machine = 0: there is none of that type"):
        bags.Schedule.from_frame(inst, frame).validate()


def test_a_mix_with_zeros_from_a_folder_and_its_picture(tmp_path, capsys):
    small(counts=[40, 0, 7], machines=[2, 0]).write(tmp_path / "bag")
    picture = tmp_path / "plan.png"
    solve = ["solve", "bags", str(tmp_path / "bag"), "--gamma", "1.4", "--algorithm", "ttb-best"]
    assert main([*solve, "--plot", str(picture)]) == 0
    assert picture.stat().st_size > 1000
    inst = bags.Instance.read(tmp_path / "bag", gamma=1.4)
    assert (inst.counts.tolist(), inst.machines.tolist()) == ([40, 0, 7], [2, 0])


def test_a_second_header_of_other_width_is_named(tmp_path):
    rows = ",,S1,S2\nx - T (sec),,10,20\nx - P (Watts),,90,80\n,,S1\n"
    (tmp_path / "export.csv").write_text(rows)
    with pytest.raises(cs.InvalidInstance, match="line 4: a header of 1 systems: expected 2"):
        cs.bags.Instance.read(tmp_path / "export.csv", price=1e9, counts=4, machines=2)
