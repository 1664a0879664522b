"""Tasks that hang, crash, or end their process: an error row each, no harm beside them."""

import os
import subprocess

import pytest

from cosched import experiments
from cosched.cli import main
from cosched.errors import InvalidInstance
from support import library, with_toy_studies

#: Seconds: enough for a harmless task on a busy machine.
LIMIT = 4
TIMED_OUT = f"TaskTimeout: no row after {LIMIT} s (--task-timeout); its worker process was killed"
DIED = "WorkerDied: each worker process that ran this task ended before it did"


def run(monkeypatch, out, kinds, **engine):
    """The messages of hostile tasks by kind; every harmless task has its row."""
    monkeypatch.setenv("TOY_HOSTILE", ",".join(kinds))
    result = experiments.run("toy_studies:HOSTILE_STUDY", out=out, **engine)
    harmless = result.frame[result.frame.kind == "harmless"]
    assert (harmless.status == "ok").all(), harmless.message.tolist()
    assert (harmless.value == harmless.number**2).all()
    assert len(harmless) == 8 * len(kinds)
    assert len(result.errors) == len(kinds)
    return result.errors.set_index("kind").message.to_dict()


@pytest.mark.parametrize(
    ("workers", "kinds"),
    [
        (0, ["computes"]),
        pytest.param(2, ["sleeps", "computes", "solves", "waits"], marks=pytest.mark.thorough),
    ],
)
def test_tasks_that_hang(workers, kinds, tmp_path, monkeypatch):
    nap = f"{10**6 + os.getpid()}.{workers}"
    monkeypatch.setenv("TOY_NAP", nap)
    errors = run(monkeypatch, tmp_path, kinds, workers=workers, task_timeout=LIMIT)
    assert errors == dict.fromkeys(kinds, TIMED_OUT)
    # What the task has started is gone too.
    assert nap not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    "ends", [["exits"], pytest.param(["exits", "is killed", "crashes"], marks=pytest.mark.thorough)]
)
def test_tasks_that_end_their_process(ends, tmp_path, monkeypatch):
    errors = run(monkeypatch, tmp_path, [*ends, "leaves", "eats"], workers=2)
    assert errors.pop("leaves") == "SystemExit: enough"
    assert errors.pop("eats").startswith("MemoryError: ")
    assert errors == dict.fromkeys(ends, DIED)


def test_a_longer_limit_on_resume(tmp_path, monkeypatch):
    """Rows that ran out of time are errors, and errors run again."""
    monkeypatch.setenv("TOY_NAP", "1000000")
    run(monkeypatch, tmp_path, ["waits"], workers=1, task_timeout=1)
    monkeypatch.setenv("TOY_NAP", "1.5")
    options = {"out": tmp_path, "resume": True, "workers": 1, "task_timeout": 60}
    result = experiments.run("toy_studies:HOSTILE_STUDY", **options)
    assert not len(result.errors)


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), True, "4"])
def test_limits_that_are_none(limit, tmp_path):
    with pytest.raises(InvalidInstance, match=r"task_timeout = .*: expected a"):
        experiments.run("toy_studies:TOY", out=tmp_path / "out", task_timeout=limit)
    assert not (tmp_path / "out").exists()


def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TOY_HOSTILE", "sleeps")
    command = ["study", "run", "toy_studies:HOSTILE_STUDY", "--out", str(tmp_path)]
    assert main([*command, "--workers", "1", "--task-timeout", "soon"]) == 2
    assert main([*command, "--workers", "1", "--task-timeout", "0"]) == 2
    assert "--task-timeout: '0': expected a positive number" in capsys.readouterr().err
    assert main([*command, "--workers", "1", "--task-timeout", str(LIMIT)]) == 1
    assert TIMED_OUT in (tmp_path / "errors.txt").read_text()


# --- Dask -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two Dask workers of two threads, with nannies that start them again."""
    dask = library("dask")
    distributed = library("distributed")
    before = dict(os.environ)
    os.environ.update(with_toy_studies(), TOY_NAP=f"{2 * 10**6 + os.getpid()}", TOY_HOSTILE="")
    # On a slow machine a cluster would give up its workers while they start again.
    patient = dask.config.set(
        {
            "temporary-directory": str(tmp_path_factory.mktemp("dask")),
            "distributed.deploy.lost-worker-timeout": "600 s",
            "distributed.scheduler.allowed-failures": 1,
        }
    )
    options = {"n_workers": 2, "threads_per_worker": 2, "memory_limit": "4GB"}
    with patient, distributed.LocalCluster(dashboard_address=":0", **options) as started:
        yield started
    os.environ.clear()
    os.environ.update(before)


def pids(cluster):
    from distributed import Client

    with Client(cluster.scheduler_address, set_as_default=False) as client:
        return set(client.run(os.getpid).values())


pytest_dask = pytest.mark.filterwarnings("default::DeprecationWarning", "default::ResourceWarning")


@pytest.mark.thorough
@pytest_dask
def test_dask_workers_outlive_their_tasks(cluster, tmp_path, monkeypatch):
    """The Dask workers are those from before: nothing that a task does reaches them."""
    before = pids(cluster)
    kinds = ["exits", "is killed", "leaves", "eats", "sleeps", "computes"]
    where = {"dask": cluster.scheduler_address, "task_timeout": LIMIT}
    errors = run(monkeypatch, tmp_path, kinds, **where)
    assert errors.pop("eats").startswith("MemoryError: ")
    assert errors.pop("leaves") == "SystemExit: enough"
    assert errors == dict.fromkeys(kinds[:2], DIED) | dict.fromkeys(kinds[4:], TIMED_OUT)
    assert pids(cluster) == before


@pytest.mark.thorough
@pytest_dask
def test_a_task_that_ends_dask_workers(cluster, tmp_path, monkeypatch):
    """As if the node went down, again and again: bounded, and only that task has no row."""
    before = pids(cluster)
    errors = run(monkeypatch, tmp_path, ["ends its parent"], dask=cluster.scheduler_address)
    assert errors == {"ends its parent": DIED}
    assert not pids(cluster) & before
