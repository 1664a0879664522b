"""The committed demo files show what their READMEs say, and are what their scripts make."""

import csv
import html
import json

import numpy as np
import pandas as pd
import pytest

import cosched as cs
from cosched.cli import main
from cosched.slurm.recordings.agreement import agreement, read_recording
from support import REPO, load_script

CLUSTER = REPO / "notebooks" / "cluster"
HOUR = 3600.0
#: What-ifs of `make demo`: two that change waits, and one that does not.
EFFECTS = {"nodes=+4": -1, "users.ada=-50%": -1, "reservation=2026-11-23T12:00/12h/n[1-8]": 1}
NO_EFFECT = "bf_window=2880"


@pytest.fixture(scope="module")
def submissions():
    with (CLUSTER / "jobs.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def log():
    machine = cs.cluster.Machine.read(CLUSTER / "slurm.conf", accounts=CLUSTER)
    return cs.cluster.from_sacct(CLUSTER / "sacct.txt", machine)


@pytest.fixture(scope="module")
def jobs(log):
    return pd.DataFrame({name: log.column(name) for name in log.column_names})


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    what_ifs = [word for change in (*EFFECTS, NO_EFFECT) for word in ("--what-if", change)]
    assert main([
        "audit", str(CLUSTER / "sacct.txt"), "--machine", str(CLUSTER / "slurm.conf"),
        "--accounts", str(CLUSTER), *what_ifs, "--draws", "4", "--no-bound",
        "--json", str(folder / "audit.json"), "-o", str(folder / "audit.html"),
    ]) == 0  # fmt: skip
    return json.loads((folder / "audit.json").read_text()), (folder / "audit.html").read_text()


def test_the_submitted_jobs_are_those_that_the_script_draws():
    script = load_script(CLUSTER / "make_jobs.py")
    assert (CLUSTER / "jobs.csv").read_text() == script.make_table()


def test_the_log_has_every_submitted_job(jobs, submissions):
    number = jobs["id"].astype(str).str.partition("_")[0].astype(int)
    jobs_of_submission = jobs.groupby(number)
    assert len(jobs_of_submission) == len(submissions)
    for (_, rows), row in zip(jobs_of_submission, submissions, strict=True):
        assert len(rows) == (24 if row["array"] else 1)
        assert set(rows["job_name"]) == {row["name"]}
        assert set(rows["user"]) == {row["user"]}
        seconds = rows["runtime"] - float(row["runtime"])
        assert seconds.between(0, 30).all()  # processes start and end on a fast clock
        used = rows["used_memory_gb"] * 1024 / rows["nodes"]
        assert (used - float(row["rss"])).abs().max() < 2
    assert len(jobs) == 511


def test_the_log_is_of_five_users_on_24_nodes_for_24_to_36_hours(log, jobs):
    assert jobs["user"].nunique() == 5
    assert jobs["account"].nunique() == 3
    assert log.machine.node_count == 24
    end = jobs["submit"] + jobs["wait"] + jobs["runtime"]
    assert 24 * HOUR <= end.max() - jobs["submit"].min() <= 36 * HOUR


def test_the_log_has_gpus_an_array_and_dependencies(jobs, submissions):
    assert (jobs["gpus"] > 0).sum() == sum(bool(row["gres"]) for row in submissions) > 0
    assert jobs["id"].astype(str).str.contains("_").sum() == 24
    chained = [row for row in submissions if row["dependency"]]
    assert len(chained) == (jobs["dependency"] != "").sum() == 2


def test_requests_are_2_to_8_times_the_use_in_time_and_memory(jobs):
    for part in (jobs["runtime"] / jobs["estimate"], jobs["used_memory_gb"] / jobs["memory_gb"]):
        assert part.notna().all()
        assert part.min() >= 1 / 8
        assert part.max() <= 1 / 2


def test_jobs_queue_by_day_and_the_machine_is_idle_at_night(jobs):
    start = jobs["submit"] + jobs["wait"]
    end = start + jobs["runtime"]
    first = 6 * HOUR  # of the day, when the first job was submitted

    def waiting_and_running(hour):
        time = hour * HOUR - first
        waiting = (jobs["submit"] < time) & (start > time)
        return int(waiting.sum()), int(((start <= time) & (end > time)).sum())

    by_day = [waiting_and_running(hour) for hour in range(11, 18)]
    by_night = [waiting_and_running(hour) for hour in range(24, 31)]
    assert min(waiting for waiting, _ in by_day) >= 10
    assert max(waiting for waiting, _ in by_night) == 0
    assert np.mean([running for _, running in by_night]) < 10
    assert 10 * 60 <= jobs["wait"].mean() <= 60 * 60


def test_the_audit_names_the_simulator_as_reference_and_states_its_agreement(audit):
    data, page = audit
    assert {row["policy"] for row in data["rows"]} == {"slurm-backfill"}
    judgement = data["judgement"]
    assert judgement["verdict"] == "explained"
    assert judgement["waiting_jobs"] > 200
    assert judgement["within_five"] >= 0.85
    near = f"{100 * judgement['within_five']:.0f}% of these jobs start within five minutes"
    assert near in html.unescape(page)


def test_with_the_recorded_clocks_every_job_starts_when_and_where_it_did():
    recording = read_recording(CLUSTER / "recording.json.gz")
    (run,) = recording.runs
    run_agreement = agreement(recording, run, replay=True)
    assert run_agreement.good == len(run.start) == 511
    planned, alike = run_agreement.planned
    assert planned == alike == 25195


def test_the_simulator_has_the_mean_wait_of_the_log(audit, jobs):
    logged = (jobs["submit"] + jobs["wait"] - jobs["eligible"]).mean()
    assert named(audit, "as it is")["mean_wait"] == pytest.approx(logged, rel=0.03)


@pytest.mark.parametrize("change", EFFECTS)
def test_a_what_if_of_the_demo_has_a_clear_effect(audit, change):
    today, row = (named(audit, name) for name in ("as it is", change))
    assert not row["noise"]
    assert np.sign(row["difference"]) == EFFECTS[change]
    assert abs(row["difference"]) > 0.1 * today["mean_wait"]
    low, high = row["difference_p05"], row["difference_p95"]
    assert low <= row["difference"] <= high
    assert np.sign(low) == np.sign(high) == EFFECTS[change]


def test_a_what_if_of_the_demo_has_no_effect(audit):
    row = named(audit, NO_EFFECT)
    assert row["noise"]
    assert row["difference"] == 0


def named(audit, change):
    (row,) = [row for row in audit[0]["rows"] if row["what_if"] == change]
    return row


def test_right_sizes_shorten_the_waits_of_the_demo(log):
    sizes = cs.cluster.rightsize(log, risk=0.05)
    assert sizes.advice["enough"].all()
    replay = sizes.replay().set_index(["policy", "who"])
    today, advised = (replay.loc["slurm-backfill", who] for who in ("nobody, as now", "all"))
    assert advised["mean_wait"] < 0.75 * today["mean_wait"]
    assert advised["reserved_core_hours"] < 0.6 * today["reserved_core_hours"]
    assert advised["killed"] <= 0.05 * len(log)


def test_make_demo_asks_these_what_ifs():
    recipe = (REPO / "Makefile").read_text().replace('"', "")
    for change in (*EFFECTS, NO_EFFECT):
        assert f"--what-if {change} " in recipe
