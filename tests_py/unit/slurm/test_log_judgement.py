"""One judgement of how well the simulator explains a log, for audit, tune and slurm check."""

import itertools
import json
import re

import numpy as np
import pytest
from note_facts import counts

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.cluster import FitVerdict
from cosched.cluster.judgement.earlier_usage import (
    draw_earlier_usage,
    is_earlier_usage_unknown,
    logged_usage,
)
from cosched.cluster.judgement.idle_waits import IDLE_PART, has_idle_wait
from cosched.cluster.judgement.log_start import _release_gaps, start_of_log
from cosched.cluster.judgement.reasons import is_overtaken
from cosched.cluster.judgement.verdict import ReasonKind, verdict_of
from cosched.cluster.result.compare_waits import (
    AT_ONCE,
    NEAR_SECONDS,
    LogAmongSimulations,
    WaitComparison,
    compare_log,
    compare_waits,
)
from log_worlds import MINI_CONF, as_log, cut_log, random_jobs, waits_on_an_idle_machine
from recorded_sacct import written
from support import RECORDINGS


@pytest.fixture(scope="module")
def idle(tmp_path_factory):
    """A folder with the log of waits on an idle machine."""
    folder = tmp_path_factory.mktemp("idle")
    (folder / "fit.txt").write_text(waits_on_an_idle_machine())
    (folder / "slurm.conf").write_text(MINI_CONF)
    return folder


def machine_arguments(folder):
    accounts = folder / "accounts.txt"
    account_options = ["--accounts", str(accounts)] if accounts.exists() else []
    return ["--machine", str(folder / "slurm.conf"), *account_options]


def audit_of(log, folder, *options):
    page, numbers = folder / "audit.html", folder / "audit.json"
    arguments = ["audit", str(log), *machine_arguments(folder), "-o", str(page)]
    assert main([*arguments, "--json", str(numbers), *options]) == 0
    return json.loads(numbers.read_text()), page.read_text()


# --- waits that no scheduler makes ----------------------------------------------------------------


def test_waits_on_an_idle_machine_do_not_make_the_simulator_the_reference(idle, capsys):
    data, page = audit_of(idle / "fit.txt", idle, "--what-if", "nodes=-2", "--draws", "2")
    judgement = data["judgement"]
    assert judgement["verdict"] == "not explained"
    assert data["reference"] == "EASY"
    assert {row["policy"] for row in data["rows"]} == {"EASY"}
    assert (judgement["jobs"], judgement["waiting_jobs"], judgement["jobs_at_once"]) == (
        200, 80, 120,
    )  # fmt: skip
    assert judgement["log_mean_wait"] == 7200
    assert judgement["simulated_mean_wait"] < 5
    first = judgement["reasons"][0]
    assert (first["kind"], first["count"]) == ("jobs wait while the machine is idle", 80)
    kinds = {reason["kind"] for reason in judgement["reasons"]}
    assert "accounts were not given" not in kinds
    printed = capsys.readouterr().out
    assert "The simulator does not explain this log." in printed
    assert "80 of 200 jobs waited more than a minute" in printed
    assert "reference policy: EASY" in printed
    assert "the reference policy is EASY instead" in page
    assert "80 jobs waited in the log although enough resources of their nodes were free" in page


def test_the_user_chooses_the_reference_policy(idle, capsys):
    for policy in ("slurm-backfill", "conservative", "FCFS"):
        data, page = audit_of(
            idle / "fit.txt", idle, "--what-if", "nodes=-2", "--draws", "2", "--reference", policy
        )
        assert data["reference"] == policy
        assert {row["policy"] for row in data["rows"]} == {policy}
        assert data["judgement"]["verdict"] == "not explained"
        assert f"The reference policy is {policy}, as chosen (--reference)." in page
        printed = capsys.readouterr().out
        assert "The simulator does not explain this log." in printed
        assert f"reference policy: {policy}, as chosen" in printed


def test_a_reference_that_is_no_policy_is_refused(idle, capsys):
    arguments = ["audit", str(idle / "fit.txt"), "-o", str(idle / "refused.html")]
    assert main([*arguments, *machine_arguments(idle), "--reference", "EASI"]) == 2
    assert "--reference 'EASI': expected one of slurm-backfill, EASY" in capsys.readouterr().err
    assert not (idle / "refused.html").exists()


