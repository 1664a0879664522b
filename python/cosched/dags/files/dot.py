"""The DOT language of Graphviz, in one pass: time and memory grow with the text, no faster.

Read are nodes, arcs, their attributes and the defaults of those; strings are joined and unquoted,
ports, compass points and attributes of graphs are passed over. Graphviz's own words:
https://graphviz.org/doc/info/lang.html.
"""

import re
from collections import ChainMap
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from itertools import count, pairwise

from cosched import io
from cosched.errors import InvalidInstance, shorten

#: Graphviz has no dots in bare names; other writers do.
_TOKEN = re.compile(
    r"""(?P<skip>[\s\ufeff]+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
      | (?P<mark>->|--|[][{};,=:+])
      | (?P<quoted>"[^"\\]*(?:\\.[^"\\]*)*")
      | (?P<word>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)|[\w.\u0080-\U0010ffff]+)
      | (?P<html><)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_LONG_WORD = re.compile(r"[\w.\u0080-\U0010ffff]+")
_ANGLE = re.compile("[<>]")
_KEYWORDS = {"node", "edge", "graph", "digraph", "subgraph", "strict"}


class DotTokens:
    """Tokens of a text one by one; `kind` and `value` are of the one that comes next."""

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path
        self.place = self._next = 0
        self._line, self._line_at = 1, 0
        self.kind = self.value = ""
        self.advance()

    def advance(self) -> None:
        html_match = None
        while self._next < len(self.text):
            html_match = _TOKEN.match(self.text, self._next)
            if html_match is None or html_match.lastgroup != "skip":
                break
            self._next = html_match.end()
        self.place = self._next
        if self._next >= len(self.text):
            self.kind, self.value = "end", "the end of the file"
            return
        if html_match is None:
            self.kind, self.value = "", self.text[self.place : self.place + 12]
            raise self.error("a name, or an end of the text or comment")
        self.kind, self.value = str(html_match.lastgroup), html_match[0]
        self._next = html_match.end()
        if self.kind == "word" and (longer := _LONG_WORD.match(self.text, html_match.end())):
            self.value += longer[0]  # 1e5, 2nd: not of Graphviz, but clear
            self._next = longer.end()
        elif self.kind == "html":
            self._next = self._end_of_html()
            self.value = self.text[self.place : self._next]

    def _end_of_html(self) -> int:
        depth = 0
        for bracket in _ANGLE.finditer(self.text, self.place):
            depth += 1 if bracket[0] == "<" else -1
            if depth == 0:
                return bracket.end()
        raise self.error("a > for each <")

    def take(self, mark: str) -> bool:
        """Pass over a mark if it comes next."""
        if not self.is_mark(mark):
            return False
        self.advance()
        return True

    def line(self) -> int:
        """Of the token that comes next, from 1."""
        self._line += self.text.count("\n", self._line_at, self.place)
        self._line_at = self.place
        return self._line

    def is_mark(self, mark: str) -> bool:
        return self.kind == "mark" and self.value == mark

    def keyword(self) -> str:
        """The keyword that comes next, in lower case; "" where it is none."""
        word = self.value.lower() if self.kind == "word" else ""
        return word if word in _KEYWORDS else ""

    def is_name(self) -> bool:
        return self.kind in ("word", "quoted", "html") and not self.keyword()

    def name(self, expected: str) -> str:
        """The name, number or text that comes next, unquoted."""
        if self.kind != "quoted":
            if self.kind not in ("word", "html"):
                raise self.error(expected)
            value = self.value
            self.advance()
            return value
        parts = []
        while self.kind == "quoted":
            parts.append(self.value[1:-1].replace("\\\n", "").replace('\\"', '"'))
            self.advance()
            if not self.take("+"):
                break
        return "".join(parts)

    def column(self) -> int:
        """Of the token that comes next, from 1."""
        return self.place - self.text.rfind("\n", 0, self.place)

    def error(self, expected: str) -> InvalidInstance:
        what = self.value if self.kind == "end" else shorten(self.value)
        where = f"{self.path}: line {self.line()}, column {self.column()}"
        return InvalidInstance(f"{where}: not DOT: {what}: expected {expected}")


Attributes = MutableMapping[str, str]

#: Defaults that hold at one place: each new one copies those before it.
_MOST_DEFAULTS = 200
#: `{a b c} -> {d e f}` makes nine arcs: no more than this, or than the text has characters.
_MOST_ARCS = 1_000_000


@dataclass
class Dot:
    """A graph as it is written: nodes in the order of their first mention.

    ``lines`` says where a node was described, or else first mentioned; an arc has its line last.
    """

    #: Whether the file says ``digraph``.
    directed: bool
    #: Attributes of each node, by its name.
    nodes: dict[str, Attributes] = field(default_factory=dict)
    #: The line that describes a node or mentions it first, by the node's name.
    lines: dict[str, int] = field(default_factory=dict)
    #: Source, target, attributes and line of each arc.
    arcs: list[tuple[str, str, Attributes, int]] = field(default_factory=list)


def parse_dot(text: str, path: str) -> Dot:
    """The graph of a text.

    Raises
    ------
    InvalidInstance
        No graph, or a second one behind it: which of them is meant no file says.

    Examples
    --------
    >>> found = parse_dot('digraph { node [time=3]; a -> {b "c d"} [data=7] }', "a.dot")
    >>> list(found.nodes), found.nodes["b"]["time"]
    (['a', 'b', 'c d'], '3')
    >>> [(before, after, dict(said)) for before, after, said, line in found.arcs]
    [('a', 'b', {'data': '7'}), ('a', 'c d', {'data': '7'})]
    """
    return _Parser(text, path).graph()


class _Group:
    """Nodes in braces: those mentioned there, and the groups inside."""

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.parts: list[_Group] = []


class _Scope:
    """An open brace: its group, defaults, and the statement that is being read."""

    def __init__(self, group: _Group, defaults: dict[str, dict[str, str]]) -> None:
        self.group = group
        self.defaults = dict(defaults)  # of nodes and arcs; each is replaced, never changed
        #: Ends of the statement's arcs so far, and whether one more must follow.
        self.ends: list[str | _Group] = []
        self.open = False


class _Parser:
    def __init__(self, text: str, path: str) -> None:
        self.tokens = DotTokens(text, path)
        self.budget = max(_MOST_ARCS, len(text))
        self.named: dict[str, _Group] = {}
        self.scopes: list[_Scope] = []

    def graph(self) -> Dot:
        tokens = self.tokens
        if tokens.keyword() == "strict":
            tokens.advance()
        if tokens.keyword() not in ("graph", "digraph"):
            raise tokens.error("digraph")
        self.dot = Dot(directed=tokens.keyword() == "digraph")
        tokens.advance()
        if tokens.is_name():
            tokens.name("a name")
        if not tokens.take("{"):
            raise tokens.error("{")
        self.scopes = [_Scope(_Group(), {"node": {}, "edge": {}})]
        steps = io.polled(count())
        while self.scopes:  # not a function that calls itself: braces may be nested deeply
            next(steps)
            self._step(self.scopes[-1])
        self._require_end()
        return self.dot

    def _require_end(self) -> None:
        """Check that nothing follows the graph; semicolons are passed over."""
        tokens = self.tokens
        while tokens.take(";"):
            pass
        if tokens.keyword() in ("strict", "graph", "digraph"):
            line, column = tokens.line(), tokens.column()
            raise InvalidInstance(
                f"{tokens.path}: line {line}, column {column}: a second graph: expected one graph "
                "a file (one file for each, or subgraphs of one graph)"
            )
        if tokens.kind != "end":
            raise tokens.error("the end of the file")

    def _step(self, scope: _Scope) -> None:
        """Read the next piece: an end of an arc, a brace, or a statement of another kind."""
        tokens = self.tokens
        keyword = tokens.keyword()
        if keyword == "subgraph" or tokens.is_mark("{"):
            self._open(scope)
        elif tokens.is_name():
            self._name(scope)
        elif scope.open:
            raise tokens.error("the node at the end of the arc")
        elif keyword in ("node", "edge", "graph"):
            self._defaults(scope, keyword)
        elif tokens.take("}"):
            self.scopes.pop()
            if self.scopes:
                self._end(self.scopes[-1], scope.group)
        elif not (tokens.take(";") or tokens.take(",")):
            raise tokens.error("a statement, or }")

    def _open(self, scope: _Scope) -> None:
        tokens, group = self.tokens, _Group()
        if tokens.keyword() == "subgraph":
            tokens.advance()
            if tokens.is_name():  # the same name is the same group
                group = self.named.setdefault(tokens.name("a name"), group)
        scope.group.parts.append(group)
        if tokens.take("{"):
            self.scopes.append(_Scope(group, scope.defaults))
        else:  # `subgraph a -> b`
            self._end(scope, group)

    def _name(self, scope: _Scope) -> None:
        tokens = self.tokens
        line = tokens.line()
        name = tokens.name("a name")
        if not scope.ends and tokens.take("="):  # of the graph
            tokens.name("a value")
            return
        while tokens.take(":"):
            tokens.name("a port")
        if name not in self.dot.nodes:
            self.dot.nodes[name] = ChainMap({}, scope.defaults["node"])
            self.dot.lines[name] = line
        scope.group.nodes.append(name)
        self._end(scope, name)

    def _end(self, scope: _Scope, end: str | _Group) -> None:
        """Read an end of an arc, or a node by itself; the last one ends the statement."""
        tokens = self.tokens
        scope.ends.append(end)
        scope.open = tokens.is_mark("->") or tokens.is_mark("--")
        if scope.open:
            arrow = "->" if self.dot.directed else "--"
            if not tokens.take(arrow):
                raise tokens.error(arrow)
            return
        edge_ends, scope.ends = scope.ends, []
        line = tokens.line()
        attributes = self._attributes()
        if len(edge_ends) == 1:
            if attributes and isinstance(end, str):
                self.dot.nodes[end].update(attributes)
                self.dot.lines[end] = line
            return
        of_arc = ChainMap(attributes, scope.defaults["edge"])
        names = [self._names(edge_end) for edge_end in edge_ends]
        for before, after in pairwise(names):
            if len(before) > 1 or len(after) > 1:
                self._spend(len(before) * len(after))
            self.dot.arcs += [(source, other, of_arc, line) for source in before for other in after]

    def _names(self, end: str | _Group) -> list[str]:
        """Return the nodes at one end of an arc."""
        if isinstance(end, str):
            return [end]
        names: dict[str, None] = {}
        seen_ids, waiting = {id(end)}, [end]
        while waiting:
            group = waiting.pop()
            self._spend(1 + len(group.nodes))
            names.update(dict.fromkeys(group.nodes))
            parts = [part for part in group.parts if id(part) not in seen_ids]
            seen_ids.update(map(id, parts))
            waiting += parts
        return list(names)

    def _spend(self, work: int) -> None:
        self.budget -= work
        if self.budget < 0:
            raise self.tokens.error(f"at most {_MOST_ARCS:,} arcs between groups of nodes")

    def _defaults(self, scope: _Scope, keyword: str) -> None:
        self.tokens.advance()
        if not self.tokens.is_mark("["):
            raise self.tokens.error("[")
        attributes = self._attributes()
        if keyword != "graph":
            scope.defaults[keyword] = {**scope.defaults[keyword], **attributes}
            if len(scope.defaults[keyword]) > _MOST_DEFAULTS:
                raise self.tokens.error(f"at most {_MOST_DEFAULTS} attributes in 'node [...]'")

    def _attributes(self) -> dict[str, str]:
        """Return what stands in brackets, if any come next."""
        tokens = self.tokens
        attributes: dict[str, str] = {}
        while tokens.take("["):
            while not tokens.take("]"):
                if tokens.take(",") or tokens.take(";"):
                    continue
                key = tokens.name("an attribute, or ]")
                attributes[key] = tokens.name("a value") if tokens.take("=") else "true"
        return attributes
