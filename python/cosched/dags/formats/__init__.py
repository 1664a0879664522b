"""File formats of task graphs, one module a kind; :mod:`cosched.dags.graphs` is the way in."""
