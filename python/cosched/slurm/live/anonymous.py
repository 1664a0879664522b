"""A snapshot that may be shown to others: what is read of it, and no name."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from cosched import io
from cosched.cluster.machine.node_types import hosts, natural
from cosched.errors import CoschedError
from cosched.slurm.conf.lines import words
from cosched.slurm.conf.settings import HEARD, KNOWN, PARAMETERS, SILENT_PARAMETERS
from cosched.slurm.live.model import Allocated, Ended, Job
from cosched.slurm.live.outputs import COMMANDS, records

#: A snapshot, whose class stands above.
Snapshot = TypeVar("Snapshot", bound=Any)

#: Values that say nothing of a site: words of Slurm. Everything else is a number or has one.
_WORDS = words(io.read_text(Path(__file__).with_name("plain_words.txt"))) | SILENT_PARAMETERS
_WORDS |= {name.lower() for name in PARAMETERS}
_NUMBER = re.compile(r"[-+]?[0-9][0-9.:T-]*[KMGT]?", re.I)
#: Settings that are read, with such values alone.
_CONFIG = HEARD | {"slurm_version", "boot_time"}
_OF_NODE, _OF_PARTITION = words(KNOWN["kept"]["node"]), words(KNOWN["kept"]["partition"])
#: Of QOS and associations: limits, and columns with names of a kind.
_LIMIT = re.compile(
    r"(Grp|Max|Min)(TRES|Jobs|Submit|Wall|Nodes|CPU|CPUs|Prio)\w*( used)?|Priority|GraceTime"
    r"|PreemptMode|PreemptExemptTime|Flags|UsageFactor|UsageThres|LimitFactor|Share|Fairshare"
    r"|Usage|Factor"
)
_NAMED: dict[str, str] = KNOWN["kinds"]
_DEPENDENCY = re.compile(
    r"(?:after(?:any|ok|notok|corr|burstbuffer)?|singleton|expand)(?::[0-9_+:*]*)?"
)
#: What a snapshot says of itself.
_SAID = re.compile(
    r"no [a-z_]+\.(?:txt|json): [a-zA-Z ,;:_'.-]+|[0-9]+ nodes hold jobs [^/]+"
    r"|the time zone of dates is [^/]+|no squeue\.json: .*"
)


class _Names:
    """Numbers for names: the same wherever one is named."""

    def __init__(self, nodes: Iterable[str]) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self._count: dict[str, int] = {}
        for node in sorted(set(nodes), key=natural):
            self.one("node", node)

    def one(self, kind: str, name: str) -> str:
        """``partition3``; an empty name stays, and so do Slurm's own."""
        if not name or (kind, name) in (("account", "root"), ("user", "root"), ("qos", "normal")):
            return name
        if (kind, name) not in self._known:
            self._count[kind] = self._count.get(kind, 0) + 1
            self._known[kind, name] = f"{kind}{self._count[kind]}"
        return self._known[kind, name]

    def each(self, kind: str, text: str) -> str:
        """Of a list; ALL stays."""
        parts = [part.strip() for part in text.split(",")]
        return ",".join(
            part if part.upper() in ("ALL", "(NULL)", "N/A", "") else self._signed(kind, part)
            for part in parts
        )

    def _signed(self, kind: str, name: str) -> str:
        """``+qos`` and ``-qos`` of sacctmgr."""
        sign = name[0] if name[0] in "+-" else ""
        return sign + self.one(kind, name[len(sign) :])

    def hosts(self, text: str) -> str:
        """Of a host list."""
        if text.upper() in ("ALL", "(NULL)", ""):
            return text
        try:
            return ",".join(self.one("node", name) for name in hosts(text, "nodes"))
        except CoschedError:
            return ""

    def features(self, text: str) -> str:
        """Of a list, or of an expression such as ``[intel*2&ib*4]``."""
        return re.sub(
            r"[A-Za-z_][\w.:/-]*",
            lambda found: self.one("feature", found[0]),
            re.sub(r"[^\w.:/&|*()\[\],-]", "", text),
        )

    def gres(self, text: str) -> str:
        """``gpu:type1:2`` of ``gpu:a100:2(S:0-1)``."""
        found = []
        for part in re.sub(r"\([^)]*\)", "", text).split(","):
            name, *rest = re.split(r"[:=]", part.strip())
            own = [name if name.lower() == "gpu" else self.one("gres", name)]
            own += [
                one if re.fullmatch(r"[0-9.]+[KMGT]?", one) else self.one("type", one)
                for one in rest
            ]
            found.append(":".join(filter(None, own)))
        return ",".join(filter(None, found))

    def counted(self, kind: str, text: str) -> str:
        """``licence1:2`` of ``matlab:2`` or ``matlab*2``; a server is part of the name."""
        found = []
        for part in filter(None, re.split(r"[,;]", text)):
            one = re.fullmatch(r"(.*?)([:*=][0-9]+)?", part.strip(), re.S)
            assert one is not None
            found.append(self.one(kind, one[1]) + (one[2] or ""))
        return ",".join(found)

    def tres(self, text: str) -> str:
        """Amounts of trackable resources: ``cpu=1,gres/gpu:type1=2``, and plain values."""
        return ",".join(filter(None, map(self._amount, text.split(","))))

    def _amount(self, part: str) -> str:
        name, equals, amount = part.strip().partition("=")
        if not equals:
            return plain_value(part)
        kind, _, rest = name.partition("/")
        if kind == "license":
            name = f"license/{self.one('licence', rest)}"
        elif kind == "gres":
            name = f"gres/{self.gres(rest)}"
        elif name.lower() not in _WORDS:
            return ""
        return f"{name}={amount}" if _NUMBER.fullmatch(amount.strip()) else ""


