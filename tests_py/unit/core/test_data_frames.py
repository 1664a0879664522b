"""What a DataFrame's labels say is read, or refused; pandas' own numbering says nothing."""

import numpy as np
import pandas as pd
import pytest

import cosched as cs

TIMES = [[8.0, 4.4, 3.0], [6.0, 3.2, 2.5]]


def make_instance(family, frame, **options):
    if family == "packs":
        return cs.packs.Instance(frame, 2, **options)
    return cs.moldable.Instance(frame, **options)


@pytest.mark.parametrize("family", ["packs", "moldable"])
@pytest.mark.parametrize("columns", [[1, 4, 16], [1.0, 4.0, 16.0], ["1", "4", "16"], [16, 4, 1]])
def test_columns_are_processor_counts_and_the_index_names(family, columns, tmp_path):
    """They were taken for the counts 1, 2, 3, and the tasks were called task 0 and task 1."""
    values = np.array(TIMES)[:, ::-1] if columns[0] == 16 else TIMES
    inst = make_instance(family, pd.DataFrame(values, index=["solver", "mesh"], columns=columns))
    assert inst.names == ("solver", "mesh")
    assert inst.times.shape == (2, 16)
    assert inst.times[:, [0, 3, 15]].tolist() == TIMES
    path = tmp_path / "times.csv"
    path.write_text("task,1,4,16\nsolver,8,4.4,3\nmesh,6,3.2,2.5\n")
    of_file = type(inst).read(path)
    assert inst == (of_file if family == "moldable" else type(inst).read(path, max_tasks=2))
    assert "interpolated" in " ".join(inst.notes)


@pytest.mark.parametrize("family", ["packs", "moldable"])
def test_without_labels_a_frame_is_its_values(family):
    for frame in (pd.DataFrame(TIMES), pd.DataFrame(TIMES, columns=[1, 2, 3])):
        assert make_instance(family, frame) == make_instance(family, TIMES)
    named = pd.DataFrame(TIMES, index=["a", "b"])
    assert make_instance(family, named).names == ("a", "b")
    assert make_instance(family, named, names=["x", "y"]).names == ("x", "y")


@pytest.mark.parametrize("family", ["packs", "moldable"])
@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (["p1", "p4", "p16"], "times: column 'p1': expected a processor count, or no labels"),
        ([1.0, 1.5, 4.0], "times: column 1.5: expected a processor count, or no labels"),
        ([0, 1, 4], "times: column 0: expected a processor count in 1..1000000"),
        ([1, 4, 4], "times: two columns of 4 processors"),
        ([2, 4, 8], "times: columns 2, 4, 8: expected one of 1 processor as well"),
        ([1, 4, 10**9], "expected a processor count in 1..1000000"),
    ],
)
def test_labels_that_are_no_counts_are_refused(family, columns, said):
    with pytest.raises(cs.InvalidInstance, match=said):
        make_instance(family, pd.DataFrame(TIMES, columns=columns))


@pytest.mark.parametrize("family", ["packs", "moldable"])
def test_an_empty_cell_is_named(family):
    frame = pd.DataFrame([[8.0, np.nan, 3.0], TIMES[1]], columns=[1, 4, 16])
    with pytest.raises(cs.InvalidInstance, match=r"times\[0, 1\] = nan"):
        make_instance(family, frame)


def test_dags_and_bags_read_names():
    frame = pd.DataFrame([[3.0, 1.0], [2.0, 1.0]], index=["a", "b"], columns=["cpu", "gpu"])
    assert cs.dags.Instance(frame, [(0, 1)], (2, 1)).names == ("a", "b")
    bag = cs.bags.Instance([4, 3], [2, 1], frame, [[90, 200], [80, 100]], price=9000)
    assert (bag.names, bag.machine_names) == (("a", "b"), ("cpu", "gpu"))
    with pytest.raises(cs.InvalidInstance, match=r"apc: columns .*: expected those of etc"):
        cs.bags.Instance([4, 3], [2, 1], frame, frame[["gpu", "cpu"]], price=9000)


@pytest.mark.parametrize("name", ["weights", "release", "resources"])
def test_labels_of_what_goes_with_a_table_are_those_of_its_rows(name):
    """By position a job got another's weight, without a word."""
    times = pd.DataFrame([[8.0, 3.0], [6.0, 2.5]], columns=[1, 2], index=["a", "b"])

    def make_labelled(labels):
        values = pd.Series([1.0, 2.0], index=labels)
        table = {name: values}
        if name == "resources":
            table = {name: {"memory": values}, "capacity": {"memory": 5}}
        return cs.moldable.Instance(times, **table)

    assert make_labelled(["a", "b"]).jobs == 2
    with pytest.raises(
        cs.InvalidInstance, match=r"index \('b', 'a'\): expected the names in their"
    ):
        make_labelled(["b", "a"])


def test_names_that_a_file_would_not_give_back(tmp_path):
    for family in (cs.packs, cs.moldable):
        inst = family.Instance([[4.0, 3.0], [2.0, 1.0]], names=["a", " b"])
        with pytest.raises(cs.InvalidInstance, match=r"x\.csv: the name .* expected \.json"):
            inst.write(tmp_path / "x.csv")
        inst.write(tmp_path / "x.json")
        assert list(family.Instance.read(tmp_path / "x.json").names) == ["a", " b"]
        twice = family.Instance([[4.0, 3.0], [2.0, 1.0]], names=["a", "a"])
        with pytest.raises(cs.InvalidInstance, match=r"y\.json: the name 'a' is there twice"):
            twice.write(tmp_path / "y.json")
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
