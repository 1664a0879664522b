"""What ``--constraint`` of sbatch asks of nodes: parsed and evaluated as Slurm does it.

Slurm reads the features from left to right: ``a|b&c`` is ``(a|b)&c``. Parentheses are one level
deep. All nodes of ``[a|b]`` have a, or all have b; ``[a]`` means a. ``a*2`` asks for two nodes with
a, and ``[a*2&b*1]`` for two with a and another one with b. A comma stands for ``&``.

References
----------
Slurm 22.05.8 and 24.11.5: ``build_feature_list`` and ``_valid_feature_list`` in job_scheduler.c,
``valid_feature_counts`` and ``_valid_features`` in node_scheduler.c.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind, not_followed

if TYPE_CHECKING:
    from cosched.cluster.machine.node_types import NodeType

_TOKEN = re.compile(r"[][()&|,]|\*[0-9]+|[^][()&|,*]+")
#: Counts in one constraint of which all combinations are looked at.
_MAX_COUNTED_GROUPS = 10


@dataclass(frozen=True)
class Group:
    """A feature, or features in parentheses."""

    #: Names of the features.
    names: tuple[str, ...]
    #: Between the names: ``&`` or ``|``.
    operators: tuple[str, ...]
    #: Nodes that have them; 0: all of the job.
    count: int
    #: Whether the group stands in brackets: all nodes then have the same alternative.
    in_brackets: bool
    #: Before the group: ``&`` or ``|``; ``&`` where it is the first.
    operator: str

    def matches(self, features: frozenset[str]) -> bool:
        """Whether a node with these features is one of the group."""
        is_match = self.names[0] in features
        for operator, name in zip(self.operators, self.names[1:], strict=True):
            is_match = _combined(is_match, operator, name in features)
        return is_match

    def __str__(self) -> str:
        pairs = zip(self.operators, self.names[1:], strict=True)
        text = self.names[0] + "".join(f"{operator}{name}" for operator, name in pairs)
        return f"({text})" if self.operators else text


def _combined(left_value: bool, operator: str, right_value: bool) -> bool:
    return left_value and right_value if operator == "&" else left_value or right_value


@dataclass(frozen=True)
class Constraint:
    """What a job asks for with ``--constraint``."""

    #: The constraint as the user typed it.
    text: str
    #: The groups from left to right.
    groups: tuple[Group, ...]
    #: Number of nodes behind a pair of brackets, as in ``[a|b]*2``; 0: none.
    count_of_brackets: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """All features that it names, in their order."""
        return tuple(dict.fromkeys(name for group in self.groups for name in group.names))

    @cached_property
    def counted(self) -> tuple[Group, ...]:
        """Groups of which so many nodes are wanted."""
        return tuple(group for group in self.groups if group.count)

    @property
    def counts_nodes(self) -> bool:
        """Whether it says how many nodes have a feature, which simulators do not follow."""
        return bool(self.counted or self.count_of_brackets)

    @cached_property
    def bracketed(self) -> tuple[Group, ...]:
        """Groups of ``[a|b]`` or ``[a*2&b*1]``."""
        return tuple(group for group in self.groups if group.in_brackets)

    def allows(self, features: frozenset[str]) -> bool:
        """Whether the job may have a node with these features at all.

        Of ``[a|b]`` and ``[a*2&b*1]`` the node has a or b; ``a*2`` alone leaves the others open.
        """
        is_allowed = True
        for group in self.groups:
            if not group.in_brackets:
                is_match = bool(group.count) or group.matches(features)
                is_allowed = _combined(is_allowed, group.operator, is_match)
        matching_groups = [group.matches(features) for group in self.bracketed]
        return is_allowed and (not matching_groups or any(matching_groups))


class InvalidConstraint(InvalidInstance):
    """An expression that sbatch refuses."""

    #: Why, without the expression.
    cause: str = ""


@lru_cache(maxsize=4096)
def parse_constraint(text: str) -> Constraint:
    """Read the words of ``--constraint``.

    Raises
    ------
    InvalidConstraint
        What sbatch refuses: unbalanced brackets, an operator without a feature, more than one pair
        of brackets, ``[a&b]`` without counts, ``[a*2|b]`` with one.

    Examples
    --------
    >>> [str(group) for group in parse_constraint("(a|b)&c").groups]
    ['(a|b)', 'c']
    >>> parse_constraint("a|b&c").allows(frozenset("a"))  # from left to right
    False
    """
    reader = _Reader(text)
    for token in _tokens_of(text):
        reader.read(token)
    groups = reader.finish()
    bracketed_groups = [group for group in groups if group.in_brackets]
    if len(bracketed_groups) > 1:
        is_choice = bracketed_groups[1].operator == "|"
        if any(group.operator != bracketed_groups[1].operator for group in bracketed_groups[1:]):
            raise _refused(text, "& and | in one pair of brackets")
        if is_choice and any(group.count for group in bracketed_groups):
            raise _refused(text, "a count in [a|b]")
        if not is_choice and not all(group.count for group in bracketed_groups):
            raise _refused(text, "[a&b] without the number of nodes of each")
    return Constraint(text, groups, reader.count_of_brackets)


def _refused(text: str, cause: str) -> InvalidConstraint:
    error = InvalidConstraint(f"constraint {shorten(text)}: {cause}")
    error.cause = cause
    return error


def _tokens_of(text: str) -> list[str]:
    """Return the features, operators, counts and brackets of an expression."""
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != text:
        raise _refused(text, "expected features with & and |, as in a&b, [a|b] or a*2")
    return tokens


class _Reader:
    """Reads one expression token by token, as ``build_feature_list`` does letter by letter."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.count_of_brackets = 0
        self._groups: list[Group] = []
        self._names: list[str] = []
        self._operators: list[str] = []
        self._count = 0
        self._operator = "&"  # before the group that is being read
        self._in_parentheses = self._in_brackets = self._had_brackets = False
        self._may_name = True  # a feature may follow, else an operator or the end of a pair

    def read(self, token: str) -> None:
        """The next token."""
        if token in ("&", "|", ","):
            self._read_operator("|" if token == "|" else "&")
        elif token[0] == "*":
            self._read_count(int(token[1:]))
        elif token in "[](":
            self._read_pair(token)
        elif token == ")":
            if not self._in_parentheses or self._may_name:
                raise _refused(self._text, "unbalanced parentheses")
            self._in_parentheses = False
        else:
            if not self._may_name:
                raise _refused(self._text, f"expected & or | before {token}")
            self._names.append(token)
            self._may_name = False

    def _read_operator(self, operator: str) -> None:
        if self._may_name:
            raise _refused(self._text, f"{operator} without a feature before it")
        self._may_name = True
        if self._in_parentheses:
            self._operators.append(operator)
            return
        self._close_group()
        self._operator = operator

    def _read_count(self, count: int) -> None:
        if self._may_name or self._in_parentheses or self._count or count < 1:
            raise _refused(self._text, "expected *N with N >= 1 after a feature or parentheses")
        self._count = count
        if not self._names:
            # The brackets before it have closed their last group.
            self.count_of_brackets = count

    def _read_pair(self, token: str) -> None:
        if token == "(":
            if self._in_parentheses or self._names or not self._may_name:
                raise _refused(self._text, "unbalanced parentheses")
            self._in_parentheses = True
        elif token == "[":
            if self._had_brackets or self._in_parentheses or not self._may_name:
                raise _refused(self._text, "unbalanced brackets, or more than one pair")
            self._in_brackets = self._had_brackets = True
        else:
            if not self._in_brackets or self._in_parentheses or self._may_name:
                raise _refused(self._text, "unbalanced brackets")
            self._close_group()
            self._in_brackets = False

    def _close_group(self) -> None:
        if self._names:  # else the brackets that end here have closed it
            self._groups.append(
                Group(
                    tuple(self._names),
                    tuple(self._operators),
                    self._count,
                    self._in_brackets,
                    self._operator,
                )
            )
        self._names, self._operators, self._count = [], [], 0

    def finish(self) -> tuple[Group, ...]:
        """All groups, where the expression is complete."""
        if self._in_parentheses or self._in_brackets:
            raise _refused(self._text, "unbalanced brackets or parentheses")
        self._close_group()
        if not self._groups:
            raise _refused(self._text, "expected a feature")
        bracketed = [place for place, group in enumerate(self._groups) if group.in_brackets]
        if len(bracketed) == 1:
            # Slurm marks the operators in brackets, and [a] has none: it means a.
            place = bracketed[0]
            self._groups[place] = replace(self._groups[place], in_brackets=False)
        return tuple(self._groups)  # Slurm ignores an operator at the end


