"""How a run of a workflow went: a page, a picture or a record."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from os import PathLike

from cosched.core.installed import call_report_writer
from cosched.execution import Execution, TaskRun
from cosched.lazy import pd
from cosched.workflows.run_expectation import Course


def execution_of(
    course: Course,
    planned: Mapping[Hashable, tuple[float, float]] | None = None,
    bound: float | None = None,
) -> Execution:
    """A course as a record, beside planned starts and ends where there were any.

    Parameters
    ----------
    planned : dict, optional
        Job to planned start and end (s).
    bound : float, optional
        What no schedule ends before (s).

    Examples
    --------
    >>> course = Course({"cores": 2})
    >>> course.start("a", "align", {"cores": 1}, 0.0)
    >>> course.end("a", 2.0)
    2.0
    >>> execution_of(course).to_frame()[["name", "units", "start", "end", "state"]]
        name units  start  end      state
    0  align  (0,)    0.0  2.0  completed
    """
    tasks = []
    for number, (job, run) in enumerate(course.runs.items()):
        begin, end = (planned or {}).get(job, (run.start, run.start))
        tasks.append(
            TaskRun(
                task=number,
                name=run.name,
                kind=0,
                units=run.units,
                planned_start=begin,
                planned_end=end,
                start=run.start,
                end=run.end,
                state=run.state,
                attempt=run.attempt,
            )
        )
    return Execution(
        family="moldable", launcher="snakemake", barrier=False, tasks=tuple(tasks), bound=bound
    )


def by_rule(execution: Execution) -> pd.DataFrame:
    """A row a rule: ``rule, jobs, seconds`` (of all), ``longest`` (s), ``share`` of core time.

    Examples
    --------
    >>> from cosched.workflows import Course
    >>> course = Course({"cores": 1})
    >>> course.start("a", "align a.bam", {"cores": 1}, 0.0)
    >>> course.end("a", 2.0)
    2.0
    >>> by_rule(execution_of(course)).to_dict("records")
    [{'rule': 'align', 'jobs': 1, 'seconds': 2.0, 'longest': 2.0, 'share': 1.0}]
    """
    frame = execution.to_frame()
    frame["rule"] = frame.name.str.split(" ").str[0]
    frame["seconds"] = frame.end - frame.start
    frame["area"] = frame.seconds * frame.units.map(len)
    groups = frame.groupby("rule")
    table = groups.agg(
        jobs=("seconds", "size"),
        seconds=("seconds", "sum"),
        longest=("seconds", "max"),
        share=("area", "sum"),
    )
    table["share"] /= max(float(frame.area.sum()), 1e-300)
    return table.sort_values("share", ascending=False).reset_index()


def write_report(
    execution: Execution, path: str | PathLike[str], sentence: str, notes: Sequence[str] = ()
) -> None:
    """Write how a run went: a page (.html), the picture (.png, .svg, .pdf) or the record (.json).

    Raises
    ------
    InvalidInstance
        Another suffix.
    """
    call_report_writer("execution", execution, path, sentence, notes, is_workflow=True)
