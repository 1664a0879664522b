"""Any small graph with any data: a proof for a network is one for every slower network."""

from hypothesis import given, strategies as st
from test_transfers_properties import changed, moving

import cosched as cs

FACTOR = st.one_of(st.just(1.0), st.floats(1, 10))


@given(moving(), FACTOR, FACTOR)
def test_more_bandwidth_proves_no_more(inst, factor, wait):
    faster = changed(inst, bandwidth=inst.bandwidth * factor, latency=inst.latency / wait)
    slow_bound, fast = cs.dags.transfers(inst), cs.dags.transfers(faster)
    assert fast.certificate.bound(faster) == fast.value
    assert fast.certificate.bound(inst) >= fast.value
    # The search on its own: to its tolerance on graphs as small as these.
    assert fast.value <= slow_bound.value * (1 + 1e-3)


@given(moving())
def test_it_is_no_less_than_without_transfers_and_than_its_relaxation(inst):
    bound = cs.dags.transfers(inst)
    assert bound.certificate.bound(inst) == bound.value >= cs.dags.windows(inst).value
    relaxation = cs.dags.transfers_relaxation(inst, method="glpk")
    assert relaxation.certificate.bound(inst) >= relaxation.value * (1 - 1e-5) - 1e-9
    assert bound.value >= relaxation.value * (1 - 1e-3) - 1e-9
    structured = cs.dags.transfers_relaxation(inst)
    assert structured.certificate.bound(inst) <= bound.value * (1 + 1e-3) + 1e-9
