"""Outputs of Slurm's commands: found in a folder, or asked for on a login node."""

import json
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path

from cosched import io
from cosched.errors import InvalidInstance
from cosched.notes import Note, NoteKind

_FILE = Path(__file__).with_name("commands.toml")
_COMMAND_TABLE: dict[str, dict[str, str]] = io.parse_toml(_FILE.read_text("utf-8"), str(_FILE))
#: What is collected: the name of the file, and the command that prints it; and other names.
COMMANDS, _ALIASES = _COMMAND_TABLE["commands"], _COMMAND_TABLE["aliases"]
#: What the history has of each job.
SACCT_FIELDS = (
    "JobID,JobName,User,Account,QOS,Partition,State,Submit,Eligible,Start,End,ElapsedRaw,"
    "TimelimitRaw,ReqNodes,NNodes,NCPUS,ReqTRES,AllocTRES,NodeList,Flags"
)
_FURTHER_FILES = ("sshare_long.txt", "sacct.txt", "times.json")
_TIMEOUT = 120  # s for one command


def read_outputs(path: str | PathLike[str]) -> tuple[dict[str, str], list[Note]]:
    """Return the texts of a folder by their names, and notes on the choice.

    The files may stand under a prefix (``900.squeue.json``): then `path` is the folder, of which
    the last moment is taken, or ``folder/900``.
    """
    file_or_folder = Path(path)
    folder, prefix_of_moment = (
        (file_or_folder, "")
        if file_or_folder.is_dir()
        else (file_or_folder.parent, file_or_folder.name)
    )
    if not folder.is_dir():
        raise InvalidInstance(f"{path}: no such file or folder")
    moments: dict[str, dict[str, Path]] = {}
    for file in sorted(folder.iterdir()):
        plain_name = file.name.removesuffix(".gz")
        for name in (*COMMANDS, *_FURTHER_FILES, *_ALIASES):
            if plain_name == name or plain_name.endswith(f".{name}"):
                prefix = plain_name.removesuffix(name).rstrip(".")
                moments.setdefault(prefix, {}).setdefault(_ALIASES.get(name, name), file)
                break
    if prefix_of_moment and prefix_of_moment not in moments:
        why = "a file, expected a folder" if file_or_folder.exists() else "no such file or folder"
        raise InvalidInstance(f"{path}: {why}")
    prefixes = [prefix for prefix in moments if prefix]
    if not moments:
        names = "squeue.json, scontrol_job.txt, scontrol_node.txt, ..."
        raise InvalidInstance(f"{path}: no outputs of Slurm: expected {names}")
    notes = []
    if not prefix_of_moment and "" not in moments:
        prefix_of_moment = max(
            prefixes, key=lambda text: (int(text) if text.isdecimal() else -1, text)
        )
        if len(prefixes) > 1:
            text = f"of {len(prefixes)} moments the last is read: {prefix_of_moment}"
            notes = [Note(NoteKind.READING, text, subject="moments", count=len(prefixes))]
    return {name: io.read_text(file) for name, file in moments[prefix_of_moment].items()}, notes


#: Outputs whose dates are local times.
_DATED_FILES = ("scontrol_config.txt", "scontrol_reservation.txt", "sacct.txt")


def dated_outputs(path: str | PathLike[str]) -> list[str]:
    """Return the names of outputs in a folder that have dates in local time."""
    texts, _ = read_outputs(path)
    return [name for name in _DATED_FILES if name in texts]


def query_slurm(history: str | None) -> tuple[dict[str, str], list[Note]]:
    """Return what Slurm's commands print here and now, and what they did not: nothing is
    changed."""
    texts: dict[str, str] = {}
    missing: list[Note] = []
    commands = dict(COMMANDS)
    if history is not None:
        commands["sacct.txt"] = (
            f"sacct -a -X -P --duplicates -S now-{history} --format={SACCT_FIELDS}"
        )
    begin = time.time()
    for name, command in commands.items():
        try:
            process = subprocess.run(
                command.split(), capture_output=True, timeout=_TIMEOUT, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = (
                "takes too long" if isinstance(error, subprocess.TimeoutExpired) else "not here"
            )
            missing.append(_note_of_failure(command, reason))
            continue
        printed, notes = io.as_utf8(process.stdout, command)
        if process.returncode or not printed.strip():
            errors = process.stderr.decode("utf-8", "replace").strip().splitlines()
            last = (errors or ["prints nothing"])[-1]
            missing.append(_note_of_failure(command, last))
        else:
            texts[name] = printed.decode()
            missing += [note.with_prefix("assumed: ") for note in notes]
    if not texts:
        raise InvalidInstance(
            f"cannot reach Slurm ({missing[0]}): run on a login node, or pass a snapshot, or a "
            "folder of outputs"
        )
    first = next(name for name in ("squeue.json", "scontrol_job.txt", *texts) if name in texts)
    texts["times.json"] = json.dumps({first: [begin, begin]})
    return texts, missing


def _note_of_failure(command: str, reason: str) -> Note:
    """Return a note of a command that printed nothing of use."""
    return Note(NoteKind.FAILED, reason, subject=command, prefix=f"{command}: ")


def require_texts(texts: Mapping[str, str]) -> None:
    """Refuse JSON where a command's text is expected; sdiag is read in both forms."""
    for name, text in texts.items():
        if name.endswith(".txt") and name != "sdiag.txt" and text.lstrip().startswith("{"):
            hint = f" prints it: {COMMANDS[name]}" if name in COMMANDS else " without --json"
            raise InvalidInstance(f"{name}: JSON: expected text, as Slurm{hint}")


def days_of(text: str) -> str | None:
    """``14``, ``14d`` as sacct says it (``14days``); None: it is the name of a file."""
    match = re.fullmatch(r"([0-9]{1,4})d?(?:ays?)?", text.strip())
    return f"{int(match[1])}days" if match else None


def records(text: str, first: str) -> Iterator[list[tuple[str, str]]]:
    """Yield what scontrol shows of one thing after another: (key, value), keys may come again."""
    pairs: list[tuple[str, str]] | None = None
    for line in text.splitlines():
        if line.startswith(f"{first}="):
            if pairs:
                yield pairs
            pairs = []
        if pairs is not None:
            for pair in re.split(r"\s(?=[^\s=,()]+=)", line):
                key, equal, value = pair.partition("=")
                if equal and key.strip():
                    pairs.append((key.split()[-1], value.rstrip()))
    if pairs:
        yield pairs


def rows(text: str, place: str, needed: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return a table whose columns are parted by ``|``; `needed`: some that its header has.

    Raises
    ------
    InvalidInstance
        A column is missing, a row has more or fewer fields than the header, or a column that is
        there twice has different values.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return []
    names = lines[0].split("|")
    lacking = [name for name in needed if name not in names]
    if lacking:
        reason = f"no column {lacking[0]}" if len(lacking) < len(needed) else "no header"
        raise InvalidInstance(f"{place}: line 1: {reason}: expected {', '.join(needed)}")
    table_rows = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("|")
        if names[-1] and cells[-1] == "" and len(cells) == len(names) + 1:  # a bar at the end
            del cells[-1]
        if len(cells) != len(names):
            raise InvalidInstance(
                f"{place}: line {number}: {len(cells)} fields: expected {len(names)}"
            )
        table_rows.append(io.unique_cells(names, cells, f"{place}: line {number}"))
    return table_rows
