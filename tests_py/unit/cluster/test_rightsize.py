"""Right sizes: the promise on logs whose truth is known, what is censored, what is missing."""

from datetime import datetime

import numpy as np
import pytest
from right_size_log import log
from scipy.stats import binom, norm

import cosched as cs
from cosched.cluster.sizing.backtest import periods, rolling
from cosched.core.tails import (
    conformal_quantile,
    conformal_quantiles,
    first_allocations,
    min_tolerance_count,
    order_by_value,
    tolerance_risks,
)
from support import data


def sorted_tails(group, value, ended, groups, risk):
    order = order_by_value(value, ended)
    order = order[np.argsort(group[order], kind="stable")]
    return conformal_quantiles(group[order], value[order], ended[order], groups, risk)


def test_without_censoring_it_is_the_order_statistic_of_conformal_prediction():
    random = np.random.default_rng(1)
    group, value = random.integers(0, 4, 900), random.exponential(size=900)
    quantiles = sorted_tails(group, value, np.ones(900, bool), 5, 0.03)
    for k in range(4):
        group_values = np.sort(value[group == k])
        assert quantiles[k] == group_values[int(np.ceil((len(group_values) + 1) * 0.97)) - 1]
    assert np.isnan(quantiles[4])


@pytest.mark.parametrize(("n", "risk", "place"), [(19, 0.05, 19), (18, 0.05, None), (99, 0.01, 99),
                                                  (98, 0.01, None), (399, 0.005, 398)])  # fmt: skip
def test_no_advice_below_the_sample_that_it_needs(n, risk, place):
    quantile = conformal_quantile(np.arange(1, n + 1), risk)
    assert np.isnan(quantile) if place is None else quantile == place


def kaplan_meier(value, ended, risk):
    """By its definition, job by job, with one more job that outlives all."""
    survival = 1.0
    for moment in np.unique(value):
        at_risk = (value >= moment).sum() + 1
        survival *= 1 - (ended & (value == moment)).sum() / at_risk
        if survival <= risk * (1 + 1e-9):
            return moment
    return np.nan


@pytest.mark.parametrize("seed", range(20))
def test_censored_jobs_count_as_kaplan_and_meier_count_them(seed):
    random = np.random.default_rng(seed)
    value, ended = random.integers(1, 30, 80).astype(float), random.random(80) < 0.8
    quantile = sorted_tails(np.zeros(80, int), value, ended, 1, 0.1)[0]
    np.testing.assert_equal(quantile, kaplan_meier(value, ended, 0.1))


def test_a_tail_that_is_censored_away_gives_no_advice():
    value, ended = np.arange(1.0, 201), np.arange(200) < 190
    assert np.isnan(sorted_tails(np.zeros(200, int), value, ended, 1, 0.01)[0])
    ended = np.arange(200) >= 10  # those that were ended early say little, and nothing false
    assert sorted_tails(np.zeros(200, int), value, ended, 1, 0.01)[0] == 200


def test_advice_of_a_group():
    row = cs.cluster.rightsize(log(), risk=0.05).advice.iloc[0]
    assert row["user"] == "ada"
    assert row["name"] == "a#"
    # 2.5% for each of the two: k = ceil(201 * 0.975) = 196; 15 minutes and 1 GB
    assert (row["limit"], row["memory_gb"]) == (13 * 900 + 900, 20.0)
    assert (row["asked_limit"], row["used_limit_p50"], row["past"]) == (86400, 6030, 200)
    assert row["risk"] == 0.05
    assert row["enough"]


def test_timeout_and_out_of_memory_are_no_uses():
    statuses = ["timeout"] * 3 + ["completed"] * 197
    recommendation = cs.cluster.rightsize(log(runtime=np.r_[[43200.0] * 3, 60.0 * np.arange(197)],
                                     estimate=[43200.0] * 200, status=statuses), 0.02)  # fmt: skip
    assert np.isnan(
        recommendation.advice["limit"][0]
    )  # 1.5% wanted more than 12 hours, who knows how much
    full = ["out_of_memory"] * 3 + ["completed"] * 197
    recommendation = cs.cluster.rightsize(log(status=full, used_memory_gb=[0.1] * 200), 0.02)
    assert np.isnan(
        recommendation.advice["memory_gb"][0]
    )  # 64 GB were too little for three of them
    assert recommendation.advice["limit"][0] > 0


