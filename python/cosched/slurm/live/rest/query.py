"""What slurmrestd tells of a Slurm now: the texts from which a snapshot is made."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, NamedTuple

from cosched.core.text import count_of
from cosched.errors import InvalidInstance
from cosched.notes import Note, NoteKind
from cosched.slurm.live.command_outputs import read_outputs
from cosched.slurm.live.job_records import as_text
from cosched.slurm.live.rest.accounting_texts import (
    QOS_LIMITS_SINCE_42,
    associations_text,
    history_of,
    list_at,
    qos_text,
    shares_text,
)
from cosched.slurm.live.rest.client import RestClient, RestError
from cosched.slurm.live.rest.fields import cell, count_text, first_value
from cosched.slurm.live.rest.scontrol_texts import nodes_text, partitions_text, reservations_text
from cosched.slurm.live.rest.versions import choose_version

#: Flags of partitions are in 0.0.37 and 0.0.38, OverSubscribe is since 0.0.39.
_LAST_WITH_FLAGS = "0.0.38"
#: The line of ``scontrol show config``.
_PREEMPT_MODE = re.compile(r"(?m)^PreemptMode\s*=\s*(\S+)")
#: Where ``sshare`` is offered.
_FIRST_WITH_SHARES = "0.0.40"


_PARTITIONS = "scontrol_partition.txt"
_QOS, _ASSOCIATIONS = "sacctmgr_qos.txt", "sacctmgr_assoc.txt"


class _Source(NamedTuple):
    """An output of a command, and the answer that has the same."""

    #: The name of the output.
    name: str
    path: str
    #: Makes the text of the answer, and of the seconds to subtract for local times.
    text_of: Callable[[Mapping[str, Any], float], str]


_SOURCES = (
    _Source("squeue.json", "/slurm/v{}/jobs", lambda answer, _: json.dumps(answer)),
    _Source("scontrol_node.txt", "/slurm/v{}/nodes",
            lambda answer, _: nodes_text(list_at(answer, ("nodes",)))),
    _Source(_PARTITIONS, "/slurm/v{}/partitions", lambda answer, _: json.dumps(answer)),
    _Source("scontrol_reservation.txt", "/slurm/v{}/reservations",
            lambda answer, offset: reservations_text(list_at(answer, ("reservations",)), offset)),
    _Source("sdiag.txt", "/slurm/v{}/diag", lambda answer, _: _diag_text(answer)),
    _Source("sshare.txt", "/slurm/v{}/shares",
            lambda answer, _: shares_text(list_at(answer, ("shares/shares", "shares")))),
    _Source(_QOS, "/slurmdb/v{}/qos", lambda answer, _: json.dumps(answer)),
    _Source(_ASSOCIATIONS, "/slurmdb/v{}/associations", lambda answer, _: json.dumps(answer)),
)  # fmt: skip


def _diag_text(answer: Mapping[str, Any]) -> str:
    """The text of ``sdiag --json``; 0.0.37 and 0.0.38 have the mean depth of a cycle alone."""
    statistics = answer.get("statistics")
    if isinstance(statistics, Mapping) and "bf_last_depth_try" not in statistics:
        mean_depth = statistics.get("bf_depth_mean_try")
        answer = {**answer, "statistics": {**statistics, "bf_last_depth_try": mean_depth}}
    return json.dumps(answer)


class RestAnswers(NamedTuple):
    """Texts by the names of the commands' outputs, and notes of what is missing."""

    texts: dict[str, str]
    notes: list[Note]