def test_slurm_backfill_is_no_reference_without_a_slurm_conf():
    jobs = cs.workloads.lublin(20, 4, seed=1)
    with pytest.raises(cs.InvalidInstance, match="unknown reference policy"):
        cs.cluster.audit(cs.cluster.Instance(jobs, nodes=4), "a.html", reference="slurm-backfill")


def test_a_log_without_waits_is_not_judged(idle):
    machine = cs.cluster.Machine.read(idle / "slurm.conf")
    jobs = cs.cluster.Instance(cs.workloads.lublin(20, 16, seed=1), nodes=16, machine=machine)
    assert cs.cluster.judge_log(jobs) is None
    with pytest.raises(cs.InvalidInstance, match=r"expected a machine that is a slurm\.conf"):
        cs.cluster.judge_log(cs.cluster.Instance(cs.workloads.lublin(20, 16, seed=1), nodes=16))


# --- the three commands ---------------------------------------------------------------------------


def still_running(text):
    """The log with its last three jobs still running."""
    head, *lines = text.splitlines()
    for number in (-1, -2, -3):
        cells = lines[number].split("|")
        cells[4], cells[7] = "RUNNING", "Unknown"
        lines[number] = "|".join(cells)
    return "\n".join((head, *lines)) + "\n"


LOGS = {
    "idle": lambda folder: (folder / "jobs.txt").write_text(waits_on_an_idle_machine()),
    "jobs that run still": lambda folder: (folder / "jobs.txt").write_text(
        still_running(waits_on_an_idle_machine())
    ),
    "real, explained": lambda folder: written(cs.io.read_json(RECORDINGS["bursts40_def"]), folder),
    "real, variable": lambda folder: written(cs.io.read_json(RECORDINGS["live_fs"]), folder),
    "real, reserved": lambda folder: written(cs.io.read_json(RECORDINGS["resv_a"]), folder),
    "real, cut": lambda folder: written(cs.io.read_json(RECORDINGS["small"]), folder, since=600),
}
VERDICTS = {
    "idle": "not explained",
    "jobs that run still": "not explained",
    "real, explained": "explained",
    "real, variable": "as close as run-to-run variability allows",
    "real, reserved": "not explained",
    "real, cut": "explained",
}


@pytest.mark.parametrize("name", LOGS)
def test_audit_and_slurm_check_have_the_same_judgement(name, tmp_path, capsys):
    if not (tmp_path / "slurm.conf").exists():
        (tmp_path / "slurm.conf").write_text(MINI_CONF)
    LOGS[name](tmp_path)
    log = tmp_path / "jobs.txt"
    data, _ = audit_of(log, tmp_path, "--draws", "2")
    capsys.readouterr()
    check = ["slurm", "check", str(log), *machine_arguments(tmp_path)]
    assert main([*check, "--json", "--draws", "3", "--seed", "7"]) == 0
    judgement = json.loads(capsys.readouterr().out)["judgement"]
    assert judgement == data["judgement"]
    assert judgement["verdict"] == VERDICTS[name]


@pytest.mark.parametrize("name", ["idle", "real, explained"])
def test_tune_has_the_judgement_of_audit(name, tmp_path, capsys):
    (tmp_path / "slurm.conf").write_text(MINI_CONF)
    LOGS[name](tmp_path)
    log = tmp_path / "jobs.txt"
    data, _ = audit_of(log, tmp_path, "--draws", "2")
    instance = cs.cluster.Instance.read(log, machine=tmp_path / "slurm.conf")
    if name == "idle":  # the simulator has no waits here: nothing to tune
        judgement = cs.cluster.judge_log(instance)
    else:
        tuned = cs.slurm.tune(instance, vary={"bf_interval": [30, 31]}, draws=2)
        judgement = tuned.judgement
        assert tuned.to_dict()["judgement"]["verdict"] == judgement.verdict.value
        tuned.write(tmp_path / "tune.html")
        assert judgement.verdict.sentence in (tmp_path / "tune.html").read_text()
    assert cs.io.plain(judgement.to_dict()) == data["judgement"]


