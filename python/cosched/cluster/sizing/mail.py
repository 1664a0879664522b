"""The mail to a user: what their jobs asked for and used, and what to ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cosched.cluster.sizing.exports import options_of
from cosched.lazy import pd
from cosched.units import format_duration, format_gigabytes

if TYPE_CHECKING:
    #: Its class writes mails and is above this module.
    RightSize = Any


def for_user(
    right_size: RightSize, replayed: pd.DataFrame, user: str, max_groups: int
) -> list[str]:
    """Return sentences for a mail to a user; at most `max_groups` groups have a line each."""
    user_advice = right_size.advice_for(user)
    sentences = [f"Hello {user}: of your jobs, {user_advice['jobs'].sum():,} are in this log."]
    advised_groups = user_advice[(user_advice["limit"] > 0) | (user_advice["memory_gb"] > 0)]
    if not len(advised_groups):
        return [*sentences, "They are too few, or too different, for advice that holds."]
    sentences += [_mail_line(row) for _, row in advised_groups.head(max_groups).iterrows()]
    current_wait, wait_if_all, wait_if_user_alone = (
        replay_row(replayed, "EASY", number)["user_wait"] for number in (0, 1, -1)
    )
    if not np.isnan(current_wait):
        sentence = (
            f"Had you alone asked for what is advised, your jobs would have waited "
            f"{format_duration(wait_if_user_alone)} on average instead of "
            f"{format_duration(current_wait)}; had all, "
            f"{format_duration(wait_if_all)}."
        )
        if wait_if_user_alone < current_wait:
            sentence += " Smaller and shorter jobs find a hole sooner."
        sentences.append(sentence)
    return sentences


def _mail_line(row: Any) -> str:
    """Return the sentence of a mail about one group."""
    name = row.get("name", "") or row.get("comment", "") or "jobs"
    requests = [format_duration(row["asked_limit"])] if row["asked_limit"] > 0 else []
    usages = [format_duration(row["used_limit_p95"])]
    if row["memory_gb"] > 0:
        requests.append(format_gigabytes(row["asked_memory_gb"]))
        usages.append(format_gigabytes(row["used_memory_p95"]))
    return (
        f"  {name} ({row['jobs']:,} jobs): they asked for {' and '.join(requests)}; 95% of them "
        f"needed {' and '.join(usages)} at most. sbatch {' '.join(options_of(row))} ends at most "
        f"{100 * row['risk']:g}% of such jobs (by {row['past']:,} of the past)."
    )


def replay_row(replayed: pd.DataFrame, policy: str, number: int) -> Any:
    return replayed[replayed["policy"] == policy].iloc[number]
