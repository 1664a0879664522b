"""The border: what is no number, or no integer, is refused in one short line."""

import warnings

import numpy as np
import pandas as pd
import pytest

import cosched as cs
from cosched.core.arrays import integer, integer_array, real_array, seed_of
from cosched.errors import shorten


@pytest.mark.parametrize(
    "values",
    [
        [["a", "b"]],
        [[1.0, "x"]],
        [[1.0], [1.0, 2.0]],
        [[True, False]],
        [[1j, 2.0]],
        [[None, 1.0]],
        [1.0, 2.0],
        [[[1.0]]],
        "text",
        None,
        {"a": 1},
        [[10**400, 1]],
        [[[1, 2], 3]],
    ],
)
def test_bad_tables_are_refused_in_one_line(values):
    with pytest.raises(cs.InvalidInstance) as error:
        cs.packs.Instance(values)
    assert str(error.value).startswith("times")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("bad", [np.nan, -np.inf, 0.0, -1.0])
def test_bad_entries_are_named_by_row_column_and_value(bad):
    with pytest.raises(cs.InvalidInstance, match=r"times\[1, 2\] = ") as error:
        cs.packs.Instance([[3, 2, 1], [3, 2, bad]])
    assert "expected a positive number of seconds" in str(error.value)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_empty_tables_are_refused(shape):
    with pytest.raises(cs.InvalidInstance, match="at least one task"):
        cs.packs.Instance(np.ones(shape))


def test_whatever_holds_numbers_is_a_table():

    plain = [[4, 2], [3, 3]]
    for values in (
        plain,
        tuple(map(tuple, plain)),
        np.array(plain),
        np.array(plain, order="F"),
        np.array(plain, dtype=np.float32),
        pd.DataFrame(plain),
    ):
        assert cs.packs.Instance(values).times.tolist() == [[4.0, 2.0], [3.0, 3.0]]


@pytest.mark.parametrize("bad", [0, -1, 1.5, "3", None, True, np.nan, np.inf, [1]])
def test_integer_refuses(bad):
    with pytest.raises(cs.InvalidInstance, match="k = "):
        integer(bad, "k", 1)


def test_integer_accepts_whole_numbers_of_any_type():
    for value in (3, 3.0, np.int8(3), np.float64(3), np.uint64(3)):
        assert integer(value, "k") == 3


def test_integer_array_names_the_place():
    with pytest.raises(cs.InvalidInstance, match=r"edges\[1, 0\] = 1.5"):
        integer_array([[0, 1], [1.5, 2]], "edges", 2)
    with pytest.raises(cs.InvalidInstance, match=r"procs\[1\] = 1e\+300"):
        integer_array([1, 1e300], "procs", 1)
    assert integer_array([], "edges", 2).shape == (0,)


def test_real_array_copies():
    own_array = np.ones((2, 2))
    copy = real_array(own_array, "x", 2)
    own_array[:] = 7
    assert (copy == 1).all()


def test_seed():
    assert seed_of(None) == 0
    assert seed_of(2**64 - 1) == 2**64 - 1
    for bad in (-1, 2**64, 1.5, "1"):
        with pytest.raises(cs.InvalidInstance, match="seed"):
            seed_of(bad)


def test_shorten_keeps_one_line():
    assert shorten("ab") == "'ab'"
    assert len(shorten("x" * 10**6)) < 60
    assert len(shorten(10**10000)) < 60
    assert "\n" not in shorten(np.ones((9, 9)))


def test_ragged_integers_are_refused_in_one_line():
    for call in (
        lambda: integer_array([1, [2]], "counts", 1),
        lambda: cs.packs.make_pack(cs.packs.Instance([[3.0, 2.0]] * 2, 2), [1, []]),
        lambda: cs.dags.Instance([[1, 2]], [(0, 1), 3], (1, 1)),
        lambda: cs.moldable.Instance([[1.0, 1.0]], [1.0, []]),
        lambda: cs.bags.Instance([1], [1], [[1.0]], [[1.0]], idle_power=[1.0, []]),
    ):
        with pytest.raises(cs.InvalidInstance, match="ragged or mixed") as error:
            call()
        assert "\n" not in str(error.value)


HIDDEN = np.ma.array([[4.0, 2.0], [3.0, 3.0]], mask=[[0, 0], [0, 1]])


@pytest.mark.parametrize(
    "values",
    [HIDDEN, list(HIDDEN), [[4.0, 2.0], [3.0, np.ma.masked]], [(4.0, 2.0), HIDDEN[1]],
     np.ma.array([[4, 2], [3, 3]], mask=[[0, 0], [0, 1]])],
    ids=["array", "rows", "an entry", "a row", "integers"],
)  # fmt: skip
def test_a_masked_entry_is_refused_not_read(values):
    with pytest.raises(cs.InvalidInstance, match=r"times\[1, 1\] is masked"):
        cs.packs.Instance(values)
    with pytest.raises(cs.InvalidInstance, match=r"\[1, 1\] is masked"):
        integer_array(values, "edges", 2)