def test_the_judgement_is_printed_first_by_slurm_check(idle, capsys):
    assert main(["slurm", "check", str(idle / "fit.txt"), *machine_arguments(idle)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "The simulator does not explain this log."
    assert lines[4].startswith("likely reason: 80 jobs waited")


# --- logs that the simulator wrote ----------------------------------------------------------------


def assert_is_explained(log):
    judgement = cs.cluster.judge_log(log)
    assert judgement.verdict is not FitVerdict.NOT_EXPLAINED, judgement.to_dict()
    assert judgement.reasons == ()


@pytest.mark.parametrize("seed", range(12))
def test_a_log_that_the_simulator_wrote_is_explained(seed, tmp_path):
    assert_is_explained(as_log(random_jobs(np.random.default_rng(seed), tmp_path), seed))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(100, 300))
def test_many_logs_that_the_simulator_wrote_are_explained(seed, tmp_path):
    assert_is_explained(as_log(random_jobs(np.random.default_rng(seed), tmp_path), seed))


@pytest.mark.parametrize("seed", range(6))
def test_a_log_that_begins_in_the_middle_is_explained(seed, tmp_path):
    jobs = random_jobs(np.random.default_rng(seed), tmp_path, with_accounts=False)
    assert_is_explained(cut_log(as_log(jobs, seed), 0.4))


#: Seeds of :func:`random_jobs` whose cut log has its first jobs on other nodes than Slurm takes on
#: an empty machine, and of one whose running jobs have cores in unequal parts.
SEEDS_WITH_UNKNOWN_JOBS = (59, 115)
SEED_WITH_UNEQUAL_PARTS = 98


@pytest.mark.parametrize("seed", SEEDS_WITH_UNKNOWN_JOBS)
def test_a_log_whose_first_jobs_lie_on_other_nodes_begins_with_its_first_end(seed, tmp_path):
    log = cut_log(as_log(random_jobs(np.random.default_rng(seed), tmp_path), seed), 0.4)
    first_end = float((log.column("submit") + log.column("wait") + log.column("runtime")).min())
    judgement = cs.cluster.judge_log(log)
    assert judgement.is_explained
    assert judgement.begin == first_end
    # Without the nodes nothing tells that the machine was not empty.
    full_judgement = cs.cluster.judge_log(log.replace(hosts=np.full(len(log), "", dtype=object)))
    assert full_judgement.begin is None


def test_all_jobs_that_run_when_the_simulation_begins_have_their_nodes(tmp_path):
    seed = SEED_WITH_UNEQUAL_PARTS
    log = cut_log(as_log(random_jobs(np.random.default_rng(seed), tmp_path), seed), 0.4)
    judgement = cs.cluster.judge_log(log)
    assert judgement.is_explained
    assert not any("without known nodes" in note for note in judgement.notes)


#: Seeds of :func:`random_jobs` whose log has a fair-share factor, and is explained only by
#: simulations that draw what users had used before its begin.
SEEDS_WITH_UNKNOWN_USAGE = (2, 11, 54)


@pytest.mark.parametrize("seed", SEEDS_WITH_UNKNOWN_USAGE)
def test_usage_from_before_a_log_is_drawn_where_fair_share_depends_on_it(seed, tmp_path):
    jobs = random_jobs(np.random.default_rng(seed), tmp_path)
    judgement = cs.cluster.judge_log(cut_log(as_log(jobs, seed), 0.4))
    assert judgement.verdict is FitVerdict.AS_CLOSE_AS_VARIABILITY
    assert judgement.replications == 60
    assert counts(judgement.notes, NoteKind.ASSUMED)["earlier usage"] == 20


def test_usage_that_the_accounts_tell_is_not_drawn(tmp_path):
    jobs = random_jobs(np.random.default_rng(11), tmp_path)
    log = cut_log(as_log(jobs, 11), 0.4)
    assert is_earlier_usage_unknown(log)
    with_known_usage = draw_earlier_usage(log, np.random.default_rng(1))
    assert not is_earlier_usage_unknown(with_known_usage)


def test_drawn_usage_adds_up_by_account(tmp_path):
    log = as_log(random_jobs(np.random.default_rng(11), tmp_path), 11)
    settings = draw_earlier_usage(log, np.random.default_rng(1)).machine.slurm
    usage = {
        (row["Account"], row.get("User", "")): row["Usage"]
        for row in settings.accounts.associations
    }
    assert min(usage.values()) > 0
    assert usage["chem", ""] == pytest.approx(usage["chem", "bob"] + usage["chem", "eve"])
    assert usage["root", ""] == pytest.approx(usage["chem", ""] + usage["phys", "ada"])


def test_a_log_without_a_fair_share_factor_needs_no_earlier_usage(tmp_path):
    log = as_log(random_jobs(np.random.default_rng(12), tmp_path), 12)
    assert not log.machine.slurm.parameters.get("PriorityWeightFairshare")
    assert not is_earlier_usage_unknown(log)


@pytest.mark.parametrize("seed", range(3))
def test_half_of_the_nodes_do_not_explain_a_log(seed, tmp_path):
    jobs = random_jobs(np.random.default_rng(seed), tmp_path, with_accounts=False)
    log = as_log(jobs, seed)
    if cs.cluster.judge_log(log).comparison.log.mean < 600:
        pytest.skip("hardly any job waits")
    conf = tmp_path / "slurm.conf"
    text = re.sub(r"(NodeName=n\[1-)(\d+)", lambda m: f"{m[1]}{max(1, int(m[2]) // 2)}",
                  conf.read_text())  # fmt: skip
    text = re.sub(r"Nodes=n\[1-\d+\]", "Nodes=ALL", text)
    conf.write_text(text)
    small = cs.cluster.Machine.read(conf, slurm_version="22.05")
    fits = log.column("tasks") <= small.cores
    part = log.take(np.flatnonzero(fits))
    wrong = cs.cluster.Instance(dict(part.raw_columns), small.cores, machine=small)
    judgement = cs.cluster.judge_log(wrong)
    assert judgement.verdict is FitVerdict.NOT_EXPLAINED
    assert ReasonKind.UNKNOWN_NODES in {reason.kind for reason in judgement.reasons}


# --- logs of a real Slurm -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("pois40_def", ("SelectType", "SchedulerType=sched/builtin\nSelectType")),
        ("qos_a", ("PriorityWeightQOS=10000", "PriorityWeightQOS=0")),
        ("cores40_def", ("SelectType", "SchedulerType=sched/builtin\nSelectType")),
    ],
)
def test_a_real_log_is_explained_by_its_configuration_and_not_by_another(name, edit, tmp_path):
    written(cs.io.read_json(RECORDINGS[name]), tmp_path)
    accounts = tmp_path / "accounts.txt"

    def verdict():
        machine = cs.cluster.Machine.read(
            tmp_path / "slurm.conf", accounts=accounts if accounts.exists() else None
        )
        log = cs.cluster.Instance.read(tmp_path / "jobs.txt", machine=machine)
        return cs.cluster.judge_log(log).verdict

    assert verdict() is FitVerdict.EXPLAINED
    conf = tmp_path / "slurm.conf"
    assert edit[0] in conf.read_text()
    conf.write_text(conf.read_text().replace(*edit, 1))
    assert verdict() is FitVerdict.NOT_EXPLAINED


