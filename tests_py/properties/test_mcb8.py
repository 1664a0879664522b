"""MCB8 by the package and as one first writes it: the same placements, the same yields."""

import hypothesis
import hypothesis.strategies as st

import cosched as cs
from support import plain_mcb8, plain_mcb8_search

# Few distinct needs, so that many tasks are equal and sums of tenths fill nodes exactly.
NEEDS = st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 1.0])
JOBS = st.lists(st.tuples(st.integers(1, 9), NEEDS, NEEDS), min_size=1, max_size=12)


@hypothesis.given(JOBS, st.integers(1, 12), st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]))
def test_placements(jobs, nodes, yield_):
    tasks, cpu, memory = (list(column) for column in zip(*jobs, strict=True))
    expected = plain_mcb8(tasks, [yield_ * need for need in cpu], memory, nodes)
    assert cs.cluster.mcb8(tasks, cpu, memory, nodes, yield_=yield_) == expected


@hypothesis.given(JOBS, st.integers(1, 40))
def test_search(jobs, nodes):
    tasks, cpu, memory = (list(column) for column in zip(*jobs, strict=True))
    packing = cs.cluster.mcb8_search(tasks, cpu, memory, nodes)
    assert packing == plain_mcb8_search(tasks, cpu, memory, nodes)
    if packing is None:
        return
    share, placed = packing
    for node in range(nodes):
        here = [(job, row.count(node)) for job, row in enumerate(placed)]
        assert sum(count * memory[job] for job, count in here) <= 1 + 1e-9
        assert sum(count * cpu[job] for job, count in here) * share <= 1 + 1e-9
