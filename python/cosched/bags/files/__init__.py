"""Files of bags: folders of CSV matrices, openbenchmarking tables, JSON. See ``Instance.read``."""

from cosched.bags.files.reading import read as read, write as write
