"""Snakemake's own tests with cosched as its scheduler or executor; prints counts and failures.

`python bench_snakemake_own_tests.py scheduler` runs `tests/tests.py` of the installed version of
Snakemake with `--scheduler cosched`, `... executor` with `--executor cosched` on this host. The
tests come from the source distribution on PyPI (`pip download`, or `--archive FILE`) and run in a
temporary folder. Each failure runs again as the tests are, and with another remote executor
(cluster-generic): a test that fails there, too, does not fail because of cosched.

Counted are the tests in which Snakemake ran a workflow through its API with the scheduler, or
with the local executor that cosched replaces. `--minutes` and `--minutes-again` limit the first
and the second part (what is left then is counted as "not run"), `--seconds` limits one test,
`--nice` is the niceness, `--every 4` runs a quarter of the tests. `--workers 2` runs two tests at a
time. With `--records FOLDER` an interrupted run goes on: tests that have ended are not repeated.
Some tests want `apt install stress-ng` and `pip install pytest-mock polars`, others a conda or the
storage plugins of Snakemake; they fail without, with any scheduler and executor.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

#: The variable that holds the settings of a run, for this file as a plugin of pytest.
_SETTINGS = "BENCH_SNAKEMAKE_SETTINGS"
#: Cores where a test names fewer: most of the tests name three.
_MIN_CORES = 3

#: A cluster of one host: starts the job script, prints a number for it.
_SUBMIT = """#!/bin/sh
sh "$1" >"$1.out" 2>&1 &
echo $!
"""


@dataclasses.dataclass
class RunSettings:
    """One run of pytest over the tests of Snakemake.

    Attributes
    ----------
    mode : str
        "scheduler", "executor", "cluster-generic" or "unchanged".
    records : str
        File for a line of JSON for each test.
    minutes, seconds : float
        Limits of the run, and of a test.
    submit : str
        Program that submits a job script, for "cluster-generic".
    every : int
        Each so-manieth test is run.
    worker, workers : int
        Of the tests this run has those whose number is `worker` modulo `workers`.
    finished : list of str
        Tests that are not run again.
    """

    mode: str
    records: str
    minutes: float
    seconds: float
    submit: str
    every: int = 1
    worker: int = 0
    workers: int = 1
    finished: Sequence[str] = ()


@dataclasses.dataclass
class Record:
    """How one test ended.

    Attributes
    ----------
    outcome : str
        "passed", "failed", "skipped", "not run".
    is_changed : bool
        Whether the test ran a workflow with what the run puts in.
    """

    test: str
    outcome: str
    seconds: float
    message: str
    is_changed: bool


# --- as a plugin of pytest, inside the run ---------------------------------------------------


class TestTimeout(BaseException):
    """A test has run longer than its limit; nothing in Snakemake catches this."""


class Plugin:
    """Puts cosched into each workflow that a test runs, and keeps a record of each test."""

    def __init__(self, settings: RunSettings) -> None:
        self._settings = settings
        self._end = time.monotonic() + 60 * settings.minutes
        self._is_changed = False
        self._change_api()

    def _change_api(self) -> None:
        from snakemake import api

        execute, create = api.DAGApi.execute_workflow, api.SnakemakeApi.workflow

        @functools.wraps(execute)
        def changed_execute(dag_api: Any, executor: str = "local", **settings: Any) -> Any:
            runs_nothing = executor in ("dryrun", "touch") or settings.get("pseudo_executor")
            if self._settings.mode == "scheduler" and not runs_nothing:  # others have greedy
                self._is_changed = True
                self._put_scheduler(settings)
            is_remote = self._settings.mode in ("executor", "cluster-generic")
            if is_remote and executor == "local" and not runs_nothing:
                self._is_changed = True
                asked = dag_api.workflow_api.resource_settings.cores
                executor = self._put_executor(settings, max(asked or 0, _MIN_CORES))
            return execute(dag_api, executor=executor, **settings)

        @functools.wraps(create)
        def changed_create(snakemake_api: Any, resource_settings: Any, **settings: Any) -> Any:
            is_remote = self._settings.mode in ("executor", "cluster-generic")
            if is_remote and resource_settings.nodes is None:
                resource_settings.nodes = _MIN_CORES
            return create(snakemake_api, resource_settings=resource_settings, **settings)

        api.DAGApi.execute_workflow = changed_execute
        api.SnakemakeApi.workflow = changed_create

    def _put_scheduler(self, settings: dict[str, Any]) -> None:
        from snakemake.settings.types import SchedulingSettings

        from snakemake_scheduler_plugin_cosched import SchedulerSettings

        scheduling = settings.get("scheduling_settings") or SchedulingSettings()
        settings["scheduling_settings"] = dataclasses.replace(scheduling, scheduler="cosched")
        settings["scheduler_settings"] = SchedulerSettings()

    def _put_executor(self, settings: dict[str, Any], cores: int) -> str:
        from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

        if self._settings.mode == "cluster-generic":
            plugin = ExecutorPluginRegistry().get_plugin("cluster-generic")
            settings["executor_settings"] = plugin.settings_cls(submit_cmd=self._settings.submit)
            return "cluster-generic"
        from snakemake_executor_plugin_cosched import ExecutorSettings

        settings["executor_settings"] = ExecutorSettings(local=True, cores=cores)
        return "cosched"

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        settings = self._settings
        finished = set(settings.finished)
        items[:] = [
            item for item in items[:: settings.every] if _name_of(item.nodeid) not in finished
        ][settings.worker :: settings.workers]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._is_changed = False
        yield

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if time.monotonic() > self._end:
            pytest.skip("not run: the time is over")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        limit = self._settings.seconds

        def stop(*_: object) -> None:
            raise TestTimeout(f"the test ran longer than {limit:.0f} s")

        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        is_result = report.when == "call" or (report.when == "setup" and not report.passed)
        if not is_result:
            return
        message = _message(report)
        outcome = "not run" if "not run: " in message else report.outcome
        record = Record(
            _name_of(report.nodeid), outcome, report.duration, message, self._is_changed
        )
        with open(self._settings.records, "a") as records:
            print(json.dumps(dataclasses.asdict(record)), file=records)


def _name_of(node: str) -> str:
    """The name of a test without that of its file."""
    return node.partition("::")[2]


def _message(report: pytest.TestReport) -> str:
    """The last line of what pytest says of a failure, or the reason of a skip."""
    if report.passed:
        return ""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[:3])[:300]


def pytest_configure(config: pytest.Config) -> None:
    """Called by pytest, which imports this file with `-p`."""
    settings = RunSettings(**json.loads(os.environ[_SETTINGS]))
    config.pluginmanager.register(Plugin(settings))


# --- the bench -------------------------------------------------------------------------------


def fetch_tests(folder: Path, archive: str | None) -> Path:
    """The unpacked source distribution of the installed version of Snakemake."""
    version = importlib.metadata.version("snakemake")
    if archive is None:
        command = ["download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--no-binary", "snakemake", "--dest", str(folder), f"snakemake=={version}"]
        subprocess.run([sys.executable, "-m", "pip", *command], check=True)
        (path,) = folder.glob("snakemake-*.tar.gz")
    else:
        path = Path(archive)
    with tarfile.open(path) as sources:
        sources.extractall(folder, filter="data")
    return folder / f"snakemake-{version}"


def run_tests(
    sources: Path, records: Path, settings: RunSettings, tests: Sequence[str] = ()
) -> list[Record]:
    """Records of the tests, of all or of those that are named; each is a line of a file."""
    settings.submit = str(sources.parent / "submit.sh")
    Path(settings.submit).write_text(_SUBMIT)
    Path(settings.submit).chmod(0o755)
    ended = read_records(records)
    settings.finished = [record.test for record in ended if record.outcome != "not run"]
    processes = []
    for worker in range(settings.workers):
        worker_settings = dataclasses.replace(
            settings, worker=worker, records=f"{records}.{worker}"
        )
        processes.append(start_pytest(sources, worker_settings, tests))
    deadline = time.monotonic() + 60 * settings.minutes + 2 * settings.seconds
    try:
        for process in processes:
            process.wait(max(deadline - time.monotonic(), 0.0))
    except subprocess.TimeoutExpired:
        print(f"pytest did not end within its time; see the records of {settings.mode}")
    finally:
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    ended = read_records(records)
    if not ended:
        raise SystemExit(Path(f"{records}.0.log").read_text()[-3000:])
    return ended


def start_pytest(
    sources: Path, settings: RunSettings, tests: Sequence[str]
) -> subprocess.Popen[bytes]:
    """A process that runs the share of the tests that a worker has."""
    temporary = Path(f"{settings.records}.temporary")
    temporary.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        _SETTINGS: json.dumps(dataclasses.asdict(settings)),
        "PYTHONPATH": str(Path(__file__).parent),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "TMPDIR": str(temporary),
    }
    names = [f"tests/tests.py::{test}" for test in tests] or ["tests/tests.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", Path(__file__).stem, "-p", "no:xdist"]
    command += ["-p", "no:cacheprovider", "--override-ini=addopts=", *names]
    with open(f"{settings.records}.log", "w") as log:
        return subprocess.Popen(
            command, cwd=sources, env=environment, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def read_records(records: Path) -> list[Record]:
    """What all workers wrote: the last record of each test."""
    last: dict[str, Record] = {}
    for path in sorted(records.parent.glob(f"{records.name}.[0-9]*")):
        if path.suffix[1:].isdigit():
            for line in path.read_text().splitlines():
                record = Record(**json.loads(line))
                if record.outcome != "not run" or record.test not in last:
                    last[record.test] = record
    return list(last.values())


def print_report(
    mode: str, records: Sequence[Record], repeat_records: dict[str, dict[str, Record]]
) -> None:
    """Counts, and a row for each failure."""
    counted = [record for record in records if record.is_changed]
    passed = [record for record in counted if record.outcome == "passed"]
    failed = [record for record in counted if record.outcome == "failed"]
    missing = sum(record.outcome == "not run" for record in records)
    other = len(records) - len(counted) - missing
    print(f"--{mode} cosched: {len(passed)} of {len(counted)} tests pass, {len(failed)} fail;")
    print(f"{missing} not run, {other} without such a workflow (or skipped).")
    print("\n| test that fails | message | unchanged | cluster-generic |")
    print("|---|---|---|---|")
    for record in failed:
        others = [
            repeat_records[name][record.test].outcome
            if record.test in repeat_records[name]
            else "not run"
            for name in ("unchanged", "cluster-generic")
        ]
        message = record.message.replace("|", "\\|")
        print(f"| `{record.test}` | {message} | {' | '.join(others)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("mode", choices=["scheduler", "executor"])
    parser.add_argument("--archive", help="source distribution that is there already")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--minutes-again", type=float, default=15.0)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--nice", type=int, default=19)
    parser.add_argument("--tests", nargs="*", default=[], help="names; by default all")
    parser.add_argument("--every", type=int, default=1, help="run each so-manieth test only")
    parser.add_argument("--workers", type=int, default=1, help="tests at a time")
    parser.add_argument("--records", type=Path, help="folder that keeps how each test ended")
    options = parser.parse_args()
    os.nice(max(options.nice - os.nice(0), 0))
    with tempfile.TemporaryDirectory() as folder:
        sources = fetch_tests(Path(folder), options.archive)
        records_folder = options.records or Path(folder)
        records_folder = records_folder.absolute()
        records_folder.mkdir(parents=True, exist_ok=True)
        settings = RunSettings(
            options.mode, "", options.minutes, options.seconds, "", options.every,
            workers=options.workers,
        )  # fmt: skip
        records = run_tests(sources, records_folder / options.mode, settings, options.tests)
        failed = [
            record.test for record in records if record.is_changed and record.outcome == "failed"
        ]
        repeat_records: dict[str, dict[str, Record]] = {"unchanged": {}, "cluster-generic": {}}
        for mode, of_mode in repeat_records.items():
            if failed:
                minutes = options.minutes_again / len(repeat_records)
                settings_again = dataclasses.replace(settings, mode=mode, minutes=minutes, every=1)
                path = records_folder / f"{options.mode}-again-{mode}"
                others = run_tests(sources, path, settings_again, failed)
                of_mode.update((record.test, record) for record in others)
        print_report(options.mode, records, repeat_records)


if __name__ == "__main__":
    main()