@dataclass(frozen=True, eq=False)
class ConstraintNodes:
    """Which nodes of a machine a constraint allows, a value for each type of nodes."""

    #: Whether the job may have nodes of the type.
    allowed: np.ndarray
    #: Of ``[a|b]``: whether nodes of the type are of the one, of the other; else empty.
    alternatives: tuple[np.ndarray, ...]
    #: Why no nodes can satisfy it; empty: some can.
    reason: str
    #: It counts nodes of a feature or of brackets, which simulators do not follow.
    has_counts: bool


def constraint_nodes(text: str, node_types: Sequence[NodeType]) -> ConstraintNodes:
    """Which types of nodes a constraint allows, and why none where none can satisfy it."""
    return _nodes_of_types(text.strip(), tuple(node_types))


@lru_cache(maxsize=4096)
def _nodes_of_types(text: str, node_types: tuple[NodeType, ...]) -> ConstraintNodes:
    nothing = np.zeros(len(node_types), dtype=bool)
    if not text:
        return ConstraintNodes(~nothing, (), "", False)
    try:
        constraint = parse_constraint(text)
    except InvalidConstraint as error:
        return ConstraintNodes(nothing, (), f"Slurm does not take it: {error.cause}", False)
    features = [frozenset(kind.features) for kind in node_types]
    known_names = frozenset().union(*features)
    counts = np.array([kind.count for kind in node_types])
    allowed = np.array([constraint.allows(own_features) for own_features in features])
    alternatives: tuple[np.ndarray, ...] = ()
    if constraint.bracketed and not constraint.bracketed[0].count:
        matches = (
            np.array([group.matches(own_features) for own_features in features])
            for group in constraint.bracketed
        )
        alternatives = tuple(match & allowed for match in matches)
    unknown_names = [name for name in constraint.names if name not in known_names]
    if unknown_names:
        reason = f"no node has the feature {' or '.join(map(shorten, unknown_names))}"
    elif not allowed.any():
        reason = f"no node has {shorten(text)}"
    else:
        reason = _too_few(constraint, features, counts)
    return ConstraintNodes(allowed, alternatives, reason, constraint.counts_nodes)


