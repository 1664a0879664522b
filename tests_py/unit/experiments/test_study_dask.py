"""Studies on a real Dask scheduler and worker processes: no row lost, none twice."""

import itertools
import os
import signal
import subprocess
import sys
import time
from functools import partial

import pandas as pd
import pytest

import toy_studies
from cosched import experiments
from cosched.errors import StudyError
from cosched.experiments.engines import Context, dask
from cosched.experiments.runner import run_campaign, write_results
from cosched.experiments.state import StudyState
from cosched.experiments.study import make_design
from support import library, rows_kept, same_results, study_command, wait_for_rows, with_toy_studies

library("distributed")
# distributed's own.
pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning", "default::ResourceWarning")

TASKS = len(toy_studies.plan(False))


class Cluster:
    """A scheduler and its workers on loopback, each started as a user would."""

    def __init__(self, folder, workers):
        self.folder = folder
        self.file = str(folder / "scheduler.json")
        self.pace(0)
        self._environment = {
            **with_toy_studies(),
            "TOY_SLEEP": str(folder / "pace"),
            "TOY_MARK": str(folder / "mark"),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
            "DASK_TEMPORARY_DIRECTORY": str(folder),
        }
        self.processes = []
        self.scheduler = self._start("scheduler", "--port", "0")
        for number in range(workers):
            self._start("worker", "--nthreads", "1", "--local-directory", folder / f"{number}")

    def _start(self, role, *arguments):
        options = ["--host", "127.0.0.1", "--scheduler-file", self.file, "--no-dashboard"]
        with (self.folder / f"{role}.log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", role, *options, *map(str, arguments)],
                env=self._environment,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def pace(self, seconds):
        """How long each task sleeps from now on."""
        (self.folder / "pace").write_text(str(seconds))

    def driver(self, study, out):
        """A driver with rows in its state and many more to come."""
        self.pace(0.2)
        process = study_command(study, "--dask", self.file, "--out", out)
        wait_for_rows(out, process)
        return process

    def worker_pids(self, count=1):
        from distributed import Client

        while not os.path.exists(self.file):
            time.sleep(0.05)
        with Client(scheduler_file=self.file, set_as_default=False) as client:
            client.wait_for_workers(count)
            return list(client.run(os.getpid).values())

    def stop(self):
        for process in reversed(self.processes):
            os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    started = Cluster(tmp_path_factory.mktemp("dask"), workers=2)
    started.worker_pids(2)
    yield started
    started.stop()


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    out = tmp_path_factory.mktemp("reference")
    experiments.run("toy_studies:TOY", out=out, workers=0)
    return (out / "results.parquet").read_bytes()


def test_the_same_bytes_as_a_local_run(cluster, tmp_path, reference):
    experiments.run("toy_studies:TOY", dask=cluster.file, out=tmp_path)
    assert same_results(tmp_path, reference)
    assert rows_kept(tmp_path) == TASKS


def test_a_task_that_raises_is_a_row(cluster, tmp_path):
    for name, engine in (("here", {"workers": 0}), ("dask", {"dask": cluster.file})):
        result = experiments.run("toy_studies:RAISES", out=tmp_path / name, **engine)
        assert result.errors.message.tolist() == ["ValueError: this one raises"]
        assert "run_and_raise" in (tmp_path / name / "errors.txt").read_text()
    assert same_results(tmp_path / "dask", (tmp_path / "here" / "results.parquet").read_bytes())


@pytest.mark.thorough
def test_workers_killed_in_the_middle(cluster, tmp_path, reference):
    """A Dask worker by SIGKILL from outside, a process of the other by its task."""
    driver = cluster.driver("toy_studies:DIES_ONCE", tmp_path)
    killed, other = cluster.worker_pids(2)
    os.kill(killed, signal.SIGKILL)
    cluster.pace(0)
    _, errors = driver.communicate(timeout=180)
    assert driver.returncode == 0, errors
    assert (cluster.folder / "mark").exists()
    assert killed not in cluster.worker_pids()
    assert other in cluster.worker_pids()
    assert same_results(tmp_path, reference)
    assert rows_kept(tmp_path) == TASKS


@pytest.mark.thorough
def test_a_task_that_kills_its_workers_is_a_row(cluster, tmp_path):
    result = experiments.run("toy_studies:DIES", dask=cluster.file, out=tmp_path)
    assert result.errors[["draw", "algorithm"]].values.tolist() == [[2, "b"]]
    assert result.errors.message.iloc[0].startswith("WorkerDied: ")
    assert (result.frame.status == "ok").sum() == TASKS - 1


def test_a_restarted_driver_goes_on(cluster, tmp_path, reference):
    driver = cluster.driver("toy_studies:TOY", tmp_path)
    driver.kill()
    driver.communicate()
    assert 0 < rows_kept(tmp_path) < TASKS
    cluster.pace(0)
    experiments.run("toy_studies:TOY", dask=cluster.file, out=tmp_path, resume=True)
    assert same_results(tmp_path, reference)
    assert rows_kept(tmp_path) == TASKS


def test_a_duplicate_delivery_changes_nothing(cluster, tmp_path):
    """The same tasks handed to the cluster twice: each runs twice and is delivered twice."""

    def twice(context, tasks):
        once = partial(dask, address=cluster.file)
        yield from itertools.chain(once(context, tasks), once(context, tasks[:7]))

    plan = make_design(toy_studies.TOY, "toy_studies:TOY", True)
    context = Context.shipped("toy_studies:TOY")
    state = StudyState.open(tmp_path, plan, context.version, False)
    run_campaign(plan, state, twice, context)
    write_results(plan, state)
    state.close()
    assert rows_kept(tmp_path) == len(plan.tasks)
    experiments.run("toy_studies:TOY", quick=True, workers=0, out=tmp_path / "here")
    assert same_results(tmp_path, (tmp_path / "here" / "results.parquet").read_bytes())
    assert len(pd.read_parquet(tmp_path / "results.parquet")) == len(plan.tasks)


def test_workers_of_another_version_are_refused(cluster):
    wrong = Context("toy_studies:TOY", "0.0.1")
    with pytest.raises(StudyError, match="a worker has cosched"):
        list(dask(wrong, list(enumerate(toy_studies.plan(True))), cluster.file))


@pytest.mark.parametrize(
    ("address", "part"),
    [
        ("127.0.0.1:1", "no Dask scheduler answers at 127.0.0.1:1"),
        ("nowhere.json", "no such scheduler file"),
        ("a b", "expected HOST:PORT"),
        ("localhost", "expected HOST:PORT"),
    ],
)
def test_bad_addresses(address, part):
    with pytest.raises(StudyError, match=part):
        list(dask(Context.here("toy_studies:TOY"), [(0, {})], address, timeout=1))


@pytest.mark.thorough
def test_a_lost_scheduler_leaves_a_state(cluster, tmp_path, reference):
    """The last test of this cluster."""
    driver = cluster.driver("toy_studies:TOY", tmp_path)
    cluster.scheduler.kill()
    _, errors = driver.communicate(timeout=180)
    assert driver.returncode == 2
    assert "lost the Dask scheduler" in errors.splitlines()[-1]
    assert 0 < rows_kept(tmp_path) < TASKS
    experiments.run("toy_studies:TOY", workers=0, out=tmp_path, resume=True)
    assert same_results(tmp_path, reference)
