"""Right sizes: the promise on logs whose truth is known, what is censored, what is missing."""

import json
from datetime import datetime

import numpy as np
import pytest
import web

import cosched as cs
from cosched.cli import main
from cosched.cluster.page.summary import used_in_words
from cosched.cluster.sizing.backtest import months, rolling
from cosched.cluster.sizing.exports import export, options_of
from cosched.core.tails import first_allocations, in_order, tail, tails


def log(n=200, *, hours=24.0, **columns):
    """A group of like jobs, which use 1..n minutes and n..1 tenths of a GB."""
    jobs = {
        "submit": 10.0 * np.arange(n), "tasks": [1] * n, "cpu": [1] * n, "memory": [1] * n,
        "runtime": 60.0 * np.arange(1, n + 1), "estimate": [3600 * hours] * n,
        "status": ["completed"] * n, "user": ["ada"] * n, "job_name": [f"a{k}" for k in range(n)],
        "memory_gb": [64.0] * n, "used_memory_gb": np.arange(n, 0, -1) / 10,
    }  # fmt: skip
    return cs.cluster.Instance(jobs | columns, 8)


def sorted_tails(group, value, ended, groups, risk):
    order = in_order(value, ended)
    order = order[np.argsort(group[order], kind="stable")]
    return tails(group[order], value[order], ended[order], groups, risk)


def test_without_censoring_it_is_the_order_statistic_of_conformal_prediction():
    random = np.random.default_rng(1)
    group, value = random.integers(0, 4, 900), random.exponential(size=900)
    found = sorted_tails(group, value, np.ones(900, bool), 5, 0.03)
    for k in range(4):
        mine = np.sort(value[group == k])
        assert found[k] == mine[int(np.ceil((len(mine) + 1) * 0.97)) - 1]
    assert np.isnan(found[4])


@pytest.mark.parametrize(("n", "risk", "place"), [(19, 0.05, 19), (18, 0.05, None), (99, 0.01, 99),
                                                  (98, 0.01, None), (399, 0.005, 398)])  # fmt: skip
def test_no_advice_below_the_sample_that_it_needs(n, risk, place):
    found = tail(np.arange(1, n + 1), risk)
    assert np.isnan(found) if place is None else found == place


def kaplan_meier(value, ended, risk):
    """By its definition, job by job, with one more job that outlives all."""
    left = 1.0
    for moment in np.unique(value):
        there = (value >= moment).sum() + 1
        left *= 1 - (ended & (value == moment)).sum() / there
        if left <= risk * (1 + 1e-9):
            return moment
    return np.nan


@pytest.mark.parametrize("seed", range(20))
def test_censored_jobs_count_as_kaplan_and_meier_count_them(seed):
    random = np.random.default_rng(seed)
    value, ended = random.integers(1, 30, 80).astype(float), random.random(80) < 0.8
    found = sorted_tails(np.zeros(80, int), value, ended, 1, 0.1)[0]
    np.testing.assert_equal(found, kaplan_meier(value, ended, 0.1))


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
    late = ["timeout"] * 3 + ["completed"] * 197
    found = cs.cluster.rightsize(log(runtime=np.r_[[43200.0] * 3, 60.0 * np.arange(197)],
                                     estimate=[43200.0] * 200, status=late), 0.02)  # fmt: skip
    assert np.isnan(found.advice["limit"][0])  # 1.5% wanted more than 12 hours, who knows how much
    full = ["out_of_memory"] * 3 + ["completed"] * 197
    found = cs.cluster.rightsize(log(status=full, used_memory_gb=[0.1] * 200), 0.02)
    assert np.isnan(found.advice["memory_gb"][0])  # 64 GB were too little for three of them
    assert found.advice["limit"][0] > 0


def test_what_is_missing_is_not_zero():
    some = np.where(np.arange(200) % 2, np.nan, 5.5)
    found = cs.cluster.rightsize(log(used_memory_gb=some), 0.05).advice.iloc[0]
    assert (found["memory_gb"], found["used_memory_p50"]) == (6, 5.5)
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
    found = cs.cluster.rightsize(inst, 0.05)
    limit, memory = found.amounts(inst)
    assert memory.tolist() == np.where(np.arange(200) % 2, 3.0, 12.0).tolist()
    assert set(limit) == {12600}  # run times go with nothing
    assert set(found.advice["like"]) == {"user, name, cores"}


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
    found = cs.cluster.rightsize(log(), risk=0.05)
    other = log(4, user=["ada", "ada", "ben", "ada"], job_name=["a1", "b", "a2", "a9"])
    advised = found.apply(other)
    assert advised.column("memory_gb").tolist() == [20, 64, 64, 20]
    assert advised.column("estimate").tolist() == [12600, 86400, 86400, 12600]
    assert advised.column("runtime").tolist() == other.column("runtime").tolist()
    assert found.apply(other, ["ben"]) == other
    assert found.apply(other, ["ben"]).column("memory_gb").tolist() == [64] * 4
    with pytest.raises(cs.InvalidInstance, match="by = 'queue': the log has user, name"):
        cs.cluster.rightsize(log(), by="user,queue")


