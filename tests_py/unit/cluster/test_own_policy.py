"""What a policy of one's own answers is taken as it is, or refused; nothing is rounded."""

import numpy as np
import pytest

import cosched as cs


class Answers:
    """Gives every event the same answer, as long as a job is there."""

    periodic = False

    def __init__(self, answer):
        self.answer = answer

    def on_event(self, event, state):
        return self.answer if state.jobs else {}


@pytest.fixture
def one_job():
    return cs.cluster.Instance(
        {"submit": [0.0], "tasks": [1], "cpu": [0.5], "memory": [0.5], "runtime": [20.0]}, nodes=2
    )


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        ({0: ([0.7], 0.1)}, "the nodes of job 0 = 0.7: expected an integer"),
        ({0.5: ([0], 1.0)}, "a job = 0.5"),
        ({0: ([True], 1.0)}, "nodes of job 0 = True"),
        ({0: (["0"], 1.0)}, "nodes of job 0 = '0'"),
        ({0: ("0", 1.0)}, "expected {job"),
        ({0: ([np.nan], 1.0)}, "nan"),
        ({0: ([2**40], 1.0)}, "at most"),
        ({2**40: ([0], 1.0)}, "at most"),
        ({0: ([0], "1")}, "yield of job 0 = '1'"),
        ({0: ([0], True)}, "yield of job 0 = True"),
        ({0: ([0], np.nan)}, "yield"),
        ({0: ([0], None)}, "yield of job 0 = None"),
        ({0: ([0], 1j)}, "yield"),
        ({0: [0]}, "expected {job"),
        ({0: 3}, "expected {job"),
        ([0], "expected {job"),
        ("text", "expected {job"),
        ({0: ([2], 1.0)}, "node 2"),
        ({0: ([-1], 1.0)}, "node -1"),
        ({1: ([0], 1.0)}, "job 1"),
        ({0: ([0, 1], 1.0)}, "2 nodes for 1 tasks"),
        ({0: ([0], 1.5)}, "1.5"),
        ({}, "the policy never runs: job 0"),
    ],
    ids=str,
)
def test_what_an_answer_may_not_be(one_job, answer, part):
    with pytest.raises(cs.InvalidSchedule) as error:
        cs.cluster.python_policy(one_job, Answers(answer))
    assert part in str(error.value)
    assert "\n" not in str(error.value)
    cs.cluster.register_policy("answers", lambda: Answers(answer))
    row = cs.cluster.compare(one_job, ["answers"]).iloc[0]
    assert row.status == "error"  # the policy is wrong, not the instance
    assert part in row.message


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        ({0: ([2], 1.0)}, "the policy puts job a17 (number 0) on node 2, which does not exist"),
        ({0: ([0, 1], 1.0)}, "the policy gives job a17 (number 0) 2 nodes for 1 tasks"),
        ({0: ([0], "1")}, "the yield of job a17 (number 0) = '1'"),
        ({1: ([0], 1.0)}, "the policy names job 1, which does not exist"),
        ({}, "the policy never runs: job a17"),
    ],
    ids=str,
)
def test_messages_call_jobs_as_their_log_does(one_job, answer, part):
    named = cs.cluster.Instance(one_job.jobs.assign(id=["a17"]), one_job.nodes)
    with pytest.raises(cs.InvalidSchedule) as error:
        cs.cluster.python_policy(named, Answers(answer))
    assert part in str(error.value)


@pytest.mark.parametrize(
    "answer",
    [
        {0: ([1], 0.5)},
        {0: ((1.0,), 0.5)},
        {np.int64(0): (np.array([1], dtype=np.int8), np.float32(0.5))},
        {0.0: (range(1, 2), 0.5)},
    ],
    ids=str,
)
def test_whole_numbers_of_any_type_are_an_answer(one_job, answer):
    result = cs.cluster.python_policy(one_job, Answers(answer))
    assert result.jobs.end.tolist() == [40.0]
    assert result.schedule.to_frame().nodes.tolist() == [(1,)]


def test_a_policy_that_waits_for_ever_is_an_error(one_job):
    class Waits(Answers):
        periodic = True

    with pytest.raises(cs.InvalidSchedule, match=r"no progress during 100,000 events.*job 0"):
        cs.cluster.python_policy(one_job, Waits({}))


def test_batch_policies_take_the_same_options(one_job):
    for name in ("FCFS", "EASY"):
        for options in ({}, {"estimates": "perfect"}):
            assert cs.cluster.solve(one_job, name, **options).value == 1.0
        with pytest.raises(cs.InvalidInstance, match="estimates = 'good'"):
            cs.cluster.solve(one_job, name, estimates="good")
        with pytest.raises(cs.InvalidInstance, match="estimates = "):
            cs.cluster.solve(one_job, name, estimates=["perfect"])
    assert cs.cluster.solve(one_job, "FCFS", estimates="requested").value == 1.0


@pytest.mark.parametrize(
    "policy", [type("Silent", (), {}), type("Dumb", (), {"on_event": 5}), lambda: 5]
)
def test_a_class_that_is_no_policy_is_named(policy, tmp_path):
    name = f"silent {policy.__name__}"
    cs.cluster.register_policy(name, policy)
    jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [20.0]}
    with pytest.raises(TypeError, match=f"{name}: expected a policy with on_event"):
        cs.cluster.solve(cs.cluster.Instance(jobs, nodes=1), name)
