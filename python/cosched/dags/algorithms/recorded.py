"""What a trace records: every task where and when it ran."""

from __future__ import annotations

from cosched.dags.instance import Instance
from cosched.dags.result import Result, result_of_plan
from cosched.errors import InvalidInstance, InvalidSchedule


def as_executed(instance: Instance) -> Result:
    """The run that a trace holds: each task on the unit and at the time that was recorded.

    How far was the run from the best possible? Its value and gap stand beside those of algorithms.

    Returns
    -------
    Result
        Its value counts from the start of the first task.

    Raises
    ------
    InvalidInstance
        No run was recorded; or it breaks the model, of which nothing can be said then: tasks that
        overlap on a unit, or data that arrived sooner than bandwidth and latency allow.

    Notes
    -----
    A reader of traces takes a task's time on the type where it ran from the run, so that bounds
    know what it really took there; times on other types are what models, or other tasks, say.
    O(n log n + e).

    Examples
    --------
    >>> run = {"kind": [0, 1], "unit": [0, 0], "start": [0.0, 4.5], "end": [4.0, 6.5]}
    >>> inst = cs.dags.Instance([[4.0, 1.0], [3.0, 2.0]], [(0, 1)], (1, 1), executed=run)
    >>> res = cs.dags.as_executed(inst)
    >>> res.value, res.bound.value
    (6.5, 3.0)
    """
    Instance.require(instance)
    run = instance.executed
    if run is None:
        raise InvalidInstance("no run was recorded: expected the trace of one, as StarPU's .rec")
    result = result_of_plan(instance, "as-executed", *run)
    try:
        result.schedule.validate()
    except InvalidSchedule as error:
        raise InvalidInstance(f"the recorded run breaks the model: {error}") from None
    return result
