"""Right sizes: what jobs ask for, what they use, and what that gives everybody."""

from cosched.cluster.sizing.right_size import RightSize, rightsize

__all__ = ["RightSize", "rightsize"]
