"""A snapshot that may be shown to others: what is read of it, and no name."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from msgspec import structs

from cosched.cluster.machine.node_types import hosts, natural
from cosched.errors import CoschedError
from cosched.notes import Note, NoteKind
from cosched.slurm.conf.lines import words
from cosched.slurm.conf.settings import IGNORED_PARAMETERS, KEY_TABLE, PARAMETERS, READ_KEYS
from cosched.slurm.live.clocks import TIME_ZONE
from cosched.slurm.live.command_outputs import COMMANDS, records
from cosched.slurm.live.model import Allocated, FinishedJob, SnapshotJob
from cosched.slurm.live.nodes import HIDDEN_JOBS

#: A snapshot, whose class stands above.
Snapshot = TypeVar("Snapshot", bound=Any)

#: Values that say nothing of a site: words of Slurm. Everything else is a number or has one.
_WORDS = words(Path(__file__).with_name("plain_words.txt").read_text("utf-8")) | IGNORED_PARAMETERS
_WORDS |= {name.lower() for name in PARAMETERS}
_NUMBER = re.compile(r"[-+]?[0-9][0-9.:T-]*[KMGT]?", re.I)
#: Settings that are read, with such values alone.
_CONFIG_KEYS = READ_KEYS | {"slurm_version", "boot_time"}
_NODE_KEYS, _PARTITION_KEYS = (
    words(KEY_TABLE["kept"]["node"]),
    words(KEY_TABLE["kept"]["partition"]),
)
#: Of QOS and associations: limits, and columns with names of a kind.
_LIMIT = re.compile(
    r"(Grp|Max|Min)(TRES|Jobs|Submit|Wall|Nodes|CPU|CPUs|Prio)\w*( used)?|Priority|GraceTime"
    r"|PreemptMode|PreemptExemptTime|Flags|UsageFactor|UsageThres|LimitFactor|Share|Fairshare"
    r"|Usage|Factor"
)
_KIND_BY_COLUMN: dict[str, str] = KEY_TABLE["kinds"]
_DEPENDENCY = re.compile(
    r"(?:after(?:any|ok|notok|corr|burstbuffer)?|singleton|expand)(?::[0-9_+:*]*)?"
)
#: Subjects of assumptions whose texts name nothing of a site.
_PLAIN_ASSUMPTIONS = (HIDDEN_JOBS, TIME_ZONE)


class _Pseudonyms:
    """Numbers for names: the same wherever one is named."""

    def __init__(self, nodes: Iterable[str]) -> None:
        self._number_by_name: dict[tuple[str, str], str] = {}
        self._count: dict[str, int] = {}
        for node in sorted(set(nodes), key=natural):
            self.pseudonym("node", node)

    def pseudonym(self, kind: str, name: str) -> str:
        """Return the pseudonym of a name, as ``partition3``; an empty name stays, and so do
        Slurm's own."""
        if not name or (kind, name) in (("account", "root"), ("user", "root"), ("qos", "normal")):
            return name
        if (kind, name) not in self._number_by_name:
            self._count[kind] = self._count.get(kind, 0) + 1
            self._number_by_name[kind, name] = f"{kind}{self._count[kind]}"
        return self._number_by_name[kind, name]

    def pseudonyms(self, kind: str, text: str) -> str:
        """Return the pseudonyms of a list of names; ALL stays."""
        parts = [part.strip() for part in text.split(",")]
        return ",".join(
            part
            if part.upper() in ("ALL", "(NULL)", "N/A", "")
            else self._signed_pseudonym(kind, part)
            for part in parts
        )

    def _signed_pseudonym(self, kind: str, name: str) -> str:
        """Return ``+qos`` and ``-qos`` of sacctmgr."""
        sign = name[0] if name[0] in "+-" else ""
        return sign + self.pseudonym(kind, name[len(sign) :])

    def hosts(self, text: str) -> str:
        """Return the pseudonyms of a host list."""
        if text.upper() in ("ALL", "(NULL)", ""):
            return text
        try:
            return ",".join(self.pseudonym("node", name) for name in hosts(text, "nodes"))
        except CoschedError:
            return ""

    def features(self, text: str) -> str:
        """Return a list of features, or an expression as ``[intel*2&ib*4]``, with pseudonyms."""
        return re.sub(
            r"[A-Za-z_][\w.:/-]*",
            lambda match: self.pseudonym("feature", match[0]),
            re.sub(r"[^\w.:/&|*()\[\],-]", "", text),
        )

    def gres(self, text: str) -> str:
        """``gpu:type1:2`` of ``gpu:a100:2(S:0-1)``."""
        parts = []
        for part in re.sub(r"\([^)]*\)", "", text).split(","):
            name, *words_behind = re.split(r"[:=]", part.strip())
            words_of_part = [name if name.lower() == "gpu" else self.pseudonym("gres", name)]
            words_of_part += [
                word if re.fullmatch(r"[0-9.]+[KMGT]?", word) else self.pseudonym("type", word)
                for word in words_behind
            ]
            parts.append(":".join(filter(None, words_of_part)))
        return ",".join(filter(None, parts))

    def pseudonyms_with_counts(self, kind: str, text: str) -> str:
        """``licence1:2`` of ``matlab:2`` or ``matlab*2``; a server is part of the name."""
        parts = []
        for part in filter(None, re.split(r"[,;]", text)):
            match = re.fullmatch(r"(.*?)([:*=][0-9]+)?", part.strip(), re.S)
            assert match is not None
            parts.append(self.pseudonym(kind, match[1]) + (match[2] or ""))
        return ",".join(parts)

    def tres(self, text: str) -> str:
        """Amounts of trackable resources: ``cpu=1,gres/gpu:type1=2``, and plain values."""
        return ",".join(filter(None, map(self._amount, text.split(","))))

    def _amount(self, part: str) -> str:
        """Return a part of a list of TRES with pseudonyms."""
        name, equals, amount = part.strip().partition("=")
        if not equals:
            return plain_value(part)
        kind, _, rest = name.partition("/")
        if kind == "license":
            name = f"license/{self.pseudonym('licence', rest)}"
        elif kind == "gres":
            name = f"gres/{self.gres(rest)}"
        elif name.lower() not in _WORDS:
            return ""
        return f"{name}={amount}" if _NUMBER.fullmatch(amount.strip()) else ""


