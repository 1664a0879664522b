"""Keys of slurm.conf: which say nothing here, and what is said of those that are not followed.

They are those of ``keys.toml`` beside this file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cosched import io
from cosched.slurm.conf.lines import words
from cosched.slurm.conf.parameters import LINES

_FILE = Path(__file__).with_name("keys.toml")
_KNOWN: dict[str, Any] = io.parse_toml(io.read_text(_FILE), str(_FILE))

SILENT, SILENT_PARAMETERS = words(_KNOWN["silent"]), words(_KNOWN["silent_parameters"])
NODE_KEYS, PARTITION_KEYS = words(_KNOWN["node"]), words(_KNOWN["partition"])
POWER, HEARD = words(_KNOWN["power"]), words(_KNOWN["heard"]) | frozenset(LINES)
#: Of the file and of partitions: usual values, and what is so here.
NOTED = {key: (tuple(one["usual"]), one["said"]) for key, one in _KNOWN["noted"].items()}


def noted(spelled: str, value: str) -> str:
    """What is said of a setting; empty: it is none of these, or has its usual value."""
    usual, said = NOTED.get(spelled.lower(), (("",), ""))
    return f"{spelled}={value}: {said}" if said and value.lower() not in ("", *usual) else ""


def effect_of(setting: str) -> str:
    """What it may do that a setting is not followed."""
    low = setting.lower()
    known = (said for name, said in _KNOWN["effects"].items() if low.startswith(name))
    return next(known, "starts may differ")
