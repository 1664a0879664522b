"""Logs of Nextflow, Snakemake, GNU parallel and hyperfine: fields, notes, damaged files."""

import csv
import json
import math
import random
import shutil
from datetime import timezone
from pathlib import Path

import numpy as np
import pytest
from note_facts import counts

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.execution.batches.task_list import TaskList
from cosched.execution.runs_file import read_measurements, read_runs
from cosched.profiles.task_logs.hyperfine import codes_of_results
from cosched.profiles.task_logs.reading import TaskLogSummary, tasks_of_log
from cosched.profiles.task_logs.recognition import TaskLogFormat, recognize_task_log
from cosched.profiles.task_logs.task import parse_units
from support import damaged_bytes

FOLDER = Path(__file__).parents[2] / "fixtures" / "task_logs"
FORMATS = {
    "trace.txt": TaskLogFormat.NEXTFLOW_TRACE,
    "trace_raw.csv": TaskLogFormat.NEXTFLOW_TRACE,
    "trace_script.txt": TaskLogFormat.NEXTFLOW_TRACE,
    "history": TaskLogFormat.NEXTFLOW_HISTORY,
    "benchmark_3.tsv": TaskLogFormat.SNAKEMAKE_BENCHMARK,
    "benchmark_4.tsv": TaskLogFormat.SNAKEMAKE_BENCHMARK,
    "benchmark_7.tsv": TaskLogFormat.SNAKEMAKE_BENCHMARK,
    "benchmarks": TaskLogFormat.SNAKEMAKE_BENCHMARK,
    "benchmarks_extended": TaskLogFormat.SNAKEMAKE_BENCHMARK,
    "efficiency_1_2.csv": TaskLogFormat.SNAKEMAKE_EFFICIENCY,
    "efficiency_2_8.csv": TaskLogFormat.SNAKEMAKE_EFFICIENCY,
    "efficiency_without_comments.csv": TaskLogFormat.SNAKEMAKE_EFFICIENCY,
    "parallel.log": TaskLogFormat.PARALLEL,
    "hyperfine.json": TaskLogFormat.HYPERFINE,
    "hyperfine_1_20.json": TaskLogFormat.HYPERFINE,
}


def tasks_of(path):
    summary = TaskLogSummary()
    log_format = recognize_task_log(path)
    return list(tasks_of_log(path, log_format, summary, timezone.utc)), summary


@pytest.mark.parametrize(("name", "log_format"), FORMATS.items())
def test_a_log_is_told_by_its_content(tmp_path, name, log_format):
    assert recognize_task_log(FOLDER / name) is log_format
    if (FOLDER / name).is_file():
        shutil.copy(FOLDER / name, tmp_path / "renamed.dat")
        assert recognize_task_log(tmp_path / "renamed.dat") is log_format


@pytest.mark.parametrize("name", FORMATS)
def test_a_log_is_read_as_jobs_and_as_runs(name):
    tasks, summary = tasks_of(FOLDER / name)
    assert tasks
    assert all(task.line >= 1 and task.code for task in tasks)
    instance = cs.cluster.Instance.read(FOLDER / name, nodes=8)
    assert len(instance) == sum(not math.isnan(task.seconds) for task in tasks)
    runs = read_runs(FOLDER / name)
    completed = [task for task in tasks if task.state in ("COMPLETED", "UNKNOWN")]
    assert sum(run.status == "completed" for run in runs) == len(completed)
    dropped = counts(instance.notes, NoteKind.DROPPED)
    for reason, lines in summary.skipped.items():
        assert dropped[reason] == len(lines)


def test_a_trace_with_texts_for_people():
    tasks, summary = tasks_of(FOLDER / "trace.txt")
    assert [task.code for task in tasks] == ["FASTQC", "ALIGN", "ALIGN", "MULTIQC", "REPORT"]
    assert tasks[1].name == "ALIGN (s1 (deep))"
    assert [task.seconds for task in tasks[:4]] == [62.0, 5940.0, 93600.0, 0.931]
    assert [task.state for task in tasks] == [
        "COMPLETED", "FAILED", "COMPLETED", "COMPLETED", "CANCELLED",
    ]  # fmt: skip
    assert tasks[0].used_memory == 512 * 2**20
    assert tasks[2].used_memory == 15.6 * 2**30
    assert tasks[0].cpu_seconds == pytest.approx(1.8 * 62)
    assert math.isnan(tasks[3].cpu_seconds)
    assert [task.is_cached for task in tasks] == [False, False, False, True, False]
    assert tasks[0].submit == 1733389703.0
    assert tasks[0].start == 1733389703.0 + 90 - 62  # duration is from the submission on
    assert summary.skipped == {
        "not ended yet": [7], "its fields are not those of the header": [8],
    }  # fmt: skip