def test_what_is_missing_is_not_zero():
    memory_cells = np.where(np.arange(200) % 2, np.nan, 5.5)
    recommendation_row = cs.cluster.rightsize(log(used_memory_gb=memory_cells), 0.05).advice.iloc[0]
    assert (recommendation_row["memory_gb"], recommendation_row["used_memory_p50"]) == (6, 5.5)
    alone = cs.cluster.rightsize(log(used_memory_gb=[np.nan] * 200), 0.01).advice.iloc[0]
    assert np.isnan(alone["memory_gb"])
    assert alone["limit"] == np.ceil(199 * 60 / 900) * 900  # the whole risk is that of time
    nothing = log(used_memory_gb=[np.nan] * 200, estimate=60.0 * np.arange(1, 201))
    with pytest.raises(cs.InvalidInstance, match="says of no job what it asked for and used"):
        cs.cluster.rightsize(nothing)


def test_small_groups_are_judged_together_by_the_part_that_they_use():
    n = 200
    names = [f"{'abcdefghij'[k % 10]}" for k in range(n)]
    asked = np.where(np.arange(n) % 10 < 5, 10.0, 40.0)
    inst = log(job_name=names, memory_gb=asked, used_memory_gb=asked * 0.3,
               estimate=asked * 3600, runtime=asked * 900.0)  # fmt: skip
    advice = cs.cluster.rightsize(inst, 0.05).advice.set_index("name")
    assert advice["memory_gb"].tolist() == [12.0] * 5 + [3.0] * 5
    assert advice["limit"].tolist() == [36000.0] * 5 + [9000.0] * 5
    assert set(advice["like"]) == {"user"}
    assert advice["past"].tolist() == [200] * 10


def test_where_use_goes_with_what_is_asked_for_a_part_is_advised():
    asked = np.where(np.arange(200) % 2, 10.0, 40.0)
    inst = log(memory_gb=asked, used_memory_gb=asked * 0.3, estimate=asked * 3600)
    recommendation = cs.cluster.rightsize(inst, 0.05)
    limit, memory = recommendation.amounts(inst)
    assert memory.tolist() == np.where(np.arange(200) % 2, 3.0, 12.0).tolist()
    assert set(limit) == {12600}  # run times go with nothing
    assert set(recommendation.advice["like"]) == {"user, name, cores"}


def test_never_more_than_a_node_has_or_a_partition_lets_run(tmp_path):
    (tmp_path / "m.toml").write_text(
        "[[nodes]]\ncount = 4\ncores = 2\nmemory_gb = 16\n"
        '[[partitions]]\nname = "p"\nmax_time = "1:50:00"\n'
    )
    machine = cs.cluster.Machine.read(tmp_path / "m.toml")
    jobs = {name: log(estimate=[7200.0] * 200).column(name)[:110] for name in (
        "submit", "tasks", "cpu", "memory", "runtime", "estimate", "status")}  # fmt: skip
    jobs |= {"partition": ["p"] * 110, "memory_gb": [12.0] * 110, "used_memory_gb": [20.0] * 110}
    row = cs.cluster.rightsize(cs.cluster.Instance(jobs, 8, machine=machine), 0.05).advice.iloc[0]
    assert (row["limit"], row["memory_gb"]) == (6600, 16)


def test_other_jobs_are_advised_by_the_past():
    recommendation = cs.cluster.rightsize(log(), risk=0.05)
    other = log(4, user=["ada", "ada", "ben", "ada"], job_name=["a1", "b", "a2", "a9"])
    advised = recommendation.apply(other)
    assert advised.column("memory_gb").tolist() == [20, 64, 64, 20]
    assert advised.column("estimate").tolist() == [12600, 86400, 86400, 12600]
    assert advised.column("runtime").tolist() == other.column("runtime").tolist()
    assert recommendation.apply(other, ["ben"]) == other
    assert recommendation.apply(other, ["ben"]).column("memory_gb").tolist() == [64] * 4
    with pytest.raises(cs.InvalidInstance, match="by = 'queue': the log has user, name"):
        cs.cluster.rightsize(log(), by="user,queue")