def plain_value(text: str) -> str:
    """Of a setting: numbers and words of Slurm; parts that have others are left out."""
    return ",".join(part for part in text.split(",") if _plain(part))


def _plain(text: str) -> bool:
    parts = [part for part in re.split(r"[=:+ *~#!%$@^|]+", text.strip()) if part]
    return bool(parts) and all(
        part.lower() in _WORDS or _NUMBER.fullmatch(part) is not None for part in parts
    )


def anonymised(snapshot: Snapshot) -> Snapshot:
    """What is read of a snapshot, with numbers in place of names."""
    nodes = [dict(pairs)["NodeName"] for pairs in records(snapshot.shown["nodes"], "NodeName")]
    names = _Names([*nodes, *(one.node for job in snapshot.jobs for one in job.holds)])
    shown = snapshot.shown
    limits = snapshot.limits
    return replace(
        snapshot,
        shares=[
            replace(s, account=names.one("account", s.account), user=names.one("user", s.user))
            for s in snapshot.shares
        ],
        jobs=tuple(_of_job(job, names) for job in snapshot.jobs),
        history=[_of_ended(one, names) for one in snapshot.history],
        shown={
            "config": _config(shown.get("config", ""), names),
            "nodes": _shown(shown.get("nodes", ""), "NodeName", lambda k, v: _node(k, v, names)),
            "partitions": _shown(
                shown.get("partitions", ""), "PartitionName", lambda k, v: _partition(k, v, names)
            ),
            "reservations": _shown(
                shown.get("reservations", ""),
                "ReservationName",
                lambda k, v: _reservation(k, v, names),
            ),
        },
        limits={
            "qos": {
                names.one("qos", name): _limits(one, names)
                for name, one in limits.get("qos", {}).items()
            },
            "associations": [_limits(one, names) for one in limits.get("associations", ())],
        },
        version=plain_value(snapshot.version),
        priorities={
            job: {key: value for key, value in parts.items() if key.isupper() and key.isalpha()}
            for job, parts in snapshot.priorities.items()
        },
        missing=tuple(filter(None, map(_said, snapshot.missing))),
    )


