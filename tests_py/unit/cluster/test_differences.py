"""What a change does, from fewer draws than there are: clear before all are there."""

import numpy as np
import pytest

from cosched.cluster.page.runs import Spread, clear

DRAWS = 20


def stopped(values):
    """The first of them, as many as it takes in pairs."""
    for count in range(2, len(values), 2):
        if clear(values[:count], len(values)):
            return values[:count]
    return values


def worlds(count=400, seed=3):
    """Differences over twenty draws, from no effect to one far beyond the spread."""
    rng = np.random.default_rng(seed)
    return [rng.normal(rng.uniform(-6, 6), 1, DRAWS) for _ in range(count)]


def test_fewer_draws_say_what_all_would_have_said():
    every = worlds()
    few = [stopped(values) for values in every]
    said = [Spread.of(one, DRAWS).noise for one in few]
    agree = np.array(said) == [Spread.of(values).noise for values in every]
    assert agree.mean() > 0.97
    assert np.mean([len(one) for one in few]) < 0.6 * DRAWS
    # None that all draws find above zero is said to be below.
    opposite = [a.mean() * b.mean() < 0 for a, b in zip(few, every, strict=True)]
    assert not np.any(np.array(opposite) & ~np.array(said))


def test_the_interval_of_fewer_draws_holds_the_next_ones():
    rng = np.random.default_rng(5)
    held = []
    for _ in range(1500):
        few = rng.normal(3, 1, 4)
        spread = Spread.of(few, DRAWS)
        held.append(spread.low <= rng.normal(3, 1) <= spread.high)
    assert 0.88 < np.mean(held) < 0.92


def test_so_many_on_both_sides_that_no_further_draw_changes_it():
    both = np.array([-1.0, 1.0, -2.0, 5.0])
    assert clear(both, DRAWS)
    far = np.full(DRAWS - 4, 100.0)
    assert Spread.of(np.concatenate([both, far])).noise
    assert Spread.of(np.concatenate([both, -far])).noise
    assert not clear(both[:3], DRAWS)


@pytest.mark.parametrize(
    ("values", "is_clear"),
    [([0.0, 0.0], True), ([5.0, 5.0], False), ([5.0] * 4, True), ([5.0, 5.1, 4.9, 0.2], False)],
)
def test_few_and_equal_draws(values, is_clear):
    assert clear(np.array(values), DRAWS) is is_clear


def test_all_draws_and_one_have_the_interval_that_they_show():
    values = np.arange(20.0)
    assert (
        Spread.of(values, 20) == Spread.of(values) == Spread(9.5, *np.percentile(values, [5, 95]))
    )
    assert Spread.of(np.array([3.0]), 20) == Spread(3.0, 3.0, 3.0)
