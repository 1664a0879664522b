"""``when -w`` goes on when nobody waits and when a reading fails; answers say how old they are."""

from __future__ import annotations

import json

import pytest
from unit.slurm.test_when import CONFIG, JOBS, NOW, folder_of, json_22_05

import cosched as cs
from cosched.cli import main, start_time_outputs
from cosched.reports.when import when_page as page
from cosched.slurm.live.time_texts import dated

FILES = ("when.html", "cosched.prom")


class _Stop(Exception):
    """Ends the watch, as Ctrl-C does."""


@pytest.fixture
def watch(tmp_path, monkeypatch):
    """Watch a folder: each action is taken between two readings."""

    def run(folder, actions, *options):
        left = iter(actions)

        def sleep(_seconds):
            action = next(left, None)
            if action is None:
                raise _Stop
            action()

        monkeypatch.setattr(start_time_outputs.clock, "sleep", sleep)
        monkeypatch.setattr(start_time_outputs.clock, "time", lambda: NOW + 90.0)
        out, metrics = (tmp_path / name for name in FILES)
        with pytest.raises(_Stop):
            main(["when", str(folder), *options, "--draws", "5", "-w", "60", "-o", str(out),
                  "--prometheus", str(metrics)])  # fmt: skip
        return out.read_text(), metrics.read_text()

    return run


def samples(metrics: str) -> dict[str, float]:
    lines = (line.rsplit(" ", 1) for line in metrics.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in lines}


def leave_running(folder):
    data = json.loads((folder / "squeue.json").read_text())
    data["jobs"] = [json_22_05(JOBS[0])]
    (folder / "squeue.json").write_text(json.dumps(data))


def test_it_goes_on_when_nobody_waits(tmp_path, watch):
    folder = folder_of(tmp_path / "a")
    text, metrics = watch(folder, [lambda: leave_running(folder)])
    assert "No job waits." in text
    assert "<tr id=" not in text
    assert "Stale" not in text
    assert "# TYPE cosched_start_seconds gauge\n# HELP" in metrics  # a family without samples
    assert samples(metrics) == {
        "cosched_snapshot_timestamp_seconds": NOW, "cosched_snapshot_age_seconds": 90.0,
        "cosched_reading_failed": 0.0,
    }  # fmt: skip


def test_it_begins_when_nobody_waits(tmp_path, watch):
    folder = folder_of(tmp_path / "a", jobs=JOBS[:1])
    text, _ = watch(folder, [])
    assert "No job waits." in text


def test_one_reading_that_fails_marks_the_old_page_as_stale(tmp_path, watch, capsys):
    folder = folder_of(tmp_path / "a")
    good = (folder / "squeue.json").read_text()
    text, metrics = watch(folder, [lambda: (folder / "squeue.json").write_text('{"jobs": [')])
    assert 'data-job="2"' in text
    assert "Stale: this answer is 1 min 30 s old. The reading of 2027-01-15 08:01:30 UTC" in text
    assert "squeue.json" in text
    values = samples(metrics)
    assert values["cosched_snapshot_age_seconds"] == 90.0
    assert values["cosched_reading_failed"] == 1.0
    assert 'cosched_start_seconds{job="2",quantile="0.5"}' in values
    error = capsys.readouterr().err
    assert error.startswith("cosched: warning: ")
    assert error.count("\n") == 1
    actions = [
        lambda: (folder / "squeue.json").write_text('{"jobs": ['),
        lambda: (folder / "squeue.json").write_text(good),
    ]
    (folder / "squeue.json").write_text(good)
    text, metrics = watch(folder, actions)
    assert "Stale" not in text
    assert samples(metrics)["cosched_reading_failed"] == 0.0


def test_a_first_reading_that_fails_ends_it(tmp_path, capsys):
    assert main(["when", str(tmp_path / "none"), "-w", "60"]) == 2
    assert "no such file or folder" in capsys.readouterr().err


def test_a_job_that_has_started_is_told_and_the_others_are_shown(tmp_path, watch, capsys):
    folder = folder_of(tmp_path / "a")

    def start_job_2():
        data = json.loads((folder / "squeue.json").read_text())
        data["jobs"][1].update(json_22_05({**JOBS[1], "state": "RUNNING", "start": NOW - 5}))
        (folder / "squeue.json").write_text(json.dumps(data))

    text, _ = watch(folder, [start_job_2], "2", "3")
    assert 'data-job="3"' in text
    assert 'data-job="2"' not in text
    assert "job 2 does not wait: RUNNING" in capsys.readouterr().err
    text, _ = watch(folder, [lambda: leave_running(folder)], "3")
    assert "No job waits." in text
    assert "job 3 does not wait: it has left" in capsys.readouterr().err


def test_a_request_is_answered_while_nobody_waits(tmp_path, watch):
    folder = folder_of(tmp_path / "a", jobs=JOBS[:1])
    text, _ = watch(folder, [], "--nodes", "1", "--time", "10")
    assert 'data-job="2"' in text


@pytest.mark.parametrize(
    ("hours", "date"),
    [(0, "2027-01-15 08:00:00 UTC"),
     (1, "2027-01-15 09:00:00 UTC+01:00 (time zone of the cluster)"),
     (-3.5, "2027-01-15 04:30:00 UTC-03:30 (time zone of the cluster)")],
)  # fmt: skip
def test_answers_say_their_date_in_the_zone_of_the_cluster(tmp_path, capsys, hours, date):
    assert dated(NOW, -3600 * hours) == date
    local = date[:19].replace(" ", "T")
    config = CONFIG.replace("2027-01-15T08:00:00", local)
    times = {"times.json": f'{{"squeue.json": [{NOW}, {NOW}]}}'}
    folder = folder_of(tmp_path / "a", **{"scontrol_config.txt": config}, **times)
    frame = cs.slurm.when(folder, draws=2)
    assert f"Snapshot of {date}</time>" in page(frame)
    assert 'datetime="2027-01-15T08:00:00Z"' in page(frame)
    assert main(["when", str(folder), "--draws", "2"]) == 0
    assert f"as of {date}" in capsys.readouterr().out
    assert main(["when", str(folder), "--draws", "2", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["as_of"] == date
    assert data["taken"] == NOW


def test_an_estimate_of_slurm_in_the_past_is_so_long_ago(tmp_path, capsys):
    jobs = [JOBS[0], {**JOBS[1], "start": NOW - 700}]
    folder = folder_of(tmp_path / "a", jobs=jobs)
    assert main(["when", str(folder), "--draws", "2"]) == 0
    shown = capsys.readouterr().out
    assert "11 min 40 s ago" in shown
    assert "-11 min" not in shown


def test_old_names_of_columns_have_the_same_values(tmp_path, capsys):
    folder = folder_of(tmp_path / "a")
    frame = cs.slurm.when(folder, draws=2)
    assert frame.limits_only.tolist() == frame.limit_based_start.tolist()
    assert frame.calibrated.tolist() == frame.has_history.tolist() == [False, False]
    assert main(["when", str(folder), "--draws", "2", "--json"]) == 0
    for row in json.loads(capsys.readouterr().out)["jobs"]:
        assert row["limits_only"] == row["limit_based_start"]
        assert row["calibrated"] is row["has_history"] is False
    assert main(["when", str(folder), "--draws", "2"]) == 0
    shown = capsys.readouterr().out
    assert "limit_based_start" in shown
    assert "limits_only" not in shown
    assert "worst case" not in shown