def test_accounts_that_were_not_given_are_a_likely_reason(tmp_path):
    written(cs.io.read_json(RECORDINGS["live_qos"]), tmp_path)
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf").approximated()
    judgement = cs.cluster.judge_log(
        cs.cluster.Instance.read(tmp_path / "jobs.txt", machine=machine)
    )
    assert judgement.verdict is FitVerdict.NOT_EXPLAINED
    reasons = {reason.kind: reason for reason in judgement.reasons}
    assert "the log names 2 accounts" in reasons[ReasonKind.ACCOUNTS].text
    assert "PriorityWeightFairshare=10000" in reasons[ReasonKind.ACCOUNTS].text
    assert reasons[ReasonKind.PRIORITIES].count >= 3


def test_accounts_that_no_setting_needs_are_no_likely_reason(tmp_path):
    """Without enforced limits and weights of priorities, accounts change no start."""
    written(cs.io.read_json(RECORDINGS["live_qos"]), tmp_path)
    conf = tmp_path / "slurm.conf"
    needs_accounts = ("accountingstorageenforce", "priority", "preempt")
    lines = conf.read_text().splitlines(keepends=True)
    conf.write_text("".join(line for line in lines if not line.lower().startswith(needs_accounts)))
    machine = cs.cluster.Machine.read(conf).approximated()
    assert not machine.slurm.needs_accounting
    log = cs.cluster.Instance.read(tmp_path / "jobs.txt", machine=machine)
    assert "account" in log.column_names
    judgement = cs.cluster.judge_log(log)
    assert judgement.verdict is FitVerdict.NOT_EXPLAINED
    assert ReasonKind.ACCOUNTS not in {reason.kind for reason in judgement.reasons}


