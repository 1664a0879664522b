"""What the library holds: names of instances, and the generator call that makes each."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from cosched import io
from cosched.core import Instance
from cosched.core.text import unknown_name
from cosched.registry import FAMILIES, family
from cosched.workloads import WORKLOADS, rescale_load


@cache
def entries() -> dict[str, dict[str, Any]]:
    """Name -> its entry of ``instances/FAMILY.toml``, in the order of the files."""
    return {
        f"{of}/{short}": entry
        for of in FAMILIES
        for short, entry in io.parse_toml(_text(of), f"{of}.toml").items()
    }


def _text(of: str) -> str:
    return files("cosched.library").joinpath("instances", f"{of}.toml").read_text("utf-8")


def entry_of(name: str) -> dict[str, Any]:
    """The entry of a name; refused with near ones where there is none."""
    known = entries()
    if not isinstance(name, str) or name not in known:
        raise ValueError(unknown_name("instance of the library", name, known))
    return known[name]


def family_of(name: str) -> Any:
    """The Family of an instance's name."""
    entry_of(name)
    return family(name.partition("/")[0])


def load(name: str) -> Instance:
    """Make an instance of the library.

    Parameters
    ----------
    name : str
        ``"dags/cholesky-12-ccr1"``: see the column ``name`` of :func:`cosched.library.list`.

    Raises
    ------
    ValueError
        No such name; the message has near ones.

    Examples
    --------
    >>> cs.library.load("dags/cholesky-12-ccr1")
    <dags.Instance: 364 tasks, 858 edges with 9e+08 bytes, 16 + 4 units>
    """
    given = dict(entry_of(name))
    generator, load_of = given.pop("generator"), given.pop("load", None)
    made = WORKLOADS[generator](**given)
    if load_of is not None:  # a log: its jobs, on the machine that they were drawn for
        jobs = rescale_load(made, given["nodes"], load_of)
        made = family_of(name).instance_type(jobs, nodes=given["nodes"])
    return made
