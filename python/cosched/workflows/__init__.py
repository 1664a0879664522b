"""Workflow managers ask which of their ready jobs start next; here is the answer.

* :class:`OnlineList`: list scheduling of a graph of rigid jobs over any resources, by the longest
  path of expected times behind each job. The graph may grow, times are learned while it runs.
* :func:`plan`, :class:`Plan`: what is expected of a run, and the bound.
* :class:`Course`: what started when; :func:`execution_of`, :func:`by_rule`, :func:`write_report`:
  how good it was.
* :class:`History`: times kept between runs.

``snakemake --scheduler cosched`` is the module ``snakemake_scheduler_plugin_cosched`` beside this
package: it translates between Snakemake and these.
"""

from cosched.border import guard_public
from cosched.described import described
from cosched.lazy import on_first_use
from cosched.workflows.job_times import History
from cosched.workflows.online import OnlineList, Ready
from cosched.workflows.run_expectation import Course, Plan, no_schedule_before, plan

__all__ = [
    "Course",
    "History",
    "OnlineList",
    "Plan",
    "Ready",
    "by_rule",
    "execution_of",
    "no_schedule_before",
    "plan",
    "write_report",
]

# Pictures and tables are for the end of a run: their import would delay its first jobs.
_REPORT_NAMES = ("by_rule", "execution_of", "write_report")
__getattr__ = on_first_use(
    __name__, dict.fromkeys(_REPORT_NAMES, "cosched.workflows.run_report"), guard_public
)

described(globals())
guard_public(globals())