def test_a_trace_with_raw_numbers_and_another_separator():
    tasks, _ = tasks_of(FOLDER / "trace_raw.csv")
    first, second, third = tasks
    assert (first.submit, first.start, first.seconds) == (1733389703.0, 1733389713.0, 62.0)
    assert (first.cores, first.limit, first.memory) == (2, 3600.0, 2.0**32)
    assert (first.queue, first.host, first.cpu_seconds) == ("short", "node1", 1.8 * 62)
    assert (second.state, third.state, third.attempt) == ("TIMEOUT", "COMPLETED", 2)
    instance = cs.cluster.Instance.read(FOLDER / "trace_raw.csv", nodes=8)
    assert instance.column("wait").tolist() == [10.0, 10.0, 10.0]
    assert instance.column("estimate").tolist() == [3600.0, 3600.0, 7200.0]
    assert instance.column("memory_gb").tolist() == [4.0, 8.0, 16.0]
    assert instance.column("job_name").tolist() == ["FASTQC", "ALIGN", "ALIGN"]
    assert instance.column("status").tolist() == ["completed", "timeout", "completed"]


def test_a_script_of_several_lines_is_one_record():
    tasks, summary = tasks_of(FOLDER / "trace_script.txt")
    assert [task.command for task in tasks] == ["echo\tone\n  cat two", "echo three"]
    assert [(task.line, task.seconds) for task in tasks] == [(2, 60.0), (5, 120.0)]
    assert not summary.skipped


def test_a_history_has_a_job_for_each_run_of_a_pipeline():
    tasks, summary = tasks_of(FOLDER / "history")
    assert [(task.seconds, task.state) for task in tasks] == [
        (28 * 3600 + 192, "COMPLETED"), (0.931, "FAILED"),
    ]  # fmt: skip
    assert summary.skipped == {"not ended yet": [3]}


def test_benchmark_files_of_a_folder_have_their_names():
    runs = read_runs(FOLDER / "benchmarks")
    assert [run.task for run in runs] == ["count/a"] * 3 + ["count/b"] * 3 + ["slow"]
    tasks, _ = tasks_of(FOLDER / "benchmarks_extended")
    assert {(task.code, task.name, task.cores) for task in tasks} == {
        ("count", "count (s=a)", 2), ("count", "count (s=b)", 2), ("slow", "slow", 1),
    }  # fmt: skip
    assert tasks[-1].memory == 100 * 2**20
    (first, second) = tasks_of(FOLDER / "benchmark_4.tsv")[0]
    assert (first.seconds, first.used_memory) == (62.5312, 512.25 * 2**20)
    assert first.cpu_seconds == pytest.approx(1.8 * 62.5312)
    assert math.isnan(second.used_memory)


def test_an_efficiency_report_has_jobs_of_their_rows_and_steps():
    (job,) = tasks_of(FOLDER / "efficiency_1_2.csv")[0]
    assert (job.number, job.code, job.seconds, job.cores) == ("7", "map", 600.0, 4)
    assert (job.memory, job.used_memory) == (4000 * 2**20, 2048000 * 2**10)
    assert job.cpu_seconds == 35 * 60 + 12
    jobs = tasks_of(FOLDER / "efficiency_2_8.csv")[0]
    assert [job.code for job in jobs] == ["map", "map", "sort"]
    assert [job.seconds for job in jobs] == [598.0, 93600.0, 29.0]
    assert [job.memory for job in jobs] == [8000 * 2**20, 8 * 2**30, 2 * 2**30]


def test_a_job_log_of_parallel():
    tasks, _ = tasks_of(FOLDER / "parallel.log")
    with (FOLDER / "parallel.log").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert [task.seconds for task in tasks] == [float(row["JobRuntime"]) for row in rows]
    assert [task.start for task in tasks] == [float(row["Starttime"]) for row in rows]
    assert [task.state for task in tasks] == [
        "COMPLETED", "FAILED", "COMPLETED", "CANCELLED", "COMPLETED",
    ]  # fmt: skip
    assert tasks[-1].command == "echo a\necho b"
    notes = counts(read_measurements(FOLDER / "parallel.log").notes, NoteKind.DROPPED)
    assert notes == {"failed runs": 2}


