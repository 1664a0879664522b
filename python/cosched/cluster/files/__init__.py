"""Files of the cluster family: logs in Standard Workload Format, their archive, CSV and JSON."""

from cosched.cluster.files.batch_systems.accounting_jobs import read_batch_log
from cosched.cluster.files.batch_systems.recognition import LogFormat, recognize_log
from cosched.cluster.files.conventions import (
    WEEK,
    apply_wait_origin,
    dfrs_jobs,
    rigid_jobs,
    week_of,
)
from cosched.cluster.files.default_accounts import with_default_accounts
from cosched.cluster.files.facts import (
    DROPS,
    FACTS,
    MEASURES,
    NOT_ENDED,
    described,
    dropped,
    note_of_dropped,
    whole_numbers_as_text,
)
from cosched.cluster.files.job_files import (
    COLUMNS,
    LogTable,
    json_columns,
    read_csv,
    read_jobs,
    read_json,
)
from cosched.cluster.files.log_options import JobFileOptions, LogOptions, PartOfLog
from cosched.cluster.files.sacct import read_sacct
from cosched.cluster.files.swf import LOGS, SwfReport, fetch, read_swf
from cosched.cluster.files.swf_writer import swf_log, without_names
from cosched.cluster.files.unmet_constraints import without_unmet_constraints