def _of_job(job: Job, names: _Names) -> Job:
    return replace(
        job,
        **_owner(job, names),
        name=names.one("job", job.name),
        gres=names.gres(job.gres),
        gpus=names.gres(job.gpus),
        reason=plain_value(job.reason),
        dependency=",".join(_DEPENDENCY.findall(job.dependency)),
        features=names.features(job.features),
        licences=names.counted("licence", job.licences),
        reservation=names.each("reservation", job.reservation),
        holds=tuple(Allocated(names.one("node", h.node), *h[1:]) for h in job.holds),
    )


def _of_ended(one: Ended, names: _Names) -> Ended:
    nodelist = names.hosts(one.nodelist) if one.nodelist.lower() not in ("none assigned",) else ""
    return replace(one, **_owner(one, names), state=plain_value(one.state), nodelist=nodelist)


def _owner(job: Job | Ended, names: _Names) -> dict[str, Any]:
    return {
        "user": names.one("user", job.user),
        "account": names.one("account", job.account),
        "partition": names.each("partition", job.partition),
        "qos": names.one("qos", job.qos),
    }


def _config(text: str, names: _Names) -> str:
    lines = []
    for line in text.splitlines():
        as_of = re.match(r"Configuration data as of ([0-9T:-]+)", line)
        if as_of:
            lines.append(as_of[0])
        key, found, value = (part.strip() for part in line.partition("="))
        if not found:
            continue
        if key == "Licenses":
            value = names.counted("licence", value) if value.lower() != "(null)" else ""
        elif key == "PriorityWeightTRES":
            value = names.tres(value)
        elif key in ("Epilog", "Prolog", "EpilogSlurmctld", "PrologSlurmctld", "JobSubmitPlugins"):
            value = "yes" if value.lower() not in ("", "(null)", "none") else ""
        else:
            value = plain_value(value) if key.lower() in _CONFIG else ""
        if value:
            lines.append(f"{key} = {value}")
    return "\n".join(lines)


def _shown(text: str, first: str, value_of: Callable[[str, str], str]) -> str:
    """Records of scontrol, each in one line."""
    lines = []
    for pairs in records(text, first):
        own = {key: value_of(key, value) for key, value in dict(pairs).items()}
        lines.append(" ".join(f"{key}={value}" for key, value in own.items() if value))
    return "\n".join(lines)


def _node(key: str, value: str, names: _Names) -> str:
    if key == "NodeName":
        return names.one("node", value)
    if value.lower() in ("(null)", "n/a", ""):
        return ""
    if key in ("AvailableFeatures", "ActiveFeatures"):
        return names.each("feature", value)
    if key == "Gres":
        return names.gres(value)
    if key == "Partitions":
        return names.each("partition", value)
    return plain_value(value) if key in _OF_NODE else ""


def _partition(key: str, value: str, names: _Names) -> str:
    if key == "Nodes":
        return names.hosts(value)
    if key in _NAMED:
        return names.each(_NAMED[key], value)
    if key == "TRESBillingWeights":
        return names.tres(value)
    return plain_value(value) if key in _OF_PARTITION else ""


def _reservation(key: str, value: str, names: _Names) -> str:
    if key == "ReservationName":
        return names.one("reservation", value)
    if key == "Nodes":
        return names.hosts(value)
    return plain_value(value) if key in ("StartTime", "EndTime", "Flags") else ""


def _limits(one: Mapping[str, str], names: _Names) -> dict[str, str]:
    found = {}
    for key, value in one.items():
        if key in _NAMED:
            found[key] = names.each(_NAMED[key], value)
        elif _LIMIT.fullmatch(key):
            found[key] = names.tres(value)
    return {key: value for key, value in found.items() if value}


def _said(line: str) -> str:
    """Our own sentences; of a command that failed, no more than that."""
    if _SAID.fullmatch(line):
        return line
    command = next((one for one in COMMANDS.values() if line.startswith(f"{one}:")), "")
    return f"{command}: not here" if command else ""
