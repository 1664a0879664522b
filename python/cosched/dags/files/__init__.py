"""Files of task graphs, one module a format; :func:`read_graph` tells them apart."""

from cosched.dags.files.parsed import Graph, Run, run_of
from cosched.dags.files.reading import FORMATS, read_graph