def query_rest(
    client: RestClient,
    *,
    history: str | None = None,
    version: str | None = None,
    folder: str | PathLike[str] | None = None,
    offset: float = 0.0,
) -> RestAnswers:
    """Ask a slurmrestd, without changing anything.

    Parameters
    ----------
    client : RestClient
    history : str, optional
        How much of the past slurmdbd is asked for: ``"14days"``.
    version : str, optional
        Of the interface; None: the newest that both know.
    folder : path-like, optional
        Outputs of commands for what the interface does not offer, such as ``scontrol_config.txt``.
    offset : float
        Seconds to subtract for the local times of these outputs.

    Raises
    ------
    InvalidInstance
        No answer, no jobs, or no nodes.
    """
    begin = time.time()
    chosen_version = choose_version(client, version)
    notes = [_note_of_version(chosen_version)]
    texts: dict[str, str] = {}
    for source in _SOURCES:
        if source.name == "sshare.txt" and _is_older(chosen_version, _FIRST_WITH_SHARES):
            continue
        path = source.path.format(chosen_version)
        try:
            text = source.text_of(_checked(client.get(path), path), offset)
        except RestError as error:
            if source.name in ("squeue.json", "scontrol_node.txt") or error.status in (0, 401):
                raise
            notes.append(_note_of_failure(source, path, error))
            continue
        if text.strip():
            texts[source.name] = text
    if "scontrol_node.txt" not in texts:
        raise InvalidInstance(f"{client.server.text}: no nodes: expected at least one")
    if history is not None:
        notes += _add_history(client, chosen_version, history, texts, offset)
    if folder is not None:
        notes += _add_outputs(folder, texts)
    if "scontrol_config.txt" not in texts:
        texts["scontrol_config.txt"] = _config_text(client, chosen_version, texts)
        notes.append(_note_of_config())
    texts |= _texts_of_several(texts)
    notes += _notes_of_gaps(chosen_version, texts)
    texts["times.json"] = json.dumps({"squeue.json": [begin, begin]})
    return RestAnswers(texts, notes)