def test_first_allocations_are_within_5_percent_of_the_best_by_exhaustive_search():
    """The search knows what jobs that were killed needed; the past only that it was more."""
    jobs = cs.workloads.requests(6000, 8, seed=3)
    inst = cs.cluster.Instance(jobs, 128)
    advice = cs.cluster.rightsize(inst, 0.02).advice.dropna(subset=["first_memory_gb"])
    assert len(advice) > 3
    held_in_all = best_in_all = 0.0
    kinds = jobs["job_name"].str.replace("[0-9]+", "#", regex=True)
    for _, row in advice.iterrows():
        group_jobs = jobs[(kinds == row["name"]) & (jobs["user"] == row["user"])]
        need, seconds = group_jobs["need_memory_gb"].to_numpy(), group_jobs["runtime"].to_numpy()

        def memory_seconds(first, need=need, seconds=seconds, retry_memory=row["memory_gb"]):
            return (first * seconds + np.where(need > first, retry_memory * seconds, 0)).sum()

        best = min(map(memory_seconds, np.arange(row["nodes"], row["memory_gb"] + 1, row["nodes"])))
        assert memory_seconds(row["first_memory_gb"]) <= 1.15 * best
        held_in_all += memory_seconds(row["first_memory_gb"])
        best_in_all += best
    assert held_in_all <= 1.05 * best_in_all


def test_first_allocations_by_hand():
    group, value = np.array([0, 0, 0, 1, 1]), np.array([1.0, 2, 8, 3, 3])
    ended, seconds = np.array([True, True, True, True, False]), np.ones(5)
    allocations = first_allocations(group, value, ended, seconds, np.array([8.0, 9.0, 5.0]))
    # 2: 3 * 2 + 8 = 14 before 8: 24 and 1: 3 + 16; one of the second group needs 9: 3 + 3 + 9 < 18
    np.testing.assert_equal(allocations, [2, 3, np.nan])


def kill_rates_of_cut_logs(jobs_per_log, cut_share, logs, risk):
    """Share of logs with advice, and the mean chance that a next job is killed under it: needs are
    log-normal, and the limit that all jobs ask for is below a share of them."""
    spread, rates = 0.7, []
    limit = np.exp(8 + spread * norm.ppf(1 - cut_share))
    for seed in range(logs):
        need = np.exp(np.random.default_rng(seed).normal(8, spread, jobs_per_log))
        status = np.where(need >= limit, "timeout", "completed")
        jobs = log(
            jobs_per_log,
            runtime=np.minimum(need, limit),
            estimate=np.full(jobs_per_log, limit),
            status=status,
            used_memory_gb=np.full(jobs_per_log, np.nan),
            job_name=["a"] * jobs_per_log,
        )
        advised = cs.cluster.rightsize(jobs, risk).advice["limit"][0]
        if not np.isnan(advised):
            rates.append(1 - norm.cdf((np.log(advised) - 8) / spread))
    return len(rates) / logs, sum(rates) / max(len(rates), 1)


@pytest.mark.parametrize(
    ("jobs_per_log", "cut_share", "most_with_advice", "least_with_advice"),
    [(60, 0.02, 0.6, 0.1), (100, 0.02, 0.7, 0.3), (200, 0.03, 0.8, 0.3), (200, 0.005, 1.0, 0.9)],
)
def test_the_risk_holds_where_limits_cut_off_the_past(
    jobs_per_log, cut_share, most_with_advice, least_with_advice
):
    """Advice for few jobs of the past that met their limit would be for those with luck: without
    the smaller risk of `tolerance_risks`, 8% to 12% of the jobs are killed of 5% that are
    stated."""
    with_advice, killed = kill_rates_of_cut_logs(jobs_per_log, cut_share, 60, 0.05)
    assert least_with_advice <= with_advice <= most_with_advice
    assert killed <= 0.05


def test_logs_whose_limits_cut_off_more_than_the_risk_get_no_advice():
    with_advice, _ = kill_rates_of_cut_logs(200, 0.1, 40, 0.05)
    assert with_advice == 0


@pytest.mark.parametrize("risk", [0.01, 0.05, 0.3])
def test_a_sure_risk_is_the_tolerance_limit_of_the_binomial_distribution(risk):
    counts = np.arange(1, 600, 7)
    for count, sure in zip(counts, tolerance_risks(counts, risk), strict=True):
        exceeding = round(sure * (count + 1)) - 1
        assert exceeding < 0 or binom.cdf(exceeding, count, risk) <= 0.1
        assert binom.cdf(exceeding + 1, count, risk) > 0.1
    assert (
        tolerance_risks(
            np.array([min_tolerance_count(risk) - 1, min_tolerance_count(risk)]), risk
        ).tolist()[0]
        == 0
    )
    assert tolerance_risks(np.array([min_tolerance_count(risk)]), risk)[0] > 0


