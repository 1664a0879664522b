"""What a job asks for in the words of sbatch, as columns of an instance's jobs."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cosched import io
from cosched.cluster.machine.node_types import megabytes_of, seconds
from cosched.errors import InvalidInstance, shorten

_FILE = Path(__file__).with_name("sbatch.toml")
_KNOWN: dict[str, Any] = io.parse_toml(io.read_text(_FILE), str(_FILE))
_SHORT: dict[str, str] = _KNOWN["short"]
_FLAGS, _SILENT = (frozenset(_KNOWN[kind].split()) for kind in ("flags", "silent"))
_VALUED = {*_SHORT.values(), *_KNOWN["valued"].split()} - _FLAGS
_LATER = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_SPAN = r"([0-9]{1,7})(?:-([0-9]{1,7})(?::([1-9][0-9]{0,6}))?)?"
#: Columns that only a simulator of Slurm heeds, called as their options are.
BESIDE = ("exclusive", "licenses", "dependency", "nodelist", "exclude", "nice")


def options_of(words: Sequence[str], place: str) -> dict[str, str]:
    """Values by the long names of options, until the script."""
    found: dict[str, str] = {}
    at = 0
    while at < len(words) and words[at].startswith("-") and len(words[at]) > 1:
        word, at = words[at], at + 1
        if word.startswith("--"):
            name, given, value = word[2:].partition("=")
        else:
            name, value = _SHORT.get(word[1], word[:2]), word[2:]
            given = value
        if not given and name not in _FLAGS:
            if at == len(words) or (name in _VALUED and words[at].startswith("-")):
                raise InvalidInstance(f"{place}: {shorten(word)}: expected a value behind it")
            if not words[at].startswith("-"):  # of an option that is not known, perhaps
                value, at = words[at], at + 1
        found[name] = value
    return found


class Asked:
    """Reads what options say of a job; what is not followed it counts by name."""

    def __init__(self) -> None:
        self.left: Counter[str] = Counter()

    def row(self, options: dict[str, str], place: str) -> dict[str, Any]:
        """Of one job: ``cpus, nodes, memory_gb, memory_per, gpus, ...``; absent: not said."""
        given = dict(options)
        row: dict[str, Any] = self.beside(given)
        for name in ("partition", "qos", "account", "constraint", "job-name"):
            if name in given:
                row[name.replace("job-name", "name")] = given.pop(name)
        if "uid" in given:
            row["user"] = given.pop("uid")
        if "time" in given:
            text = given.pop("time")
            minutes = text.isdigit()  # a bare number is one of minutes
            row["estimate"] = seconds(text, f"{place}: --time") * (60 if minutes else 1)
        if "array" in given:
            row["array"] = given.pop("array")
        row |= self._sizes(given, place)
        row |= self._memory(given, row, place)
        row |= self._gpus(given, row, place)
        row |= self._begin(given)
        self.left.update(f"--{n}" for n in given if n not in _SILENT)
        return row

    def beside(self, given: dict[str, str]) -> dict[str, str]:
        """Columns of :data:`BESIDE`, whose options are taken out."""
        row: dict[str, str] = {}
        for name in BESIDE:
            value = given.pop(name, None)
            if name == "exclusive" and value is not None:
                if value:
                    self.left[f"--exclusive={value}"] += 1
                    continue
                value = "yes"
            if name == "nice" and value is not None:
                value = value or "100"
                if not re.fullmatch("-?[0-9]{1,9}", value):
                    self.left[f"--nice={value}"] += 1
                    continue
            if value:
                row[name] = value
        return row

    def _sizes(self, given: dict[str, str], place: str) -> dict[str, Any]:
        """CPUs, and nodes where they are said, the least of a range."""
        tasks = _count(given, "ntasks", place)
        a_node = _count(given, "ntasks-per-node", place)
        nodes = None
        if "nodes" in given:
            least, _, most = given.pop("nodes").partition("-")
            nodes = _whole(least, f"{place}: --nodes")
            if most and most != least:
                self.left["--nodes of a range, of which the least is taken"] += 1
        if tasks is not None and a_node and nodes is None:
            nodes = -(-tasks // a_node)
        if tasks is None:
            tasks = (nodes or 1) * (a_node or 1)
        elif nodes is not None and nodes > tasks:
            nodes = tasks  # as sbatch has it, which warns
        row: dict[str, Any] = {"cpus": tasks * (_count(given, "cpus-per-task", place) or 1)}
        return row if nodes is None else row | {"nodes": nodes}

    def _memory(self, given: dict[str, str], row: dict[str, Any], place: str) -> dict[str, Any]:
        """GB of the job; of a node, where it does not say how many it wants, of one."""
        found: dict[str, Any] = {}
        for name, times in (("mem-per-cpu", row["cpus"]), ("mem", row.get("nodes", 1))):
            text = given.pop(name, None)
            if text is None:
                continue
            size = megabytes_of(text)
            if size is None:
                raise InvalidInstance(f"{place}: --{name}: {shorten(text)}: expected 4000M or 4G")
            amount = size / 1024 * times
            if name == "mem":
                found = {"memory_gb": amount, "memory_per": "node" if amount else "all"}
            elif amount:
                found = {"memory_gb": amount, "memory_per": "core"}
        return found

    def _gpus(self, given: dict[str, str], row: dict[str, Any], place: str) -> dict[str, Any]:
        """Those of the job; of a node, where it does not say how many it wants, of one."""
        found: dict[str, Any] = {}
        first = ""
        for name in ("gres", "gpus-per-node", "gpus"):
            for text in filter(None, given.pop(name, "").split(",")):
                words = text.split(":")
                if name == "gres" and words.pop(0) not in ("gpu", "gres/gpu"):
                    self.left[f"--gres={text}"] += 1
                    continue
                if first not in ("", name):
                    self.left[f"--{name}={text} beside --{first}"] += 1
                    continue
                first = name
                counted = words[1:] or (words and re.fullmatch("[-+.0-9]*", words[0]))
                count = words.pop() if counted else "1"
                number = _whole(count, f"{place}: --{name}", least=0)
                if name != "gpus":
                    found["gpus_per"] = "node"
                    number *= row.get("nodes", 1)
                found["gpus"] = found.get("gpus", 0) + number
                found["gpu_type"] = words[0] if words else found.get("gpu_type", "")
        return found

    def _begin(self, given: dict[str, str]) -> dict[str, Any]:
        """Seconds that it is not to start before, from its submission."""
        text = given.pop("begin", "")
        later = re.fullmatch(r"now(?:\+([0-9]{1,9})([a-z]*?)s?)?", text.lower())
        if later and (later[2] or "second") in _LATER:
            return {"blocked": int(later[1] or 0) * _LATER[later[2] or "second"]}
        if text:
            self.left[f"--begin={text}"] += 1
        return {}

    def notes(self) -> list[str]:
        """What is not followed, and of how many jobs."""
        return [f"not followed: {name} of {count} jobs" for name, count in self.left.items()]


def array_tasks(text: str) -> tuple[list[int], int]:
    """Indexes of ``1-7,9%3``, and how many may run (0 = all)."""
    spans, _, limit = text.partition("%")
    tasks: list[int] = []
    parts = [re.fullmatch(_SPAN, part) for part in spans.split(",")]
    good = re.fullmatch(r"[0-9]{0,9}", limit) is not None
    for found in parts:
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not found or not good or last < first:
            raise InvalidInstance(f"array {shorten(text)}: expected 1-7%3")
        tasks += range(first, last + 1, int(found[3] or 1))
    return tasks, int(limit or 0)


def _count(given: dict[str, str], name: str, place: str) -> int | None:
    text = given.pop(name, None)
    return None if text is None else _whole(text, f"{place}: --{name}")


def _whole(text: str, where: str, least: int = 1) -> int:
    if not re.fullmatch("[0-9]{1,8}", text) or int(text) < least:
        raise InvalidInstance(f"{where}: {shorten(text)}: expected a number from {least} on")
    return int(text)