def _checked(answer: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """The answer; RestError where it is only errors, which older versions send with status 200."""
    errors = answer.get("errors")
    has_records = any(
        isinstance(value, (list, dict)) and value
        for key, value in answer.items()
        if key not in ("errors", "meta", "warnings")
    )
    if isinstance(errors, list) and errors and not has_records:
        first = errors[0] if isinstance(errors[0], Mapping) else {}
        words = first.get("description") or first.get("error") or "an error without words"
        raise RestError(f"{path}: {str(words)[:200]}", 500)
    return answer


def _is_older(version: str, other: str) -> bool:
    return int(version.rpartition(".")[2]) < int(other.rpartition(".")[2])


def _note_of_version(version: str) -> Note:
    return Note(NoteKind.READING, f"read by slurmrestd, version {version}", subject="REST version")


def _note_of_failure(source: _Source, path: str, error: RestError) -> Note:
    return Note(NoteKind.FAILED, str(error), subject=path, prefix=f"{source.name}: ")


def _add_history(
    client: RestClient, version: str, history: str, texts: dict[str, str], offset: float
) -> list[Note]:
    """Add the ended jobs of so many days to the texts."""
    path = f"/slurmdb/v{version}/jobs"
    source = _Source("sacct.txt", path, lambda answer, _: "")
    try:
        answer = _checked(client.get(path, {"start_time": f"now-{history}"}), path)
    except RestError as error:
        if error.status in (0, 401):
            raise
        return [_note_of_failure(source, path, error)]
    table = history_of(list_at(answer, ("jobs",)), offset)
    if table.text:
        texts["sacct.txt"] = table.text
    if not table.repaired_starts:
        return []
    text = (
        f"sacct.txt: start = end - elapsed - suspended of {count_of(table.repaired_starts, 'job')}"
        f": version {version} has the eligible time there"
    )
    return [Note(NoteKind.REPAIRED, text, subject="start", count=table.repaired_starts)]


def _add_outputs(folder: str | PathLike[str], texts: dict[str, str]) -> list[Note]:
    """Add outputs that no answer has from a folder."""
    collected_texts, notes = read_outputs(folder)
    added_names = sorted(set(collected_texts) - set(texts) - {"times.json"})
    texts |= {name: collected_texts[name] for name in added_names}
    if added_names:
        text = f"from {folder}: {', '.join(added_names)}"
        notes.append(
            Note(NoteKind.READING, text, subject="outputs of commands", count=len(added_names))
        )
    return notes


def _texts_of_several(answers: Mapping[str, str]) -> dict[str, str]:
    """Texts for which one answer needs another one: partitions, QOS and associations."""
    records = {
        name: list_at(json.loads(answers[name]), keys)
        for name, keys in (
            (_PARTITIONS, ("partitions",)),
            (_QOS, ("qos", "QOS")),
            (_ASSOCIATIONS, ("associations",)),
        )
        if answers.get(name, "").startswith("{")
    }
    texts: dict[str, str] = {}
    if _PARTITIONS in records:
        preempt_mode = _PREEMPT_MODE.search(answers["scontrol_config.txt"])
        usual_mode = preempt_mode[1] if preempt_mode else ""
        texts[_PARTITIONS] = partitions_text(records[_PARTITIONS], usual_mode)
    if _QOS in records:
        texts[_QOS] = qos_text(records[_QOS])
    if _ASSOCIATIONS in records:
        texts[_ASSOCIATIONS] = associations_text(records[_ASSOCIATIONS], records.get(_QOS, ()))
    return texts


def _config_text(client: RestClient, version: str, texts: Mapping[str, str]) -> str:
    """What answers tell of the configuration: the version of Slurm, and licences."""
    meta = json.loads(texts["squeue.json"]).get("meta")
    slurm = first_value({"meta": meta}, ("meta/Slurm/release", "meta/slurm/release"))
    lines = [
        f"SLURM_VERSION = {cell(as_text(slurm)) or '22.05'}",
        "SelectType = select/cons_tres",
        "SelectTypeParameters = CR_CORE",
    ]
    try:
        records = list_at(client.get(f"/slurm/v{version}/licenses"), ("licenses",))
    except RestError as error:
        if error.status in (0, 401):
            raise
        records = []
    licences = [
        f"{cell(as_text(record.get('LicenseName')))}:{count_text(record.get('Total'))}"
        for record in records
        if record.get("LicenseName") and count_text(record.get("Total"))
    ]
    if licences:
        lines.append(f"Licenses = {','.join(licences)}")
    return "\n".join(lines) + "\n"


def _note_of_config() -> Note:
    return Note(
        NoteKind.MISSING_OUTPUT,
        "slurmrestd does not offer the configuration: Slurm's defaults, cores are allocated and "
        "not memory; --from FOLDER takes what scontrol show config printed",
        subject="scontrol_config.txt",
        prefix="no scontrol_config.txt: ",
    )


def _notes_of_gaps(version: str, texts: Mapping[str, str]) -> list[Note]:
    """What this version does not offer of what commands print: Slurm's defaults are taken."""
    notes = []
    gaps = {
        _PARTITIONS: "OverSubscribe, and whether PreemptMode is OFF"
        if not _is_older(_LAST_WITH_FLAGS, version)
        else "which is the default, LLN, ExclusiveUser, ReqResv and PreemptMode",
    }
    if version == "0.0.37":
        gaps[_PARTITIONS] += ", and DefaultTime"
    if version == "0.0.39":
        gaps[_PARTITIONS] += ", and their states"
    if not _is_older(_LAST_WITH_FLAGS, version):
        gaps["sdiag.txt"] = "how many jobs the last backfill cycle tried, but their mean"
    if _is_older(version, "0.0.42"):
        gaps["sacctmgr_qos.txt"] = f"{' and '.join(QOS_LIMITS_SINCE_42)} of QOS"
    for name, gap in gaps.items():
        if name in texts:
            notes.append(
                Note(
                    NoteKind.UNKNOWN,
                    f"version {version} does not tell {gap}",
                    subject=name,
                    prefix=f"{name}: ",
                )
            )
    return notes
