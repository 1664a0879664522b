"""Files of task graphs, one module a format; :func:`read_graph` tells them apart."""

from cosched.dags.files.parsed import Graph
from cosched.dags.files.reading import FORMATS, read_graph
from cosched.dags.files.run import Run, run_of
