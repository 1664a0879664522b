"""``cosched tune --engine slurm``: its runs are jobs of a real Slurm on this host."""

import json

import numpy as np
import pytest

from cosched.cli import main
from cosched.errors import StudyError
from cosched.experiments import tuning
from slurm_cluster import Cluster

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n[1-8] CPUs=1
PartitionName=p Nodes=ALL Default=YES
"""
#: What a site writes into dask-jobqueue's own file.
JOBS = {"cores": 1, "memory": "1GB"}


@pytest.fixture
def log(tmp_path):
    rng = np.random.default_rng(5)
    submit, run = np.sort(rng.integers(0, 9e5, 100)), rng.integers(600, 90_000, 100)
    rows = [
        f"{k + 1} {s} 0 {r} 2 -1 -1 2 {2 * r} -1 1 1 1 -1 -1 -1 -1 -1"
        for k, (s, r) in enumerate(zip(submit, run, strict=True))
    ]
    (tmp_path / "log.swf").write_text("\n".join(rows) + "\n")
    (tmp_path / "slurm.conf").write_text(CONF)
    return tmp_path / "log.swf"


def tuned(log, name, *options):
    arguments = [
        str(log),
        "--machine",
        str(log.parent / "slurm.conf"),
        "--vary",
        "bf_interval=30,900",
    ]
    page = log.parent / f"{name}.html"
    code = main(["tune", *arguments, "--draws", "1", "--json", str(log.parent / f"{name}.json"),
                 *options, "-o", str(page)])  # fmt: skip
    assert code == 0
    return json.loads((log.parent / f"{name}.json").read_text())


def test_runs_are_jobs_of_slurm(log, monkeypatch):
    dask = pytest.importorskip("dask")
    pytest.importorskip("dask_jobqueue")
    cluster = Cluster(log.parent / "cluster", nodes=1, cpus=1)
    try:
        for name, value in cluster.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(log.parent)
        scratch = {"temporary-directory": str(log.parent)}
        jobs = {**JOBS, "local-directory": str(log.parent)}
        with dask.config.set(scratch | {f"jobqueue.slurm.{k}": v for k, v in jobs.items()}):
            by_slurm = tuned(log, "there", "--engine", "slurm", "--jobs", "1")
            assert "dask-worker" in cluster.run("scontrol", "show", "job")
    finally:
        cluster.stop()
    assert by_slurm == tuned(log, "here")
    assert by_slurm["runs"] >= 6
    assert not [*log.parent.glob("there.runs*"), *log.parent.glob(".cosched-*.world")]


@pytest.mark.parametrize(
    ("jobs", "says"), [({}, "must specify how much cores"), (JOBS, "no job can be submitted: .*")]
)
def test_jobs_that_cannot_be_submitted_are_said(tmp_path, monkeypatch, jobs, says):
    dask = pytest.importorskip("dask")
    pytest.importorskip("dask_jobqueue")
    monkeypatch.setenv("PATH", str(tmp_path))
    scratch = {"temporary-directory": str(tmp_path)}
    with (
        dask.config.set(scratch | {f"jobqueue.slurm.{k}": v for k, v in jobs.items()}),
        pytest.raises(StudyError, match=says),
        tuning.engine(tmp_path, None, 1),
    ):
        pass
