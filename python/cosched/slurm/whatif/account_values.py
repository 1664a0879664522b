"""Values of QOS and accounts in what-ifs, checked as sacctmgr checks them."""

from collections.abc import Sequence

from cosched.errors import InvalidInstance, shorten
from cosched.slurm.accounts.script_commands import WORDS, CommandOption, command_option
from cosched.slurm.accounts.script_values import (
    changed_flags,
    changed_names,
    printed_value,
    tres_of,
)

_TRES_KINDS = ("tres", "cpu", "mem", "node")


def checked_account_value(kind: str, key: str, value: str, qos_names: Sequence[str]) -> str:
    """Return a value as ``sacctmgr show`` prints it once it is set.

    Parameters
    ----------
    kind : str
        ``qos`` or ``account``.
    qos_names : sequence of str
        The QOS of the cluster, for options that list some.

    Raises
    ------
    InvalidInstance
        ``sacctmgr modify`` would refuse the value, or take a negative number for "no limit".
    """
    option = _option(kind, key, value)
    place = "sacctmgr"
    if option is None or option.kind in ("unused", "names"):
        return value
    if option.kind in _TRES_KINDS:
        tres_of(option, place)
    elif option.kind == "flags":
        changed_flags([], option, place)
    elif option.kind in ("qos", "qos_list"):
        if not qos_names:
            raise InvalidInstance(
                f"{key}={shorten(value)}: --accounts shows no QOS: expected what sacctmgr -P show "
                "qos prints, too"
            )
        changed_names([], option, [name.lower() for name in qos_names], place)
    else:
        number = value.strip()
        if number.startswith("-") and number != "-1":
            expected_range = "0 or more, parent" if option.kind == "share" else "0 or more"
            raise InvalidInstance(
                f"{key}={shorten(value)}: expected {expected_range}, or -1 (which clears it)"
            )
        return printed_value(option, place)
    return value


def _option(kind: str, key: str, value: str) -> CommandOption | None:
    settings = WORDS["settings"]
    tables = [settings["qos"]] if kind == "qos" else [settings["account"], settings["association"]]
    return command_option(f"{key}={value}", tables)
