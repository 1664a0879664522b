"""Which measurements are of the codes as they are now: a hash of the command, values of sweeps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cosched.core.text import listed
from cosched.execution.code import Code

if TYPE_CHECKING:
    from cosched.execution.codes import Codes
    from cosched.execution.runs import Run


def fingerprint(code: Code) -> str:
    """A hash of what starts a code, with its places unfilled: a sweep has one.

    Examples
    --------
    >>> fingerprint(Code(name="a", command="./a")) == fingerprint(Code(name="b", command="./a"))
    True
    """
    said = [code.command, code.launch, sorted(code.environment.items())]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def values_of_sweep(code: Code) -> str:
    """What a code's sweep has chosen for it, as a file of runs keeps it.

    Examples
    --------
    >>> values_of_sweep(Code(name="a", command="./a {case}", parameters={"case": "x"}))
    '{"case": "x"}'
    """
    return json.dumps(dict(code.parameters)) if code.parameters else ""


def current(runs: Sequence[Run], codes: Codes | None) -> tuple[list[Run], tuple[str, ...]]:
    """The runs of the commands as they are now, and a note about the others.

    A run that does not say its command counts. Without codes the last run of a name says it.
    """
    profiles = {} if codes is None else codes.profiles()
    now = {run.task: run.command for run in runs if run.command}
    now |= {name: fingerprint(mine[0]) for name, mine in profiles.items()}
    chosen = {name: {"", *map(values_of_sweep, mine)} for name, mine in profiles.items()}

    def counts(run: Run) -> bool:
        values = chosen.get(run.task, {run.parameters})
        return run.command in ("", now.get(run.task)) and run.parameters in values

    kept = [run for run in runs if counts(run)]
    if len(kept) == len(runs):
        return kept, ()
    changed = list(dict.fromkeys(run.task for run in runs if not counts(run)))
    said = f"{len(runs) - len(kept)} runs do not count: the command of {listed(changed)}, or the "
    return kept, (said + "values of its sweep, have changed since",)