def test_an_export_of_hyperfine_is_a_sweep():
    runs = read_runs(FOLDER / "hyperfine.json")
    results = json.loads((FOLDER / "hyperfine.json").read_text())["results"]
    assert [run.seconds for run in runs if run.task == "sleep 0.{threads}"] == [
        time for result in results for time in result["times"] if "exit" not in result["command"]
    ]
    assert {(run.task, run.processors, run.status) for run in runs} == {
        ("sleep 0.{threads}", 1, "completed"), ("sleep 0.{threads}", 2, "completed"),
        ("sleep 0.1; exit {threads}", 1, "failed"), ("sleep 0.1; exit {threads}", 2, "failed"),
    }  # fmt: skip
    first, second, old = tasks_of(FOLDER / "hyperfine_1_20.json")[0]
    assert (first.used_memory, first.state, second.state) == (2**20, "COMPLETED", "FAILED")
    assert (old.seconds, old.state, first.cpu_seconds) == (3.0, "UNKNOWN", 2.5)


def test_the_template_of_a_sweep_is_the_one_that_all_commands_share():
    results = [
        {"command": f"./fem -n 2 --threads {p} -o {p}.out", "parameters": {"threads": str(p)}}
        for p in (1, 2, 4)
    ]
    assert set(codes_of_results(results)) == {"./fem -n 2 --threads {threads} -o {threads}.out"}


def test_plans_are_made_of_logs(tmp_path, capsys):
    assert main(["plan", str(FOLDER / "hyperfine.json"), "-o", str(tmp_path / "p.json")]) == 0
    plan = json.loads((tmp_path / "p.json").read_text())
    assert [row["name"] for row in plan["placements"]] == ["sleep 0.{threads}"]
    instance = cs.packs.Instance.read(FOLDER / "trace_raw.csv", counts="measured")
    assert set(instance.names) == {"FASTQC", "ALIGN"}
    assert cs.moldable.Instance.read(FOLDER / "benchmarks").jobs == 3
    assert capsys.readouterr().out.count("read as hyperfine --export-json") == 1


def test_batches_are_made_of_logs_with_commands(tmp_path):
    tasks = TaskList.read(FOLDER / "parallel.log")
    assert [task.commands[1][-1] for task in tasks.tasks] == [
        "sleep 0.2", r'printf "a\tb"', "echo a\necho b",
    ]  # fmt: skip
    assert tasks.tasks[2].seconds[1] == 0.001
    with pytest.raises(InvalidInstance, match="which has no command lines"):
        TaskList.read(FOLDER / "trace.txt")
    path = tmp_path / "list.csv"
    path.write_text("command,name,cores\n./f 1,FASTQC (s1),2\n./a 1,ALIGN,4\n")
    measured = TaskList.read(path, runs=FOLDER / "trace_raw.csv")
    assert [list(task.seconds.values()) for task in measured.tasks] == [[62.0], [3800.0]]


def test_rightsize_advises_steps_without_requests(tmp_path):
    random_seconds = np.random.default_rng(1).uniform(100, 1000, 200)
    rows = ["name\tstatus\texit\tsubmit\trealtime\tpeak_rss"]
    rows += [
        f"MAP (s{k})\tCOMPLETED\t0\t2025-01-01 00:{k % 60:02}:00\t{seconds:.0f}s\t{1 + k % 3} GB"
        for k, seconds in enumerate(random_seconds)
    ]
    (tmp_path / "trace.txt").write_text("\n".join(rows))
    instance = cs.cluster.Instance.read(tmp_path / "trace.txt")
    advice = cs.cluster.rightsize(instance, risk=0.05).advice.iloc[0]
    assert advice["name"] == "MAP"
    assert (advice["limit"], advice["memory_gb"]) == (1800.0, 3.0)
    assert bool(advice["enough"])


