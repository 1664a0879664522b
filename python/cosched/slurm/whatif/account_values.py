"""Values of QOS and accounts in what-ifs, checked as sacctmgr checks them."""

from collections.abc import Sequence

from cosched.slurm.accounts.script_commands import WORDS, CommandOption, command_option
from cosched.slurm.accounts.script_values import (
    changed_flags,
    changed_names,
    printed_value,
    tres_of,
)

_TRES_KINDS = ("tres", "cpu", "mem", "node")


def check_account_value(kind: str, key: str, value: str, qos_names: Sequence[str]) -> None:
    """Raise InvalidInstance where ``sacctmgr modify`` would refuse a value.

    Parameters
    ----------
    kind : str
        ``qos`` or ``account``.
    qos_names : sequence of str
        The QOS of the cluster, for options that list some.
    """
    option = _option(kind, key, value)
    place = "sacctmgr"
    if option is None or option.kind in ("unused", "names"):
        return
    if option.kind in _TRES_KINDS:
        tres_of(option, place)
    elif option.kind == "flags":
        changed_flags([], option, place)
    elif option.kind in ("qos", "qos_list"):
        changed_names([], option, [name.lower() for name in qos_names], place)
    else:
        printed_value(option, place)


def _option(kind: str, key: str, value: str) -> CommandOption | None:
    settings = WORDS["settings"]
    tables = [settings["qos"]] if kind == "qos" else [settings["account"], settings["association"]]
    return command_option(f"{key}={value}", tables)