def plain_value(text: str) -> str:
    """Return the value of a setting: numbers and words of Slurm; parts that have others are left
    out."""
    return ",".join(part for part in text.split(",") if _is_plain(part))


def _is_plain(text: str) -> bool:
    """Return whether a text says nothing of a site: words of Slurm and numbers alone."""
    parts = [part for part in re.split(r"[=:+ *~#!%$@^|]+", text.strip()) if part]
    return bool(parts) and all(
        part.lower() in _WORDS or _NUMBER.fullmatch(part) is not None for part in parts
    )


def anonymised(snapshot: Snapshot) -> Snapshot:
    """Return what is read of a snapshot, with numbers in place of names."""
    nodes = [
        dict(pairs)["NodeName"] for pairs in records(snapshot.scontrol_texts["nodes"], "NodeName")
    ]
    names = _Pseudonyms([*nodes, *(row.node for job in snapshot.jobs for row in job.holds)])
    texts = snapshot.scontrol_texts
    limits = snapshot.limits
    return replace(
        snapshot,
        shares=[
            structs.replace(
                s,
                account=names.pseudonym("account", s.account),
                user=names.pseudonym("user", s.user),
            )
            for s in snapshot.shares
        ],
        jobs=tuple(_anonymous_job(job, names) for job in snapshot.jobs),
        history=[_anonymous_finished_job(row, names) for row in snapshot.history],
        scontrol_texts={
            "config": _anonymous_config(texts.get("config", ""), names),
            "nodes": _anonymous_records(
                texts.get("nodes", ""), "NodeName", lambda k, v: _anonymous_node_value(k, v, names)
            ),
            "partitions": _anonymous_records(
                texts.get("partitions", ""),
                "PartitionName",
                lambda k, v: _anonymous_partition_value(k, v, names),
            ),
            "reservations": _anonymous_records(
                texts.get("reservations", ""),
                "ReservationName",
                lambda k, v: _anonymous_reservation_value(k, v, names),
            ),
        },
        limits={
            "qos": {
                names.pseudonym("qos", name): _anonymous_limits(row, names)
                for name, row in limits.get("qos", {}).items()
            },
            "associations": [
                _anonymous_limits(row, names) for row in limits.get("associations", ())
            ],
        },
        version=plain_value(snapshot.version),
        priorities={
            job: {key: value for key, value in parts.items() if key.isupper() and key.isalpha()}
            for job, parts in snapshot.priorities.items()
        },
        missing=tuple(_anonymous_notes(snapshot.missing)),
    )


def _anonymous_job(job: SnapshotJob, names: _Pseudonyms) -> SnapshotJob:
    """Return a job with pseudonyms."""
    return structs.replace(
        job,
        **_anonymous_owner(job, names),
        name=names.pseudonym("job", job.name),
        gres=names.gres(job.gres),
        gpus=names.gres(job.gpus),
        reason=plain_value(job.reason),
        dependency=",".join(_DEPENDENCY.findall(job.dependency)),
        features=names.features(job.features),
        licences=names.pseudonyms_with_counts("licence", job.licences),
        reservation=names.pseudonyms("reservation", job.reservation),
        holds=tuple(Allocated(names.pseudonym("node", h.node), *h[1:]) for h in job.holds),
    )


