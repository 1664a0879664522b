"""What the jobs of a log ask for: partitions, nodes, memory, GPUs; what those that run have."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.cluster.instance.arguments import parse_held_cores
from cosched.cluster.instance.unschedulable import also_of, partition_place, place_of_job
from cosched.cluster.instance.usage import numbers_of, ran_in_log, texts_of
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import host_count, hosts
from cosched.cluster.machine.parts import node_attribute
from cosched.core.text import count_of
from cosched.errors import InfeasibleError, InvalidInstance, shorten
from cosched.notes import Note, NoteKind, not_followed
from cosched.slurm.conf.settings import SlurmSettings
from cosched.slurm.requests import request as core
from cosched.slurm.requests.associations import resolve_owners

_AFTERANY = core.KINDS.index("afterany")


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
    """Return whether the machine has all licences of ``a:2,b``, and as many of each."""
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
            elif kind not in core.KINDS or any(
                not re.fullmatch("[0-9]+(_[0-9]+)?", j) for j in jobs
            ):
                unsupported[f"dependency {part}"] += 1
            elif before := [k for job in jobs for k in rows.get(job, ()) if k < row]:
                kinds.append((min(core.KINDS.index(kind), _AFTERANY), before))
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


def partitions_of_jobs(
    instance: Instance, names: Sequence[str], usual: str
) -> tuple[NDArray[np.int64], dict[int, list[int]]]:
    """Return the partition of each job (the first of several), and all partitions of jobs in
    several."""
    several: dict[int, list[int]] = {}
    if "partition" not in instance.column_names or len(names) == 1:
        return np.full(len(instance), names.index(usual)), several
    places = {name: k for k, name in enumerate(names)}
    parts = np.empty(len(instance), dtype=np.int64)
    for row, text in enumerate(map(str, instance.column("partition").tolist())):
        names_of_job = list(filter(None, text.split(","))) or [""]
        name = next(
            (name_of_job for name_of_job in names_of_job if name_of_job not in places),
            names_of_job[0],
        )
        if len(names_of_job) > 1 and name in places:
            several[row] = [places[name_of_job] for name_of_job in names_of_job]
        if name and name not in places:
            raise InvalidInstance(
                f"job {instance.ids[row]}: partition {shorten(name)}: the machine has "
                f"{', '.join(names)}"
            )
        parts[row] = places[name or usual]
    return parts, several


@dataclass(frozen=True, eq=False)
class PlacementContext:
    """Where the jobs of an instance may run."""

    #: The jobs.
    instance: Instance
    #: Units by node.
    node_cores: NDArray[np.int64]
    #: Ranges of nodes by partition.
    parts: Mapping[str, tuple[tuple[int, int], ...]]
    #: The partition of each job.
    part: NDArray[np.int64]
    #: Jobs have cores of their own, several on a node; else whole nodes.
    shared: bool

    def counts(self) -> NDArray[np.int64]:
        """Return the number of nodes of each job, as the log says; 0: it does not."""
        return numbers_of(self.instance, "nodes").astype(np.int64)

    def nodes_of_jobs(self) -> NDArray[np.int64]:
        """Return how many whole nodes hold each job's tasks, at least as many as the log says."""
        tasks = self.instance.column("tasks")
        node_counts = np.ones(len(tasks), dtype=np.int64)
        for k, (name, ranges) in enumerate(self.parts.items()):
            is_in_part = self.part == k
            if not is_in_part.any():
                continue
            cores = np.concatenate([self.node_cores[a:b] for a, b in ranges or [(0, 0)]])
            if self.shared or not len(cores):
                self._require_room(
                    is_in_part & (tasks > cores.sum()), tasks, name, "core", cores.sum()
                )
                continue
            if len(set(cores.tolist())) > 1:
                raise InvalidInstance(
                    f"slurm-backfill: partition {name} has nodes of {min(cores)} to {max(cores)} "
                    "cores: expected nodes of one kind"
                )
            node_counts[is_in_part] = np.maximum(
                -(-tasks[is_in_part] // int(cores[0])), self.counts()[is_in_part]
            )
            self._require_room(
                is_in_part & (node_counts > len(cores)), node_counts, name, "node", len(cores)
            )
        return node_counts

    def _require_room(
        self, is_too_large: np.ndarray, amounts: np.ndarray, name: str, unit: str, available: int
    ) -> None:
        """Raise InfeasibleError about jobs that want more of a partition than it has."""
        rows = np.flatnonzero(is_too_large).tolist()
        if not rows:
            return
        names = [str(self.instance.ids[row]) for row in rows]
        available_words = available if available else "no nodes"
        error = InfeasibleError(
            f"{place_of_job(self.instance, rows[0])} wants "
            f"{count_of(int(amounts[rows[0]]), unit)}: {partition_place(name)} has "
            f"{available_words}{also_of(names[1:])}"
        )
        error.rows = tuple(rows)
        raise error

    def drop_heterogeneous_partitions(
        self, several: Mapping[int, list[int]]
    ) -> tuple[dict[int, list[int]], list[Note]]:
        """Return the partitions of a job in which it needs as many whole nodes as in its first, and
        a note of jobs that have others, too."""
        core_counts = [
            {int(self.node_cores[k]) for a, b in ranges for k in range(a, b)}
            for ranges in self.parts.values()
        ]
        like_first = {
            row: [k for k in parts if core_counts[k] == core_counts[parts[0]]]
            for row, parts in several.items()
        }
        changed_count = sum(len(like_first[row]) < len(parts) for row, parts in several.items())
        if not changed_count:
            return like_first, []
        subject = "partitions with other nodes than the first"
        note = not_followed(
            f"{subject} of {changed_count} jobs", subject=subject, count=changed_count
        )
        return like_first, [note]

    def take_first_free(self, row: int, free: NDArray[np.int64]) -> list[tuple[int, int]]:
        """Return (node, cores) of a job on the first nodes that are free."""
        name = list(self.parts)[self.part[row]]
        missing_cores = int(self.instance.column("tasks")[row])
        shares = []
        for node in (k for a, b in self.parts[name] for k in range(a, b)):
            free_cores = int(free[node])
            if not self.shared and free_cores < self.node_cores[node]:
                continue
            if missing_cores > 0 and free_cores > 0:
                shares.append((node, min(free_cores, missing_cores) if self.shared else free_cores))
                missing_cores -= free_cores
        if missing_cores > 0:
            raise InvalidInstance(
                f"running: job {self.instance.ids[row]}: no room beside the others that run"
            )
        return shares


def requests_of_log(
    context: PlacementContext, settings: SlurmSettings, machine: Machine | None, approximate: bool
) -> tuple[core.Requests, list[Note]]:
    """Return what the jobs of a log ask for, and whose they are, with notes."""
    if machine is None or machine.slurm is None:
        return core.Requests(), []
    notes: list[Note] = []
    columns: dict[str, list[Any]] = {}
    # GPUs that a job wants of whole nodes.
    gpus_per_node = np.zeros(len(context.part), dtype=np.int64)
    if context.shared:
        columns |= _memory_requests(context, settings, notes) | _gpu_requests(
            context.instance, machine, notes
        )
        columns["nodes"] = [count or None for count in context.counts().tolist()]
    elif machine.gpus and (counts := gpus_of_jobs(context.instance)).any():
        text = "gpus: nodes are whole here: a job gets nodes with as many as it wants of each"
        notes.append(Note(NoteKind.ASSUMED, text, subject="gpus"))
        gpus_per_node = np.where(counts > 0, np.maximum(counts // context.nodes_of_jobs(), 1), 0)
    builder = _LogJobBuilder(machine, memory="memory" in columns)
    owners, accounts, owner_notes = resolve_owners(context.instance, machine, settings, approximate)
    if owners is not None:
        columns["owner"] = owners
    if "constraint" in context.instance.column_names:
        columns["constraint"] = texts_of(context.instance, "constraint").tolist()
    cores_of_hosts = dict(zip(settings.names, context.node_cores.tolist(), strict=False))
    extra_columns, unsupported_notes = extra_requests(
        context.instance, settings.licences, cores_of_hosts
    )
    tasks = context.instance.column("tasks").astype(np.int64).tolist()
    names = list(context.parts)
    types = texts_of(context.instance, "gpu_type").tolist()
    has_run = ran_in_log(context.instance)
    jobs = {}
    for row, (cores, part) in enumerate(zip(tasks, context.part.tolist(), strict=True)):
        fields = {key: column[row] for key, column in columns.items()}
        fields |= {
            key: column[row] for key, column in extra_columns.items() if column[row] is not None
        }
        # A job that asks for nothing but cores may have them anywhere.
        needs_cores = builder.memory_counts or any(
            map(fields.get, ("gpus", "nodes", "exclusive", "nodelist"))
        )
        has_age = fields.get("age_from") is not None
        if not needs_cores and not any(fields.values()) and not gpus_per_node[row] and not has_age:
            continue
        request = core.Request(
            cores=cores if needs_cores else None, partition=names[part], **fields
        )
        builder.has_run = bool(has_run[row])
        job_fields = builder.fields_of(request)
        if gpus_per_node[row]:
            node_set = builder.with_gpus(job_fields, int(gpus_per_node[row]), types[row])
            job_fields.update(node_set)
        if job_fields:
            jobs[row] = _core.slurm.Job(**job_fields)
    reserved = tuple(
        _core.slurm.Reservation(
            created_at=0.0,
            begin=begin,
            end=end,
            nodes=builder.nodes(nodes, "reservation"),
            is_maintenance=True,
            has_all_nodes=nodes.upper() == "ALL",
        )
        for begin, end, nodes in settings.reserved
    )
    requests = builder.build_requests(jobs, reservations=reserved, **accounts)
    return requests, notes + builder.notes() + unsupported_notes + owner_notes


class _LogJobBuilder(core.CoreJobBuilder):
    """Makes the core's jobs of a log, which may be of a time with other nodes and hosts.

    What jobs asked for and the machine does not have is left out, and counted. Constraints hold,
    unless a job that ran wants memory which no node with its features has: these nodes were others
    then.
    """

    def __init__(self, machine: Machine, memory: bool) -> None:
        super().__init__(machine, memory=memory)
        self._lost, self._hosts = Counter[str](), Counter[str]()
        self._gpus_of_nodes = np.array(gpus_of_nodes(machine), dtype=np.int64)
        self._sets_with_gpus: dict[tuple[Any, ...], core.NodeSet] = {}
        #: Whether the job whose request is read next ran in the log.
        self.has_run = False

    def node_set_for(self, text: str, min_memory: int) -> core.NodeSet:
        """Return the nodes that a job of the log may have; memory may have been another then."""
        node_set = self.allowed_node_set(text.strip(), min_memory)
        is_too_small = text and self.has_run and self.is_empty_node_set(node_set)
        if not is_too_small or self.is_empty_node_set(self.allowed_node_set(text.strip(), 0)):
            return node_set
        any_nodes = self.allowed_node_set("", min_memory)
        if self.is_empty_node_set(any_nodes):
            return node_set
        self._lost[text] += 1
        return any_nodes

    def restrict_to_hosts(self, node_set: core.NodeSet, text: str, *, within: bool) -> core.NodeSet:
        """Return a node set of these hosts only, or of all others; unknown hosts are counted."""
        try:
            restricted = super().restrict_to_hosts(node_set, text, within=within)
            if not (self.has_run and self.is_empty_node_set(restricted)):
                return restricted
        except InvalidInstance:  # hosts of another machine
            pass
        self._hosts[f"{'nodelist' if within else 'exclude'} {text}"] += 1
        return node_set.copy()

    def with_gpus(self, job: Mapping[str, Any], min_gpus: int, kind: str) -> core.NodeSet:
        """Return the node set of a job, of nodes with at least so many GPUs of this type."""
        node_set: core.NodeSet = {}
        if "node_set" in job:
            node_set["node_set"] = job["node_set"]
        if "alternative_sets" in job:
            node_set["alternative_sets"] = job["alternative_sets"]
        key = (str(node_set), min_gpus, kind)
        if key not in self._sets_with_gpus:
            names = self.gpu_types
            is_of_type = [not kind or name == kind or kind not in names for name in names]
            node_numbers = np.flatnonzero(self._gpus_of_nodes[is_of_type].sum(axis=0) >= min_gpus)
            self._sets_with_gpus[key] = self.restrict_to_nodes(
                node_set, set(node_numbers.tolist()), within=True
            )
        restricted = self._sets_with_gpus[key]
        if not (self.has_run and self.is_empty_node_set(restricted)):
            return restricted
        self._hosts[f"{min_gpus} GPUs {kind}".strip() + " of each node"] += 1
        return node_set

    def notes(self) -> list[Note]:
        """Return what the machine does not have, with how many jobs asked for it."""
        lost_constraints = {f"constraint {shorten(text)}": n for text, n in self._lost.items() if n}
        return [
            not_followed(
                f"{subject} of {count} jobs: they take any nodes", subject=subject, count=count
            )
            for subject, count in (lost_constraints | self._hosts).items()
        ]


def _memory_requests(
    context: PlacementContext, settings: SlurmSettings, notes: list[Note]
) -> dict[str, list[Any]]:
    """Return memory per node where the log says how many nodes a job has; else, or where it says
    so, per core."""
    if not settings.memory_counts:
        return {}
    if "memory_gb" not in context.instance.column_names:
        text = "memory: the log does not say it, so that it is not handed out"
        notes.append(Note(NoteKind.MEMORY_UNKNOWN, text, subject="log"))
        return {}
    nodes = context.counts()
    tasks = context.instance.column("tasks").astype(np.int64)
    amounts = numbers_of(context.instance, "memory_gb") * 1024
    memory_per = texts_of(context.instance, "memory_per")
    of_core = (nodes == 0) | (memory_per == "core")
    parts = np.ceil(amounts / np.where(of_core, tasks, nodes)).astype(np.int64)
    columns = {
        name: [mb if mb > 0 else None for mb in np.where(is_of_kind, parts, 0).tolist()]
        for name, is_of_kind in (("memory", ~of_core), ("memory_per_core", of_core))
    }
    for row in np.flatnonzero(memory_per == "all").tolist():
        columns["memory"][row] = 0
    return columns


def _gpus_of_job(
    number: int, gpu_type: str | None, by_node: bool, has_gpus: bool
) -> core.Gpus | None:
    """Return the GPUs of a job; None where it asks for none."""
    return core.Gpus(number, gpu_type, by_node) if has_gpus else None


def _gpu_requests(instance: Instance, machine: Machine, notes: list[Note]) -> dict[str, list[Any]]:
    """Return the GPUs that each job asks for, in all or per node."""
    if "gpus" not in instance.column_names:
        return {}
    counts = gpus_of_jobs(instance)
    types = core.gpu_types_of(machine)
    if not types:
        if (counts > 0).any():
            text = "gpus: the machine has none, so that they are not handed out"
            notes.append(Note(NoteKind.ASSUMED, text, subject="gpus"))
        return {}
    names, known_types = texts_of(instance, "gpu_type").tolist(), {*types} - {""}
    node_counts = numbers_of(instance, "nodes").astype(int)
    of_node = (texts_of(instance, "gpus_per") == "node") & (node_counts > 0)
    nodes = np.where(of_node, node_counts, 1)
    return {
        "gpus": [
            _gpus_of_job(count // parts, name if name in known_types else None, by_node, count > 0)
            for count, name, parts, by_node in zip(
                counts.tolist(), names, nodes.tolist(), of_node.tolist(), strict=True
            )
        ]
    }


def gpus_of_jobs(instance: Instance) -> NDArray[np.int64]:
    """Return how many GPUs each job asks for."""
    return numbers_of(instance, "gpus").astype(np.int64)


def gpus_of_nodes(machine: Machine) -> list[list[int]]:
    """Return the GPUs of each node, by type."""
    gpus, types = node_attribute(machine, "gpus"), node_attribute(machine, "gpu_type")
    return [np.where(types == name, gpus, 0).tolist() for name in core.gpu_types_of(machine)]


def with_running(
    requests: core.Requests,
    context: PlacementContext,
    elapsed: NDArray[np.float64],
    free_gpus: list[list[int]],
    suspends: bool,
) -> core.Requests:
    """Return the requests with the allocations of jobs that run at second 0.

    These have run for `elapsed` seconds. Where the log does not say their nodes, these are the
    first that are free. `suspends`: of jobs on one core one may stand still.
    """
    instance = context.instance
    texts = instance.column("held").astype(str) if "held" in instance.column_names else None
    free = context.node_cores.copy()
    jobs = dict(requests.jobs)
    rows = np.flatnonzero(instance.column("running")).tolist()
    for row in sorted(rows, key=lambda row: texts is None or not texts[row]):
        shares_of_job = parse_held_cores(texts[row]) if texts is not None else []
        if shares_of_job and shares_of_job[-1][0] >= len(free):
            raise InvalidInstance(
                f"running: job {instance.ids[row]}: node {shares_of_job[-1][0]}: the machine has "
                f"{len(free)}"
            )
        shares_of_job = [(n, c or int(context.node_cores[n])) for n, c in shares_of_job]
        shares_of_job = shares_of_job or context.take_first_free(row, free)
        for node, cores in shares_of_job:
            free[node] -= cores
            if free[node] < 0 and not suspends:
                raise InvalidInstance(
                    f"running: node {node} has {context.node_cores[node]} cores: job "
                    f"{instance.ids[row]} and others hold more"
                )
        job = jobs.get(row, _core.slurm.Job())
        shares = [(node, cores, job.memory * cores) for node, cores in sorted(shares_of_job)]
        gpus_of_job = _take_gpus(free_gpus, job.gpus, [node for node, *_ in shares])
        running = core.Running(-float(elapsed[row]), shares, gpus_of_job)
        jobs[row] = job.replace(running_state=core.running_state(running), nodes=len(shares))
    return replace(requests, jobs=jobs)


def _take_gpus(free: list[list[int]], count: int, nodes: list[int]) -> list[tuple[int, int, int]]:
    """Take so many GPUs on these nodes, in equal parts, from the free ones; return (node, type,
    GPUs)."""
    taken_gpus = []
    for place, node in enumerate(nodes):
        missing = -(-count // (len(nodes) - place))
        count -= missing
        for kind, free_of_type in enumerate(free):
            amount = min(missing, free_of_type[node])
            if amount > 0:
                taken_gpus.append((node, kind, amount))
                free_of_type[node] -= amount
                missing -= amount
    return taken_gpus
