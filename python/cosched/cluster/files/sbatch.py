"""What a job asks for in the words of sbatch, as columns of an instance's jobs."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cosched import io
from cosched.cluster.machine.node_types import seconds
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, not_followed
from cosched.units import parse_megabytes

_FILE = Path(__file__).with_name("sbatch.toml")
_TABLES: dict[str, Any] = io.parse_toml(_FILE.read_text("utf-8"), str(_FILE))
_SHORT_OPTIONS: dict[str, str] = _TABLES["short"]
_FLAGS, _IGNORED_OPTIONS = (frozenset(_TABLES[kind].split()) for kind in ("flags", "silent"))
_VALUED = {*_SHORT_OPTIONS.values(), *_TABLES["valued"].split()} - _FLAGS
_LATER = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_SPAN = r"([0-9]{1,7})(?:-([0-9]{1,7})(?::([1-9][0-9]{0,6}))?)?"
#: Columns that only a simulator of Slurm heeds, called as their options are.
EXTRA_OPTIONS = ("exclusive", "licenses", "dependency", "nodelist", "exclude", "nice")


def options_of(words: Sequence[str], place: str) -> dict[str, str]:
    """Values by the long names of options, until the script."""
    option_values: dict[str, str] = {}
    position = 0
    while position < len(words) and words[position].startswith("-") and len(words[position]) > 1:
        word, position = words[position], position + 1
        if word.startswith("--"):
            name, separator, value = word[2:].partition("=")
        else:
            name, value = _SHORT_OPTIONS.get(word[1], word[:2]), word[2:]
            separator = value
        if not separator and name not in _FLAGS:
            if position == len(words) or (name in _VALUED and words[position].startswith("-")):
                raise InvalidInstance(f"{place}: {shorten(word)}: expected a value behind it")
            if not words[position].startswith("-"):  # of an option that is not known, perhaps
                value, position = words[position], position + 1
        option_values[name] = value
    return option_values


class OptionReader:
    """Read the options of jobs, and count by name those that are not followed."""

    def __init__(self) -> None:
        #: The number of jobs by option that is not followed.
        self.unsupported: Counter[str] = Counter()

    def job_row(self, options: dict[str, str], place: str) -> dict[str, Any]:
        """Return the columns of one job: ``cpus, nodes, memory_gb, memory_per, gpus, ...``, as far
        as its options tell them."""
        options_left = dict(options)
        row: dict[str, Any] = self.extra_columns(options_left)
        for name in ("partition", "qos", "account", "constraint", "job-name"):
            if name in options_left:
                row[name.replace("job-name", "name")] = options_left.pop(name)
        if "uid" in options_left:
            row["user"] = options_left.pop("uid")
        if "time" in options_left:
            text = options_left.pop("time")
            minutes = text.isdigit()  # a bare number is one of minutes
            row["estimate"] = seconds(text, f"{place}: --time") * (60 if minutes else 1)
        if "array" in options_left:
            row["array"] = options_left.pop("array")
        row |= self._sizes(options_left, place)
        row |= self._memory(options_left, row, place)
        row |= self._gpus(options_left, row, place)
        row |= self._begin(options_left)
        self.unsupported.update(f"--{n}" for n in options_left if n not in _IGNORED_OPTIONS)
        return row

    def extra_columns(self, options_left: dict[str, str]) -> dict[str, str]:
        """Columns of :data:`BESIDE`, whose options are taken out."""
        row: dict[str, str] = {}
        for name in EXTRA_OPTIONS:
            value = options_left.pop(name, None)
            if name == "exclusive" and value is not None:
                if value:
                    self.unsupported[f"--exclusive={value}"] += 1
                    continue
                value = "yes"
            if name == "nice" and value is not None:
                value = value or "100"
                if not re.fullmatch("-?[0-9]{1,9}", value):
                    self.unsupported[f"--nice={value}"] += 1
                    continue
            if value:
                row[name] = value
        return row

    def _sizes(self, options_left: dict[str, str], place: str) -> dict[str, Any]:
        """Return the CPUs, and the nodes where an option tells them, of a range the minimum."""
        tasks = _pop_count(options_left, "ntasks", place)
        a_node = _pop_count(options_left, "ntasks-per-node", place)
        nodes = None
        if "nodes" in options_left:
            min_nodes, _, max_nodes = options_left.pop("nodes").partition("-")
            nodes = _parse_integer(min_nodes, f"{place}: --nodes")
            if max_nodes and max_nodes != min_nodes:
                self.unsupported["--nodes of a range, of which the least is taken"] += 1
        if tasks is not None and a_node and nodes is None:
            nodes = -(-tasks // a_node)
        if tasks is None:
            tasks = (nodes or 1) * (a_node or 1)
        elif nodes is not None and nodes > tasks:
            nodes = tasks  # as sbatch has it, which warns
        row: dict[str, Any] = {
            "cpus": tasks * (_pop_count(options_left, "cpus-per-task", place) or 1)
        }
        return row if nodes is None else row | {"nodes": nodes}

    def _memory(
        self, options_left: dict[str, str], row: dict[str, Any], place: str
    ) -> dict[str, Any]:
        """Return the GB of the job, of one node where it does not tell its number of nodes."""
        memory_columns: dict[str, Any] = {}
        for name, times in (("mem-per-cpu", row["cpus"]), ("mem", row.get("nodes", 1))):
            text = options_left.pop(name, None)
            if text is None:
                continue
            size = parse_megabytes(text)
            if size is None:
                raise InvalidInstance(f"{place}: --{name}: {shorten(text)}: expected 4000M or 4G")
            amount = size / 1024 * times
            if name == "mem":
                memory_columns = {"memory_gb": amount, "memory_per": "node" if amount else "all"}
            elif amount:
                memory_columns = {"memory_gb": amount, "memory_per": "core"}
        return memory_columns

    def _gpus(
        self, options_left: dict[str, str], row: dict[str, Any], place: str
    ) -> dict[str, Any]:
        """Return the GPUs of the job, of one node where it does not tell its number of nodes."""
        gpu_columns: dict[str, Any] = {}
        first_option = ""
        for name in ("gres", "gpus-per-node", "gpus"):
            for text in filter(None, options_left.pop(name, "").split(",")):
                words = text.split(":")
                if name == "gres" and words.pop(0) not in ("gpu", "gres/gpu"):
                    self.unsupported[f"--gres={text}"] += 1
                    continue
                if first_option not in ("", name):
                    self.unsupported[f"--{name}={text} beside --{first_option}"] += 1
                    continue
                first_option = name
                has_count = words[1:] or (words and re.fullmatch("[-+.0-9]*", words[0]))
                count = words.pop() if has_count else "1"
                number = _parse_integer(count, f"{place}: --{name}", minimum=0)
                if name != "gpus":
                    gpu_columns["gpus_per"] = "node"
                    number *= row.get("nodes", 1)
                gpu_columns["gpus"] = gpu_columns.get("gpus", 0) + number
                gpu_columns["gpu_type"] = words[0] if words else gpu_columns.get("gpu_type", "")
        return gpu_columns

    def _begin(self, options_left: dict[str, str]) -> dict[str, Any]:
        """Return how long after its submission the job may not start (s)."""
        text = options_left.pop("begin", "")
        later = re.fullmatch(r"now(?:\+([0-9]{1,9})([a-z]*?)s?)?", text.lower())
        if later and (later[2] or "second") in _LATER:
            return {"blocked": int(later[1] or 0) * _LATER[later[2] or "second"]}
        if text:
            self.unsupported[f"--begin={text}"] += 1
        return {}

    def notes(self) -> list[Note]:
        """Return one note per option that is not followed, with the number of its jobs."""
        return [
            not_followed(f"{name} of {count} jobs", subject=name, count=count)
            for name, count in self.unsupported.items()
        ]


def array_tasks(text: str) -> tuple[list[int], int]:
    """Return the indexes of ``1-7,9%3``, and how many may run at a time (0 = all)."""
    spans, _, limit = text.partition("%")
    tasks: list[int] = []
    parts = [re.fullmatch(_SPAN, part) for part in spans.split(",")]
    good = re.fullmatch(r"[0-9]{0,9}", limit) is not None
    for span_match in parts:
        first, last = (
            (int(span_match[1]), int(span_match[2] or span_match[1])) if span_match else (1, 0)
        )
        if not span_match or not good or last < first:
            raise InvalidInstance(f"array {shorten(text)}: expected 1-7%3")
        tasks += range(first, last + 1, int(span_match[3] or 1))
    return tasks, int(limit or 0)


def _pop_count(options_left: dict[str, str], name: str, place: str) -> int | None:
    """Remove a count from the options, and return it or None."""
    text = options_left.pop(name, None)
    return None if text is None else _parse_integer(text, f"{place}: --{name}")


def _parse_integer(text: str, where: str, minimum: int = 1) -> int:
    """Return an integer of at least `minimum`; anything else is refused."""
    if not re.fullmatch("[0-9]{1,8}", text) or int(text) < minimum:
        raise InvalidInstance(f"{where}: {shorten(text)}: expected a number from {minimum} on")
    return int(text)