def _anonymous_finished_job(job: FinishedJob, names: _Pseudonyms) -> FinishedJob:
    """Return a job of the past with pseudonyms."""
    nodelist = names.hosts(job.nodelist) if job.nodelist.lower() not in ("none assigned",) else ""
    return structs.replace(
        job,
        **_anonymous_owner(job, names),
        gpus=names.gres(job.gpus),
        state=plain_value(job.state),
        nodelist=nodelist,
    )


def _anonymous_owner(job: SnapshotJob | FinishedJob, names: _Pseudonyms) -> dict[str, Any]:
    """Return the user, account, partition and QOS of a job with pseudonyms."""
    return {
        "user": names.pseudonym("user", job.user),
        "account": names.pseudonym("account", job.account),
        "partition": names.pseudonyms("partition", job.partition),
        "qos": names.pseudonym("qos", job.qos),
    }


def _anonymous_config(text: str, names: _Pseudonyms) -> str:
    """Return what is read of ``scontrol show config``, with pseudonyms."""
    lines = []
    for line in text.splitlines():
        as_of = re.match(r"Configuration data as of ([0-9T:-]+)", line)
        if as_of:
            lines.append(as_of[0])
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals:
            continue
        if key == "Licenses":
            value = (
                names.pseudonyms_with_counts("licence", value) if value.lower() != "(null)" else ""
            )
        elif key == "PriorityWeightTRES":
            value = names.tres(value)
        elif key in ("Epilog", "Prolog", "EpilogSlurmctld", "PrologSlurmctld", "JobSubmitPlugins"):
            value = "yes" if value.lower() not in ("", "(null)", "none") else ""
        else:
            value = plain_value(value) if key.lower() in _CONFIG_KEYS else ""
        if value:
            lines.append(f"{key} = {value}")
    return "\n".join(lines)


def _anonymous_records(text: str, first: str, value_of: Callable[[str, str], str]) -> str:
    """Return records of scontrol, each in one line."""
    lines = []
    for pairs in records(text, first):
        values = {key: value_of(key, value) for key, value in dict(pairs).items()}
        lines.append(" ".join(f"{key}={value}" for key, value in values.items() if value))
    return "\n".join(lines)


def _anonymous_node_value(key: str, value: str, names: _Pseudonyms) -> str:
    """Return a value of ``scontrol show node`` with pseudonyms; empty: it is not read."""
    if key == "NodeName":
        return names.pseudonym("node", value)
    if value.lower() in ("(null)", "n/a", ""):
        return ""
    if key in ("AvailableFeatures", "ActiveFeatures"):
        return names.pseudonyms("feature", value)
    if key == "Gres":
        return names.gres(value)
    if key == "Partitions":
        return names.pseudonyms("partition", value)
    return plain_value(value) if key in _NODE_KEYS else ""


def _anonymous_partition_value(key: str, value: str, names: _Pseudonyms) -> str:
    """Return a value of ``scontrol show partition`` with pseudonyms; empty: it is not read."""
    if key == "Nodes":
        return names.hosts(value)
    if key in _KIND_BY_COLUMN:
        return names.pseudonyms(_KIND_BY_COLUMN[key], value)
    if key == "TRESBillingWeights":
        return names.tres(value)
    return plain_value(value) if key in _PARTITION_KEYS else ""


def _anonymous_reservation_value(key: str, value: str, names: _Pseudonyms) -> str:
    """Return a value of ``scontrol show reservation`` with pseudonyms; empty: it is not read."""
    if key == "ReservationName":
        return names.pseudonym("reservation", value)
    if key == "Nodes":
        return names.hosts(value)
    return plain_value(value) if key in ("StartTime", "EndTime", "Flags") else ""


def _anonymous_limits(row: Mapping[str, str], names: _Pseudonyms) -> dict[str, str]:
    """Return the limits of a row of sacctmgr with pseudonyms."""
    limits = {}
    for key, value in row.items():
        if key in _KIND_BY_COLUMN:
            limits[key] = names.pseudonyms(_KIND_BY_COLUMN[key], value)
        elif _LIMIT.fullmatch(key):
            limits[key] = names.tres(value)
    return {key: value for key, value in limits.items() if value}


def _anonymous_notes(notes: Iterable[Note]) -> Iterator[Note]:
    """Yield the notes that name nothing of a site; of a command that failed, no more than that."""
    for note in notes:
        is_plain_assumption = note.kind is NoteKind.ASSUMED and note.subject in _PLAIN_ASSUMPTIONS
        if note.kind is NoteKind.MISSING_OUTPUT or is_plain_assumption:
            yield note
        elif note.kind is NoteKind.FAILED and note.subject in COMMANDS.values():
            text = f"{note.subject}: not here"
            yield Note(NoteKind.FAILED, text, subject=note.subject)
