"""Workflow managers ask which of their ready jobs start next; here is the answer.

* :class:`OnlineList`: list scheduling of a graph of rigid jobs over any resources, by the longest
  path of expected times behind each job. The graph may grow, times are learned while it runs.
* :func:`plan`, :class:`Plan`: what is expected of a run, and the bound.
* :class:`Course`: what started when, as an :class:`~cosched.execution.Execution`;
  :func:`write_report`, :func:`by_rule`: how good it was.
* :class:`History`: times kept between runs.
* :func:`read_snakemake`, :class:`Past`: a run that Snakemake has kept in ``.snakemake``, and what
  other core counts would take.

``snakemake --scheduler cosched`` is the module ``snakemake_scheduler_plugin_cosched`` beside this
package: it translates between Snakemake and these.
"""

from cosched.workflows.course import Course
from cosched.workflows.history import History
from cosched.workflows.online import OnlineList
from cosched.workflows.past import Past
from cosched.workflows.planned import Plan, no_schedule_before, plan
from cosched.workflows.ready import Ready
from cosched.workflows.report import by_rule, write_report
from cosched.workflows.snakemake_log import KeptJob, read_snakemake

__all__ = [
    "Course",
    "History",
    "KeptJob",
    "OnlineList",
    "Past",
    "Plan",
    "Ready",
    "by_rule",
    "no_schedule_before",
    "plan",
    "read_snakemake",
    "write_report",
]