def _too_few(constraint: Constraint, features: list[frozenset[str]], counts: np.ndarray) -> str:
    """Return why there are not as many nodes as a constraint counts; empty: there are.

    In brackets each node is counted once: whatever counts are taken together, the nodes of their
    features have to be as many (Hall 1935).
    """
    groups = constraint.counted[:_MAX_COUNTED_GROUPS]
    matches = [
        np.array([group.matches(own_features) for own_features in features]) for group in groups
    ]
    sizes = range(1, len(groups) + 1) if constraint.bracketed else (1,)
    for size in sizes:
        for chosen in combinations(range(len(groups)), size):
            nodes = int(counts[np.logical_or.reduce([matches[k] for k in chosen])].sum())
            node_count = sum(groups[k].count for k in chosen)
            if node_count > nodes:
                names = " or ".join(str(groups[k]) for k in chosen)
                return f"{nodes} nodes have {names}, and it asks for {node_count}"
    return ""


def constraint_notes(texts: Iterable[str], node_types: Sequence[NodeType] | None) -> list[Note]:
    """What simulators follow otherwise in the constraints of jobs, each with the number of jobs;
    without types of nodes, none of them."""
    counts = Counter(text for text in map(str, texts) if text not in ("", "nan"))
    if node_types is None:
        if not counts:
            return []
        jobs = count_of(counts.total(), "job")
        statement = f"constraints of {jobs}: no machine says which nodes have their features"
        return [not_followed(statement, subject="constraints", count=counts.total())]
    notes = []
    for text, number in counts.items():
        nodes = constraint_nodes(text, node_types)
        jobs = count_of(number, "job")
        if nodes.reason:
            continue  # such a job starts on no policy
        if nodes.has_counts:
            statement = (
                f"the number of nodes of each feature in constraint {shorten(text)} of {jobs}: "
                "they take nodes that the constraint allows"
            )
            notes.append(not_followed(statement, subject=f"constraint {text}", count=number))
        elif len(nodes.alternatives) > 1:
            sentence = (
                f"assumed: constraint {shorten(text)} of {jobs}: batch policies give jobs on "
                "several nodes the alternative with the most cores, slurm-backfill any"
            )
            notes.append(
                Note(NoteKind.ASSUMED, sentence, subject=f"constraint {text}", count=number)
            )
    return notes
