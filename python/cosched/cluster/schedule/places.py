"""The check of where jobs are: on as many nodes as they asked for, with their features, alone.

It shares no code with the policies, nor with what tells them the needs of jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import numbers_of, texts_of
from cosched.errors import InvalidSchedule


def check_counts(instance: Instance, job: Any, parts: Any, first: Any) -> None:
    """As many nodes as the log says, but for what runs from the beginning."""
    said = numbers_of(instance, "nodes")[job]
    wrong = (said > 0) & (said != parts) & ~first
    if wrong.any():
        k = int(np.argmax(wrong))
        raise InvalidSchedule(
            f"job {instance.ids[job[k]]} is on {parts[k]} nodes: expected {said[k]:g}"
        )


def check_features(
    instance: Instance,
    features: list[frozenset[str]],
    job: Any,
    row: Any,
    node: Any,
    first: Any,
    roomy: Callable[[int], np.ndarray] | None = None,
) -> None:
    """Nodes have what ``a&b``, ``a|b`` or ``[a|b]`` (one of them for all nodes) says, where some of
    those that are `roomy` for a job do."""
    texts = texts_of(instance, "constraint")[job]
    for text in np.unique(texts[texts != ""]).tolist():
        having = with_features(features, text)
        for k in np.flatnonzero((texts == text) & ~first).tolist():
            mine = having[:, node[row == k]]
            if mine.all(axis=1).any() or (roomy and not (having & roomy(job[k])).any()):
                continue
            raise InvalidSchedule(
                f"job {instance.ids[job[k]]} is on a node without its features, {text}"
            )


def with_features(features: list[frozenset[str]], text: str) -> np.ndarray:
    """Which nodes have what a constraint asks for: a row for each of ``[a|b]``, else one; all nodes
    where none has it, and of a form that is not followed."""
    one = text.startswith("[") and text.endswith("]")
    names = [set(part.split("&")) for part in (text[1:-1] if one else text).split("|")]
    strange = any(mark in name for part in names for name in part for mark in "[]*()")
    having = np.array([[part <= own for own in features] for part in names])
    if not text or strange or not having.any():
        return np.ones((1, len(features)), dtype=bool)
    return having if one else np.logical_or.reduce(having, axis=0, keepdims=True)


def check_alone(instance: Instance, rows: Any, row: Any, node: Any) -> None:
    """Nobody else is on the nodes of a job that wants them for itself."""
    alone = (texts_of(instance, "exclusive") != "")[rows.task]
    for k in np.flatnonzero(alone).tolist():
        during = (
            (rows.start < rows.end[k]) & (rows.end > rows.start[k]) & (rows.task != rows.task[k])
        )
        beside = during[row] & np.isin(node, node[row == k])
        if beside.any():
            other = instance.ids[rows.task[row[int(np.argmax(beside))]]]
            raise InvalidSchedule(
                f"job {instance.ids[rows.task[k]]} is not alone on its nodes: job {other} is there"
            )


def running(instance: Instance) -> np.ndarray:
    """Which jobs run at the begin: where they are is not the policy's choice."""
    return numbers_of(instance, "running").astype(bool)
