"""What the jobs of a log ask for: partitions, nodes, memory, GPUs; what those that run have."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.arguments import held_of
from cosched.cluster.instance.unschedulable import also_of, partition_place, place_of_job
from cosched.cluster.instance.usage import numbers_of, ran_in_log, texts_of
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import host_count, hosts
from cosched.cluster.machine.parts import of_nodes
from cosched.core.text import count_of
from cosched.errors import InfeasibleError, InvalidInstance, shorten
from cosched.slurm.conf.settings import SlurmSettings
from cosched.slurm.requests import request as core
from cosched.slurm.requests.associations import owners_of

_ANY = core.KINDS.index("afterany")


def asked_beside(
    instance: Instance, licences: Mapping[str, int], cores_of_hosts: Mapping[str, int]
) -> tuple[dict[str, list], list[str]]:
    """Columns by the names of a request: ``exclusive, licences, nodelist, exclude, array, nice,
    age_from`` and dependencies; notes of what is not followed. A nodelist is followed where these
    hosts are as many nodes as the job has, and have its cores."""
    left = Counter[str]()
    refused_licences = Counter[str]()
    given: dict[str, list] = defaultdict(lambda: [None] * len(instance))
    nodes = np.maximum(numbers_of(instance, "nodes").astype(int), 0)
    tasks = instance.column("tasks").astype(int).tolist()
    plain: dict[str, Callable[[str], Any]] = {"exclusive": bool, "exclude": str, "nice": float}
    for name, read in plain.items():
        for row, text in _said(instance, name):
            given[name][row] = read(text)
    for row, text in _said(instance, "licenses"):
        if _has_licences(text, licences):
            given["licences"][row] = text
        else:
            refused_licences[text] += 1
    for row, text in _said(instance, "nodelist"):
        count = host_count(text)
        names = hosts(text, "nodelist")
        if not cores_of_hosts.keys() >= set(names):
            given["nodelist"][row] = text  # what reads it says that the machine lacks one
            continue
        cores = sum(cores_of_hosts[name] for name in names)
        if nodes[row] in (0, count) and cores >= tasks[row]:
            given["nodelist"][row], given["nodes"][row] = text, max(count, 1)
        else:
            left[f"nodelist {text}, beside which there are other nodes,"] += 1
    for row, text in _said(instance, "array"):
        job, _, limit = text.partition("%")
        if job.isdecimal() and limit.isdecimal():
            given["array"][row] = (int(job), min(int(limit), len(instance)))
    for row, second in _array_ages(instance).items():
        given["age_from"][row] = second
    _dependencies(given, instance, left)
    notes = [f"not followed: {what} of {count} jobs" for what, count in left.items()]
    return dict(given), [*_notes_of_licences(refused_licences, licences), *notes]


def _notes_of_licences(refused: Counter[str], licences: Mapping[str, int]) -> list[str]:
    """What becomes of jobs whose licences the machine does not have, or not so many of them."""
    amounts = ", ".join(f"{name}:{count}" for name, count in licences.items()) or "none"
    return [
        f"not followed: licenses {text} of {count_of(count, 'job')}: the machine has {amounts}, "
        "where Slurm refuses such jobs at submission; here they start without licences"
        for text, count in refused.items()
    ]


def _said(instance: Instance, name: str) -> list[tuple[int, str]]:
    texts = enumerate(texts_of(instance, name).tolist())
    return [(row, text) for row, text in texts if text not in ("", "nan")]


def _array_ages(instance: Instance) -> dict[int, float]:
    """Since when the age of each task counts that became eligible later than its array (s).

    A task that is kept by the limit of its array (``--array=1-24%6``) ages with its array, while
    sacct shows the second in which the limit let it go. Runs of a requeued task have submissions of
    their own, and ages that count anew; a task behind ``aftercorr`` waited for another job.
    """
    if "eligible" not in instance.known:
        return {}
    tasks_of_array: dict[tuple[str, float], list[int]] = defaultdict(list)
    submissions, eligible = instance.column("submit"), instance.column("eligible")
    dependencies = dict(_said(instance, "dependency"))
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
            elif kind not in core.KINDS or any(
                not re.fullmatch("[0-9]+(_[0-9]+)?", j) for j in jobs
            ):
                left[f"dependency {part}"] += 1
            elif before := [k for job in jobs for k in rows.get(job, ()) if k < row]:
                kinds.append((min(core.KINDS.index(kind), _ANY), before))
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


def partitions_of_jobs(
    instance: Instance, names: Sequence[str], usual: str
) -> tuple[np.ndarray, dict[int, list[int]]]:
    """The partition of each job, the first of several; and of those in several, all."""
    several: dict[int, list[int]] = {}
    if "partition" not in instance.known or len(names) == 1:
        return np.full(len(instance), names.index(usual)), several
    places = {name: k for k, name in enumerate(names)}
    found = np.empty(len(instance), dtype=np.int64)
    for row, text in enumerate(map(str, instance.column("partition").tolist())):
        own = list(filter(None, text.split(","))) or [""]
        name = next((one for one in own if one not in places), own[0])
        if len(own) > 1 and name in places:
            several[row] = [places[one] for one in own]
        if name and name not in places:
            raise InvalidInstance(
                f"job {instance.ids[row]}: partition {shorten(name)}: the machine has "
                f"{', '.join(names)}"
            )
        found[row] = places[name or usual]
    return found, several


@dataclass(frozen=True, eq=False)
class Room:
    """Where the jobs of an instance may run."""

    instance: Instance
    #: Units by node.
    node_cores: np.ndarray
    #: Ranges of nodes by partition.
    parts: Mapping[str, tuple[tuple[int, int], ...]]
    #: The partition of each job.
    part: np.ndarray
    #: Jobs have cores of their own, several on a node; else whole nodes.
    shared: bool

    def counts(self) -> np.ndarray:
        """Nodes of each job, as the log says; 0: it does not."""
        return numbers_of(self.instance, "nodes").astype(np.int64)

    def nodes_of_jobs(self) -> np.ndarray:
        """Whole nodes that hold each job's tasks, as many at least as the log says."""
        tasks = self.instance.column("tasks")
        wanted = np.ones(len(tasks), dtype=np.int64)
        for k, (name, ranges) in enumerate(self.parts.items()):
            mine = self.part == k
            if not mine.any():
                continue
            cores = np.concatenate([self.node_cores[a:b] for a, b in ranges or [(0, 0)]])
            if self.shared or not len(cores):
                self._require_room(mine & (tasks > cores.sum()), tasks, name, "core", cores.sum())
                continue
            if len(set(cores.tolist())) > 1:
                raise InvalidInstance(
                    f"slurm-backfill: partition {name} has nodes of {min(cores)} to {max(cores)} "
                    "cores: expected nodes of one kind"
                )
            wanted[mine] = np.maximum(-(-tasks[mine] // int(cores[0])), self.counts()[mine])
            self._require_room(mine & (wanted > len(cores)), wanted, name, "node", len(cores))
        return wanted

    def _require_room(
        self, is_too_large: np.ndarray, wanted: np.ndarray, name: str, unit: str, room: int
    ) -> None:
        """InfeasibleError about jobs that want more of a partition than it has."""
        rows = np.flatnonzero(is_too_large).tolist()
        if not rows:
            return
        names = [str(self.instance.ids[row]) for row in rows]
        has = room if room else "no nodes"
        error = InfeasibleError(
            f"{place_of_job(self.instance, rows[0])} wants "
            f"{count_of(int(wanted[rows[0]]), unit)}: {partition_place(name)} has "
            f"{has}{also_of(names[1:])}"
        )
        error.rows = tuple(rows)
        raise error

    def with_nodes_of_the_first(
        self, several: Mapping[int, list[int]]
    ) -> tuple[dict[int, list[int]], list[str]]:
        """Of the partitions of a job those in which it needs as many whole nodes; what is left."""
        kinds = [
            {int(self.node_cores[k]) for a, b in ranges for k in range(a, b)}
            for ranges in self.parts.values()
        ]
        kept = {row: [k for k in own if kinds[k] == kinds[own[0]]] for row, own in several.items()}
        left = sum(len(kept[row]) < len(own) for row, own in several.items())
        said = f"not followed: partitions with other nodes than the first of {left} jobs"
        return kept, [said] if left else []

    def first_free(self, row: int, free: np.ndarray) -> list[tuple[int, int]]:
        """(node, cores) of a job on the first that are free."""
        name = list(self.parts)[self.part[row]]
        left = int(self.instance.column("tasks")[row])
        held = []
        for node in (k for a, b in self.parts[name] for k in range(a, b)):
            room = int(free[node])
            if not self.shared and room < self.node_cores[node]:
                continue
            if left > 0 and room > 0:
                held.append((node, min(room, left) if self.shared else room))
                left -= room
        if left > 0:
            raise InvalidInstance(
                f"running: job {self.instance.ids[row]}: no room beside the others that run"
            )
        return held


def requests_of_log(
    room: Room, settings: SlurmSettings, machine: Machine | None, approximate: bool
) -> tuple[core.Requests, list[str]]:
    """What the jobs of a log ask for, and whose they are; what is to be said of it."""
    if machine is None or machine.slurm is None:
        return core.Requests(), []
    notes: list[str] = []
    given: dict[str, list] = {}
    of_each = np.zeros(len(room.part), dtype=np.int64)  # GPUs that a job wants of whole nodes
    if room.shared:
        given |= _memory_asked(room, settings, notes) | _gpus_asked(room.instance, machine, notes)
        given["nodes"] = [count or None for count in room.counts().tolist()]
    elif machine.gpus and (counts := gpus_of_jobs(room.instance)).any():
        notes.append(
            "gpus: nodes are whole here: a job gets nodes with as many as it wants of each"
        )
        of_each = np.where(counts > 0, np.maximum(counts // room.nodes_of_jobs(), 1), 0)
    form = _LogForm(machine, memory="memory" in given)
    owners, accounts, said = owners_of(room.instance, machine, settings, approximate)
    if owners is not None:
        given["owner"] = owners
    if "constraint" in room.instance.known:
        given["constraint"] = texts_of(room.instance, "constraint").tolist()
    cores_of_hosts = dict(zip(settings.names, room.node_cores.tolist(), strict=False))
    beside, left = asked_beside(room.instance, settings.licences, cores_of_hosts)
    tasks = room.instance.column("tasks").astype(np.int64).tolist()
    names = list(room.parts)
    types = texts_of(room.instance, "gpu_type").tolist()
    has_run = ran_in_log(room.instance)
    jobs = {}
    for row, (cores, part) in enumerate(zip(tasks, room.part.tolist(), strict=True)):
        asked = {key: column[row] for key, column in given.items()}
        asked |= {key: column[row] for key, column in beside.items() if column[row] is not None}
        # One that asks for nothing beside its cores may have them anywhere.
        some = form.memory_counts or any(map(asked.get, ("gpus", "nodes", "exclusive", "nodelist")))
        ages = asked.get("age_from") is not None
        if not some and not any(asked.values()) and not of_each[row] and not ages:
            continue
        own = core.Request(cores=cores if some else None, partition=names[part], **asked)
        form.has_run = bool(has_run[row])
        job = form.of(own)
        if of_each[row]:
            job |= form.with_gpus(job, int(of_each[row]), types[row])
        if job:
            jobs[row] = job
    reserved = tuple(
        (0.0, begin, end, list(form.nodes(nodes, "reservation")), True, nodes.upper() == "ALL")
        for begin, end, nodes in settings.reserved
    )
    together = form.together(jobs, reservations=reserved, **accounts)
    return together, notes + form.notes() + left + said


class _LogForm(core.CoreForm):
    """A log may be of a time with other nodes and hosts: what jobs asked for and the machine does
    not have is left out, and counted. Constraints hold, unless a job that ran wants memory which no
    node with its features has: these nodes were others then."""

    def __init__(self, machine: Machine, memory: bool) -> None:
        super().__init__(machine, memory=memory)
        self._lost, self._hosts = Counter[str](), Counter[str]()
        self._gpus_of_nodes = np.array(gpus_of_nodes(machine), dtype=np.int64)
        self._with_gpus: dict[tuple, dict[str, Any]] = {}
        #: Whether the job whose request is read next ran in the log.
        self.has_run = False

    def places(self, text: str, least: int) -> dict[str, Any]:
        places = self.allowed_places(text.strip(), least)
        is_too_small = text and self.has_run and self.no_place(places)
        if not is_too_small or self.no_place(self.allowed_places(text.strip(), 0)):
            return places
        anywhere = self.allowed_places("", least)
        if self.no_place(anywhere):
            return places
        self._lost[text] += 1
        return anywhere

    def narrowed(self, places: Mapping[str, Any], text: str, *, within: bool) -> dict[str, Any]:
        try:
            found = super().narrowed(places, text, within=within)
            if not (self.has_run and self.no_place(found)):
                return found
        except InvalidInstance:  # hosts of another machine
            pass
        self._hosts[f"{'nodelist' if within else 'exclude'} {text}"] += 1
        return dict(places)

    def with_gpus(self, places: Mapping[str, Any], least: int, kind: str) -> dict[str, Any]:
        """What :meth:`places` gave, of nodes with so many GPUs of this type."""
        here = {name: places[name] for name in ("set", "alternatives") if name in places}
        key = (str(here), least, kind)
        if key not in self._with_gpus:
            names = self.gpu_types
            mine = [not kind or name == kind or kind not in names for name in names]
            having = np.flatnonzero(self._gpus_of_nodes[mine].sum(axis=0) >= least)
            self._with_gpus[key] = self.of_these(here, set(having.tolist()), within=True)
        found = self._with_gpus[key]
        if not (self.has_run and self.no_place(found)):
            return found
        self._hosts[f"{least} GPUs {kind}".strip() + " of each node"] += 1
        return here

    def notes(self) -> list[str]:
        lost = {f"constraint {shorten(text)}": n for text, n in self._lost.items() if n}
        return [
            f"not followed: {what} of {count} jobs: they take any nodes"
            for what, count in (lost | self._hosts).items()
        ]


def _memory_asked(room: Room, settings: SlurmSettings, notes: list[str]) -> dict[str, list]:
    """Of each node where the log says how many a job has, else, or where it says so, of each
    core."""
    if not settings.memory_counts:
        return {}
    if "memory_gb" not in room.instance.known:
        notes.append("memory: the log does not say it, so that it is not handed out")
        return {}
    nodes = room.counts()
    tasks = room.instance.column("tasks").astype(np.int64)
    amounts = numbers_of(room.instance, "memory_gb") * 1024
    per = texts_of(room.instance, "memory_per")
    of_core = (nodes == 0) | (per == "core")
    parts = np.ceil(amounts / np.where(of_core, tasks, nodes)).astype(np.int64)
    found = {
        name: [mb if mb > 0 else None for mb in np.where(own, parts, 0).tolist()]
        for name, own in (("memory", ~of_core), ("memory_per_core", of_core))
    }
    for row in np.flatnonzero(per == "all").tolist():
        found["memory"][row] = 0
    return found


def _gpus_asked(instance: Instance, machine: Machine, notes: list[str]) -> dict[str, list]:
    if "gpus" not in instance.known:
        return {}
    counts = gpus_of_jobs(instance)
    types = core.gpu_types_of(machine)
    if not types:
        if (counts > 0).any():
            notes.append("gpus: the machine has none, so that they are not handed out")
        return {}
    names, named = texts_of(instance, "gpu_type").tolist(), {*types} - {""}
    known = numbers_of(instance, "nodes").astype(int)
    of_node = (texts_of(instance, "gpus_per") == "node") & (known > 0)
    nodes = np.where(of_node, known, 1)
    return {"gpus": [
        core.Gpus(count // of, name if name in named else None, by_node) if count > 0 else None
        for count, name, of, by_node in zip(
            counts.tolist(), names, nodes.tolist(), of_node.tolist(), strict=True
        )
    ]}  # fmt: skip


def gpus_of_jobs(instance: Instance) -> np.ndarray:
    """How many each job asks for."""
    return numbers_of(instance, "gpus").astype(np.int64)


def gpus_of_nodes(machine: Machine) -> list[list[int]]:
    """Of each type, those of each node."""
    gpus, types = of_nodes(machine, "gpus"), of_nodes(machine, "gpu_type")
    return [np.where(types == name, gpus, 0).tolist() for name in core.gpu_types_of(machine)]


def with_running(
    asked: core.Requests, room: Room, ran: np.ndarray, gpus: list[list[int]], suspends: bool
) -> core.Requests:
    """Jobs that run at second 0, `ran` seconds until then, hold what they have; where nobody says
    which nodes, the first that are free. `suspends`: of jobs on one core one may stand still."""
    instance = room.instance
    texts = instance.column("held").astype(str) if "held" in instance.known else None
    free = room.node_cores.copy()
    more = {row: dict(values) for row, values in asked.jobs.items()}
    rows = np.flatnonzero(instance.column("running")).tolist()
    for row in sorted(rows, key=lambda row: texts is None or not texts[row]):
        held = held_of(texts[row]) if texts is not None else []
        if held and held[-1][0] >= len(free):
            raise InvalidInstance(
                f"running: job {instance.ids[row]}: node {held[-1][0]}: the machine has {len(free)}"
            )
        held = [(n, c or int(room.node_cores[n])) for n, c in held]
        held = held or room.first_free(row, free)
        for node, cores in held:
            free[node] -= cores
            if free[node] < 0 and not suspends:
                raise InvalidInstance(
                    f"running: node {node} has {room.node_cores[node]} cores: job "
                    f"{instance.ids[row]} and others hold more"
                )
        memory = more.get(row, {}).get("memory", 0)
        shares = [(node, cores, int(memory) * cores) for node, cores in sorted(held)]
        own = more.setdefault(row, {})
        taken = _taken_gpus(gpus, int(own.get("gpus", 0)), [node for node, *_ in shares])
        own["running"] = core.Running(-float(ran[row]), shares, taken)
        own["nodes"] = len(shares)
    return replace(asked, jobs=more)


def _taken_gpus(free: list[list[int]], count: int, nodes: list[int]) -> list[tuple]:
    """(node, type, GPUs) of so many on these nodes, in equal parts; they are not free any more."""
    found = []
    for place, node in enumerate(nodes):
        left = -(-count // (len(nodes) - place))
        count -= left
        for kind, each in enumerate(free):
            own = min(left, each[node])
            if own > 0:
                found.append((node, kind, own))
                each[node] -= own
                left -= own
    return found
