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

from cosched.border import guard_public
from cosched.described import described
from cosched.profiles.completion import (
    COUNTS as COUNTS,
    EXTRAPOLATED as EXTRAPOLATED,
    INTERPOLATED as INTERPOLATED,
    MEASURED as MEASURED,
    MOST_PROCESSORS as MOST_PROCESSORS,
    Profiles as Profiles,
    check_options as check_options,
    complete as complete,
)
from cosched.profiles.measured_files import (
    from_csv as from_csv,
    read as read,
    require_plain as require_plain,
    times_of_json as times_of_json,
    write as write,
)
from cosched.profiles.properties import (
    facts as facts,
    monotone as monotone,
    property_notes as property_notes,
    spread_of as spread_of,
)
from cosched.profiles.shared import HasSharing as HasSharing
from cosched.profiles.sharing import (
    SHARED_FIELDS as SHARED_FIELDS,
    Bandwidth as Bandwidth,
    Sharing as Sharing,
    Slowdowns as Slowdowns,
    sharing_of_json as sharing_of_json,
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
guard_public(globals())
