"""When a refused allocation is asked for again, and when the jobs that wait are given up."""

import math

#: Seconds until the first new try; each refusal in a row doubles the pause, up to the longest.
FIRST_PAUSE, LONGEST_PAUSE = 2.0, 300.0
#: What sbatch says of requests that no later try can change. In the words of slurm_errno.c:
#: ESLURM_INVALID_PARTITION_NAME, ESLURM_INVALID_ACCOUNT, ESLURM_INVALID_QOS,
#: ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE, ESLURM_INVALID_TIME_LIMIT,
#: ESLURM_TOO_MANY_REQUESTED_CPUS, ESLURM_INVALID_NODE_COUNT, ESLURM_USER_ID_MISSING; at last an
#: option that sbatch does not know.
_LASTING_REASONS = (
    "invalid partition",
    "invalid account or account/partition combination",
    "invalid qos",
    "requested node configuration is not available",
    "requested time limit is invalid",
    "more processors requested than permitted",
    "node count specification invalid",
    "invalid user id",
    "unrecognized option",
)


class SubmissionRefused(Exception):
    """An allocation was refused; the text is what the batch system said.

    Attributes
    ----------
    is_lasting : bool
        No later try can succeed.
    """

    def __init__(self, words: str, *, is_lasting: bool | None = None) -> None:
        super().__init__(words)
        if is_lasting is None:
            is_lasting = any(reason in words.lower() for reason in _LASTING_REASONS)
        self.is_lasting = is_lasting


class Refusals:
    """Refusals in a row: the time of the next try, and whether there is to be one.

    While an allocation is queued or runs, it may take the jobs that wait: these refusals count
    for the pause only. Without one, jobs are given up after `retries` new tries.

    Parameters
    ----------
    retries : int
        New tries after a refusal, while no allocation is left.

    Examples
    --------
    >>> refusals = Refusals(retries=2)
    >>> refusals.note_refusal(SubmissionRefused("busy"), now=0.0, live_allocations=0)
    2.0
    >>> refusals.is_due(1.9), refusals.is_due(2.0)
    (False, True)
    >>> refusals.note_refusal(SubmissionRefused("busy"), now=2.0, live_allocations=0)
    4.0
    >>> refusals.has_given_up
    False
    >>> pause = refusals.note_refusal(SubmissionRefused("busy"), now=6.0, live_allocations=0)
    >>> refusals.has_given_up
    True
    """

    def __init__(self, retries: int) -> None:
        self._retries = retries
        self._next_try, self._next_pause = -math.inf, FIRST_PAUSE
        self._first_refusal = math.inf
        self._refusals_without_allocation = 0
        self._is_lasting = False
        #: Refusals since the last allocation that was granted.
        self.count = 0

    def is_due(self, now: float) -> bool:
        """Whether an allocation may be asked for at this time (s)."""
        return now >= self._next_try

    def note_refusal(self, refusal: SubmissionRefused, now: float, live_allocations: int) -> float:
        """Take notice of a refusal; the seconds until the next try."""
        self.count += 1
        self._is_lasting = refusal.is_lasting
        self._first_refusal = min(self._first_refusal, now)
        if not live_allocations:
            self._refusals_without_allocation += 1
        pause = LONGEST_PAUSE if refusal.is_lasting else self._next_pause
        self._next_pause = min(2.0 * pause, LONGEST_PAUSE)
        self._next_try = now + pause
        return pause

    def note_grant(self) -> None:
        """Take notice of an allocation that was granted: the row of refusals is over."""
        self._next_try, self._next_pause = -math.inf, FIRST_PAUSE
        self._first_refusal = math.inf
        self._refusals_without_allocation = 0
        self._is_lasting = False
        self.count = 0

    def allow_next_try(self, now: float) -> None:
        """The next try is due at once, and the pauses are short again: an allocation has ended, so
        its place may be free, or the jobs that waited have failed."""
        self._next_try, self._next_pause = min(self._next_try, now), FIRST_PAUSE

    @property
    def has_given_up(self) -> bool:
        """Whether no allocation can be expected any more."""
        if self._is_lasting and self._refusals_without_allocation:
            return True
        return self._refusals_without_allocation > self._retries

    def seconds_since_first(self, now: float) -> float:
        """Seconds since the first refusal of the row."""
        return max(now - self._first_refusal, 0.0)