def test_nodes_that_were_reserved_are_seen_as_idle_machine(tmp_path):
    written(cs.io.read_json(RECORDINGS["resv_a"]), tmp_path)
    log = cs.cluster.Instance.read(tmp_path / "jobs.txt", machine=tmp_path / "slurm.conf")
    judgement = cs.cluster.judge_log(log)
    assert judgement.verdict is FitVerdict.NOT_EXPLAINED
    assert judgement.reasons[0].kind is ReasonKind.IDLE_MACHINE


# --- the numbers ----------------------------------------------------------------------------------


def test_two_schedules_are_compared_over_the_jobs_that_wait_in_one_of_them():
    waits = np.array([0.0, 60.0, 61.0, 0.0, 1000.0, 5000.0])
    other = np.array([60.0, 0.0, 0.0, 400.0, 1300.0, 5301.0])
    comparison = compare_waits(waits, other)
    assert comparison.jobs == 4
    assert comparison.near_60 == 0
    assert comparison.near_300 == 0.5
    assert comparison.mean == pytest.approx(np.mean([61, 0, 1000, 5000]))
    assert comparison.other_p95 == pytest.approx(np.percentile([0, 400, 1300, 5301], 95))


def test_a_log_is_compared_as_a_plain_loop_does():
    rng = np.random.default_rng(3)
    log = rng.uniform(0, 1000, 30) * (rng.random(30) < 0.6)
    runs = rng.uniform(0, 1000, (5, 30)) * (rng.random((5, 30)) < 0.6)
    log_among_simulations = compare_log(log, runs)

    def share(first, second):
        pairs = [(a, b) for a, b in zip(first, second, strict=True) if max(a, b) > AT_ONCE]
        return np.mean([abs(a - b) <= NEAR_SECONDS for a, b in pairs])

    assert log_among_simulations.log.near_300 == pytest.approx(
        np.mean([share(log, run) for run in runs])
    )
    for row, simulation in enumerate(log_among_simulations.simulations):
        others = [share(runs[row], run) for k, run in enumerate(runs) if k != row]
        assert simulation.near_300 == pytest.approx(np.mean(others))
    assert sum(
        simulation.mean_difference for simulation in log_among_simulations.simulations
    ) == pytest.approx(0, abs=1e-9)
    assert log_among_simulations.least_near_300 == min(
        simulation.near_300 for simulation in log_among_simulations.simulations
    )


def among(log, simulations):
    """A log among simulations: (share near, mean, other mean, p95, other p95)."""
    comparisons = [WaitComparison(50.0, near, near, *rest) for near, *rest in (log, *simulations)]
    return LogAmongSimulations(comparisons[0], tuple(comparisons[1:]))


SAME = [(1.0, 1000.0, 1000.0, 3000.0, 3000.0)] * 20


@pytest.mark.parametrize(
    ("log", "verdict"),
    [
        ((0.8, 1000, 1100, 3000, 4000), FitVerdict.EXPLAINED),
        ((0.79, 1000, 1000, 3000, 3000), FitVerdict.NOT_EXPLAINED),
        ((1.0, 1000, 1112, 3000, 3000), FitVerdict.NOT_EXPLAINED),
        ((1.0, 1000, 880, 3000, 3000), FitVerdict.NOT_EXPLAINED),
        ((1.0, 1000, 1000, 3000, 4001), FitVerdict.NOT_EXPLAINED),
        ((1.0, 100, 160, 300, 600), FitVerdict.EXPLAINED),
        ((1.0, 100, 161, 300, 300), FitVerdict.NOT_EXPLAINED),
    ],
)
def test_a_log_is_explained_where_waits_and_starts_agree(log, verdict):
    assert verdict_of(among(log, SAME)) is verdict