def test_the_first_allocation_is_within_5_percent_of_the_best_by_exhaustive_search():
    jobs = cs.workloads.requests(6000, 8, seed=3)
    inst = cs.cluster.Instance(jobs, 128)
    advice = cs.cluster.rightsize(inst, 0.02).advice.dropna(subset=["first_memory_gb"])
    assert len(advice) > 3
    kinds = jobs["job_name"].str.replace("[0-9]+", "#", regex=True)
    for _, row in advice.iterrows():
        mine = jobs[(kinds == row["name"]) & (jobs["user"] == row["user"])]
        need, seconds = mine["need_memory_gb"].to_numpy(), mine["runtime"].to_numpy()

        def held(first, need=need, seconds=seconds, again=row["memory_gb"]):
            return (first * seconds + np.where(need > first, again * seconds, 0)).sum()

        best = min(map(held, np.arange(row["nodes"], row["memory_gb"] + 1, row["nodes"])))
        assert held(row["first_memory_gb"]) <= 1.05 * best


def test_first_allocations_by_hand():
    group, value = np.array([0, 0, 0, 1, 1]), np.array([1.0, 2, 8, 3, 3])
    ended, seconds = np.array([True, True, True, True, False]), np.ones(5)
    found = first_allocations(group, value, ended, seconds, np.array([8.0, 9.0, 5.0]))
    # 2: 3 * 2 + 8 = 14 before 8: 24 and 1: 3 + 16; one of the second group needs 9: 3 + 3 + 9 < 18
    np.testing.assert_equal(found, [2, 3, np.nan])


def kill_rates(seeds, n, risk):
    rates = []
    for seed in seeds:
        jobs = cs.workloads.requests(n, 2, load=0.4, seed=seed)
        found = cs.cluster.rightsize(cs.cluster.Instance(jobs, 32), risk)
        need, peak = jobs["need_seconds"].to_numpy(), jobs["need_memory_gb"].to_numpy()
        killed, told = 0, 0
        for _, rows, limit, memory in rolling(found.advisor, months(found.instance)[1]):
            killed += ((need[rows] > limit) | (peak[rows] > memory)).sum()
            told += ((limit > 0) | (memory > 0)).sum()
        rates.append(killed / told)
    return np.array(rates)


def test_kill_rates_of_logs_whose_truth_is_known():
    """`bench_rightsize.py` has a hundred of them, and larger ones."""
    rates = kill_rates(range(12), 5000, 0.05)
    assert (rates <= 0.05).all()
    assert rates.mean() >= 0.05 / 3


def test_backtest_by_month_and_by_group():
    jobs = cs.workloads.requests(4000, 2, load=0.2, seed=5)
    inst = cs.cluster.Instance(jobs, 32, begins=datetime(2026, 1, 20))
    found = cs.cluster.rightsize(inst, 0.05)
    table = found.backtest()
    assert table["month"].tolist()[:2] == ["2026-02", "2026-03"]
    assert table["promised"].between(0.025 - 1e-9, 0.05 + 1e-9).all()
    share = ((table["killed_time"] + table["killed_memory"]) * table["jobs"]).sum()
    assert 0 < share / table["jobs"].sum() <= 0.05
    assert table["saved_memory_hours"].sum() > 0
    assert table["lost_core_hours"].sum() > 0
    groups = found.backtest("group")
    assert groups["jobs"].sum() == table["jobs"].sum()
    assert {"user", "name", "account", "cores"} <= set(groups)
    with pytest.raises(cs.InvalidInstance, match="by = 'day': expected month or group"):
        found.backtest("day")


def test_a_log_of_one_month_has_no_backtest():
    table = cs.cluster.rightsize(log(), 0.05).backtest()
    assert len(table) == 0
    assert {"month", "jobs", "promised", "killed_time", "saved_memory_hours"} <= set(table)


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "log.csv"
    cs.workloads.requests(1500, 4, seed=1).to_csv(path, index=False)
    return path


