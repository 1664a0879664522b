"""What stands in the options of sbatch and srun: names that one pattern admits, finite numbers."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cosched.core.arrays import nonnegative
from cosched.errors import InvalidInstance, shorten

#: A name of a partition, an account, a licence or a QOS: nothing that a shell or sbatch reads.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@/+-]*")
_OPTION = re.compile(r"[a-z]+(-[a-z]+)*")
#: What may stand between the names of a list, as in ``gpu:a100:2,craynetwork:1``.
_BETWEEN_NAMES = re.compile(r"[,:=]")
#: Gigabytes, GPUs and licences that nobody has: larger numbers are mistakes.
MAX_AMOUNT = 1e15
LICENCE_PREFIX = "licences."


def require_slurm_name(text: object, what: str) -> str:
    """A name that may stand in an option of sbatch or srun.

    Raises
    ------
    InvalidInstance
        The text has anything else than letters, digits and ``_.@/+-``.

    Examples
    --------
    >>> require_slurm_name("matlab@flex", "licence")
    'matlab@flex'
    >>> require_slurm_name("$(ls)", "licence")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: licence = '$(ls)': expected a name of letters, digits and _.@/+-
    """
    if not isinstance(text, str) or not _NAME.fullmatch(text):
        raise InvalidInstance(
            f"{what} = {shorten(text)}: expected a name of letters, digits and _.@/+-"
        )
    return text


def require_names(text: Any, what: str) -> str:
    """One name or a list of them with commas between, as ``--partition`` takes it."""
    for name in str(text).split(",") if isinstance(text, str) else [text]:
        require_slurm_name(name, what)
    return text


def option_lines(options: Mapping[str, object]) -> Iterator[str]:
    """Options of sbatch as ``--name=value``; names and values are admitted by the one pattern.

    Examples
    --------
    >>> list(option_lines({"partition": "long,short", "gres": "gpu:a100:2"}))
    ['--partition=long,short', '--gres=gpu:a100:2']
    """
    for name, value in options.items():
        if not isinstance(name, str) or not _OPTION.fullmatch(name):
            raise InvalidInstance(
                f"option {shorten(name)}: expected the long name of an option of sbatch"
            )
        for part in _BETWEEN_NAMES.split(str(value)):
            require_slurm_name(part, name)
        yield f"--{name}={value}"


def licence_name(resource: str) -> str | None:
    """The licence that a resource ``licences.NAME`` is; None: it is something else.

    Raises
    ------
    InvalidInstance
        The name of the licence is none that Slurm could have.
    """
    if not resource.startswith(LICENCE_PREFIX):
        return None
    return require_slurm_name(resource.removeprefix(LICENCE_PREFIX), "licence")


def licences_option(counts: Mapping[str, float]) -> str | None:
    """``--licenses=a:1,b:2``; None where no licence is needed.

    Parameters
    ----------
    counts : mapping
        Name -> how many; fractions are rounded up.
    """
    needed = [
        f"{require_slurm_name(name, 'licence')}:{math.ceil(amount_of(count, name))}"
        for name, count in counts.items()
        if count
    ]
    return f"--licenses={','.join(needed)}" if needed else None


def gpus_option(count: float) -> str:
    """``--gres=gpu:N``, rounded up."""
    return f"--gres=gpu:{math.ceil(amount_of(count, 'gpus'))}"


def mebibytes(gigabytes: float) -> int:
    """Memory as sbatch takes it, rounded up."""
    return math.ceil(amount_of(gigabytes, "memory") * 1e9 / 2**20)


def amount_of(value: object, what: str) -> float:
    """How much of something is needed or there: a finite number that is not negative.

    Raises
    ------
    InvalidInstance
        It is negative, not finite, or larger than any machine.

    Examples
    --------
    >>> amount_of(12.5, "memory")
    12.5
    >>> amount_of(1e302, "memory")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: memory = 1e+302: expected at most 1e+15
    """
    amount = nonnegative(value, what, "a finite number >= 0")
    if amount > MAX_AMOUNT:
        raise InvalidInstance(f"{what} = {amount:g}: expected at most {MAX_AMOUNT:g}")
    return amount
