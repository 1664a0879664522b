"""The border: what is no number, or no integer, is refused in one short line."""

import numpy as np
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


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 0.0, -1.0])
def test_bad_entries_are_named_by_row_column_and_value(bad):
    with pytest.raises(cs.InvalidInstance, match=r"times\[1, 2\] = ") as error:
        cs.packs.Instance([[3, 2, 1], [3, 2, bad]])
    assert "positive finite" in str(error.value)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_empty_tables_are_refused(shape):
    with pytest.raises(cs.InvalidInstance, match="at least one task"):
        cs.packs.Instance(np.ones(shape))


def test_whatever_holds_numbers_is_a_table():
    import pandas as pd

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
    mine = np.ones((2, 2))
    copy = real_array(mine, "x", 2)
    mine[:] = 7
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