def kill_rates(seeds, n, risk):
    rates = []
    for seed in seeds:
        jobs = cs.workloads.requests(n, 2, load=0.4, seed=seed)
        recommendation = cs.cluster.rightsize(cs.cluster.Instance(jobs, 32), risk)
        need, peak = jobs["need_seconds"].to_numpy(), jobs["need_memory_gb"].to_numpy()
        killed, recommended_count = 0, 0
        for _, rows, limit, memory in rolling(
            recommendation.advisor, periods(recommendation.instance)[1]
        ):
            killed += ((need[rows] > limit) | (peak[rows] > memory)).sum()
            recommended_count += ((limit > 0) | (memory > 0)).sum()
        rates.append(killed / recommended_count)
    return np.array(rates)


def test_kill_rates_of_logs_whose_truth_is_known():
    """`bench_rightsize.py` has a hundred of them, and larger ones."""
    rates = kill_rates(range(12), 5000, 0.05)
    assert (rates <= 0.05).all()
    assert rates.mean() >= 0.05 / 3


def test_backtest_by_month_and_by_group():
    jobs = cs.workloads.requests(4000, 2, load=0.2, seed=5)
    inst = cs.cluster.Instance(jobs, 32, begins=datetime(2026, 1, 20))
    recommendation = cs.cluster.rightsize(inst, 0.05)
    table = recommendation.backtest()
    assert table["month"].tolist()[:2] == ["2026-02", "2026-03"]
    assert table["promised"].between(0.025 - 1e-9, 0.05 + 1e-9).all()
    share = ((table["killed_time"] + table["killed_memory"]) * table["jobs"]).sum()
    assert 0 < share / table["jobs"].sum() <= 0.05
    assert table["saved_memory_hours"].sum() > 0
    assert table["lost_core_hours"].sum() > 0
    assert table["saved_core_hours"].sum() > 10 * table["lost_core_hours"].sum()
    groups = recommendation.backtest("group")
    assert groups["jobs"].sum() == table["jobs"].sum()
    assert {"user", "name", "account", "cores"} <= set(groups)
    with pytest.raises(cs.InvalidInstance, match="by = 'year': expected month, week, day, group"):
        recommendation.backtest("year")


def test_a_log_of_one_month_is_tested_by_weeks_and_one_of_a_week_by_days():
    jobs = cs.workloads.requests(4000, 2, load=0.2, seed=5)
    in_a_month = jobs[jobs["submit"] < 27 * 86400]
    inst = cs.cluster.Instance(in_a_month, 32, begins=datetime(2026, 2, 2))  # a Monday
    weeks = cs.cluster.rightsize(inst, 0.1).backtest()
    assert weeks["week"].tolist() == ["2026-02-09", "2026-02-16", "2026-02-23"]
    assert weeks["jobs"].sum() > 0.3 * len(in_a_month)
    in_a_week = jobs[jobs["submit"] < 5 * 86400]
    days = cs.cluster.rightsize(cs.cluster.Instance(in_a_week, 32), 0.2).backtest()
    assert days["day"].iloc[-1] == "day 4 on"
    assert (days["promised"] <= 0.2 + 1e-9).all()


def test_a_log_of_one_day_has_no_backtest():
    table = cs.cluster.rightsize(log(), 0.05).backtest()
    assert len(table) == 0
    assert {"day", "jobs", "promised", "killed_time", "saved_memory_hours"} <= set(table)


def test_a_log_that_knows_of_no_timeout_calls_completed_what_its_limits_ended():
    run = np.where(np.arange(200) % 20 == 0, 3605.0, 600.0)
    inst = log(submit=20000.0 * np.arange(200), runtime=run, estimate=[3600.0] * 200)
    recommendation = cs.cluster.rightsize(inst, 0.05)
    assert np.isnan(
        recommendation.advice["limit"][0]
    )  # 5% wanted more than an hour, who knows how much
    assert cs.cluster.rightsize(inst, 0.2).advice["limit"][0] == 900
    log_with_timeout = log(
        runtime=run, estimate=[3600.0] * 200, status=["completed"] * 199 + ["timeout"]
    )
    assert cs.cluster.rightsize(log_with_timeout, 0.05).advice["limit"][0] == 4500


