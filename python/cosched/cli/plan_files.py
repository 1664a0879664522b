"""The plan and the codes that a command reads together."""

from pathlib import Path

from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance
from cosched.execution.codes import Codes
from cosched.execution.plans import Plan


def read_plan_with_codes(plan: Path, codes: Path) -> tuple[Plan, Codes]:
    """Read a plan, and the codes that it starts.

    Raises
    ------
    InvalidInstance
        The plan has a task that the file of codes does not have.
    """
    codes_read = Codes.read(codes)
    plan_read = Plan.read(plan, list(codes_read))
    for step in plan_read.steps:
        if step.name not in codes_read:
            message = unknown_name("task", step.name, list(codes_read))
            raise InvalidInstance(f"{plan}: {message}: expected a plan of the codes of {codes}")
    return plan_read, codes_read
