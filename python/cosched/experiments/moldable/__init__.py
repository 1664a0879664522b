"""The studies of Dutot et al. 2004, and what they are made of for one's own instances."""

from cosched.experiments.moldable.studies import ALGORITHMS, FIGURES, STUDIES, ratios, with_bounds
