"""Files of the cluster family: logs in Standard Workload Format, their archive, CSV and JSON."""

from cosched.cluster.files.archive import LOGS, fetch
from cosched.cluster.files.conventions import WEEK, dfrs_jobs, rigid_jobs, week_of
from cosched.cluster.files.eligible import counted_from
from cosched.cluster.files.facts import DROPS, FACTS, MEASURES, described, dropped, whole
from cosched.cluster.files.jobs import Given, read_jobs
from cosched.cluster.files.logs import Log, read_log
from cosched.cluster.files.sacct import read_sacct
from cosched.cluster.files.swf import SwfReport, read_swf
from cosched.cluster.files.tables import COLUMNS, read_csv, read_json