def test_run_to_run_variability_is_allowed():
    wide = [(0.5, 1000.0 + k, 1000.0, 3000.0, 3000.0) for k in (-400, 400)] * 10
    assert verdict_of(among((0.4, 1300, 1000, 3000, 3000), wide)) is (
        FitVerdict.AS_CLOSE_AS_VARIABILITY
    )
    assert verdict_of(among((0.39, 1300, 1000, 3000, 3000), wide)) is FitVerdict.NOT_EXPLAINED
    assert verdict_of(among((0.5, 4000, 1000, 3000, 3000), wide)) is FitVerdict.NOT_EXPLAINED


def test_few_waiting_jobs_conclude_nothing():
    few_waits = WaitComparison(4.0, 0.0, 0.0, 9000.0, 0.0, 9000.0, 0.0)
    assert (
        verdict_of(LogAmongSimulations(few_waits, (few_waits, few_waits))) is FitVerdict.EXPLAINED
    )


# --- evidence, against plain loops ----------------------------------------------------------------


def small_jobs(rng, tmp_path):
    jobs = random_jobs(rng, tmp_path, with_accounts=False)
    start = jobs.column("submit") + np.floor(rng.uniform(0, 500, len(jobs)))
    return jobs, start


@pytest.mark.parametrize("seed", range(4))
def test_idle_waits_are_those_of_a_plain_loop(seed, tmp_path):
    jobs, start = small_jobs(np.random.default_rng(seed), tmp_path)
    end, submit = start + jobs.column("runtime"), jobs.column("submit")
    cells, allowed, _ = jobs.partition_layout
    gpus = jobs.column("gpus") if "gpus" in jobs.column_names else np.zeros(len(jobs))
    sizes = {int(mask): sum(int(size) for bit, size in enumerate(cells) if int(mask) >> bit & 1)
             for mask in set(allowed.tolist())}  # fmt: skip
    cpus = jobs.machine.nodes[0].cores
    expected = []
    for job in range(len(jobs)):
        share = (allowed & allowed[job]) != 0
        idle = 0.0
        times = np.unique(np.concatenate([start, end, [submit[job], start[job]]]))
        for begin, finish in itertools.pairwise(times):
            if submit[job] <= begin < start[job]:
                runs = share & (start <= begin) & (end > begin)
                size = sizes[int(allowed[job])]
                has_cores = jobs.column("tasks")[runs].sum() + jobs.column("tasks")[job] <= size
                has_gpus = gpus[job] == 0 or gpus[runs].sum() + gpus[job] <= 2 * size / cpus
                idle += (finish - begin) * (has_cores and has_gpus)
        wait = start[job] - submit[job]
        expected.append(wait > AT_ONCE and idle >= IDLE_PART * wait - 1e-6)
    assert has_idle_wait(jobs, start).tolist() == expected


@pytest.mark.parametrize("seed", range(4))
def test_overtaken_jobs_are_those_of_a_plain_loop(seed, tmp_path):
    jobs, start = small_jobs(np.random.default_rng(seed), tmp_path)
    names = [
        name for name in ("tasks", "partition", "gpus", "estimate") if name in jobs.column_names
    ]
    request = list(zip(*(jobs.column(name).tolist() for name in names), strict=True))
    submit = jobs.column("submit")
    later = [
        [
            k
            for k in range(len(jobs))
            if request[k] == request[j] and (submit[k], k) > (submit[j], j)
        ]
        for j in range(len(jobs))
    ]
    expected = [any(start[j] > start[k] + AT_ONCE for k in later[j]) for j in range(len(jobs))]
    assert is_overtaken(jobs, start).tolist() == expected


# --- what differs between simulations -------------------------------------------------------------


def test_each_draw_has_a_release_between_the_two_numbers(tmp_path):
    jobs = random_jobs(np.random.default_rng(1), tmp_path, with_accounts=False)
    fixed = cs.slurm.backfill(jobs, seed=1, draws=3, epilog=(20.0, 20.0))
    same = cs.slurm.backfill(jobs, seed=1, draws=3, epilog=20.0)
    np.testing.assert_array_equal(fixed.draws.starts, same.draws.starts)
    for wrong in ((3.0, 1.0), (1.0, 2.0, 3.0), (-1.0, 2.0)):
        with pytest.raises(cs.InvalidInstance, match="epilog"):
            cs.slurm.backfill(jobs, epilog=wrong)


