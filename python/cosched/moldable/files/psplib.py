"""PSPLIB's ``.sm`` and ``.mm``, and Patterson's ``.rcp``: projects with scarce resources.

Sources: Kolisch and Sprecher, *PSPLIB - a project scheduling problem library*, EJOR 96 (1996),
whose files ProGen writes; Patterson, *A comparison of exact approaches for solving the multiple
constrained resource, project scheduling problem*, Management Science 30 (1984).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from cosched import io
from cosched.errors import InvalidInstance, shorten
from cosched.moldable.files.project import Mode, Project, require_known

_MOST = 10**9
_PSPLIB = re.compile(
    r"^\s*(PRECEDENCE RELATIONS|REQUESTS/DURATIONS|file with basedata|jobs *\(incl)", re.MULTILINE
)
_NEEDED = ("PRECEDENCE RELATIONS", "REQUESTS/DURATIONS", "RESOURCEAVAILABILITIES")
_KINDS = {"renewable": "R", "nonrenewable": "N", "doubly constrained": "D"}


def is_psplib(text: str) -> bool:
    """Whether a text is a file of PSPLIB.

    Examples
    --------
    >>> is_psplib("****\\nPRECEDENCE RELATIONS:\\njobnr.\\n"), is_psplib("4 1\\n2\\n")
    (True, False)
    """
    return _PSPLIB.search(text) is not None


class _Section:
    """The rows of numbers of one section, each with its line."""

    def __init__(self, path: object, name: str, rows: Sequence[tuple[int, list[str]]]) -> None:
        self.path, self.name, self.rows = path, name, rows

    def numbers(self) -> Iterator[tuple[str, list[int]]]:
        """Place and numbers of each row."""
        for line, words in self.rows:
            where = f"{self.path}: line {line}"
            yield (
                where,
                [
                    io.parse_integer(word, f"{where}, {self.name}, field {k}", 0, _MOST)
                    for k, word in enumerate(words, 1)
                ],
            )


def read_psplib(text: str, path: object) -> Project:
    """The project of a ``.sm`` or ``.mm`` file.

    Raises
    ------
    InvalidInstance
        A damaged file: file, line, field, and what was expected.
    """
    sections = _sections(text, path)
    for name in _NEEDED:
        if name not in sections:
            raise InvalidInstance(f"{path}: no section {name}: expected it")
    counts = _resource_counts(text, path)
    names = [f"{letter} {k}" for letter, count in counts.items() for k in range(1, count + 1)]
    if counts["D"]:
        raise InvalidInstance(
            f"{path}: {counts['D']} doubly constrained resources: expected renewable ones"
        )
    modes_of_job, successors = _precedence(sections["PRECEDENCE RELATIONS"])
    modes = _requests(sections["REQUESTS/DURATIONS"], modes_of_job, len(names))
    capacity = _capacities(sections["RESOURCEAVAILABILITIES"], len(names), path)
    return Project(modes, successors, tuple(names), capacity, counts["R"])


def _sections(text: str, path: object) -> dict[str, _Section]:
    """Rows of numbers below each title in capitals."""
    rows: dict[str, list[tuple[int, list[str]]]] = {}
    title = ""
    for line, content in enumerate(text.splitlines(), 1):
        stripped = content.strip()
        match = re.match(r"([A-Z][A-Z/ ]+[A-Z])\s*:?\s*$", stripped)
        if match:
            title = match[1]
            rows.setdefault(title, [])
        elif stripped[:1].isdigit() or (stripped[:1] == "-" and stripped[1:2].isdigit()):
            rows.setdefault(title, []).append((line, stripped.split()))
        elif title in _NEEDED and stripped and not re.match(r"[A-Za-z*=]|-{2,}", stripped):
            raise InvalidInstance(
                f"{path}: line {line}: {shorten(stripped)}: expected numbers of {title}"
            )
    return {name: _Section(path, name, of_title) for name, of_title in rows.items()}


def _resource_counts(text: str, path: object) -> dict[str, int]:
    """Resources of each kind by its letter."""
    counts = dict.fromkeys(_KINDS.values(), 0)
    for line, content in enumerate(text.splitlines(), 1):
        match = re.match(r"\s*-\s*(renewable|nonrenewable|doubly constrained)\s*:\s*(\S+)", content)
        if match:
            where = f"{path}: line {line}, {match[1]}"
            counts[_KINDS[match[1]]] = io.parse_integer(match[2], where, 0, 1000)
    return counts


def _precedence(section: _Section) -> tuple[dict[str, int], dict[str, tuple[str, ...]]]:
    """How many modes each job has, and its successors."""
    modes: dict[str, int] = {}
    places: dict[str, str] = {}
    successors: dict[str, tuple[str, ...]] = {}
    for where, numbers in section.numbers():
        if len(numbers) < 3 or len(numbers) != 3 + numbers[2]:
            raise InvalidInstance(
                f"{where}: {len(numbers)} numbers: expected job, modes, number of successors, "
                "successors"
            )
        name = str(numbers[0])
        if name in modes:
            raise InvalidInstance(f"{where}: job {name} is there twice: expected it once")
        if numbers[1] < 1:
            raise InvalidInstance(f"{where}: job {name} has {numbers[1]} modes: expected 1 or more")
        modes[name], places[name] = numbers[1], where
        successors[name] = tuple(str(number) for number in numbers[3:])
    for name, of_job in successors.items():
        for successor in of_job:
            require_known(places[name], successor, modes)
    return modes, successors


def _requests(
    section: _Section, modes_of_job: dict[str, int], resources: int
) -> dict[str, list[Mode]]:
    """The modes of each job; rows of further modes may lack the number of the job."""
    modes: dict[str, list[Mode]] = {name: [] for name in modes_of_job}
    current = ""
    for where, row in section.numbers():
        numbers = row
        if len(row) == resources + 3:
            current, numbers = str(row[0]), row[1:]
        elif len(row) != resources + 2 or not current:
            raise InvalidInstance(
                f"{where}: {len(numbers)} numbers: expected job, mode, duration and "
                f"{resources} requests"
            )
        if current not in modes:
            raise InvalidInstance(f"{where}: job {current}: expected one of PRECEDENCE RELATIONS")
        modes[current].append(Mode(numbers[1], tuple(numbers[2:]), where))
    for name, count in modes_of_job.items():
        if len(modes[name]) != count:
            raise InvalidInstance(
                f"{section.path}: job {name} has {len(modes[name])} modes in REQUESTS/DURATIONS: "
                f"expected {count}"
            )
    if not modes:
        raise InvalidInstance(f"{section.path}: no job: expected one in PRECEDENCE RELATIONS")
    return modes


def _capacities(section: _Section, resources: int, path: object) -> tuple[int, ...]:
    rows = list(section.numbers())
    if len(rows) != 1 or len(rows[0][1]) != resources:
        raise InvalidInstance(
            f"{path}: RESOURCEAVAILABILITIES: {sum(len(row) for _, row in rows)} numbers: expected "
            f"{resources}"
        )
    return tuple(rows[0][1])


def read_patterson(text: str, path: object) -> Project:
    """The project of a ``.rcp`` file: numbers with blanks between, wherever lines end.

    Raises
    ------
    InvalidInstance
        A damaged file: file, line, and what was expected.
    """
    numbers = _numbers_with_places(text, path)

    def take(what: str, high: int = _MOST) -> int:
        where, number = next(numbers, (f"{path}: end of file", -1))
        if not 0 <= number <= high:
            seen = "nothing" if number < 0 else str(number)
            raise InvalidInstance(f"{where}: {seen}: expected {what} in 0..{high}")
        return number

    jobs, resources = take("the number of jobs", 10**6), take("the number of resources", 1000)
    capacity = tuple(take(f"the capacity of resource {k + 1}") for k in range(resources))
    modes: dict[str, list[Mode]] = {}
    successors: dict[str, tuple[str, ...]] = {}
    for job in range(1, jobs + 1):
        duration = take(f"the duration of job {job}")
        needs = tuple(take(f"a request of job {job}") for _ in range(resources))
        count = take(f"the number of successors of job {job}", jobs)
        successors[str(job)] = tuple(
            str(take(f"a successor of job {job}", jobs)) for _ in range(count)
        )
        modes[str(job)] = [Mode(duration, needs, f"{path}: job {job}")]
    left_over = next(numbers, None)
    if left_over is not None:
        raise InvalidInstance(f"{left_over[0]}: {left_over[1]}: expected the end of {jobs} jobs")
    for name, of_job in successors.items():
        for successor in of_job:
            require_known(f"{path}: job {name}", successor, modes)
    if not modes:
        raise InvalidInstance(f"{path}: no job: expected one")
    names = tuple(f"R {k + 1}" for k in range(resources))
    return Project(modes, successors, names, capacity, resources)


def _numbers_with_places(text: str, path: object) -> Iterator[tuple[str, int]]:
    for line, content in enumerate(text.splitlines(), 1):
        for word in content.split():
            where = f"{path}: line {line}"
            yield where, io.parse_integer(word, where, 0, _MOST)


def write_psplib(instance: Any) -> str:
    """The text of a ``.sm`` file of rigid jobs with whole numbers, between a source and a sink.

    Raises
    ------
    InvalidInstance
        Jobs of several counts, weights or releases, or amounts that are no whole numbers.
    """
    times = instance.times
    is_rigid = ((times < float("inf")).sum(axis=1) == 1).all()
    has_extras = instance.has_releases or (instance.weights != 1).any()
    shared = instance.sharing.to_dict()
    if not is_rigid or has_extras or set(shared) - {"resources", "capacity"}:
        raise InvalidInstance(
            "a .sm file has rigid jobs with resources alone: expected no counts to choose from, "
            "no weights, releases or slow-downs (.json has all)"
        )
    rows = times.argmin(axis=1)
    durations = times[range(len(times)), rows]
    needs: dict[str, Any] = {}
    capacity: dict[str, Any] = {}
    if rows.any() or instance.machines < instance.jobs:  # else processors are never scarce
        needs["R 1"], capacity["R 1"] = rows + 1, instance.machines
    for name, amounts in shared.get("resources", {}).items():
        key = f"R {len(needs) + 1}"
        table = amounts if isinstance(amounts, list) else list(amounts)
        needs[key] = [row[rows[k]] if isinstance(row, list) else row for k, row in enumerate(table)]
        capacity[key] = shared["capacity"][name]
    columns = [[_whole(value, name) for value in values] for name, values in needs.items()]
    durations = [_whole(value, "duration") for value in durations]
    return _sm_text(
        durations,
        columns,
        [_whole(value, name) for name, value in capacity.items()],
        instance.edges.tolist(),
    )


def _whole(value: Any, name: str) -> int:
    number = float(value)
    if number != int(number):
        raise InvalidInstance(f"{name} = {number:g}: expected a whole number in a .sm file")
    return int(number)


def _sm_text(
    durations: Sequence[int],
    columns: Sequence[Sequence[int]],
    capacity: Sequence[int],
    edges: Sequence[Sequence[int]],
) -> str:
    """Jobs are numbered from 2; 1 is the source, the last the sink."""
    count = len(durations)
    sink = count + 2
    behind: dict[int, list[int]] = {job: [] for job in range(1, sink + 1)}
    has_predecessor = set()
    for first, second in edges:
        behind[first + 2].append(second + 2)
        has_predecessor.add(second)
    behind[1] = [job + 2 for job in range(count) if job not in has_predecessor]
    for job in range(2, sink):
        behind[job] = sorted(behind[job]) or [sink]
    stars = "*" * 72
    names = "  ".join(f"R {k}" for k in range(1, len(capacity) + 1))
    lines = [
        stars,
        "file with basedata            : -",
        "initial value random generator: 0",
        stars,
        "projects                      :  1",
        f"jobs (incl. supersource/sink ):  {sink}",
        f"horizon                       :  {sum(durations)}",
        "RESOURCES",
        f"  - renewable                 :  {len(capacity)}   R",
        "  - nonrenewable              :  0   N",
        "  - doubly constrained        :  0   D",
        stars,
        "PRECEDENCE RELATIONS:",
        "jobnr.    #modes  #successors   successors",
    ]
    lines += [
        f"{job:4} {1:9} {len(of_job):10}        " + " ".join(f"{other:4}" for other in of_job)
        for job, of_job in behind.items()
    ]
    lines += [stars, "REQUESTS/DURATIONS:", f"jobnr. mode duration  {names}", "-" * 72]
    rows = [
        [0] * (1 + len(capacity)),
        *([duration, *needs] for duration, *needs in zip(durations, *columns, strict=True)),
        [0] * (1 + len(capacity)),
    ]
    lines += [
        f"{job:3} {1:6} {row[0]:5} " + " ".join(f"{need:4}" for need in row[1:])
        for job, row in enumerate(rows, 1)
    ]
    lines += [stars, "RESOURCEAVAILABILITIES:", f"  {names}"]
    lines += ["  " + " ".join(f"{amount:4}" for amount in capacity), stars]
    return "\n".join(lines) + "\n"
