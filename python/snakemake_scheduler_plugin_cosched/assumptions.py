"""On what an expected time of a run rests, in words."""

from collections.abc import Mapping

#: Where the time of a job comes from -> what is assumed of it: of all jobs, and of some of them.
_ASSUMED_OF_ALL = {
    "benchmark files": "jobs take as long as their benchmark files say",
    "earlier runs": "jobs take as long as in earlier runs",
    "runtime": "jobs take their limits (runtime)",
    "nothing known": "each job takes 1 s, since no times are known",
}
_ASSUMED_OF_SOME = {
    "benchmark files": "as long as their benchmark files say",
    "earlier runs": "as long as in earlier runs",
    "runtime": "their limits (runtime)",
    "nothing known": "without a known time the mean of the others",
}
SOURCES = tuple(_ASSUMED_OF_ALL)


def assumption(sources: Mapping[str, int], ended: int = 0) -> str:
    """What has to hold for an expected time.

    Parameters
    ----------
    sources : mapping
        Where times come from, one of `SOURCES` -> number of jobs.
    ended : int
        Jobs that have ended in this run: what they took of their times is expected of others.

    Examples
    --------
    >>> assumption({"runtime": 12})
    'if jobs take their limits (runtime)'
    >>> assumption({"runtime": 8, "nothing known": 2})
    'if 8 take their limits (runtime), and 2 without a known time the mean of the others'
    >>> assumption({"runtime": 8}, ended=3)
    'if jobs take their limits (runtime), scaled by what 3 that ended took of theirs'
    """
    counts = {source: sources[source] for source in SOURCES if sources.get(source)}
    if len(counts) == 1:
        (source,) = counts
        text = f"if {_ASSUMED_OF_ALL[source]}"
    else:
        clauses = [f"{count} {_ASSUMED_OF_SOME[source]}" for source, count in counts.items()]
        first, *others = clauses
        first = first.replace(" ", " take ", 1)
        text = "if " + ", ".join([first, *others[:-1], f"and {others[-1]}"])
    return f"{text}, scaled by what {ended} that ended took of theirs" if ended else text
