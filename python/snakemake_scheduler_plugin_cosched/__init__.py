"""`snakemake --scheduler cosched`: the job with the longest path of expected times first.

Snakemake finds this module by its name and imports it with every call, so cosched itself is
imported beside the first jobs. Annotations are not postponed here: Snakemake reads them.
"""

import atexit
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_scheduler_plugins.base import SchedulerBase
from snakemake_interface_scheduler_plugins.settings import SchedulerSettingsBase

from snakemake_scheduler_plugin_cosched import jobs
from snakemake_scheduler_plugin_cosched.first import FirstJobs

__all__ = ["Scheduler", "SchedulerSettings"]

_REPORTS = (".html", ".json", ".png", ".svg", ".pdf")


@dataclass
class SchedulerSettings(SchedulerSettingsBase):
    """Options of the command line, `--scheduler-cosched-...`."""

    report: Optional[Path] = field(  # noqa: UP045  Snakemake reads the annotation
        default=None,
        metadata={
            "help": "Write what ran when, and how far from the best possible that was, to this "
            "file: a page with the picture (.html), the picture alone (.png, .svg, .pdf) or the "
            "record (.json)."
        },
    )
    history: Optional[Path] = field(  # noqa: UP045
        default=None,
        metadata={
            "help": "Keep the times of jobs in this file (.json), for the order of later runs. "
            "Benchmark files are read in any case."
        },
    )

    def __post_init__(self) -> None:
        if self.report is not None and Path(self.report).suffix not in _REPORTS:
            raise WorkflowError(f"{self.report}: expected .html, .json, .png, .svg or .pdf")


class Scheduler(SchedulerBase):
    """Multi-resource list scheduling by priority and longest path of expected times."""

    def __post_init__(self) -> None:
        self._run: Any = None  # made beside the first jobs
        self._first_jobs = FirstJobs(self.dag)
        self._making: Any = None
        self._handing_over = threading.Lock()
        self._events: list[tuple[float, Any, str]] = []  # of the first jobs
        self._open: dict[Any, None] = {}
        self._begin_state: Any = (
            None  # what remained, and was free, when the first jobs were chosen
        )
        self._error: Any = None
        self._failed = False

    def select_jobs(self, selectable_jobs, remaining_jobs, available_resources, input_sizes):
        """The jobs that start now; None after an error, so that Snakemake decides itself."""
        try:
            self._make_beside()
            with self._handing_over:
                if self._error is not None:
                    raise self._error
                if self._run is None:
                    return self._first(selectable_jobs, remaining_jobs, available_resources)
            return self._run.select(
                selectable_jobs, remaining_jobs, available_resources, input_sizes
            )
        except Exception as error:
            if not self._failed:
                reason = f"{type(error).__name__}: {error}"
                self.logger.warning(f"cosched: {reason}; Snakemake's greedy scheduler goes on")
            self._failed = True
            return None

    def _make_beside(self) -> None:
        if self._making is not None:
            return
        self._began = time.monotonic()
        self._making = threading.Thread(target=self._make)
        self._making.start()
        atexit.register(self._close)
        history = (self.settings or SchedulerSettings()).history
        if history is not None and Path(history).exists():
            self._making.join()  # the first choice is the better for what is known

    def _make(self) -> None:
        try:
            from snakemake_scheduler_plugin_cosched.run import SchedulerRun

            settings = self.settings or SchedulerSettings()
            run = SchedulerRun(self.dag, settings, self.logger, self._began)
            with self._handing_over:
                if self._begin_state is not None:
                    run.take_over(self._events, *self._begin_state)
                self._run = run
            # All may be over by now, and Snakemake may log no more: the end of the process, or the
            # next message of Snakemake, tells how it went.
        except Exception as error:  # told by the next choice
            self._error = error

    def _close(self) -> None:
        self._making.join()
        try:
            if self._run is not None:
                self._run.close(at_exit=True)
        except Exception as error:  # Snakemake logs no more
            print(f"cosched: {type(error).__name__}: {error}", file=sys.stderr)

    def _first(self, selectable, remaining, available) -> list[Any]:
        """Jobs that start while cosched is imported."""
        free = jobs.needs(available)
        self._begin_state = self._begin_state or (set(), free)
        self._begin_state[0].update(remaining)  # a checkpoint adds some
        now = time.monotonic() - self._began
        for job in list(self._open):
            is_retry = job in selectable  # it failed, and Snakemake tries it again
            if is_retry or all(map(self.dag.finished, jobs.group(job) or (job,))):
                self._events.append((now, job, "failed" if is_retry else "completed"))
                del self._open[job]
        chosen = self._first_jobs.select(selectable, remaining, free)
        self._events += [(now, job, "start") for job in chosen]
        self._open.update(dict.fromkeys(chosen))
        return chosen
