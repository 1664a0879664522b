"""One damaged output of Slurm's commands, accounts, log, configuration or recording.

It is read, or refused in one line that names the file; what is read is used, since numbers of files
become indices there.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from fuzz_input import _folder, damaged, rnd
from fuzz_records import spoiled

import cosched as cs
from cosched import io
from cosched.slurm.accounts.accounting_dump import read_accounts
from cosched.slurm.live.snapshot import Snapshot
from cosched.slurm.live.starts import when
from cosched.slurm.recordings.agreement import agreement
from cosched.slurm.recordings.recording_files import read_recording
from cosched.slurm.requests.associations import Accounts
from support import FIXTURES, RECORDINGS, REPO, members

#: Moments of recorded Slurms of several versions: archive, and what its files begin with.
MOMENTS = {"live_fs": "t00900/", "live_qos": "t00900/", "live_burst": "t00700/",
           "gpu_a.1": "300.", "gpu_a_24.1": "300.", "part_a.1": "300.", "part_a_24.1": "300.",
           "misc_a.1": "900."}  # fmt: skip
RECORDED = ("small", "preempt_qos", "preempt_suspend", "node_a_24", "memep_a_24", "misc_a_24",
            "gpu_a_24", "arr_a_24", "live_fs", "qos_a", "param40")  # fmt: skip
#: So many jobs of each are kept.
JOBS = 10
CELLS = ["", " ", "-1", "-5", "0", "1", "2", "nan", "inf", "-inf", "NaN", "Infinity", "1e999",
         "1e18", "2147483647", "2147483648", "4294967294", "18446744073709551615", "9" * 40,
         "9" * 5000, "0x10", "1.5", "N", "(null)", "None", "Unknown", "UNLIMITED", "INVALID",
         "parent", "root", "a\rb", "\u0661", "n[1-999999999]", "n[5-1]", "n[", "0-999999999999",
         "1-2,7%0", "5:0", "2026-01-01T00:00:00", "9999-12-31T23:59:59", "0001-01-01T00:00:00",
         "365-00:00:00", "|", "a=b", "cpu=-1,node=999999999999", "gres/gpu:a100=99999999999",
         "afterok:1", "singleton", "[a|b]", "mem=9999999999999T"]  # fmt: skip


# --- what there is --------------------------------------------------------------------------------


@cache
def moments() -> list[dict[str, str]]:
    """Texts by the names of their files, each of few jobs."""
    snapshot_texts = []
    for archive, prefix in MOMENTS.items():
        path = FIXTURES / "slurm" / "snapshots" / f"{archive}.tar.xz"
        texts = {
            name.rpartition("/")[2].removeprefix(prefix): text
            for name, text in members(path)
            if f"/{prefix}" in name and "show_" not in name
        }
        snapshot_texts.append({name: fewer(name, text) for name, text in texts.items()})
    return snapshot_texts


def fewer(name: str, text: str) -> str:
    if name == "squeue.json":
        data = json.loads(text)
        data["jobs"] = data["jobs"][-JOBS:]
        return json.dumps(data)
    if name.endswith("job.txt"):
        return "\n\n".join(text.split("\n\n")[-JOBS:])
    return "\n".join(text.split("\n")[:80]) if "assoc_mgr" in name else text


@cache
def snapshot_files() -> dict[str, Any]:
    """A snapshot as it is written, and one of each moment."""
    files_by_name = {"now.json": io.read_json(REPO / "notebooks" / "cluster" / "now.json")}
    for number, texts in enumerate(moments()):
        path = Path(_folder.name) / "written.json"
        Snapshot.of_texts(texts, "recorded").write(path)
        files_by_name[f"{number}.json"] = io.read_json(path)
    return files_by_name


@cache
def recordings() -> dict[str, Any]:
    recordings_by_name = {
        name: io.read_json(RECORDINGS[name]) for name in RECORDED if name in RECORDINGS
    }
    for data in recordings_by_name.values():
        data["runs"], data["phases"] = data["runs"][:1], data["phases"][:1]
        if "samples" in data:
            data["samples"] = data["samples"][:1]
    return recordings_by_name


@cache
def logs() -> dict[str, str]:
    cluster = REPO / "notebooks" / "cluster"
    log = (cluster / "sacct.txt").read_text().splitlines()
    return {"sacct.txt": "\n".join(log[:40]), "slurm.conf": (cluster / "slurm.conf").read_text(),
            "old.txt": (FIXTURES / "sacct.txt").read_text()}  # fmt: skip


# --- damages --------------------------------------------------------------------------------------


def cell() -> str:
    return rnd.choice(CELLS)


def number_replaced(text: str) -> str:
    """A number, or what stands behind an equals sign."""
    places = list(re.finditer(rnd.choice([r"[0-9]+", r"(?<==)[^\s,|]*", r"(?<=\|)[^|\n]*"]), text))
    if not places:
        return text + cell()
    at = rnd.choice(places)
    return text[: at.start()] + cell() + text[at.end() :]


def lines_changed(text: str) -> str:
    lines = text.split("\n")
    a, b = rnd.randrange(len(lines)), rnd.randrange(len(lines))
    kind = rnd.randrange(6)
    if kind == 0:
        del lines[a]
    elif kind == 1:
        lines.insert(b, lines[a])
    elif kind == 2:
        lines[a], lines[b] = lines[b], lines[a]
    elif kind == 3:
        lines = [line.lstrip() for line in lines]
    elif kind == 4:
        lines[a] = lines[a].replace(" ", "\r", 1) if rnd.random() < 0.5 else lines[a] + "\r"
    else:
        del lines[:a]
    return "\n".join(lines)


def cells_changed(text: str) -> str:
    lines = [line.split("|") for line in text.split("\n")]
    row = rnd.choice(lines)
    a, b = rnd.randrange(len(row)), rnd.randrange(len(row))
    kind = rnd.randrange(4)
    if kind == 0:
        row[a], row[b] = row[b], row[a]
    elif kind == 1:
        row[a] = cell()
    elif kind == 2:
        del row[a]
    else:  # a column is not there
        lines = [cells[:a] + cells[a + 1 :] for cells in lines]
    return "\n".join("|".join(cells) for cells in lines)


def one_line(text: str) -> str:
    """As ``scontrol -o`` prints it."""
    return "\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text))


def cut(text: str) -> str:
    return text[: rnd.randrange(len(text) + 1)]


def nested(text: str) -> str:
    depth = rnd.choice([50, 2000, 200_000])
    return text[: rnd.randrange(len(text) + 1)] + rnd.choice(["[", '{"a":', "("]) * depth


def of_json(text: str) -> str:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return json.dumps(spoiled(data) if rnd.random() < 0.7 else with_cells(data))


def with_cells(data: Any) -> Any:
    """Some leaves are other texts, or numbers that JSON does not have."""
    if isinstance(data, dict):
        chosen = rnd.choice(list(data) or [""])
        return {key: with_cells(table) if key == chosen else table for key, table in data.items()}
    if isinstance(data, list) and data:
        at = rnd.randrange(len(data))
        return [with_cells(table) if k == at else table for k, table in enumerate(data)]
    return rnd.choice([cell(), float("nan"), float("inf"), -float("inf"), 2**64, -7, 1e300, None])


def changed(name: str, text: str) -> str:
    """The text with one damage, or several."""
    general = [number_replaced, number_replaced, lines_changed, cut, damaged, nested]
    own_changes = (
        [of_json] * 40 if name.endswith(".json") else [cells_changed, cells_changed, one_line]
    )
    for _ in range(rnd.choice([1, 1, 1, 2, 4])):
        text = rnd.choice([*general, *own_changes])(text)
    return text


def put(path: Path, text: str) -> Path:
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if data and rnd.random() < 0.1:
        data[rnd.randrange(len(data))] ^= 1 << rnd.randrange(8)
    path.write_bytes(data)
    return path


def folder() -> Path:
    path = Path(_folder.name) / "shown"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


# --- readers --------------------------------------------------------------------------------------


def refused_in_a_line(call: Callable[[], Any], named: str = "") -> Any:
    """What it gives; what is refused is so in a line."""
    try:
        return call()
    except cs.CoschedError as error:
        message = str(error)
        assert "\n" not in message, message
        assert len(message) < 2000, message
        assert re.search(named, message), message
        raise


def printed_machine() -> tuple[str, Callable[[], Any]]:
    texts = dict(rnd.choice(moments()))
    where = folder()
    for name in rnd.sample(sorted(texts), rnd.choice([0, 0, 1, 3])):
        del texts[name]
    chosen = rnd.sample(sorted(texts), min(rnd.choice([1, 1, 2]), len(texts)))
    for name, text in texts.items():
        if name in chosen:
            put(where / name, changed(name, text))
        else:
            (where / name).write_text(text)
    zone = rnd.choice([None, None, "Europe/Stockholm"])
    return str(chosen), lambda: foreseen(lambda: Snapshot.read(where, timezone=zone))


def now() -> tuple[str, Callable[[], Any]]:
    name = rnd.choice(sorted(snapshot_files()))
    text = json.dumps(snapshot_files()[name])
    path = put(folder() / name, changed(name, text))
    return name, lambda: foreseen(lambda: Snapshot.read(path))


def foreseen(read: Callable[[], Snapshot]) -> None:
    """Starts of what is read."""
    snapshot = refused_in_a_line(read, r"\.(txt|json)|shown|snapshot")
    use = rnd.random()
    if use < 0.6:
        frame = refused_in_a_line(lambda: when(snapshot, draws=2))
        assert len(frame) == len(snapshot.pending)
    elif use < 0.7:
        refused_in_a_line(snapshot.instance)
    elif use < 0.8:
        snapshot.anonymised()
    elif use < 0.9:
        path = Path(_folder.name) / "again.json"
        snapshot.write(path)
        assert len(Snapshot.read(path).jobs) == len(snapshot.jobs)


def accounts() -> tuple[str, Callable[[], Any]]:
    names = ("sacctmgr_assoc.txt", "sacctmgr_qos.txt", "sshare_long.txt", "sshare.txt",
             "scontrol_assoc_mgr.txt")  # fmt: skip
    texts = rnd.choice(
        [texts_of_moment for texts_of_moment in moments() if "sshare.txt" in texts_of_moment]
    )
    where = folder()
    for name in names:
        if rnd.random() < 0.6:
            put(where / name, changed(name, texts[name]) if rnd.random() < 0.7 else texts[name])
    (where / "slurm.conf").write_text(logs()["slurm.conf"])

    def call() -> None:
        accounts = refused_in_a_line(lambda: read_accounts(where), r"\.txt|no accounts")
        machine = cs.cluster.Machine.read(where / "slurm.conf")
        refused_in_a_line(lambda: Accounts(accounts, machine))
        log = where / "log.txt"
        log.write_text(logs()["sacct.txt"])
        machine = cs.cluster.Machine.read(where / "slurm.conf", accounts=where)
        instance = cs.cluster.Instance.read(log, machine=machine)
        refused_in_a_line(lambda: cs.cluster.solve(instance, "slurm-backfill", approximate=True))

    return "accounts", call


def recording() -> tuple[str, Callable[[], Any]]:
    name = rnd.choice(sorted(recordings()))
    data = recordings()[name]
    text = json.dumps(data)
    path = put(folder() / f"{name}.json", changed("x.json", text))

    def call() -> None:
        recording = refused_in_a_line(
            lambda: read_recording(path, approximate=rnd.random() < 0.5), re.escape(name)
        )
        if rnd.random() < 0.7:
            replay = rnd.random() < 0.5
            refused_in_a_line(lambda: agreement(recording, recording.runs[0], replay=replay))

    return name, call


def log() -> tuple[str, Callable[[], Any]]:
    where, texts = folder(), logs()
    name = rnd.choice(["sacct.txt", "sacct.txt", "old.txt"])
    conf = texts["slurm.conf"]
    other = rnd.random() < 0.4
    path = put(where / name, texts[name] if other else changed(name, texts[name]))
    machine = put(where / "slurm.conf", changed("slurm.conf", conf) if other else conf)

    def call() -> None:
        read = refused_in_a_line(lambda: cs.cluster.Machine.read(machine), r"\.conf")
        instance = refused_in_a_line(lambda: cs.cluster.Instance.read(path, machine=read))
        if rnd.random() < 0.7:
            chosen = rnd.choice(["FCFS", "EASY", "slurm-backfill", "slurm-backfill"])
            options = {"approximate": True} if chosen == "slurm-backfill" else {}
            result = refused_in_a_line(lambda: cs.cluster.solve(instance, chosen, **options))
            result.schedule.validate()
        elif rnd.random() < 0.5:
            log_read = cs.cluster.Instance.read(path, machine=read.approximated())
            refused_in_a_line(lambda: cs.cluster.judge_log(log_read))

    return f"{name} {other}", call


READERS = {
    "shown": printed_machine,
    "now": now,
    "accounts": accounts,
    "recording": recording,
    "log": log,
}


def one_reading(name: str) -> tuple[str, Callable[[], Any]]:
    """What is read, and the call that reads and uses it."""
    description, call = READERS[name]()
    return f"{name} {description}", call
