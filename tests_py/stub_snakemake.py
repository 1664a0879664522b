"""Jobs, groups and settings as Snakemake gives them to the executor, without Snakemake."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class StubJob:
    """A job of Snakemake: what the executor reads of it."""

    def __init__(
        self,
        name: str,
        threads: int = 1,
        runtime: float | None = None,
        mem_mb: int | None = None,
        pipe_group: str | None = None,
    ) -> None:
        self.rule = SimpleNamespace(name=name)
        self.output = [f"{name}.out"]
        self.threads = threads
        self.pipe_group = pipe_group
        self.wildcards_dict: dict[str, str] = {}
        amounts = {"_cores": threads, "runtime": runtime, "mem_mb": mem_mb}
        self.resources = {key: amount for key, amount in amounts.items() if amount is not None}
        self.scheduler_resources = self.resources


class StubGroup:
    """A group whose jobs run beside each other, but for those that wait for others."""

    def __init__(self, *members: StubJob, after: dict[StubJob, Sequence[StubJob]] | None = None):
        self.jobs = frozenset(members)
        self.groupid = "group"
        self.threads = sum(member.threads for member in members)
        self.output: list[str] = []
        runtimes = [member.resources.get("runtime") for member in members]
        self.resources = {"mem_mb": sum(member.resources.get("mem_mb", 0) for member in members)}
        if None not in runtimes:
            self.resources["runtime"] = max(runtimes)
        self.dag = SimpleNamespace(job_dependencies=lambda job: (after or {}).get(job, ()))


def settings(**changed: Any) -> SimpleNamespace:
    """Options of the executor, with the defaults of the command line."""
    defaults: dict[str, Any] = {
        **{"nodes": 1, "time": "1h", "cores": 2, "memory": None, "partition": None},
        **{"account": None, "allocations": 10, "grain": 600.0, "history": None, "local": False},
        "submit_retries": 8,
    }
    unknown = set(changed) - set(defaults)
    assert not unknown
    return SimpleNamespace(**{**defaults, **changed})


class StubWorkflow:
    """A pool of jobs, and the messages that it writes.

    Attributes
    ----------
    messages : list of str
        What it has logged.
    """

    def __init__(self, folder: Path, **changed: Any) -> None:
        from snakemake_executor_plugin_cosched.pool import Pool

        self.messages: list[str] = []
        logger = logging.Logger("stub")
        handler = logging.Handler()
        handler.emit = lambda record: self.messages.append(record.getMessage())  # type: ignore
        logger.addHandler(handler)
        self._folder = folder
        self.pool = Pool(settings(**changed), folder / "jobs", logger)

    def __enter__(self) -> StubWorkflow:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.close()

    def start(self, command: str, **job: Any) -> str:
        """A job that runs a command of the shell: the name of its file."""
        from snakemake_executor_plugin_cosched.groups import needs_of

        stub = StubJob(**{"name": "job", **job})
        return self.pool.add(stub, needs_of(stub, self.pool.node), command, str(self._folder))

    def endings(self, files: Sequence[str], seconds: float = 120.0) -> list[Any]:
        """How jobs have ended, when all of them have."""
        self.until(lambda: set(files) <= set(self.pool.take_endings()), seconds)
        endings = self.pool.take_endings()
        return [endings[file] for file in files]

    def until(self, condition: Callable[[], object], seconds: float = 120.0) -> None:
        """Wait until something holds."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.messages
            time.sleep(0.05)
