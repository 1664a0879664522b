"""`snakemake --scheduler cosched`: the job with the longest path of expected times first.

Snakemake finds this module by its name and imports it with every call, so cosched itself is
imported when the first jobs are selected. Annotations are not postponed here: Snakemake reads them.
"""

import atexit
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_scheduler_plugins.base import SchedulerBase
from snakemake_interface_scheduler_plugins.settings import SchedulerSettingsBase

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
    lookahead: float = field(
        default=0.0,
        metadata={
            "help": "Seconds of search for an order that ends earlier than the longest path first, "
            "beside the running jobs. Default: none."
        },
    )

    def __post_init__(self) -> None:
        if self.report is not None and Path(self.report).suffix not in _REPORTS:
            raise WorkflowError(f"{self.report}: expected .html, .json, .png, .svg or .pdf")


class Scheduler(SchedulerBase):
    """Multi-resource list scheduling by priority and longest path of expected times."""

    def __post_init__(self) -> None:
        self._run: Any = None  # imported when it is needed
        self._failed = False

    def select_jobs(self, selectable_jobs, remaining_jobs, available_resources, input_sizes):
        """The jobs that start now; None after an error, so that Snakemake decides itself."""
        try:
            if self._run is None:
                from snakemake_scheduler_plugin_cosched.run import Run

                self._run = Run(self.dag, self.settings or SchedulerSettings(), self.logger)
                atexit.register(self._run.close)
            return self._run.select(
                selectable_jobs, remaining_jobs, available_resources, input_sizes
            )
        except Exception as error:
            if not self._failed:
                reason = f"{type(error).__name__}: {error}"
                self.logger.warning(f"cosched: {reason}; Snakemake's greedy scheduler goes on")
            self._failed = True
            return None