# --- configurations that refuse jobs, and what a log tells of limits and accounts -----------------

ONE_CORE_CONF = """NodeName=n[1-8] CPUs=1
PartitionName=p Nodes=ALL Default=YES {}
SelectType=select/linear
"""


def waiting_log(tmp_path, keys="", accounts=None, count=60, **columns):
    (tmp_path / "slurm.conf").write_text(ONE_CORE_CONF.format(keys))
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf", accounts=accounts)
    jobs = {
        "submit": np.arange(count) * 100.0, "tasks": [1] * count, "cpu": [1.0] * count,
        "memory": [1.0] * count, "runtime": [600.0] * count, "estimate": [3600.0] * count,
        "wait": [7200.0] * count, "user": ["u"] * count,
    }  # fmt: skip
    return cs.cluster.Instance(jobs | columns, nodes=8, machine=machine)


def test_jobs_that_no_partition_lets_in_are_a_likely_reason(tmp_path):
    accounts = ["chem"] * 56 + ["bio"] * 4
    log = waiting_log(tmp_path, "AllowAccounts=bio", account=accounts)
    judgement = cs.cluster.judge_log(log)
    reason = next(
        candidate for candidate in judgement.reasons if candidate.kind is ReasonKind.REFUSED_JOBS
    )
    # One of the 56 ended before the simulation begins.
    assert reason.count == 55
    assert "do not let in 55 jobs of the log (by partition: p 55)" in reason.text
    # They start at once in log and simulation: nothing else speaks against the configuration.
    at_once = waiting_log(tmp_path, "AllowAccounts=bio", account=accounts, wait=[0.0] * 60)
    assert cs.cluster.judge_log(at_once).verdict is FitVerdict.NOT_EXPLAINED
    others = ["chem"] * 4 + ["bio"] * 56
    few_jobs_log = waiting_log(tmp_path, "AllowAccounts=bio", account=others, wait=[0.0] * 60)
    assert cs.cluster.judge_log(few_jobs_log).verdict is FitVerdict.EXPLAINED


def test_few_waiting_jobs_do_not_explain_a_log_that_is_refused():
    few_waits = WaitComparison(4.0, 0.0, 0.0, 9000.0, 0.0, 9000.0, 0.0)
    comparison = LogAmongSimulations(few_waits, (few_waits, few_waits))
    assert verdict_of(comparison, 0.5) is FitVerdict.EXPLAINED
    assert verdict_of(comparison, 0.51) is FitVerdict.NOT_EXPLAINED


def test_unlimited_jobs_have_time_limits(tmp_path):
    unlimited = waiting_log(tmp_path, count=30, estimate=[np.inf] * 30)
    kinds = [reason.kind for reason in cs.cluster.judge_log(unlimited).reasons]
    assert kinds
    assert ReasonKind.TIME_LIMITS not in kinds


def test_earlier_usage_is_that_of_default_accounts_and_adds_up_over_partitions(tmp_path):
    (tmp_path / "accounts.txt").write_text(
        "Account|User|ParentName|Share|Partition\nroot||||\nchem||root|1|\n"
        "chem|u||1|p\nchem|u||1|q\n"
    )
    log = waiting_log(tmp_path, accounts=tmp_path / "accounts.txt", account=["chem", ""] * 30)
    assert list(logged_usage(log)) == [("chem", "u")]
    drawn = draw_earlier_usage(log, np.random.default_rng(1))
    rows = drawn.machine.slurm.accounts.associations
    of_user = [row["Usage"] for row in rows if row.get("User")]
    (of_account,) = [
        row["Usage"] for row in rows if not row.get("User") and row["Account"] == "chem"
    ]
    assert of_user[0] == of_user[1] > 0
    assert sum(of_user) == pytest.approx(of_account)


# --- where a log begins that other jobs precede ---------------------------------------------------


