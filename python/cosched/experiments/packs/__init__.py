"""The studies of Aupy et al. 2013, and what they are made of for one's own instances."""

from cosched.experiments.packs.draws import pack_quality
from cosched.experiments.packs.studies import HEURISTICS, STUDIES, quality