def test_a_system_that_lets_jobs_overrun_does_not_kill_them_under_advice_to_ask_for_more():
    asked = np.full(200, 60.0)
    run, ended = 60.0 + 600 * (np.arange(200) % 3), ["completed"] * 199 + ["timeout"]
    inst = log(submit=20000.0 * np.arange(200), estimate=asked, used_memory_gb=[1.0] * 200,
               runtime=run, status=ended)  # fmt: skip
    recommendation = cs.cluster.rightsize(inst, 0.05)
    assert recommendation.advice["limit"][0] == 1800
    assert recommendation.backtest()["killed_time"].max() == 0


def test_the_advice_of_a_group_is_enough_for_each_of_its_jobs():
    """What half of them use goes with what they ask for: a script has one line for all."""
    asked = np.where(np.arange(200) % 2, 10.0, 40.0)
    inst = log(memory_gb=asked, used_memory_gb=asked * 0.3)
    recommendation = cs.cluster.rightsize(inst, 0.05)
    assert recommendation.advice["memory_gb"].tolist() == [12.0]
    names = [f"{'abcdefghij'[k % 10]}" for k in range(200)]
    inst = log(job_name=names, memory_gb=np.r_[asked[:100], asked[100:] * 2],
               used_memory_gb=asked * 0.3)  # fmt: skip
    recommendation = cs.cluster.rightsize(inst, 0.05)
    each = recommendation.amounts(inst)[1]
    group_memory = recommendation.advice.set_index("name")["memory_gb"]
    for name in set(names):
        is_of_group = np.array([job_name == name for job_name in names])
        assert group_memory[name] == each[is_of_group].max()


def test_what_is_below_a_unit_is_not_rounded_beyond_what_was_asked_for():
    inst = log(memory_gb=[0.5] * 200, used_memory_gb=[0.4] * 200, estimate=[14400.0] * 200,
               runtime=[14000.0] * 200)  # fmt: skip
    row = cs.cluster.rightsize(inst, 0.05).advice.iloc[0]
    assert (row["memory_gb"], row["limit"]) == (0.5, 14400)


def test_months_far_apart_cost_no_more():
    inst = log(submit=1e13 * np.arange(200))
    assert len(cs.cluster.rightsize(inst, 0.05).backtest()) == 24
    jobs = log(submit=1e8 * np.arange(200)).jobs
    names, begins = periods(cs.cluster.Instance(jobs, 8, begins=datetime(2026, 1, 20)))
    assert (names[0], len(names)) == ("2580-08", 25)  # of job 175, after 1.75e10 s
    assert begins[0] <= 1.75e10 < begins[0] + 31 * 86400


def test_other_jobs_need_the_columns_of_the_groups():
    with pytest.raises(cs.InvalidInstance, match="by = 'user': the log has cores"):
        cs.cluster.rightsize(log()).apply(cs.cluster.Instance(cs.workloads.lublin(9, 8, seed=1), 8))
    for by, message in ((5, "by = 5"), (["runtime"], "by = 'runtime'"), ("", "by = ''")):
        with pytest.raises(cs.InvalidInstance, match=message):
            cs.cluster.rightsize(log(), by=by)
    assert cs.cluster.rightsize(log(), by="user, name").use.group_columns == ("user", "name")


def as_swf(jobs, path):
    """Fields 7, 9, 10 and 14, in KB of a processor; like archives it does not know of timeouts."""
    codes = {"completed": 1, "timeout": 1, "failed": 0, "out_of_memory": 0, "cancelled": 5}
    kinds = jobs["job_name"].str.split("_").str[0].astype("category").cat.codes
    kb = [np.ceil(jobs[name] / jobs["tasks"] * 2**20).astype(int)
          for name in ("used_memory_gb", "memory_gb")]  # fmt: skip
    path.write_text("; MaxProcs: 32\n" + "".join(
        f"{k} {int(row.submit)} 0 {int(row.runtime)} {row.tasks} -1 {kb[0][k]} {row.tasks} "
        f"{int(row.estimate)} {kb[1][k]} {codes[row.status]} {row.user[4:]} 1 {kinds[k]} "
        "1 1 -1 -1\n" for k, row in enumerate(jobs.itertuples())
    ))  # fmt: skip
    return path