def test_a_log_begins_with_its_first_end_where_no_job_waits_then(tmp_path):
    times = {"runtime": [100.0, 1000.0, 100.0, 100.0], "wait": [200.0, 250.0, 300.0, 0.0]}
    log = waiting_log(tmp_path, count=4, submit=[0, 0, 400, 3000], **times)
    assert start_of_log(log).begin == 300
    # A job that waits from 290 to 350 moves it to the next moment without one.
    times["wait"] = [200.0, 250.0, 60.0, 0.0]
    waits = waiting_log(tmp_path, count=4, submit=[0, 0, 290, 3000], **times)
    assert start_of_log(waits).begin == 350


def test_jobs_without_a_known_start_tell_no_release_of_nodes(tmp_path):
    """One job after another on a node, 2 s apart, and between them rows without a start."""
    count = 40
    order = np.random.default_rng(1).permutation(count)
    starts = 5000.0 + 102.0 * order
    waits = np.where(order % 2 == 0, 2000.0, 2001.0)
    columns = {"runtime": np.full(count, 100.0), "submit": starts - waits, "wait": waits}
    log = waiting_log(tmp_path, count=count, **columns)
    (host, *_) = log.machine.slurm.names
    twice = {name: np.repeat(values, 2) for name, values in columns.items()}
    twice["wait"][1::2] = np.nan
    with_gaps = waiting_log(tmp_path, count=2 * count, hosts=[host] * 2 * count, **twice)
    assert _release_gaps(with_gaps) == [2.0] * (count - 1)


def test_the_note_counts_jobs_on_nodes_with_too_few_free_cores(tmp_path):
    log = waiting_log(
        tmp_path, count=4, submit=[0, 0, 400, 3000], runtime=[100.0, 1000.0, 100.0, 100.0],
        wait=[200.0, 250.0, 300.0, 0.0],
    )  # fmt: skip
    assert (
        "1 job of the log run then, 1 of them without known nodes, or on nodes with too few"
        in (start_of_log(log).notes[0])
    )


def test_the_begin_of_a_long_log_is_in_whole_seconds(tmp_path):
    shift = 1_234_567.0
    log = waiting_log(
        tmp_path, count=4, submit=[0, 0, shift, 3 * shift],
        runtime=[shift, 2 * shift, 100.0, 100.0], wait=[300.0, 250.0, 300.0, 0.0],
    )  # fmt: skip
    assert "begins 1,234,867 s after the first submission" in start_of_log(log).notes[0]


def test_refused_jobs_take_room_from_waiting_jobs_of_the_log(tmp_path):
    """Every fourth job has all nodes for two hours; its QOS refuses it today."""
    (tmp_path / "accounts.txt").write_text(
        "Account|User|ParentName|Share\nroot|||\nchem||root|1\nchem|u||1\n"
        "Name|Priority|MaxTRESPU\nnormal|0|\nwide|0|cpu=4\n"
    )
    enforced = (
        "\nAccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits,qos"
    )
    count = 60
    number = np.arange(count)
    is_wide = number % 4 == 0
    submit = (number // 4) * 30_000.0 + (number % 4) * 60.0
    # Of the three narrow jobs of a group the first two wait for the end of the wide one; the third
    # waits four more hours on an idle machine in every second group.
    idle = (number % 4 == 3) & (number // 4 % 2 == 0)
    start = (number // 4) * 30_000.0 + np.where(is_wide, 0.0, 7200.0)
    start += np.where(idle, 14_400.0, 0.0)
    log = waiting_log(
        tmp_path, enforced, tmp_path / "accounts.txt", submit=submit, wait=start - submit,
        runtime=np.where(is_wide, 7200.0, 600.0), estimate=[7200.0] * count,
        tasks=np.where(is_wide, 8, 1), qos=np.where(is_wide, "wide", "normal"),
        account=["chem"] * count,
    )  # fmt: skip
    judgement = cs.cluster.judge_log(log)
    assert judgement.jobs_not_compared["are refused by this configuration, or never start"] == 15
    reason = next(
        candidate for candidate in judgement.reasons if candidate.kind is ReasonKind.IDLE_MACHINE
    )
    # There is room for a narrow job while no wide one runs.
    expected = 0
    for job in np.flatnonzero(~is_wide):
        busy = sum(
            max(0.0, min(start[wide] + 7200.0, start[job]) - max(start[wide], submit[job]))
            for wide in np.flatnonzero(is_wide)
        )
        expected += busy <= (start[job] - submit[job]) / 2
    assert reason.count == expected
    assert 0 < expected < 45
