"""When a difference of two configurations is clear, and over which time utilization is taken."""

import html
import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t

import cosched as cs
from cosched.cluster.analysis.group_waits import groupings_of
from cosched.cluster.analysis.replications import (
    CommonJobs,
    Spread,
    compare,
    mean_waits,
    measures_of,
    numbers_of_comparison,
    waits_by,
    with_first_replications,
)
from cosched.cluster.analysis.scenario import ChangedKey, Scenario, ScenarioClass
from cosched.cluster.analysis.what_if import what_if
from cosched.cluster.analysis.window import Window, window_of
from cosched.reports.formats import difference_in_words
from cosched.units import format_exact_duration, format_signed_duration

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=30
NodeName=n[1-8] CPUs=4
PartitionName=batch Nodes=ALL Default=YES MaxTime=2-0
"""


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """120 jobs at a load of 0.95."""
    path = tmp_path_factory.mktemp("busy") / "slurm.conf"
    path.write_text(CONF)
    machine = cs.cluster.Machine.read(path, slurm_version="22.05")
    rng = np.random.default_rng(3)
    count = 120
    cores = rng.choice([1, 2, 4, 8, 16], count)
    runtime = np.minimum(rng.lognormal(7, 1.2, count), 20_000).astype(int) + 10.0
    span = float((cores * runtime).sum()) / machine.cores / 0.95
    jobs = {
        "submit": np.sort(rng.uniform(0, span, count)).astype(int).astype(float), "tasks": cores,
        "cpu": np.ones(count), "memory": np.full(count, 0.1), "runtime": runtime,
        "estimate": runtime * 2, "user": rng.choice(["ada", "ben"], count),
        "partition": ["batch"] * count,
    }  # fmt: skip
    return cs.cluster.Instance(jobs, nodes=machine.cores, machine=machine)


def solved(instance, draws):
    return cs.slurm.backfill(instance, draws=draws, seed=1, approximate=True)


@pytest.fixture(scope="module")
def base(busy):
    return solved(busy, 4)


def test_the_interval_is_that_of_one_more_observation():
    values = np.array([3.0, 5.0, 10.0, 2.0])
    spread = Spread.of(values)
    half = t.ppf(0.975, 3) * values.std(ddof=1) * np.sqrt(1 + 1 / 4)
    assert (spread.mean, spread.low, spread.high) == pytest.approx((5.0, 5 - half, 5 + half))
    assert Spread.of(values[:1]) == Spread(3.0, 3.0, 3.0)


def test_the_interval_holds_one_more_observation_as_often_as_it_says():
    rng = np.random.default_rng(1)
    for count in (2, 3, 8):
        inside = 0
        for _ in range(2000):
            values = rng.normal(0, 7, count + 1)
            spread = Spread.of(values[:-1])
            inside += spread.low <= values[-1] <= spread.high
        assert inside / 2000 == pytest.approx(0.95, abs=0.02)


def test_a_neutral_change_is_not_clear_and_two_nodes_less_are(busy, base):
    for change, expected in (("bf_interval=31", False), ("nodes=-2", True)):
        other = solved(what_if(busy, change)[0], 4)
        comparison = compare(base, other, is_random=True)
        assert comparison.is_clear is expected, change
        assert comparison.difference.mean == pytest.approx(
            comparison.mean_wait - comparison.base_mean_wait
        )
        assert not comparison.has_same_starts


def test_one_replication_tells_nothing_where_there_is_chance(busy, base):
    single = with_first_replications(base, 1)
    other = with_first_replications(solved(what_if(busy, "nodes=-2")[0], 4), 1)
    assert not compare(single, other, is_random=True).is_clear
    assert compare(single, other, is_random=False).is_clear is None
    assert "one replication" in difference_in_words(compare(single, other, is_random=True))
    assert numbers_of_comparison(single, other, is_random=True)["noise"]


def test_the_same_schedule_is_said_to_be_none(busy, base):
    repeated = solved(what_if(busy, "bf_max_job_user=100000")[0], 4)
    comparison = compare(base, repeated, is_random=True)
    assert comparison.has_same_starts
    assert difference_in_words(comparison) == "none"


def test_means_are_over_all_replications(base):
    measures = measures_of(base)
    each = base.draws.measures
    for name in ("mean_wait", "median_wait", "p95_wait", "value"):
        assert measures[name] == pytest.approx(each[name].mean())
    assert mean_waits(base).shape == (4,)
    groups = waits_by(base, "user").set_index("user")
    users = base.instance.column("user")
    for user in ("ada", "ben"):
        user_waits = (base.draws.starts - base.draws.submit)[:, users == user]
        assert groups.mean_wait[user] == pytest.approx(user_waits.mean())
        assert groups.p95_wait[user] == pytest.approx(np.percentile(user_waits, 95, axis=1).mean())


@pytest.mark.parametrize(
    ("seconds", "shown", "signed"),
    [
        (0.0, "0 s", "0 s"),
        (59.4, "59 s", "+59 s"),
        (60.0, "1 min 00 s", "+1 min 00 s"),
        (2002.6, "33 min 23 s", "+33 min 23 s"),
        (3599.0, "59 min 59 s", "+59 min 59 s"),
        (3600.0, "1 h 00 min", "+1 h 00 min"),
        (-88.0, "-1 min 28 s", "-1 min 28 s"),
        (float("nan"), "-", "-"),
    ],
)
def test_durations_are_shown_so_that_differences_add_up(seconds, shown, signed):
    assert format_exact_duration(seconds) == shown
    assert format_signed_duration(seconds) == signed


def brute_force_utilization(result, begin, end):
    """Processor seconds inside the window, job by job."""
    instance = result.instance
    busy = 0.0
    for cores, start, stop in zip(
        instance.column("tasks") * instance.column("cpu"),
        result.outcome["start"],
        result.outcome["end"],
        strict=True,
    ):
        busy += cores * max(0.0, min(stop, end) - max(start, begin))
    return busy / (end - begin) / instance.nodes


def test_utilization_is_of_the_window_alone(busy):
    result = cs.cluster.solve(busy, "EASY")
    window = window_of(busy, result)
    submit = busy.column("submit")
    assert (window.begin, window.end) == (submit.min(), submit.max())
    expected = brute_force_utilization(result, window.begin, window.end)
    assert window.utilization(result) == pytest.approx(expected)
    assert window.utilization_of_resources(result)["cores"] == pytest.approx(expected)


def test_a_long_last_job_does_not_change_the_utilization(busy):
    runtime = busy.column("runtime").copy()
    shares = []
    for last in (60.0, 100_000.0):
        runtime[-1] = last
        longer = busy.replace(runtime=runtime, estimate=runtime * 2)
        result = cs.cluster.solve(longer, "FCFS")
        shares.append(window_of(longer, result).utilization(result))
    assert shares[0] == pytest.approx(shares[1], abs=1e-3)


def test_jobs_that_come_at_once_have_a_window_until_the_last_ends(busy):
    together = busy.replace(submit=np.zeros(len(busy)))
    result = cs.cluster.solve(together, "EASY")
    assert window_of(together, result) == Window(0.0, float(result.outcome["end"].max()))
    assert window_of(together, result).utilization(result) == pytest.approx(result.utilisation)


def test_the_class_of_a_row_follows_from_its_keys(busy):
    def verdict(*classes):
        keys = tuple(
            ChangedKey(
                f"k{n}", "v", job_class, "" if job_class is ScenarioClass.SIMULATED else f"why {n}"
            )
            for n, job_class in enumerate(classes)
        )
        return Scenario("row", busy, keys, ("3 jobs",)).verdict("EASY", is_scheduler=True)

    simulated, unchanged = ScenarioClass.SIMULATED, ScenarioClass.UNCHANGED
    no_effect, not_modelled = ScenarioClass.NO_EFFECT, ScenarioClass.NOT_MODELLED
    assert verdict(simulated, not_modelled, no_effect).scenario_class is not_modelled
    assert verdict(simulated, not_modelled, no_effect).reason == "why 1"
    assert verdict(simulated, not_modelled, no_effect).remarks == ("why 2", "3 jobs")
    assert verdict(unchanged, simulated).scenario_class is simulated
    assert verdict(unchanged, no_effect).scenario_class is no_effect
    assert verdict(unchanged).reason == "why 0"


def test_groups_of_two_results_are_paired_by_name():
    """A simulation that leaves all jobs of a user out has fewer groups than the log."""
    jobs = {
        "submit": np.zeros(4), "tasks": np.array([1, 1, 4, 4]), "cpu": np.ones(4),
        "memory": np.full(4, 0.1), "runtime": np.array([60.0, 120.0, 180.0, 240.0]),
        "estimate": np.full(4, 600.0), "user": np.array(["ada", "ben", "eva", "eva"]),
    }  # fmt: skip
    every = cs.cluster.Instance(jobs, nodes=4)
    for user in ("ada", "ben", "eva"):
        is_kept = jobs["user"] != user
        remaining_jobs = cs.cluster.Instance(
            {name: column[is_kept] for name, column in jobs.items()}, nodes=4
        )
        log, simulation = cs.cluster.fcfs(every), cs.cluster.fcfs(remaining_jobs)
        runs = SimpleNamespace(
            instance=every, logged=log, reference_result=simulation, reference_policy="fcfs",
            window=window_of(every, log),
        )  # fmt: skip
        grouping = next(group for group in groupings_of(runs).several if group.by == "user")
        expected_waits = dict(simulation.by("user")[["user", "mean_wait"]].to_numpy())
        assert {group.name for group in grouping.groups} == {"ada", "ben", "eva"}
        for group in grouping.groups:
            mean_wait, _ = group.waits["fcfs"]
            expected_wait = expected_waits.get(group.name, np.nan)
            np.testing.assert_equal(mean_wait, expected_wait)


# --- a change that leaves jobs out ----------------------------------------------------------------


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    """60 jobs of three users on 4 nodes, whose numbers come back after 20 jobs."""
    path = tmp_path_factory.mktemp("numbered") / "slurm.conf"
    path.write_text("NodeName=n[1-4] CPUs=1\nPartitionName=p Nodes=ALL Default=YES\n")
    rng = np.random.default_rng(5)
    count = 60
    jobs = {
        "id": np.arange(count) % 20, "submit": np.arange(count) * 300.0,
        "tasks": rng.integers(1, 4, count), "cpu": np.ones(count), "memory": np.ones(count),
        "runtime": rng.integers(60, 2000, count).astype(float), "estimate": [3600.0] * count,
        "user": rng.choice(["ada", "ben", "eva"], count),
    }  # fmt: skip
    return cs.cluster.Instance(jobs, nodes=4, machine=cs.cluster.Machine.read(path))


def means_of_common_jobs(base, other, rows_of_base, rows_of_other):
    """Count and mean waits of the jobs in both, job by job; of each result, the row of each job."""
    waits_of_both = []
    for result, rows in ((base, rows_of_base), (other, rows_of_other)):
        starts = result.outcome["start"] if result.draws is None else result.draws.starts.mean(0)
        eligible_times = result.instance.column("eligible")
        waits_of_both.append(dict(zip(rows, (starts - eligible_times).tolist(), strict=True)))
    first, second = waits_of_both
    both = [row for row in first if row in second]
    return len(both), sum(first[row] for row in both) / len(both), (
        sum(second[row] for row in both) / len(both)
    )  # fmt: skip


@pytest.mark.parametrize("policy", ["EASY", "slurm-backfill"])
@pytest.mark.parametrize("is_swapped", [False, True])
def test_waits_are_compared_over_the_jobs_that_both_have(numbered, policy, is_swapped):
    options = {"draws": 3, "seed": 1} if policy == "slurm-backfill" else {}
    remaining = np.delete(np.arange(60), [1, 4, 21, 22, 40, 59])
    base = cs.cluster.solve(numbered, policy, **options)
    other = cs.cluster.solve(numbered.take(remaining), policy, **options)
    pair = [(base, list(range(60))), (other, remaining.tolist())]
    (base, base_rows), (other, other_rows) = reversed(pair) if is_swapped else pair
    count, base_mean, mean = means_of_common_jobs(base, other, base_rows, other_rows)
    numbers = numbers_of_comparison(base, other, is_random=policy == "slurm-backfill")
    assert numbers["jobs"] == count == 54
    assert numbers["base_mean_wait"] == pytest.approx(base_mean)
    assert numbers["mean_wait"] == pytest.approx(mean)
    assert numbers["difference"] == pytest.approx(mean - base_mean)
    common = CommonJobs.of(base.instance, other.instance)
    assert (common.only_in_base, common.only_in_other) == ((0, 6) if is_swapped else (6, 0))


def test_the_row_of_a_change_shows_the_two_means_that_it_compares(numbered, tmp_path):
    page, numbers, messages = tmp_path / "a.html", tmp_path / "a.json", []
    changes = ["users.ada=-50%", "nodes=+1"]
    cs.cluster.audit(numbered, page, what_if=changes, json=numbers, reference="EASY",
                     time_limit=None, say=messages.append)  # fmt: skip
    as_is, fewer, larger = json.loads(numbers.read_text())["rows"]
    changed = what_if(numbered, "users.ada=-50%")[0]
    base, other = (
        cs.cluster.solve(jobs, "EASY", estimates="requested") for jobs in (numbered, changed)
    )
    lines = zip(numbered.column("submit"), numbered.ids, strict=True)
    rows = {line: row for row, line in enumerate(lines)}
    kept_rows = [rows[line] for line in zip(changed.column("submit"), changed.ids, strict=True)]
    count, base_mean, mean = means_of_common_jobs(base, other, list(range(60)), kept_rows)
    assert fewer["jobs"] == count == len(changed) < 60
    assert fewer["mean_wait"] == pytest.approx(mean)
    assert fewer["base_mean_wait"] == pytest.approx(base_mean)
    assert abs(fewer["base_mean_wait"] - as_is["mean_wait"]) > 10
    assert fewer["difference"] == pytest.approx(mean - base_mean)
    shown_mean, shown_base = format_exact_duration(mean), format_exact_duration(base_mean)
    remark = (
        f"waits are those of {count} jobs in both: mean {shown_mean} here, {shown_base} as it is "
        f"({60 - count} jobs only as it is)"
    )
    text = html.unescape(page.read_text())
    assert remark in fewer["remarks"]
    assert f"{changes[0]}: {fewer['remarks']}" in messages
    assert f"simulated: {fewer['remarks']}" in text
    assert f"<td>{changes[0]}</td><td>{shown_mean}</td><td>{shown_base}</td>" in text
    # A change that leaves no job out compares all jobs, and says nothing more.
    assert (larger["jobs"], larger["base_mean_wait"]) == (60, as_is["mean_wait"])
    assert "in both" not in larger["remarks"]


def test_groups_are_compared_over_the_jobs_that_both_have(numbered, tmp_path):
    page = tmp_path / "a.html"
    changed = what_if(numbered, "users.ada=-50%")[0]
    cs.cluster.audit(numbered, page, what_if=["users.ada=-50%"], reference="EASY", time_limit=None)
    base, other = (
        cs.cluster.solve(jobs, "EASY", estimates="requested") for jobs in (numbered, changed)
    )
    is_kept = np.isin(numbered.column("submit"), changed.column("submit"))
    of_ada = numbered.column("user") == "ada"
    before = base.waits[is_kept & of_ada].mean()
    then = other.waits[changed.column("user") == "ada"].mean()
    difference = format_signed_duration(then - before)
    count = int((is_kept & of_ada).sum())
    row = f'<td>user ada</td><td>{count}</td><td class="difference">{difference}<'
    assert row in page.read_text()


def test_a_change_without_a_job_of_the_machine_as_it_is_has_no_numbers(numbered):
    first, last = np.arange(30), np.arange(30, 60)
    common = CommonJobs.of(numbered.take(first), numbered.take(last))
    assert (common.count, common.only_in_base, common.only_in_other) == (0, 30, 30)


def test_jobs_keep_the_row_of_their_log(numbered):
    sample = numbered.take(np.array([3, 23, 43, 7]))
    assert sample.ids.tolist() == [3, 3, 3, 7]
    for same in (
        sample, sample.with_notes(["a note"]), sample.replace(runtime=np.full(4, 60.0)),
        what_if(sample, "nodes=+1")[0], pickle.loads(pickle.dumps(sample)),
    ):  # fmt: skip
        assert same.rows_of_log.tolist() == [3, 23, 43, 7]
    assert sample.take(np.array([1, 3])).rows_of_log.tolist() == [23, 7]
    # A job that is there twice is two jobs: the instance is a log of its own.
    assert numbered.take(np.array([3, 3, 5])).rows_of_log.tolist() == [0, 1, 2]
