"""One run of a workflow: its jobs as cosched's, and what is told of them."""

import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from cosched import CoschedError, workflows
from cosched.workflows import Course, History, OnlineList, Plan, Ready, plan
from snakemake_scheduler_plugin_cosched import jobs
from snakemake_scheduler_plugin_cosched.assumptions import assumption

#: The most jobs of which an expected end is worked out before the first one starts.
_MOST_PLANNED = 20_000
#: Seconds from what Snakemake says until it is so for its graph, at most.
_SOON = 0.2
#: Seconds that the end of a short run waits for what was expected of it.
_PLANNER_PATIENCE = 20.0
#: What Snakemake says last where a job failed.
_FAILED = "Exiting because a job execution failed"


def ready(job: Any, sizes: Mapping[Any, int | None]) -> Ready:
    """What starting a job depends on."""
    files = [(path, sizes.get(path) or 0) for path in getattr(job, "input", ())]
    return Ready(
        needs=jobs.needs(job.scheduler_resources),
        priority=float(job.priority),
        temporary=float(sum(size for path, size in files if path.is_flagged("temp"))),
        input=float(sum(size for _, size in files)),
        members=jobs.group(job),
    )


class SchedulerRun:
    """What is known of the jobs, and what has happened."""

    def __init__(
        self, dag: Any, settings: Any, logger: logging.Logger, began: float | None = None
    ) -> None:
        self._dag, self._settings, self._logger = dag, settings, logger
        self._history = History.read(settings.history)
        self._online: OnlineList[Any] = OnlineList()
        self._course: Course | None = None
        self._plan: Plan | None = None
        self._assumption = ""  # on which the plan rests
        #: Works out what is expected, from the first choice on.
        self._planner: threading.Thread | None = None
        self._began = time.monotonic() if began is None else began
        self._began_at = time.time() - self._now
        self._unstarted = 0  # of the jobs that are known
        self._sources: Counter[str] = Counter()
        self._has_told = self._is_looking = False
        self._busy = threading.Lock()
        self._records = _Records(self)
        logger.addHandler(self._records)

    @property
    def _now(self) -> float:
        return time.monotonic() - self._began

    def select(
        self,
        selectable: Collection[Any],
        remaining: Collection[Any],
        available: Mapping[str, int | str],
        sizes: Mapping[Any, int | None],
    ) -> list[Any]:
        """The jobs that start now."""
        with self._busy:
            free = jobs.needs(available)
            if self._course is None:
                self._course = Course(free, cores="_cores")
            self._notice_ends()
            if len(remaining) != self._unstarted:
                self._notice_new(remaining, free)
            for job in self._course.running:
                if job in selectable:  # it failed, and Snakemake tries it again
                    self._course.end(job, self._now, "failed")
            chosen = self._online.select(selectable, free, lambda job: ready(job, sizes))
            for job in chosen:
                amounts = jobs.needs(job.scheduler_resources)
                self._course.start(job, jobs.name(job), amounts, self._now)
            self._unstarted = len(remaining) - sum(len(jobs.group(job) or (job,)) for job in chosen)
            return chosen

    def take_over(
        self,
        events: Collection[tuple[float, Any, str]],
        remaining: Collection[Any],
        free: Mapping[str, int],
    ) -> None:
        """Jobs that started and ended (s) while this module was imported; what remained then."""
        with self._busy:
            self._course = Course(free, cores="_cores")
            self._notice_new(remaining, free)
            for at, job, what in events:
                if what == "start":
                    amounts = jobs.needs(job.scheduler_resources)
                    self._course.start(job, jobs.name(job), amounts, at)
                elif what == "failed":
                    self._course.end(job, at, "failed")
                else:
                    self._end(job, at)

    def _notice_new(self, remaining: Collection[Any], free: Mapping[str, int]) -> None:
        if all(job in self._online for job in remaining):
            return
        open_jobs = sorted(remaining, key=jobs.name)
        self._online.update(open_jobs, self._describe, self._dag.job_dependencies)
        if self._planner is None and 2 <= len(open_jobs) <= _MOST_PLANNED:
            needs = [jobs.needs(jobs.resources(job)) for job in open_jobs]
            arguments = (
                open_jobs,
                self._online.seconds(open_jobs),
                needs,
                free,
                self._online.edges(open_jobs),
            )
            ended = 0 if self._course is None else len(self._course.completed)
            self._assumption = assumption(self._sources, ended)
            self._planner = threading.Thread(target=self._expect, args=arguments)
            self._planner.start()

    def _expect(self, *arguments: Any) -> None:
        """Beside the first jobs: tell what is expected."""
        try:
            self._plan = plan(*arguments, cores="_cores")
            self._logger.info(
                f"cosched: {len(arguments[0])} jobs, {self._plan.seconds:.0f} s expected "
                f"{self._assumption}; then no schedule on these resources ends before "
                f"{self._plan.bound:.0f} s."
            )
        except CoschedError as error:  # what is expected is told only: the order needs no plan
            self.complain(error)

    def _describe(self, job: Any) -> tuple[str, float | None, bool, Any]:
        rule, name, subjects = jobs.rule(job), jobs.name(job), jobs.subjects(job)
        for source, seconds in (
            ("benchmark files", jobs.benchmark(job, self._began_at)),
            ("earlier runs", self._history.seconds(rule, name)),
            ("runtime", jobs.runtime(job)),
        ):
            if seconds is not None:
                self._sources[source] += 1
                return rule, seconds, source == "runtime", subjects
        self._sources["nothing known"] += 1
        return rule, None, False, subjects

    def _notice_ends(self, at: float | None = None) -> None:
        """Look which of the running jobs Snakemake has finished, now or when it said so."""
        assert self._course is not None
        now = self._now if at is None else at
        for job in self._course.running:
            members = jobs.group(job)
            if all(map(self._dag.finished, members or (job,))):
                self._end(job, now)

    def _end(self, job: Any, now: float) -> None:
        assert self._course is not None
        seconds = self._course.end(job, max(now, self._course.runs[job].start))
        if not jobs.group(job):
            self._online.learn(job, seconds)
            self._history.learn(jobs.rule(job), jobs.name(job), seconds)

    def look_soon(self) -> None:
        """Snakemake says that a job is finished before it is so for its graph."""
        if not self._is_looking:
            self._is_looking = True
            later = threading.Timer(_SOON, self._look_back, [self._now])
            later.daemon = True
            later.start()

    def _look_back(self, at: float) -> None:
        self._is_looking = False
        try:
            self.look(at)
        except Exception as error:  # Snakemake must not fail because of a report
            self.complain(error)

    def look(self, at: float | None = None) -> None:
        """Notice ends; tell how it went once nothing runs and nothing is left."""
        if self._course is None or not self._busy.acquire(blocking=False):
            return  # a selection is under way, or this call is its own message
        try:
            self._notice_ends(at)
            is_over = False
            if not self._course.running:  # to ask for jobs takes a walk over the graph
                is_over = next(iter(self._dag.needrun_jobs()), None) is None
        finally:
            self._busy.release()
        if is_over:
            self.close()

    def close(self, at_exit: bool = False) -> None:
        """Tell how it went, write what was asked for; once. At exit Snakemake logs no more."""
        with self._busy:
            if self._has_told or self._course is None:
                return
            self._has_told = True
            self._logger.removeHandler(self._records)
            planner = self._planner
            if planner is not None and planner is not threading.current_thread():
                planner.join(_PLANNER_PATIENCE)
            self._notice_ends()
            for job in self._course.running:
                self._course.end(job, self._now, "failed")
            self._history.write()
            self._tell(self._course, at_exit)

    def complain(self, error: Exception) -> None:
        """Say what went wrong, in a line."""
        self._logger.warning(f"cosched: {type(error).__name__}: {error}")

    def _tell(self, course: Course, at_exit: bool) -> None:
        bound = course.no_schedule_before(self._online.edges(course.completed))
        planned = {} if self._plan is None else self._plan.spans
        expected = ""
        if self._plan is not None:
            expected = f" ({self._plan.seconds:.0f} s expected {self._assumption})"
        failed = len(course.runs) - len(course.completed)
        sentence = (
            f"{len(course.completed)} jobs{f' ({failed} more failed)' * bool(failed)} took "
            f"{course.took:.1f} s{expected}; with the times that "
            f"they had, no schedule on these resources ends before {bound:.1f} s"
        )
        if len(course.runs) > 1 or self._settings.report is not None:
            say = partial(print, file=sys.stderr) if at_exit else self._logger.info
            say(f"cosched: {sentence}.")
        if self._settings.report is not None:
            execution = workflows.execution_of(course, planned, bound)
            workflows.write_report(execution, self._settings.report, sentence)


class _Records(logging.Handler):
    """Snakemake tells its log what it has done: the moment to look."""

    def __init__(self, run: SchedulerRun) -> None:
        super().__init__(logging.INFO)
        self._run = run

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if _FAILED in record.getMessage():
                self._run.close()
            self._run.look()
            if getattr(getattr(record, "event", None), "name", "") == "JOB_FINISHED":
                self._run.look_soon()
        except Exception as error:  # Snakemake must not fail because of a report
            self._run.complain(error)
