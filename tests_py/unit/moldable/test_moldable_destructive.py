"""The bound `destructive` by its public name: projects, limits, refusals."""

import numpy as np
import pytest

import cosched as cs


@pytest.fixture
def project():
    """Six jobs of which two need the only crane."""
    return cs.moldable.Instance(
        [[3.0], [4.0], [2.0], [5.0], [1.0], [6.0]],
        machines=3,
        edges=[(0, 2), (1, 4)],
        resources={"crane": [1, 1, 0, 1, 0, 0]},
        capacity={"crane": 1},
    )


def test_it_is_the_optimum_of_a_small_project(project):
    best = cs.moldable.optimal(project)
    bound = cs.moldable.bound(project, "destructive")
    assert (bound.method, bound.status) == ("destructive", "ok")
    assert bound.value == best.value == 12.0
    assert cs.moldable.bound(project, "destructive", makespan=12.0).value == 12.0
    assert cs.moldable.bound(project, "work-and-path").value <= 12.0


def test_it_is_never_below_the_bounds_that_it_starts_from():
    random = np.random.default_rng(3)
    for jobs in (5, 20, 60):
        times = random.uniform(1, 9, (jobs, 1)) * np.array([1.0, 0.6, 0.5])
        edges = [(int(random.integers(0, job)), job) for job in range(1, jobs, 2)]
        inst = cs.moldable.Instance(times, edges=edges)
        values = {
            name: cs.moldable.bound(inst, name, **options).value
            for name, options in (
                ("destructive", {"work": 0}),
                ("work-and-path", {}),
                ("area", {}),
                ("longest", {}),
            )
        }
        assert values["destructive"] >= max(values.values()) * (1 - 1e-12)


def test_more_work_is_never_worse_and_the_same_work_repeats(project):
    values = [cs.moldable.bound(project, "destructive", work=work).value for work in (0, 10, 10**7)]
    assert values == sorted(values)
    assert values[1] == cs.moldable.bound(project, "destructive", work=10).value


def test_a_limit_leaves_what_is_proved(project):
    bound = cs.moldable.bound(project, "destructive", time_limit=0)
    assert 0 < bound.value <= 12.0
    assert bound.status in ("ok", "time_limit")


def test_jobs_without_precedence_and_resources_have_it_too():
    inst = cs.moldable.Instance([[4.0], [3.0], [3.0]], machines=2)
    assert cs.moldable.bound(inst, "destructive").value == 6.0


@pytest.mark.parametrize("wrong", [{"makespan": 0}, {"makespan": -1}, {"work": -1}, {"work": 0.5}])
def test_what_is_wrong_is_refused(wrong, project):
    with pytest.raises(cs.InvalidInstance, match=next(iter(wrong))):
        cs.moldable.bound(project, "destructive", **wrong)


@pytest.fixture(scope="module")
def larger_project():
    """Twenty jobs on one count each, too many for labels."""
    return cs.workloads.projects(20, seed=3)


def test_local_search_proves_the_optimum_of_a_project(larger_project):
    result = cs.moldable.local_search(larger_project)
    assert result.stopped_by == "proved"
    assert result.bound.value == result.makespan
    result.schedule.validate()
    bound = cs.moldable.bound(larger_project, "destructive", makespan=result.makespan)
    assert bound.value == result.makespan
    early = cs.moldable.local_search(larger_project, work=0)
    assert early.makespan >= result.makespan
    assert float(early.bound) <= result.makespan


def test_optimal_takes_more_than_twelve_jobs_of_a_project(larger_project):
    result = cs.moldable.optimal(larger_project)
    assert result.stopped_by == "proved"
    assert result.makespan == cs.moldable.local_search(larger_project).makespan
    result.schedule.validate()
    short = cs.moldable.optimal(larger_project, work=1)
    assert short.stopped_by == "work"
    assert float(short.bound) <= result.makespan <= short.makespan


def test_optimal_says_what_more_than_twelve_jobs_must_be():
    times = np.tile([[3.0, 2.0]], (13, 1))
    inst = cs.moldable.Instance(times, edges=[(0, 1)])
    with pytest.raises(cs.InvalidInstance, match="up to 300, where each has one count and integer"):
        cs.moldable.optimal(inst)


def test_the_default_bound_of_a_project_is_destructive(larger_project):
    assert cs.moldable.bound(larger_project).method == "destructive"
    beside_a_list = cs.moldable.solve(larger_project, "list-local").bound
    assert beside_a_list.method == "destructive"
    assert beside_a_list.value >= cs.moldable.bound(larger_project, "work-and-path").value
    flow = cs.moldable.Instance([[4.0, 2.5], [3.0, 2.0]], edges=[(0, 1)])
    assert cs.moldable.bound(flow).method == "work-and-path"


def test_jobs_with_resources_alone_are_proved_too():
    random = np.random.default_rng(5)
    needs = random.integers(1, 7, (16, 1)).astype(float)
    inst = cs.moldable.Instance(
        random.integers(1, 9, (16, 1)).astype(float),
        machines=16,
        release=random.integers(0, 9, 16),
        resources={"crane": needs},
        capacity={"crane": 8},
    )
    result = cs.moldable.local_search(inst)
    assert result.stopped_by == "proved"
    assert result.makespan == cs.moldable.bound(inst, "destructive", makespan=result.makespan).value
    result.schedule.validate()