def test_every_argument_refuses_a_mask():
    one_masked = np.ma.array([1.0], mask=[True])
    calls = [
        lambda: cs.packs.Instance([[2.0]], 1, origin=np.ma.array([[0]], mask=True)),
        lambda: cs.dags.Instance([[1.0]], np.ma.array([[0, 1]], mask=True), (1,)),
        lambda: cs.moldable.Instance([[1.0]], one_masked),
        lambda: cs.moldable.Instance([[1.0]], [1.0], one_masked),
        lambda: cs.bags.Instance([1], [1], [[1.0]], [[1.0]], 1e9, idle_power=one_masked),
        lambda: cs.bags.Instance(
            [1], [1], [[1.0]], [[1.0]], 1e9, allowed=np.ma.array([[True]], mask=True)
        ),
        lambda: cs.cluster.Instance(
            {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": one_masked}, 1
        ),
        lambda: cs.dags.round_allocation([[3, 1]], one_masked),
        lambda: cs.bags.front(cs.bags.Instance([1], [1], [[1.0]], [[1.0]], 1e9)).energy_at(
            one_masked
        ),
        lambda: cs.cluster.yields([[0]], one_masked, 1),
    ]
    for call in calls:
        with pytest.raises(cs.InvalidInstance, match="is masked"):
            call()
    none_masked = np.ma.array([[4.0, 2.0]], mask=False)
    assert cs.packs.Instance(none_masked).times.tolist() == [[4.0, 2.0]]


@pytest.mark.parametrize(
    "values",
    [
        [[2**53 + 1, 1]],
        [[2**53 + 1, 1.5]],  # numpy makes floats of both
        [[-(2**53) - 1, 1]],
        [[2**63 + 1, -1]],
        [[10**30, 1]],
        np.array([[2**53 + 1, 1]]),
        np.array([[2**63 + 1, 1]], dtype=np.uint64),
        [np.array([2**53 + 1, 1]), np.array([1.5, 1.0])],
        [[np.int64(2**53 + 1), 1.5]],
    ],
    ids=str,
)
def test_an_integer_that_no_float_holds_is_refused(values):
    with pytest.raises(cs.InvalidInstance, match=r"times\[0, 0\] = -?[0-9.]+: no float") as error:
        real_array(values, "times", 2)
    assert "\n" not in str(error.value)


def test_integers_stay_what_they_are():
    assert integer_array([2**53 + 1], "n", 1, 0, 2**62).tolist() == [2**53 + 1]
    with pytest.raises(cs.InvalidInstance, match=r"counts\[0\] = 9007199254740993: expected"):
        cs.bags.Instance([2**53 + 1], [1], [[1.0]], [[1.0]], 1e9)
    with pytest.raises(cs.InvalidInstance, match="price = 9007199254740993: no float"):
        cs.bags.Instance([1], [1], [[1.0]], [[1.0]], 2**53 + 1)
    exact = [[2**53 + 2, -(2**60), 2**53]]
    assert real_array(exact, "x", 2).astype(np.int64).tolist() == exact
    frame = pd.DataFrame({"a": [2**53 + 1], "b": [1.5]})
    with pytest.raises(cs.InvalidInstance, match=r"x\[0, 0\]"):
        real_array(frame, "x", 2)
    assert real_array(frame[["b"]], "x", 2).tolist() == [[1.5]]


def test_a_truth_value_among_numbers_is_refused():
    for values in ([[True, 2.0]], [[1, 2], [False, 3]], [[np.True_, 1]]):
        with pytest.raises(cs.InvalidInstance, match=r"True or False|bool"):
            real_array(values, "times", 2)


def test_a_long_double_beyond_floats_is_refused():
    large = np.array([[1]], dtype=np.longdouble) * np.longdouble("1e4000")
    if np.isinf(large).any():
        pytest.skip("this machine's long double is a float")
    with pytest.raises(cs.InvalidInstance, match=r"times\[0, 0\] = 1e\+4000: no float"):
        real_array(large, "times", 2)


def test_short_floats_among_numbers_are_read_as_they_are():
    short = [[np.float16(2), 1], [np.float32(0.5), 3]]  # 2^53 overflows where it is made a float16
    for rows in (short, [[np.float16(2), np.float16(1)]]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read = real_array(rows, "times", 2)
        assert read.tolist() == [[float(value) for value in row] for row in rows]


def test_what_an_error_says_is_one_line(tmp_path):
    import pickle

    inst = cs.packs.Instance([[1.0]])
    with pytest.raises(cs.InvalidInstance) as caught:
        inst.write(tmp_path / "two\nlines")
    assert str(caught.value).endswith("two\\nlines: expected a name that ends in .csv, .json")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_number_is_no_path():
    import os

    read, write = os.pipe()
    try:
        for family in ("packs", "dags", "moldable", "cluster", "bags"):
            with pytest.raises(TypeError):
                getattr(cs, family).Instance.read(read)
        os.fstat(read)  # still open
    finally:
        os.close(read)
        os.close(write)
