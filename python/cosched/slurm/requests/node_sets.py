"""Sets of nodes that jobs may have: by features, memory and host names, numbered for the core."""

from typing import TypedDict

import numpy as np

from cosched.cluster.machine import Machine
from cosched.cluster.machine.constraints import constraint_nodes, parse_constraint
from cosched.cluster.machine.node_types import Spans, hosts, spans_of
from cosched.cluster.machine.parts import node_attribute
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.conf.settings import SlurmSettings


class NodeSet(TypedDict, total=False):
    """The nodes that a job may have, as fields of the core's job; empty: all nodes."""

    #: Number of the set of all these nodes.
    node_set: int
    #: Numbers of the sets of ``[a|b]``: all nodes of the job are of one of them.
    alternative_sets: list[int]


class NodeSetTable:
    """Numbers the sets of nodes of one machine to which jobs refer; equal sets have one number.

    Parameters
    ----------
    machine : Machine
        Its slurm.conf names the hosts.
    """

    def __init__(self, machine: Machine) -> None:
        settings = machine.slurm or SlurmSettings()
        #: The sets of nodes by number, each as ranges.
        self.sets: list[Spans] = []
        self._number_of_set: dict[Spans, int] = {}
        self._node_numbers = {name: number for number, name in enumerate(settings.names)}
        self._node_types = machine.nodes
        self._type_counts = [kind.count for kind in machine.nodes]
        self._memory_of_nodes = np.array(megabytes_of_nodes(machine), dtype=np.int64)
        #: By constraint and memory.
        self._node_set_by_request: dict[tuple[str, int], NodeSet] = {}

    def node_ranges(self, text: str, place: str) -> Spans:
        """Return the numbers of hosts (``n[1-4]``, or ``ALL``) as ranges.

        Raises
        ------
        InvalidInstance
            No such host; the message begins with `place`.
        """
        if text.upper() == "ALL":
            return self._all_nodes
        try:
            return spans_of(self._node_numbers[name] for name in hosts(text, place))
        except KeyError as error:
            raise InvalidInstance(f"{place}: no node {error}") from None

    @property
    def _all_nodes(self) -> Spans:
        return ((0, len(self._node_numbers)),)

    def node_set_for(self, text: str, min_memory: int) -> NodeSet:
        """Return the nodes that a job may ever have.

        Parameters
        ----------
        text : str
            Constraint in the words of sbatch; empty: none.
        min_memory : int
            Memory that it asks of each node, or of each core (MB).

        Returns
        -------
        NodeSet
            A set without nodes where nothing can satisfy the constraint.

        Raises
        ------
        InvalidInstance
            A constraint that Slurm does not take, or that counts nodes (``a*2``), which is not
            followed.
        """
        text = text.strip()
        if text and parse_constraint(text).counts_nodes:
            raise InvalidInstance(
                f"constraint {shorten(text)}: the number of nodes of a feature is not followed"
            )
        return self.allowed_node_set(text, min_memory)

    def allowed_node_set(self, text: str, min_memory: int) -> NodeSet:
        """Return the nodes that a job may ever have, as :meth:`node_set_for`.

        For a constraint that counts nodes, all nodes that the job may have.
        """
        if not text and min_memory <= self._memory_of_nodes.min():
            return {}
        if (text, min_memory) not in self._node_set_by_request:
            self._node_set_by_request[text, min_memory] = self._find_node_set(text, min_memory)
        return self._node_set_by_request[text, min_memory].copy()

    def _find_node_set(self, text: str, min_memory: int) -> NodeSet:
        """Return the nodes that have these features and this memory (MB)."""
        nodes = constraint_nodes(text, self._node_types)

        def numbered(of_types: np.ndarray) -> int:
            has_types = np.repeat(of_types & (not nodes.reason), self._type_counts)
            return self._number_set(
                spans_of(np.flatnonzero(has_types & (self._memory_of_nodes >= min_memory)))
            )

        node_set: NodeSet = {"node_set": numbered(nodes.allowed)}
        if nodes.alternatives:
            node_set["alternative_sets"] = [numbered(of_types) for of_types in nodes.alternatives]
        return node_set

    def is_empty_node_set(self, node_set: NodeSet) -> bool:
        """Whether a job may have no node at all."""
        return "node_set" in node_set and not self.sets[node_set["node_set"]]

    def _number_set(self, spans: Spans) -> int:
        """Return the number of a set of nodes; a new set gets the next one."""
        if spans not in self._number_of_set:
            self._number_of_set[spans] = len(self.sets)
            self.sets.append(spans)
        return self._number_of_set[spans]

    def restrict_to_hosts(self, node_set: NodeSet, text: str, *, within: bool) -> NodeSet:
        """Return a node set of these hosts only (`within`), or of all others."""
        spans = self.node_ranges(text, "nodelist" if within else "exclude")
        nodes = {k for first, last in spans for k in range(first, last)}
        return self.restrict_to_nodes(node_set, nodes, within=within)

    def restrict_to_nodes(self, node_set: NodeSet, nodes: set[int], *, within: bool) -> NodeSet:
        """Return a node set of these nodes only (`within`), or of all others."""

        def restrict_set(spans: Spans) -> int:
            inside = (k for first, last in spans for k in range(first, last))
            return self._number_set(spans_of(k for k in inside if (k in nodes) == within))

        spans = self.sets[node_set["node_set"]] if "node_set" in node_set else self._all_nodes
        restricted: NodeSet = {"node_set": restrict_set(spans)}
        if "alternative_sets" in node_set:
            restricted["alternative_sets"] = [
                restrict_set(self.sets[k]) for k in node_set["alternative_sets"]
            ]
        return restricted


def megabytes_of_nodes(machine: Machine) -> list[int]:
    """Return the memory of each node in MB, as Slurm counts it."""
    megabytes = np.rint(node_attribute(machine, "memory_gb") * 1024).astype(int)
    return [int(memory) for memory in megabytes]


def gpu_types_of(machine: Machine) -> list[str]:
    """Return the names of all GPU types; an unnamed one is the empty text."""
    return list(dict.fromkeys(kind.gpu_type for kind in machine.nodes if kind.gpus))
