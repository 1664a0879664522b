"""What the jobs of a log ask for beside cores, memory, GPUs and features."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import numbers_of, texts_of
from cosched.cluster.machine.node_types import hosts
from cosched.errors import InvalidInstance
from cosched.slurm.requests.request import KINDS

_ANY = KINDS.index("afterany")


def asked_beside(
    instance: Instance, licences: Mapping[str, int]
) -> tuple[dict[str, list], list[str]]:
    """Columns by the names of a request: ``exclusive, licences, nodelist, exclude, array, nice``
    and dependencies; notes of what is not followed."""
    left = Counter[str]()
    given: dict[str, list] = defaultdict(lambda: [None] * len(instance))
    nodes = np.maximum(numbers_of(instance, "nodes").astype(int), 0)
    for row, _ in _said(instance, "exclusive"):
        given["exclusive"][row] = True
    for row, text in _said(instance, "licenses"):
        if (why := _lacking(text, licences)) is None:
            given["licences"][row] = text
        else:
            left[f"licenses {text}{why}"] += 1
    for row, text in _said(instance, "nodelist"):
        count = _count(text)
        if nodes[row] in (0, count):
            given["nodelist"][row], given["nodes"][row] = text, max(count, 1)
        else:
            left[f"nodelist {text}, beside which there are other nodes,"] += 1
    for row, text in _said(instance, "exclude"):
        given["exclude"][row] = text
    for row, text in _said(instance, "array"):
        job, _, limit = text.partition("%")
        if job.isdigit() and limit.isdigit():
            given["array"][row] = (int(job), int(limit))
    for row, text in _said(instance, "nice"):
        given["nice"][row] = float(text)
    _dependencies(given, instance, left)
    return dict(given), [f"not followed: {what} of {count} jobs" for what, count in left.items()]


def _said(instance: Instance, name: str) -> list[tuple[int, str]]:
    texts = enumerate(texts_of(instance, name).tolist())
    return [(row, text) for row, text in texts if text not in ("", "nan")]


def _lacking(text: str, there: Mapping[str, int]) -> str | None:
    """Why these licences are not followed."""
    for part in text.split(","):
        name, _, count = part.partition(":")
        if name not in there or not re.fullmatch("[0-9]{0,9}", count):
            return ""
        if int(count or 1) > there[name]:
            return ", more than there are,"
    return None


def _count(text: str) -> int:
    try:
        return len(set(hosts(text, "nodelist")))
    except InvalidInstance:
        return -1


def _dependencies(given: Any, instance: Instance, left: Counter[str]) -> None:
    """Of jobs before it in the log, which does not tell whether they fail: ``afterok`` is taken as
    ``afterany``."""
    said = _said(instance, "dependency")
    if not said:
        return
    rows = _rows_of_jobs(instance)
    names, users = (dict(_said(instance, name)) for name in ("name", "user"))

    def who(row: int) -> tuple[str, str]:
        return users.get(row, ""), names.get(row, "")

    for row, text in said:
        kinds: list[tuple[int, list[int]]] = []
        for part in text.split(",") if "?" not in text else ():
            kind, *jobs = part.split(":")
            if part == "singleton":
                given["singleton"][row] = who(row)
            elif kind not in KINDS or any(not re.fullmatch("[0-9]+(_[0-9]+)?", j) for j in jobs):
                left[f"dependency {part}"] += 1
            elif before := [k for job in jobs for k in rows.get(job, ()) if k < row]:
                kinds.append((min(KINDS.index(kind), _ANY), before))
                if kind.endswith("ok"):
                    left[f"dependency {kind}, taken as afterany,"] += 1
            else:
                left["dependency on jobs that are not there before it"] += 1
        if "?" in text:
            left[f"dependency {text}"] += 1
        if kinds:
            given["after"][row] = kinds
    alone = {one for one in given["singleton"] if one is not None} if "singleton" in given else ()
    for row in range(len(instance)) if alone else ():
        if who(row) in alone and given["singleton"][row] is None:
            given["namesake"][row] = who(row)


def _rows_of_jobs(instance: Instance) -> Mapping[str, list[int]]:
    """Rows by number: of a job, of a task, and of all tasks of an array."""
    found: dict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(map(str, instance.ids.tolist())):
        found[name].append(row)
        if "_" in name:
            found[name.partition("_")[0]].append(row)
    return found
