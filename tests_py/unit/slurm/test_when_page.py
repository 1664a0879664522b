"""``when`` as a page and as metrics: whole files, in a real browser, without a network."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
import web
from unit.slurm.test_when import NOW, folder_of

from cosched.cli import main
from cosched.reports.when import when_page as page
from cosched.slurm.live.prometheus import prometheus


def answer(rows, **attrs):
    columns = ("job", "p05", "p25", "p50", "p75", "p95", "reason", "has_history")
    frame = pd.DataFrame([dict(zip(columns, row, strict=True)) for row in rows])
    frame.attrs = {"taken": float(NOW), "not_modelled": [], "coverage": None} | attrs
    return frame


def many(count):
    """As many jobs as a full cluster has; every tenth never starts."""
    random = np.random.default_rng(1)
    rows = []
    for job in range(count):
        levels = np.sort(random.exponential(10_000.0, 5)).tolist()
        never = job % 10 == 9
        rows.append((4000 + job, *([math.inf] * 5 if never else levels), "<b>nodes</b>", True))
    return answer(rows, coverage=0.87, not_modelled=["burst buffers"])


def test_metrics_are_what_the_table_says():
    frame = answer([(7, 0.0, 1.5, 60.0, 1e6, math.inf, "", True)])
    lines = prometheus(frame).splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert {key: float(value) for key, value in values.items()} == {
        'cosched_start_seconds{job="7",quantile="0.05"}': 0.0,
        'cosched_start_seconds{job="7",quantile="0.25"}': 1.5,
        'cosched_start_seconds{job="7",quantile="0.5"}': 60.0,
        'cosched_start_seconds{job="7",quantile="0.75"}': 1e6,
        'cosched_start_seconds{job="7",quantile="0.95"}': math.inf,
        "cosched_snapshot_timestamp_seconds": float(NOW),
    }
    assert sum(line.startswith("# TYPE") for line in lines) == 2


def test_the_page_has_all_jobs_and_escapes_what_others_wrote():
    text = page(many(30))
    assert text.count("<tr id=") == 30
    assert "<b>nodes" not in text
    assert "Of such 90% prediction intervals 87% held in the job history." in text
    assert "Not modelled: burst buffers" in text
    assert not re.search(r"(src|href)=", text)
    assert "none is expected to start" in page(answer([(1, *[math.inf] * 5, "held", True)]))


def test_bars_lie_inside_their_track():
    frame = many(200)
    for left_percent, width in re.findall(r"left:([\d.]+)%;width:([\d.]+)%", page(frame)):
        assert 0 <= float(left_percent) <= float(left_percent) + float(width) <= 100.2


@pytest.fixture(scope="module")
def browser():
    with web.started() as chrome:
        yield chrome


@pytest.mark.parametrize("width", [1300, 400])
def test_two_thousand_jobs_in_a_browser(browser, tmp_path, width):
    path = tmp_path / "when.html"
    path.write_text(page(many(2000)), encoding="utf-8")
    browser.set_window_size(width, 900)
    browser.get(f"{path.as_uri()}?job=4711")
    shown_rows = browser.execute_script(
        "return [...document.querySelectorAll('tbody tr')].filter(r => !r.hidden)"
        ".map(r => r.dataset.job)"
    )
    assert shown_rows == ["4711"]
    field = browser.find_element("css selector", "input")
    field.clear()
    field.send_keys("400")
    match_count = browser.find_element("css selector", "output").text
    assert match_count == f"{sum('400' in str(4000 + k) for k in range(2000))} of 2000 jobs"
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) <= 0
    web.assert_no_errors(browser)


def test_the_command_writes_page_and_metrics(tmp_path, capsys):
    folder = folder_of(tmp_path / "now")
    files = {"-o": tmp_path / "when.html", "--prometheus": tmp_path / "cosched.prom"}
    options = [str(part) for pair in files.items() for part in pair]
    numbers = tmp_path / "when.json"
    assert main(["when", str(folder), "--draws", "5", *options, "-o", str(numbers)]) == 0
    assert 'data-job="2"' in files["-o"].read_text()
    assert 'cosched_start_seconds{job="3",quantile="0.95"}' in files["--prometheus"].read_text()
    headline, *last_lines = capsys.readouterr().out.splitlines()
    assert headline.startswith("2 jobs, as of ")
    assert last_lines == [f"wrote {files['-o']}", f"wrote {numbers}"]
    assert main(["when", str(folder), "--draws", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(numbers.read_text())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "when.txt"], ".html"),
        (["-o", "a.html", "-o", "b.html"], "two files end in .html"),
        (["--prometheus", "cosched.txt"], "unsupported format (use .prom)"),
        (["--backtest", "sacct.txt", "-o", "when.html"], "unsupported format (use .json)"),
        (["-w", "0"], "expected a positive number of seconds"),
        (["-w", "nan"], "-w"),
    ],
)
def test_refusals_are_one_line(tmp_path, capsys, options, said):
    folder = folder_of(tmp_path / "now")
    assert main(["when", str(folder), "--draws", "5", *options]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_the_page_says_whose_the_jobs_are_and_what_they_request():
    rows = [(7, 0.0, 1.0, 60.0, 90.0, 120.0, "Resources", True)]
    requests = {7: {"user": "<ada>", "partition": "gpu", "nodes": 2, "cpus": 32}}
    text = page(answer(rows, requests=requests))
    assert "<td>7</td><td>&lt;ada&gt;</td><td>gpu</td><td>32</td>" in text
    assert "<th>user</th>" not in page(answer(rows))
