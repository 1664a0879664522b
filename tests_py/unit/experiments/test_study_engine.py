"""Studies: plans, the state folder, the local engine. No row lost, none twice."""

import json
import os
import random
import re
import resource
import signal
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cosched as cs
import toy_studies
from cosched import experiments
from cosched.cli import main
from cosched.errors import StudyError
from cosched.experiments import engines
from cosched.experiments.engines import Context, error_outcome, execute
from cosched.experiments.runner import run_campaign, write_results
from cosched.experiments.state import StudyState
from cosched.experiments.study import Study, data_path, make_design
from support import rows_kept, same_results, study_command, wait_for_rows

TASKS = len(toy_studies.plan(False))


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The bytes of results.parquet of a run in one process, for each toy study."""
    bytes_of = {}

    def get(name: str) -> bytes:
        if name not in bytes_of:
            out = tmp_path_factory.mktemp("reference")
            experiments.run(f"toy_studies:{name}", out=out, workers=0)
            bytes_of[name] = (out / "results.parquet").read_bytes()
        return bytes_of[name]

    return get


# --- plans ----------------------------------------------------------------------------------


def planned(tasks):
    study = Study(
        name="x",
        title="",
        family="packs",
        plan=lambda quick: tasks,
        run=dict,
        tables=dict,
        figures=dict,
    )
    return make_design(study, "x", False)


def test_a_plan_is_known_by_its_tasks():
    first = planned([{"a": 1, "b": [1.5, "x"]}, {"a": 2}])
    assert first.digest == planned([{"b": (1.5, "x"), "a": 1}, {"a": 2}]).digest
    assert first.tasks[0]["b"] == [1.5, "x"]
    others = [
        [{"a": 2}, {"a": 1, "b": [1.5, "x"]}],
        [{"a": 1, "b": [1.5, "x"]}],
        [{"a": 1}, {"a": 2}],
    ]
    assert len({first.digest, *(planned(other).digest for other in others)}) == 4


@pytest.mark.parametrize(
    ("tasks", "part"),
    [
        ([], "no tasks"),
        ([{"a": 1}, {"a": 2}, {"a": 1}], "tasks 0 and 2 are the same"),
        ([{"task": 1}], "'task' is reserved"),
        ([{"seconds_lp": 1}], "'seconds_lp' is reserved"),
        ([{"a": np.int64(1)}], "not plain data"),
        ([{"a": float("nan")}], "not plain data"),
        ([{1: 1}], "texts as keys"),
        ([3], "expected a dictionary"),
    ],
)
def test_bad_plans(tasks, part):
    with pytest.raises(StudyError, match=part):
        planned(tasks)


def test_studies_are_found():
    assert list(experiments.STUDIES) == [study.name for study in experiments.STUDIES.values()]
    assert experiments.find("toy_studies:TOY") is toy_studies.TOY
    for name in (
        "packs-fig25",
        "toy_studies:NONE",
        "no_such_module:TOY",
        ":",
        "toy_studies:NOT_A_STUDY",
    ):
        with pytest.raises(ValueError, match="study"):
            experiments.find(name)
    for name in ("all", "Toy", "a b", "../x", ""):
        with pytest.raises(ValueError, match="study name"):
            Study(name=name, title="", family="", plan=list, run=dict, tables=dict, figures=dict)


def test_every_plan_of_the_package():
    for name, study in experiments.STUDIES.items():
        quick = make_design(study, name, True)
        assert quick == make_design(study, name, True)
        assert study.title
        assert study.paper
        if not study.missing(quick=False):
            assert make_design(study, name, False).digest != quick.digest


# --- state ----------------------------------------------------------------------------------


@pytest.fixture
def plan():
    return make_design(toy_studies.TOY, "toy_studies:TOY", True)


@pytest.fixture
def context():
    return Context.here("toy_studies:TOY")


def outcomes(context, plan):
    return [execute(context, number, task) for number, task in enumerate(plan.tasks)]


def opened(folder, plan, version="1", resume=False):
    return StudyState.open(folder, plan, version, resume)


def test_rows_survive_and_duplicates_change_nothing(tmp_path, plan, context):
    all_outcomes = outcomes(context, plan)
    state = opened(tmp_path, plan)
    state.add(all_outcomes[:5])
    state.flush()
    state.add([all_outcomes[4], all_outcomes[3], all_outcomes[6], all_outcomes[6]])
    state.close()
    reopened = opened(tmp_path, plan, resume=True)
    assert reopened.outcomes == {k: all_outcomes[k] for k in (0, 1, 2, 3, 4, 6)}
    assert reopened.pending() == [5, *range(7, len(plan.tasks))]
    reopened.add(all_outcomes)
    reopened.close()
    assert rows_kept(tmp_path) == len(plan.tasks)


def test_a_result_replaces_an_error_but_not_the_other_way(tmp_path, plan, context):
    good = execute(context, 0, plan.tasks[0])
    bad = error_outcome(0, "no luck")
    state = opened(tmp_path, plan)
    state.add([bad])
    assert 0 in state.pending()
    state.add([good, bad, error_outcome(1, "none yet")])
    state.close()
    reopened = opened(tmp_path, plan, resume=True)
    assert reopened.outcomes[0] == good
    assert 0 not in reopened.pending()
    assert 1 in reopened.pending()
    reopened.close()


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({}, "1 of 12 rows of toy_studies:TOY are there: add --resume"),
        ({"resume": True, "version": "2"}, 'another version of cosched ("1", this is "2")'),
        ({"resume": True, "quick": False}, "another value of --quick (true, this is false)"),
        ({"resume": True, "study": "toy_studies:RAISES"}, "another study"),
        ({"resume": True, "tasks": 3}, "another plan (12 tasks, this has 3)"),
    ],
)
def test_a_state_of_something_else_is_refused(change, part, tmp_path, plan, context):
    state = opened(tmp_path, plan)
    state.add([execute(context, 0, plan.tasks[0])])
    state.close()
    before = (tmp_path / "state" / "rows.sqlite").read_bytes()
    study = experiments.find(change.get("study", "toy_studies:TOY"))
    other = make_design(study, change.get("study", "toy_studies:TOY"), change.get("quick", True))
    if "tasks" in change:
        other = planned(list(plan.tasks[: change["tasks"]]))
        other = type(other)(plan.study, plan.quick, other.tasks, other.ids, other.digest)
    with pytest.raises(StudyError) as caught:
        opened(tmp_path, other, change.get("version", "1"), change.get("resume", False))
    assert part in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert (tmp_path / "state" / "rows.sqlite").read_bytes() == before
    opened(tmp_path, plan, resume=True).close()  # the refusal left no lock


def test_a_state_without_rows_is_none(tmp_path, plan):
    opened(tmp_path, plan).close()
    opened(tmp_path, planned([{"other": 1}]), version="2").close()
    with pytest.raises(StudyError, match="no such scheduler file"):
        experiments.run("toy_studies:TOY", dask="nowhere.json", out=tmp_path / "out")
    experiments.run("toy_studies:TOY", workers=0, quick=True, out=tmp_path / "out")


def test_two_runs_in_one_folder(tmp_path, plan):
    first = opened(tmp_path, plan)
    with pytest.raises(StudyError, match="another run is at work"):
        opened(tmp_path, plan, resume=True)
    first.close()
    opened(tmp_path, plan, resume=True).close()


@pytest.mark.parametrize("name", ["rows.jsonl", "study.json"])
def test_a_state_of_an_earlier_version_is_refused(name, tmp_path, plan):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / name).write_text("{}")
    with pytest.raises(StudyError, match="no state of this version of cosched: choose another"):
        opened(tmp_path, plan, resume=True)


def test_a_file_that_is_no_database_is_refused(tmp_path, plan):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "rows.sqlite").write_bytes(b"no rows " * 1000)
    with pytest.raises(StudyError, match=r"rows.sqlite: file is not a database: choose another"):
        opened(tmp_path, plan, resume=True)


def test_a_disk_without_room(tmp_path, reference):
    """Files may have 10,000 bytes, which neither the state nor a report has."""
    out = tmp_path / "out"
    driver = study_command(
        *("toy_studies:TOY", "--workers", "1", "--out", out),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, -1)),
        COVERAGE_PROCESS_CONFIG="",  # whose own file would be too large as well
    )
    _, errors = driver.communicate(timeout=120)
    assert driver.returncode == 2, errors
    assert errors.count("\n") == 1, errors
    assert "free some space and run the same command again with --resume; " in errors
    experiments.run("toy_studies:TOY", out=out, workers=0, resume=True)
    assert same_results(out, reference("TOY"))


def test_damaged_bytes_are_noticed(tmp_path, reference, capsys):
    """A byte changed anywhere in the state: refused in a line, or the tasks run again."""
    out = tmp_path / "out"
    whole_plan = make_design(experiments.find("toy_studies:TOY"), "toy_studies:TOY", False)
    experiments.run("toy_studies:TOY", out=out, workers=0)
    assert not any(experiments.verify(out).values())
    state = out / "state" / "rows.sqlite"
    state_bytes = state.read_bytes()
    (version,) = re.findall(rb'"version": "([^"]*)"', state_bytes)
    taken_up = opened(out, whole_plan, version.decode(), resume=True)
    taken_up.close()
    draw = random.Random(5)
    refused = lost = 0
    for _ in range(300):
        at = draw.randrange(len(state_bytes))
        state.write_bytes(
            state_bytes[:at]
            + bytes([state_bytes[at] ^ draw.randrange(1, 256)])
            + state_bytes[at + 1 :]
        )
        try:
            experiments.verify(out)
            damaged = opened(out, whole_plan, version.decode(), resume=True)
        except StudyError:
            refused += 1
            continue
        damaged.close()
        assert damaged.outcomes.items() <= taken_up.outcomes.items(), at
        lost += len(damaged.outcomes) < TASKS
    assert refused
    assert lost
    assert "are damaged: their tasks run again" in capsys.readouterr().err
    experiments.run("toy_studies:TOY", out=out, workers=0, resume=True)
    assert same_results(out, reference("TOY"))
    (out / "report.html").write_text("no report")
    (out / "timings.parquet").unlink()
    verification = experiments.verify(out)
    assert {name: what for name, what in verification.items() if what} == {
        "report.html": "is another",
        "timings.parquet": "is missing",
    }
    assert main(["study", "verify", str(out)]) == 1
    with pytest.raises(StudyError, match=r"no study: it has no state/rows.sqlite"):
        experiments.verify(tmp_path)


# --- results --------------------------------------------------------------------------------


def test_results_and_timings_are_apart(tmp_path):
    result = experiments.run("toy_studies:TOY", quick=True, out=tmp_path, workers=0)
    rows = pd.read_parquet(tmp_path / "results.parquet")
    assert list(rows.columns) == [
        *("task", "draw", "algorithm", "options", "status"),
        *("value", "count", "some", "only_b", "message"),
    ]
    assert rows.task.tolist() == list(range(12))
    assert rows.dtypes.loc[["task", "draw", "count"]].tolist() == [np.dtype("int64")] * 3
    assert rows["options"][0] == '{"half": true}'
    assert rows.only_b[1] == "[1, 2.5]"
    assert rows.value[0] == np.random.default_rng(0).normal()  # to the last bit
    assert rows.some.isna().sum() == 3
    assert np.isinf(rows.some).sum() == 9
    timings = pd.read_parquet(tmp_path / "timings.parquet")
    assert list(timings.columns) == ["task", "seconds", "seconds_inner"]
    assert (timings.seconds_inner == 0.5).all()
    assert set(result.frame) == set(rows) | set(timings)
    assert (tmp_path / "tables" / "means.md").read_text().count("|") > 10
    assert pd.read_csv(tmp_path / "tables" / "means.csv").paper.tolist() == [1.25, 10.0, 9.0]
    assert (tmp_path / "figures" / "values.svg").read_text().startswith("<?xml")
    assert (tmp_path / "figures" / "values.png").stat().st_size > 5000
    assert not result.errors.size
    assert not (tmp_path / "errors.txt").exists()


def test_pictures_and_tables_are_repeatable(tmp_path):
    for name in ("one", "two"):
        experiments.run("toy_studies:TOY", quick=True, out=tmp_path / name, workers=0)
    for path in ("results.parquet", "figures/values.svg", "figures/values.png", "tables/means.md"):
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes()


@pytest.mark.parametrize(
    ("answer", "part"), [(None, "no dictionary"), ({1: 2}, "texts"), ({"a": {2}}, "plain data")]
)
def test_rows_that_are_no_rows(answer, part, monkeypatch):
    monkeypatch.setattr(toy_studies, "TOY", toy_studies.toy(lambda task: answer))
    got = execute(Context("toy_studies:TOY", cs.__version__), 0, {"draw": 0})
    assert got.status == "error"
    assert part in json.loads(got.row)["message"]
    assert "TypeError" in got.detail


def test_missing_data_is_one_clear_line(tmp_path, monkeypatch):
    for folder, message in ((tmp_path, f"is {tmp_path}"), ("", "is not set")):
        monkeypatch.setenv("COSCHED_DATA", str(folder))
        with pytest.raises(
            StudyError,
            match=f"needs pwa/nowhere.gz below COSCHED_DATA, which {message}: .*cosched fetch",
        ):
            experiments.run("toy_studies:NEEDS", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    experiments.run("toy_studies:NEEDS", quick=True, out=tmp_path / "out", workers=0)
    with pytest.raises(StudyError, match="needs pwa/x below"):
        data_path("pwa", "x")


# --- the local engine -----------------------------------------------------------------------


def test_any_number_of_workers_gives_the_same_bytes(tmp_path, reference):
    experiments.run("toy_studies:TOY", out=tmp_path, workers=3)
    assert same_results(tmp_path, reference("TOY"))


def test_a_task_that_raises_is_a_row(tmp_path, reference):
    result = experiments.run("toy_studies:RAISES", out=tmp_path, workers=2)
    assert same_results(tmp_path, reference("RAISES"))
    assert result.errors.message.tolist() == ["ValueError: this one raises"]
    assert len(result.frame) == TASKS
    assert "run_and_raise" in (tmp_path / "errors.txt").read_text()  # the traceback
    good = pd.read_parquet(tmp_path / "results.parquet").drop(index=result.errors.index)
    assert good.value.notna().all()


def test_a_killed_worker_loses_nothing(tmp_path, reference, monkeypatch):
    monkeypatch.setenv("TOY_MARK", str(tmp_path / "mark"))
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))
    result = experiments.run("toy_studies:DIES_ONCE", out=tmp_path / "out", workers=1)
    assert (tmp_path / "mark").exists()
    assert not len(result.errors)
    assert same_results(tmp_path / "out", reference("TOY"))
    runs = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    assert len({pid for pid, _ in runs}) == 2  # the worker was replaced
    assert len(runs) == TASKS  # and nothing but the killed task ran again


def test_a_task_that_kills_its_workers_is_a_row(tmp_path):
    result = experiments.run("toy_studies:DIES", out=tmp_path, workers=2)
    assert result.errors[["draw", "algorithm"]].values.tolist() == [[2, "b"]]
    assert result.errors.message.iloc[0].startswith("WorkerDied: ")
    assert (result.frame.status == "ok").sum() == TASKS - 1


def test_a_duplicate_delivery_changes_nothing(tmp_path, plan, context):
    def twice(context, tasks):
        for batch in engines.in_process(context, tasks):
            yield batch + batch
            yield batch

    for name, engine in (("once", engines.in_process), ("twice", twice)):
        state = opened(tmp_path / name, plan)
        run_campaign(plan, state, engine, context)
        write_results(plan, state)
        state.close()
    assert same_results(tmp_path / "twice", (tmp_path / "once" / "results.parquet").read_bytes())
    assert rows_kept(tmp_path / "twice") == len(plan.tasks)


def test_workers_that_cannot_run_the_study_say_so(tmp_path, plan):
    for wrong, part in (
        (Context("toy_studies:TOY", "0.0.1"), "a worker has cosched"),
        (Context("toy_studies:NONE", cs.__version__), "does not know the study"),
    ):
        state = opened(tmp_path / part[:5], plan)
        with pytest.raises(StudyError, match=part):
            run_campaign(plan, state, partial(engines.local, workers=1), wrong)
        state.close()


def test_own_algorithms_go_to_the_workers(tmp_path, own_algorithm, monkeypatch):
    from cosched.experiments.packs import studies as packs

    share = 2

    def own_scheduler(instance, *, seed):  # not importable: it goes by value
        return cs.packs.make_pack(instance, [share] * instance.tasks)

    own_algorithm("packs", "mine", own_scheduler)
    study = experiments.STUDIES["packs-fig2-5"]
    tasks = [task for task in study.plan(True) if task["algorithm"] in ("mine", packs._BOUND)]
    assert len(tasks) == 2 * 5
    context = Context.shipped("packs-fig2-5")
    batches = engines.local(context, list(enumerate(tasks[:4])), workers=1)
    got = {outcome.number: outcome for batch in batches for outcome in batch}
    assert [got[number].status for number in range(4)] == ["ok"] * 4
    values = {tasks[n]["algorithm"]: json.loads(got[n].row)["value"] for n in (0, 1)}
    inst = cs.workloads.packs_ii(seed=0, max_tasks=4)
    assert values["mine"] == cs.packs.solve(inst, "mine").value >= values[packs._BOUND]


# --- interruptions --------------------------------------------------------------------------


@pytest.fixture
def slow_driver(tmp_path):
    """A driver with rows in its state and many more to come, its output folder, its log."""
    (tmp_path / "pace").write_text("0.2")
    environment = {"TOY_SLEEP": str(tmp_path / "pace"), "TOY_LOG": str(tmp_path / "log")}
    out = tmp_path / "out"
    driver = study_command("toy_studies:TOY", "--workers", 2, "--out", out, **environment)
    wait_for_rows(out, driver)
    yield driver, out, tmp_path / "log"
    if driver.poll() is None:
        driver.kill()
        driver.communicate()


@pytest.mark.parametrize(
    "end", [pytest.param(signal.SIGINT, marks=pytest.mark.thorough), signal.SIGTERM]
)
def test_ctrl_c_leaves_a_state_that_resume_takes_up(end, slow_driver, reference):
    driver, out, _ = slow_driver
    if end == signal.SIGINT:
        os.killpg(driver.pid, end)  # as a terminal does: to the driver and its workers
    else:
        os.kill(driver.pid, end)  # as a batch system does
    _, errors = driver.communicate(timeout=180)
    assert driver.returncode == 128 + end
    assert "--resume goes on" in errors
    assert errors.count("\n") == 1, errors
    rows_on_disk = int(errors.split(" of ")[0].split()[-1])
    assert 0 < rows_on_disk < TASKS
    assert not (out / "results.parquet").exists()
    with pytest.raises(StudyError, match=rf"{rows_on_disk} of {TASKS} rows .* add --resume"):
        experiments.run("toy_studies:TOY", out=out)
    experiments.run("toy_studies:TOY", out=out, workers=0, resume=True)
    assert same_results(out, reference("TOY"))


def test_a_killed_driver_takes_its_workers_along(slow_driver, reference):
    driver, out, log = slow_driver
    driver.kill()
    driver.communicate()
    workers = {int(line.split()[0]) for line in log.read_text().splitlines()}
    for _ in range(600):
        alive = [pid for pid in workers if Path(f"/proc/{pid}").exists()]
        if not alive:
            break
        time.sleep(0.1)
    assert not alive
    experiments.run("toy_studies:TOY", out=out, workers=0, resume=True)
    assert same_results(out, reference("TOY"))


def test_the_example_of_the_guide_runs(tmp_path, monkeypatch):
    text = Path(experiments.__file__).with_name("README.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "guide_example.py").write_text(f"{example}\nEXAMPLE = STUDIES[0]\n")
    monkeypatch.syspath_prepend(tmp_path)
    result = experiments.run("guide_example:EXAMPLE", quick=True, out=tmp_path, workers=0)
    assert not len(result.errors), result.errors.message.tolist()
    assert list(result.tables["table1"].columns) == ["algorithm", "relative_cost", "paper"]