def test_a_log_of_an_archive_is_advised_as_the_table_that_it_was_made_of(tmp_path):
    jobs = cs.workloads.requests(5000, 2, load=0.4, seed=4)
    inst = cs.cluster.from_swf(as_swf(jobs, tmp_path / "log.swf"), convention="rigid")
    of_swf = cs.cluster.rightsize(inst, 0.05, by="user,name,cores")
    of_table = cs.cluster.rightsize(cs.cluster.Instance(jobs, 32), 0.05, by="user,name,cores")
    assert of_swf.advice["jobs"].tolist() == of_table.advice["jobs"].tolist()
    for name in ("limit", "memory_gb", "past"):
        np.testing.assert_array_equal(of_swf.advice[name], of_table.advice[name])
    limit, memory = of_swf.amounts(inst)
    killed = (jobs["need_seconds"] > limit) | (jobs["need_memory_gb"] > memory)
    assert 0 < killed.sum() <= 0.05 * len(jobs)


@pytest.mark.data
def test_the_archive_log_that_has_fields_7_and_10():
    """HPC2N: its memory used is what was asked for, its limits end jobs that it calls completed."""
    inst = cs.cluster.from_swf(data("pwa", "HPC2N-2002-2.1-cln.swf.gz"), convention="rigid")
    asked, used = inst.column("memory_gb"), inst.column("used_memory_gb")
    assert (asked > 0).sum() == 175_359
    assert (used > 0).sum() == 200_733
    table = cs.cluster.rightsize(inst, 0.05).backtest()
    assert len(table) == 24
    killed = np.average(table["killed_time"] + table["killed_memory"], weights=table["jobs"])
    assert 0.05 / 3 <= killed <= np.average(table["promised"], weights=table["jobs"])
    assert np.average(table["unknown"], weights=table["jobs"]) < 0.06


def test_a_program_that_is_a_number_keeps_it():
    names = ["12", "7", "7", "a12", "a7", "nf-ALIGN_(s7)", "nf-ALIGN_(s8)", "12b"]
    table = cs.cluster.rightsize(log(8, job_name=names), 0.3, by="name").advice
    assert sorted(table["name"]) == ["#b", "12", "7", "a#", "nf-ALIGN"]


def test_a_group_of_two_partitions_has_the_longer_limit(tmp_path):
    """Half of the group asks for twice as much, and uses twice as much: by parts."""
    (tmp_path / "m.toml").write_text(
        "[[nodes]]\ncount = 4\ncores = 2\n"
        '[[partitions]]\nname = "short"\nmax_time = "1:00:00"\n[[partitions]]\nname = "long"\n'
    )
    machine = cs.cluster.Machine.read(tmp_path / "m.toml")
    long = np.arange(200) % 2 == 1
    jobs = {name: log().column(name) for name in ("submit", "tasks", "cpu", "memory")}
    jobs |= {"partition": np.where(long, "long", "short"), "runtime": np.where(long, 7000, 3000.0),
             "estimate": np.where(long, 14000, 6000.0)}  # fmt: skip
    recommendation = cs.cluster.rightsize(
        cs.cluster.Instance(jobs, 8, machine=machine), 0.05, by="cores"
    )
    assert recommendation.advice["limit"].tolist() == [7200]


@pytest.mark.parametrize("n", [14, 19, 29])
def test_what_the_past_chooses_it_does_not_promise(n):
    """Asks that say nothing of use: amounts and parts vary alike, and the past has to choose."""
    random, users, risk = np.random.default_rng(n), 4000, 0.1
    user = np.char.add("u", np.arange(users).astype(str))

    def jobs(each, first):
        size = users * each
        return cs.cluster.Instance(
            {"submit": first + 1e7 * np.repeat(np.arange(each), users), "tasks": np.ones(size, int),
             "cpu": np.ones(size), "memory": np.ones(size), "user": np.tile(user, each),
             "runtime": random.lognormal(8, 0.8, size),
             "estimate": random.choice([1e6, 1.5e6], size)}, nodes=8)  # fmt: skip

    past, coming = jobs(n, 0), jobs(1, 1e7 * n)
    limit, _ = cs.cluster.rightsize(past, risk, by="user").amounts(coming)
    killed = coming.column("runtime") > limit
    assert not np.isnan(limit).any()
    assert killed.mean() < risk + 3 * np.sqrt(risk * (1 - risk) / users)
