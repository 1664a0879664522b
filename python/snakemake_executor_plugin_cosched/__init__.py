"""`snakemake --executor cosched`: many jobs of a workflow in few allocations of a cluster.

Ready jobs are files in a folder. What runs in an allocation (`runner.py`, which needs no cosched)
takes them while it has room and time, so one submission does for many. Snakemake imports this
module with every call, so cosched itself is imported with the first job. Annotations are not
postponed here: Snakemake reads them.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings, ExecutorSettingsBase

__all__ = ["Executor", "ExecutorSettings", "common_settings"]

#: Seconds between two looks at what has ended.
_LOOK = 0.5


@dataclass
class ExecutorSettings(ExecutorSettingsBase):
    """Options of the command line, `--cosched-...`."""

    nodes: int = field(default=1, metadata={"help": "Nodes of an allocation."})
    time: str = field(
        default="1h", metadata={"help": "Limit of an allocation: 4h, 90m, or as sbatch has it."}
    )
    cores: Optional[int] = field(  # noqa: UP045  Snakemake reads the annotation
        default=None, metadata={"help": "Cores of a node that are asked for. Default: all of one."}
    )
    memory: Optional[float] = field(  # noqa: UP045
        default=None,
        metadata={"help": "GB of a node that are asked for; jobs then keep their mem_mb within."},
    )
    partition: Optional[str] = field(  # noqa: UP045
        default=None, metadata={"help": "Partition of the allocations."}
    )
    account: Optional[str] = field(  # noqa: UP045
        default=None, metadata={"help": "Account of the allocations."}
    )
    allocations: int = field(
        default=10, metadata={"help": "The most allocations at a time, queued ones included."}
    )
    submit_retries: int = field(
        default=8,
        metadata={
            "help": "How often an allocation is asked for again that sbatch has refused, while no "
            "other one is queued or runs: after 2 s, then after twice as long each time, at most "
            "300 s. Then the jobs that wait fail."
        },
    )
    grain: float = field(
        default=600.0,
        metadata={
            "help": "Seconds of work, on all its cores, for which a further allocation is asked."
        },
    )
    history: Optional[Path] = field(  # noqa: UP045
        default=None, metadata={"help": "Keep the times of jobs in this file (.json)."}
    )
    local: bool = field(
        default=False,
        metadata={"help": "Run the allocations on this host, without a batch system."},
    )


common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    pass_group_args=True,
    init_seconds_before_status_checks=1,
)


class Executor(RemoteExecutor):
    """Gives ready jobs to a folder, and asks for allocations that work it off."""

    #: Made with the first job. Snakemake's thread looks for ended ones before `__post_init__` is
    #: called: an error there would end that thread, and nobody would notice what ends.
    _pool: Any = None
    #: Memory (MB) that the jobs of the group that is being submitted share; None: it has no limit.
    _memory_of_group: Optional[float] = None  # noqa: UP045

    def __post_init__(self) -> None:
        self.next_seconds_between_status_checks = _LOOK
        self._jobs_without_repeat: set[Any] = set()

    def run_job(self, job) -> None:
        from snakemake_executor_plugin_cosched.groups import needs_of
        from snakemake_executor_plugin_cosched.pool import Pool

        info = SubmittedJobInfo(job)
        try:
            if self._pool is None:
                settings = self.workflow.executor_settings or ExecutorSettings()
                self._pool = Pool(settings, Path(".snakemake", "cosched").absolute(), self.logger)
        except (ValueError, OSError) as error:  # cosched's own are such
            raise WorkflowError(f"cosched: {error}") from error
        try:
            needs = needs_of(job, self._pool.node)
        except ValueError as error:
            self._report_failure(info, str(error))
            return
        self._memory_of_group = self._pool.node.memory_mb if needs.runs_in_turns else None
        try:
            info.external_jobid = self._pool.add(
                job, needs, self.format_job_exec(job), self.workflow.workdir_init
            )
        except OSError as error:
            raise WorkflowError(f"cosched: {error}") from error
        self.report_job_submission(info)

    def get_job_args(self, job, **kwargs):
        """Snakemake's, and for a group that runs in turns the memory of the node."""
        arguments = super().get_job_args(job, **kwargs)
        if self._memory_of_group is None:
            return arguments
        return f"{arguments} --resources mem_mb={self._memory_of_group:.0f}"

    async def check_active_jobs(self, active_jobs):
        """Report what has ended; yield the others."""
        endings = self._pool.take_endings() if self._pool is not None else {}
        for info in active_jobs:
            ending = endings.get(info.external_jobid)
            if ending is None:
                yield info
            elif ending.code == 0:
                self.report_job_success(info)
            else:
                if ending.is_final:
                    self._jobs_without_repeat.add(info.job)
                outputs = self._pool.outputs(info.external_jobid)
                self._report_failure(info, ending.reason, outputs)

    def _report_failure(self, info, reason, outputs=()) -> None:
        if info.job.is_group():  # Snakemake drops the message of a group
            place = f" (output: {', '.join(outputs)})" if outputs else ""
            self.logger.error(f"cosched: group {info.job.groupid}: {reason}{place}")
        self.report_job_error(info, msg=f"cosched: {reason}. ", aux_logs=list(outputs))

    def handle_job_error(self, job) -> None:
        """Called before Snakemake decides on another attempt: there is none for a job that no
        allocation could take, because more resources or time would not help it."""
        super().handle_job_error(job)
        if job in self._jobs_without_repeat:
            self._jobs_without_repeat.discard(job)
            job.attempt = max(job.attempt, job.restart_times + 1)

    def cancel_jobs(self, active_jobs) -> None:
        if self._pool is not None:
            self._pool.close()

    def shutdown(self) -> None:
        super().shutdown()
        if self._pool is not None:
            self._pool.close()
