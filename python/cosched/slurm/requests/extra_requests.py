"""What jobs of a log ask for besides cores, memory and GPUs: hosts, licences, dependencies."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import numbers_of, texts_of
from cosched.cluster.machine.node_types import host_count, hosts
from cosched.core.text import count_of
from cosched.notes import Note, not_followed
from cosched.slurm.requests.request import KINDS

_AFTERANY = KINDS.index("afterany")


def extra_requests(
    instance: Instance, licences: Mapping[str, int], cores_of_hosts: Mapping[str, int]
) -> tuple[dict[str, list[Any]], list[Note]]:
    """Return columns by the names of a request, and notes of what is not followed.

    The columns are ``exclusive, licences, nodelist, exclude, array, nice, age_from`` and
    dependencies. A nodelist is followed where these hosts are as many nodes as the job has, and
    have its cores.
    """
    unsupported = Counter[str]()
    refused_licences = Counter[str]()
    columns: dict[str, list[Any]] = defaultdict(lambda: [None] * len(instance))
    nodes = np.maximum(numbers_of(instance, "nodes").astype(int), 0)
    tasks = instance.column("tasks").astype(int).tolist()
    reader_by_name: dict[str, Callable[[str], Any]] = {
        "exclusive": bool,
        "exclude": str,
        "nice": float,
    }
    for name, read in reader_by_name.items():
        for row, text in _texts_by_row(instance, name):
            columns[name][row] = read(text)
    for row, text in _texts_by_row(instance, "licenses"):
        if _has_licences(text, licences):
            columns["licences"][row] = text
        else:
            refused_licences[text] += 1
    for row, text in _texts_by_row(instance, "nodelist"):
        count = host_count(text)
        names = hosts(text, "nodelist")
        if not cores_of_hosts.keys() >= set(names):
            columns["nodelist"][row] = text  # what reads it says that the machine lacks one
            continue
        cores = sum(cores_of_hosts[name] for name in names)
        if nodes[row] in (0, count) and cores >= tasks[row]:
            columns["nodelist"][row], columns["nodes"][row] = text, max(count, 1)
        else:
            unsupported[f"nodelist {text}, beside which there are other nodes,"] += 1
    for row, text in _texts_by_row(instance, "array"):
        job, _, limit = text.partition("%")
        if job.isdecimal() and limit.isdecimal():
            columns["array"][row] = (int(job), min(int(limit), len(instance)))
    for row, second in _array_ages(instance).items():
        columns["age_from"][row] = second
    _dependencies(columns, instance, unsupported)
    notes = [
        not_followed(f"{subject} of {count} jobs", subject=subject, count=count)
        for subject, count in unsupported.items()
    ]
    return dict(columns), [*_notes_of_licences(refused_licences, licences), *notes]


def _notes_of_licences(refused: Counter[str], licences: Mapping[str, int]) -> list[Note]:
    """Return notes of jobs whose licences the machine does not have, or not so many of them."""
    amounts = ", ".join(f"{name}:{count}" for name, count in licences.items()) or "none"
    return [
        not_followed(
            f"licenses {text} of {count_of(count, 'job')}: the machine has {amounts}, where Slurm "
            "refuses such jobs at submission; here they start without licences",
            subject=f"licenses {text}",
            count=count,
        )
        for text, count in refused.items()
    ]


def _texts_by_row(instance: Instance, name: str) -> list[tuple[int, str]]:
    """Return (row, text) of the jobs that have a text in a column."""
    texts = enumerate(texts_of(instance, name).tolist())
    return [(row, text) for row, text in texts if text not in ("", "nan")]


def _array_ages(instance: Instance) -> dict[int, float]:
    """Return since when the age of tasks counts that became eligible later than their array (s).

    A task that is kept by the limit of its array (``--array=1-24%6``) ages with its array, while
    sacct shows the second in which the limit let it go. Runs of a requeued task have submissions of
    their own, and ages that count anew; a task behind ``aftercorr`` waited for another job.
    """
    if "eligible" not in instance.column_names:
        return {}
    tasks_of_array: dict[tuple[str, float], list[int]] = defaultdict(list)
    submissions, eligible = instance.column("submit"), instance.column("eligible")
    dependencies = dict(_texts_by_row(instance, "dependency"))
    for row, name in enumerate(map(str, instance.ids.tolist())):
        array, underscore, _ = name.partition("_")
        if underscore and "aftercorr" not in dependencies.get(row, ""):
            tasks_of_array[array, float(submissions[row])].append(row)
    ages: dict[int, float] = {}
    for rows in tasks_of_array.values():
        first = float(eligible[rows].min())
        ages |= {row: first for row in rows if eligible[row] > first}
    return ages


def _has_licences(text: str, licences: Mapping[str, int]) -> bool:
    """Whether the machine has all licences of ``a:2,b``, and as many of each."""
    for part in text.split(","):
        name, _, count = part.partition(":")
        if not re.fullmatch("[0-9]{0,9}", count) or int(count or 1) > licences.get(name, 0):
            return False
    return True


def _dependencies(columns: Any, instance: Instance, unsupported: Counter[str]) -> None:
    """Add dependencies on jobs that come before in the log.

    A log does not tell whether these fail, so that ``afterok`` is taken as ``afterany``.
    """
    texts_by_row = _texts_by_row(instance, "dependency")
    if not texts_by_row:
        return
    rows = _rows_of_jobs(instance)
    names, users = (dict(_texts_by_row(instance, name)) for name in ("name", "user"))

    def user_and_name_of(row: int) -> tuple[str, str]:
        return users.get(row, ""), names.get(row, "")

    for row, text in texts_by_row:
        kinds: list[tuple[int, list[int]]] = []
        for part in text.split(",") if "?" not in text else ():
            kind, *jobs = part.split(":")
            if part == "singleton":
                columns["singleton"][row] = user_and_name_of(row)
            elif kind not in KINDS or any(not re.fullmatch("[0-9]+(_[0-9]+)?", j) for j in jobs):
                unsupported[f"dependency {part}"] += 1
            elif before := [k for job in jobs for k in rows.get(job, ()) if k < row]:
                kinds.append((min(KINDS.index(kind), _AFTERANY), before))
                if kind.endswith("ok"):
                    unsupported[f"dependency {kind}, taken as afterany,"] += 1
            else:
                unsupported["dependency on jobs that are not there before it"] += 1
        if "?" in text:
            unsupported[f"dependency {text}"] += 1
        if kinds:
            columns["after"][row] = kinds
    singletons = (
        {user_and_name for user_and_name in columns["singleton"] if user_and_name is not None}
        if "singleton" in columns
        else ()
    )
    for row in range(len(instance)) if singletons else ():
        if user_and_name_of(row) in singletons and columns["singleton"][row] is None:
            columns["namesake"][row] = user_and_name_of(row)


def _rows_of_jobs(instance: Instance) -> Mapping[str, list[int]]:
    """Return rows by number: of a job, of a task, and of all tasks of an array."""
    rows_by_name: dict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(map(str, instance.ids.tolist())):
        rows_by_name[name].append(row)
        if "_" in name:
            rows_by_name[name.partition("_")[0]].append(row)
    return rows_by_name
