"""The studies of Amaris et al. 2017, and what they are made of for one's own instances."""

from cosched.experiments.dags.studies import STUDIES
