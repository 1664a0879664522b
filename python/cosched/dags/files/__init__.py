"""Files of task graphs, one module a format; :func:`read_graph` tells them apart."""

from cosched.dags.files.parsed import Graph as Graph, Run as Run, run_of as run_of
from cosched.dags.files.reading import FORMATS, read_graph as read_graph
