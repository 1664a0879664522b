"""The studies of Li et al. 2016, and what they are made of for one's own instances."""

from cosched.experiments.bags.studies import GAMMAS, STUDIES, advantage, gamma_sweep
