"""Times of parallel codes from measurements: reading, completing, writing.

A measured time is never changed; of several runs on one count it is their median. Few codes are
measured on every processor count. :func:`complete` fills the rest (``counts="measured"`` leaves
it infinite, so that no task is given such a count):

* ``"interpolation"`` (the default): between two measured counts, log t is linear in log q,
  that is, a power law through both. It keeps every measurement, cannot over- or undershoot
  its neighbours, and assumes nothing about the code as a whole.
* ``"amdahl"``: a + b / q + c log2 q with a, b, c >= 0 (a serial part, a parallel part, and
  an overhead that grows with processors), least squares of the relative errors.
* ``"power-law"``: a q^-alpha + c (q - 1) with a, c >= 0 and 0 <= alpha <= 1, likewise.

A count next to one on which the task cannot run is not filled. Outside the measured counts
nothing is assumed unless ``extrapolate=True``; then the model (for ``"interpolation"``, the Amdahl
fit, scaled to meet the nearest measurement) goes on.
"""

from __future__ import annotations

from cosched.core.options import argument
from cosched.described import described
from cosched.profiles.completion import (
    COUNTS,
    EXTRAPOLATED,
    INTERPOLATED,
    MEASURED,
    MOST_PROCESSORS,
    Profiles,
    check_options,
    complete,
)
from cosched.profiles.files import from_csv, read, require_plain, times_of_json, write
from cosched.profiles.monotony import monotone
from cosched.profiles.properties import facts, property_notes, spread_of
from cosched.profiles.sharing import (
    SHARED_FIELDS,
    Bandwidth,
    HasSharing,
    Sharing,
    Slowdowns,
    sharing_of_json,
)

__all__ = [
    "ARGUMENTS",
    "Bandwidth",
    "COUNTS",
    "EXTRAPOLATED",
    "HasSharing",
    "INTERPOLATED",
    "MEASURED",
    "MOST_PROCESSORS",
    "Profiles",
    "SHARED_FIELDS",
    "Sharing",
    "Slowdowns",
    "check_options",
    "complete",
    "facts",
    "from_csv",
    "monotone",
    "property_notes",
    "read",
    "require_plain",
    "sharing_of_json",
    "spread_of",
    "times_of_json",
    "write",
]

#: What the command line takes for families that read such files.
ARGUMENTS = (
    argument("fit", "Between measured counts: interpolation, amdahl or power-law.", str),
    argument("extrapolate", "Use the fitted model outside measured counts.", bool),
    argument("counts", "all, or measured: give tasks only counts that were measured.", str),
)

described(
    globals(),
    {
        "procs": ("int, optional", "p: times on 1..procs only. None: the largest count."),
        "fit": (
            '{"interpolation", "amdahl", "power-law"}',
            "How counts between measured ones are filled; see :mod:`cosched.profiles`.",
        ),
        "extrapolate": ("bool", "Allow the fitted model outside the measured counts."),
        "counts": (
            '{"all", "measured"}',
            '"measured": nothing is filled; the other counts are infinite.',
        ),
        "most": ("int, optional", "Without `procs`: larger counts are dropped."),
    },
)