def write_duration(seconds, random_source):
    """Milliseconds as Nextflow prints them, or as a number."""
    if random_source.random() < 0.5:
        return str(round(seconds * 1000))
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    if seconds < 60:
        return f"{seconds:.1f}s"
    total = round(seconds)
    parts = ((total // 86400, "d"), (total // 3600 % 24, "h"), (total // 60 % 60, "m"))
    texts = [f"{count}{unit}" for count, unit in parts if count]
    return " ".join([*texts, f"{total % 60}s"] if total % 60 else texts)


@pytest.mark.parametrize("seed", range(8))
def test_random_traces_against_what_was_written(tmp_path, seed):
    source = random.Random(seed)
    separator = source.choice(["\t", ",", ";", " | "])
    fields = ["task_id", "name", "status", "realtime", "peak_rss", "cpus", "submit"]
    source.shuffle(fields)
    expected, lines = [], [separator.join(fields)]
    for number in range(60):
        seconds = source.choice([source.randrange(1000) / 1000, source.randrange(600) / 10,
                                 float(source.randrange(60, 10**6))])  # fmt: skip
        gigabytes, is_raw = source.randrange(1, 100) / 10, source.random() < 0.5
        values = {
            "task_id": str(number), "name": f"P{number % 4} (s{number})",
            "status": source.choice(["COMPLETED", "FAILED", "CACHED", "ABORTED"]),
            "realtime": write_duration(seconds, source),
            "peak_rss": str(round(gigabytes * 2**30)) if is_raw else f"{gigabytes:g} GB",
            "cpus": source.choice(["-", "1", "16"]),
            "submit": source.choice(["2025-03-01 10:00:00.000", "1740823200000"]),
        }  # fmt: skip
        expected.append((seconds, gigabytes, values))
        lines.append(separator.join(values[name] for name in fields))
    (tmp_path / "t").write_text("\n".join(lines) + "\n")
    tasks, summary = tasks_of(tmp_path / "t")
    assert not summary.skipped
    for task, (seconds, gigabytes, values) in zip(tasks, expected, strict=True):
        assert task.seconds == pytest.approx(seconds, abs=5e-4)
        assert task.used_memory / 2**30 == pytest.approx(gigabytes, abs=1e-8)
        assert task.cores == (0 if values["cpus"] == "-" else int(values["cpus"]))
        assert (task.code, task.submit) == (values["name"].split(" ")[0], 1740823200.0)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("trace.txt", "1m 2s", "soon", "line 2, field 'realtime': 'soon': expected a duration"),
        ("trace.txt", "512 MB", "lots", "line 2, field 'peak_rss': 'lots': expected an amount"),
        ("trace.txt", "FAILED", "LOST", "line 3, field 'status': 'LOST': expected one of NEW"),
        ("trace.txt", "2024-12-05 09:08:23.000", "noon", "line 2, field 'submit': 'noon'"),
        ("trace.txt", "180.0%", "all", "line 2, field '%cpu': 'all': expected a percentage"),
        ("trace.txt", "realtime", "native_id", "line 1: 2 fields 'native_id'"),
        ("history", "28h", "28x", "line 1, field 'duration': '28x 3m 12s': expected"),
        ("benchmark_4.tsv", "62.5312", "-1", "line 2, field 's': '-1': expected a number >= 0"),
        ("benchmark_4.tsv", "512.25", "x", "line 2, field 'max_rss': 'x': expected a number"),
        ("efficiency_1_2.csv", "00:10:00", "ten", "line 2, field 'Elapsed': 'ten': expected"),
        ("efficiency_1_2.csv", "4000M", "M", "line 2, field 'ReqMem': 'M': expected an amount"),
        ("parallel.log", "     0.201", "x", "line 2, field 'JobRuntime': 'x': expected"),
        ("hyperfine_1_20.json", "[1.0, 2.0]", "[1.0, -2]", r"results\[0\].times\[1\]: -2"),
        ("hyperfine_1_20.json", "[0, null]", "[0]", r"results\[0\].exit_codes"),
        ("hyperfine_1_20.json", '"./fem -n 9"', "7", r"results\[0\]: expected an object"),
    ],
)  # fmt: skip
def test_a_damaged_cell_is_named(tmp_path, capsys, name, old, new, message):
    text = (FOLDER / name).read_text()
    assert old in text
    path = tmp_path / name
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InvalidInstance, match=message):
        read_runs(path)
    assert main(["plan", str(path), "-o", str(tmp_path / "p.json")]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert errors.startswith("cosched: error: ")
    assert not (tmp_path / "p.json").exists()


def read_jobs(path):
    return cs.cluster.Instance.read(path, nodes=4)


def refusal_of(read, path):
    """What a reader says of a file that it refuses; empty for one that it reads."""
    try:
        read(path)
    except InvalidInstance as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", [name for name in FORMATS if (FOLDER / name).is_file()])
def test_damaged_files_end_in_one_line_or_are_read(tmp_path, name):
    data = (FOLDER / name).read_bytes()
    source = random.Random(name)
    path = tmp_path / name
    for _ in range(60):
        path.write_bytes(damaged_bytes(data, source))
        for read in (read_runs, read_jobs):
            message = refusal_of(read, path)
            assert "\n" not in message
            assert not message or path.name in message


def test_units_of_durations():
    assert parse_units("1d 2h 3m 4.5s") == 86400 + 7200 + 180 + 4.5
    assert parse_units("2 days") == 172800.0
    assert [parse_units(text) for text in ("", "5", "5x", "1m,2s")] == [None] * 4
