"""What a file of runs keeps of a code: a hash of its command, and the values of its sweep."""

from __future__ import annotations

import hashlib
import json

from cosched.execution.code import Code


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
