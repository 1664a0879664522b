"""What instances of packs and moldable have of what their tasks share."""

import numpy as np

from cosched.errors import InvalidInstance
from cosched.notes import Note
from cosched.profiles.sharing import Bandwidth, Sharing, Slowdowns


class HasSharing:
    """An instance whose tasks may share something: what those of packs and moldable have of it.

    Examples
    --------
    >>> inst = cs.packs.Instance([[4.0], [3.0]], resources={"gpus": [1, 0]}, capacity={"gpus": 1})
    >>> isinstance(inst, HasSharing), inst.resources["gpus"].tolist(), inst.capacity
    (True, [1.0, 0.0], {'gpus': 1.0})
    """

    sharing: Sharing

    @property
    def resources(self) -> dict[str, np.ndarray]:
        """Needs by name, read-only (n,) or (n, counts); empty where none were given."""
        return dict(self.sharing.resources)

    @property
    def capacity(self) -> dict[str, float]:
        """Of resources, by name."""
        return dict(self.sharing.capacity)

    @property
    def slowdowns(self) -> Slowdowns | None:
        """Slow-downs of pairs, as given."""
        return self.sharing.slowdowns

    @property
    def bandwidth(self) -> Bandwidth | None:
        """Traffic to memory."""
        return self.sharing.bandwidth

    def _unslowed(self) -> tuple[list[Note], Sharing]:
        """Return notes and what is shared, as if no task slowed another."""
        sharing_notes = set(self.sharing.notes(self.names))  # type: ignore[attr-defined]
        other_notes = [note for note in self.notes if note not in sharing_notes]  # type: ignore[attr-defined]
        return other_notes, self.sharing.without_slowdowns()

    def require_unshared(self, algorithm: str, instead: str) -> None:
        """Refuse tasks that share something, for an algorithm that would plan as if they did not.

        Parameters
        ----------
        algorithm : str
            Its public name.
        instead : str
            Those that can.

        Raises
        ------
        InvalidInstance
            Tasks need resources or slow each other down.
        """
        if not self.sharing:
            return
        shared_words = " and ".join(
            what
            for what, is_shared in (
                (f"resources ({', '.join(self.sharing.resources)})", self.sharing.resources),
                ("slow-downs", self.sharing.slows),
            )
            if is_shared
        )
        raise InvalidInstance(
            f"{algorithm} does not know the {shared_words} of this instance: expected {instead}, "
            "or an instance without them"
        )