def test_command_line(csv, tmp_path, capsys):
    command = ["rightsize", str(csv), "--nodes", "64", "--risk", "0.05"]
    assert main([*command, "--json", str(tmp_path / "a.json")]) == 0
    out = capsys.readouterr().out
    assert "promised: killed at most 5% of the jobs; advice for " in out
    data = json.loads((tmp_path / "a.json").read_text())
    assert data["by"] == ["user", "name", "account", "cores"]
    assert data["advice"][0]["asked_limit"] > 0
    for wrong, said in (("0", "risk = 0"), ("1", "risk = 1"), ("x", "--risk: x")):
        assert main([*command[:-1], wrong]) == 2
        assert said in capsys.readouterr().err.replace("'", "")


@pytest.mark.parametrize(("form", "line"), [
    ("snakemake", "    mem_mb: "), ("nextflow", "    time = '"), ("sbatch", "#SBATCH --time="),
])  # fmt: skip
def test_exports(csv, tmp_path, capsys, form, line):
    command = ["rightsize", str(csv), "--nodes", "64", "--risk", "0.05", "--export", form]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert line in text
    assert "killed at most 5% of the jobs" in text
    assert main([*command, "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_text() == text
    if form == "snakemake":
        import yaml

        steps = yaml.safe_load(text)["set-resources"]
        assert all(isinstance(step["runtime"], int) for step in steps.values() if "runtime" in step)
        assert all(name.startswith("code") and "#" not in name for name in steps)


THIN = cs.cluster.Machine((cs.cluster.NodeType("thin", 2, 16, 128.0, 0),))


@pytest.fixture(scope="module")
def found():
    jobs = cs.workloads.requests(1500, 2, load=0.9, seed=2)
    jobs["memory_gb"] = 128.0 * jobs["nodes"]  # each has its nodes alone
    jobs["user"] = np.where(jobs.index % 2, "ada", "ben")
    inst = cs.cluster.Instance(jobs, 32, machine=THIN, source="week.csv")
    return cs.cluster.rightsize(inst, 0.05)


@pytest.fixture(scope="module")
def replayed(found):
    return found.replay()


def test_smaller_requests_let_everybody_wait_less(found, replayed):
    assert replayed["who"].tolist()[:2] == ["nobody, as now", "all"]
    assert replayed["who"].tolist()[-1] == "one of them alone"
    now, then, alone = (replayed.iloc[k] for k in (0, 1, -1))
    easy = cs.cluster.solve(found.instance, "EASY", estimates="requested")
    assert now["mean_wait"] == pytest.approx(easy.metrics()["mean_wait"])
    assert (now["killed"], now["lost_core_hours"]) == (0, 0)
    assert then["mean_wait"] < now["mean_wait"]
    assert then["user_wait"] < now["user_wait"]
    assert then["reserved_core_hours"] < alone["reserved_core_hours"] < now["reserved_core_hours"]
    assert 0 < alone["killed"] <= then["killed"] <= 0.05 * 1500


def test_a_killed_job_comes_again_when_it_is_killed():
    """Of 200 jobs, one after another, the first four use more memory than is advised."""
    inst = log(submit=86400.0 * np.arange(200), used_memory_gb=0.3 * np.arange(200, 0, -1))
    table = cs.cluster.rightsize(inst, 0.05).replay()
    assert table["killed"].tolist() == [0, 4, 4]
    assert table["mean_wait"][0] == 0
    # They ran 1 to 4 minutes in vain, which they waited.
    assert table["lost_core_hours"][1] == pytest.approx(10 / 60)
    assert table["mean_wait"][1] == pytest.approx(600 / 200)


def test_the_twin_replays_where_there_is_a_slurm_conf(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n"
        "NodeName=n[1-2] CPUs=16 RealMemory=131072\nPartitionName=main Nodes=ALL Default=YES\n"
    )
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    jobs = cs.workloads.requests(200, 2, load=0.9, seed=2)
    jobs["memory_gb"] = 128.0 * jobs["nodes"]
    inst = cs.cluster.Instance(jobs, 32, machine=machine)
    table = cs.cluster.rightsize(inst, 0.2).replay()
    waits = table[table["policy"] == "slurm-backfill"]["mean_wait"].to_numpy()
    assert len(waits) == len(table) // 2
    assert waits[1] < waits[0]
    assert (table["message"] == "").all()


def test_a_policy_without_a_result_says_why():
    table = cs.cluster.rightsize(log(tasks=[9] + [1] * 199), 0.05).replay()
    assert np.isnan(table["mean_wait"]).all()
    assert table["message"].str.contains("job 0").all()


@pytest.fixture(scope="module")
def page_of_all(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "all.html"
    found.write(path)
    return path


def test_page_and_mail(found, page_of_all, tmp_path):
    page = page_of_all.read_text()
    assert "1,500 jobs used " in page
    assert "would have waited" in page
    assert "http" not in page
    user = found.advice["user"][0]
    found.write(tmp_path / "one.html", user)
    others = set(found.advice["user"]) - {user}
    one = (tmp_path / "one.html").read_text()
    assert f"Hello {user}" in one
    assert not any(f"<td>{name}</td>" in one for name in others)
    found.write(tmp_path / "one.txt", user)
    mail = (tmp_path / "one.txt").read_text()
    assert f"Hello {user}: of your jobs, " in mail
    assert "sbatch --time=" in mail
    assert not any(name in mail for name in others)
    with pytest.raises(cs.InvalidInstance, match="the log has no job of this user"):
        found.write(tmp_path / "none.html", "zoe")
    with pytest.raises(cs.InvalidInstance, match="jobs are not told apart by user"):
        cs.cluster.rightsize(found.instance, 0.05, by="name").mail(user)
    with pytest.raises(cs.InvalidInstance, match=r"none\.txt"):
        found.write(tmp_path / "none.txt")
    assert not (tmp_path / "none.html").exists()


def test_the_audit_page_links_to_it(found, tmp_path):
    cs.cluster.audit(found.instance.take(np.arange(9)), tmp_path / "a.html", time_limit=1,
                     rightsize=tmp_path / "sizes" / "all.html")  # fmt: skip
    page = (tmp_path / "a.html").read_text()
    assert "Jobs used " in page
    assert '<a href="sizes/all.html">' in page
    assert used_in_words(cs.cluster.Instance(cs.workloads.lublin(20, 8, seed=1), 8)) == ""


def test_the_page_in_a_browser(page_of_all):
    with web.started() as browser:
        for mode, width in (("light", 1300), ("dark", 1300), ("light", 500)):
            media = {"features": [{"name": "prefers-color-scheme", "value": mode}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            browser.set_window_size(width, 900)
            browser.get(page_of_all.as_uri())
            assert "right sizes" in browser.title
            wide = "return document.documentElement.scrollWidth <= window.innerWidth"
            assert browser.execute_script(wide)
            assert len(browser.find_elements("css selector", "table")) >= 2
            web.assert_no_errors(browser)


def test_command_line_for_a_user(csv, tmp_path, capsys):
    command = ["rightsize", str(csv), "--nodes", "64", "--risk", "0.05"]
    assert main([*command, "-o", str(tmp_path / "all.html")]) == 0
    assert f"wrote {tmp_path / 'all.html'}" in capsys.readouterr().out
    assert main([*command, "--user", "user1"]) == 0
    assert capsys.readouterr().out.startswith("Hello user1: ")
    assert main([*command, "-o", str(tmp_path / "all.txt")]) == 2
    assert "all.txt" in capsys.readouterr().err


def test_a_log_that_knows_of_no_timeout_calls_completed_what_its_limits_ended():
    run = np.where(np.arange(200) % 20 == 0, 3605.0, 600.0)
    inst = log(submit=20000.0 * np.arange(200), runtime=run, estimate=[3600.0] * 200)
    found = cs.cluster.rightsize(inst, 0.05)
    assert np.isnan(found.advice["limit"][0])  # 5% wanted more than an hour, who knows how much
    assert cs.cluster.rightsize(inst, 0.2).advice["limit"][0] == 900
    known = log(runtime=run, estimate=[3600.0] * 200, status=["completed"] * 199 + ["timeout"])
    assert cs.cluster.rightsize(known, 0.05).advice["limit"][0] == 4500


def test_a_system_that_lets_jobs_overrun_does_not_kill_them_under_advice_to_ask_for_more():
    asked = np.full(200, 60.0)
    run, ended = 60.0 + 600 * (np.arange(200) % 3), ["completed"] * 199 + ["timeout"]
    inst = log(submit=20000.0 * np.arange(200), estimate=asked, used_memory_gb=[1.0] * 200,
               runtime=run, status=ended)  # fmt: skip
    found = cs.cluster.rightsize(inst, 0.05)
    assert found.advice["limit"][0] == 1800
    assert found.backtest()["killed_time"].max() == 0


def test_the_advice_of_a_group_is_enough_for_each_of_its_jobs():
    """What half of them use goes with what they ask for: a script has one line for all."""
    asked = np.where(np.arange(200) % 2, 10.0, 40.0)
    inst = log(memory_gb=asked, used_memory_gb=asked * 0.3)
    found = cs.cluster.rightsize(inst, 0.05)
    assert found.advice["memory_gb"].tolist() == [12.0]
    few = [f"{'abcdefghij'[k % 10]}" for k in range(200)]
    inst = log(job_name=few, memory_gb=np.r_[asked[:100], asked[100:] * 2],
               used_memory_gb=asked * 0.3)  # fmt: skip
    found = cs.cluster.rightsize(inst, 0.05)
    each = found.amounts(inst)[1]
    own = found.advice.set_index("name")["memory_gb"]
    for name in set(few):
        mine = np.array([one == name for one in few])
        assert own[name] == each[mine].max()


def test_what_is_below_a_unit_is_not_rounded_beyond_what_was_asked_for():
    inst = log(memory_gb=[0.5] * 200, used_memory_gb=[0.4] * 200, estimate=[14400.0] * 200,
               runtime=[14000.0] * 200)  # fmt: skip
    row = cs.cluster.rightsize(inst, 0.05).advice.iloc[0]
    assert (row["memory_gb"], row["limit"]) == (0.5, 14400)


def test_months_far_apart_cost_no_more():
    inst = log(submit=1e13 * np.arange(200))
    assert len(cs.cluster.rightsize(inst, 0.05).backtest()) == 24
    jobs = log(submit=1e8 * np.arange(200)).jobs
    names, begins = months(cs.cluster.Instance(jobs, 8, begins=datetime(2026, 1, 20)))
    assert (names[0], len(names)) == ("2580-08", 25)  # of job 175, after 1.75e10 s
    assert begins[0] <= 1.75e10 < begins[0] + 31 * 86400


@pytest.mark.parametrize(("form", "lines"), [
    ("snakemake", ['  "größe a"', "    mem_mb: 15360", "    runtime: 2", "set-resources:"]),
    ("nextflow", ["  withName: 'größe a'", "    memory = '15360 MB'", "    time = '2 min'"]),
    ("sbatch", ["#SBATCH --time=0:01:30", "#SBATCH --mem=15G", "# größe a:#: user ada"]),
])  # fmt: skip
def test_exports_are_of_a_node_and_never_below_the_advice(form, lines):
    inst = log(nodes=[2] * 200, tasks=[2] * 200, memory_gb=[30.0] * 200, estimate=[90.0] * 200,
               used_memory_gb=[29.9] * 200, runtime=[80.0] * 200,
               job_name=["größe\na:1"] * 200)  # fmt: skip
    text = export(cs.cluster.rightsize(inst, 0.05).advice, form, 0.05)
    assert not [line for line in lines if line not in text], text
    few = cs.cluster.rightsize(inst.take(np.arange(9)), 0.05).advice
    assert "no named step has past enough" in export(few, form, 0.05)
    if form == "snakemake":
        import yaml

        assert yaml.safe_load(export(few, form, 0.05)) == {"set-resources": {}}


def test_memory_of_the_largest_node_is_what_it_has():
    row = {"limit": np.nan, "memory_gb": 16000 / 1024, "nodes": 1}
    assert list(options_of(row)) == ["--mem=16000M"]


def test_other_jobs_need_the_columns_of_the_groups():
    with pytest.raises(cs.InvalidInstance, match="by = 'user': the log has cores"):
        cs.cluster.rightsize(log()).apply(cs.cluster.Instance(cs.workloads.lublin(9, 8, seed=1), 8))
    for by, said in ((5, "by = 5"), (["runtime"], "by = 'runtime'"), ("", "by = ''")):
        with pytest.raises(cs.InvalidInstance, match=said):
            cs.cluster.rightsize(log(), by=by)
    assert cs.cluster.rightsize(log(), by="user, name").use.names == ("user", "name")


def test_users_of_a_log_that_numbers_them(tmp_path, capsys):
    path = tmp_path / "log.csv"
    log(400, user=np.arange(400) % 2).jobs.to_csv(path, index=False)
    command = ["rightsize", str(path), "--nodes", "8", "--risk", "0.05", "--user", "1"]
    assert main(command) == 0
    assert "Hello 1: of your jobs, 200 are in this log." in capsys.readouterr().out
    assert main([*command, "--export", "sbatch"]) == 0
    assert capsys.readouterr().out.count("SBATCH --time") == 1
    assert main([*command[:-1], "7", "--export", "sbatch"]) == 2
    assert "the log has no job of this user" in capsys.readouterr().err
