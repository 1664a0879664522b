"""Files of other programs are recognised by content, and refused by their names."""

import gzip
import json
from pathlib import Path

import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import InvalidInstance
from cosched.io.foreign_formats import FOREIGN_FORMATS, foreign_format, foreign_json

ROOT = Path(__file__).parents[3]
CONF = "NodeName=n[1-4] CPUs=16 RealMemory=64000\nPartitionName=main Nodes=ALL Default=YES\n"

PBS = (
    "06/27/2025 00:01:10;Q;1001.pbs;queue=workq\n"
    "06/27/2025 01:01:15;E;1001.pbs;user=vic queue=workq start=1750978875 end=1750982475\n"
)
QSTAT_F = "Job Id: 1001.pbs\n    Job_Name = run\n    job_state = R\n"
QSTAT = (
    "Job id            Name             User              Time Use S Queue\n"
    "----------------  ---------------- ----------------  -------- - -----\n"
    "1001.pbs          run              vic               00:10:00 R workq\n"
)
SGE = (
    "# Version: 8.1.9\n"
    "long:n0006:grp:vgl:run1:579398:sge:0:1490010000:1490016710:1490016904:0:0:194:0.02:0.01:3808.0"
    ":0:0:0:0:5000:0:0:0.0:0:0:0:0:100:20:NONE:defaultdepartment:mpi:16:0:2900.0:12.0:0.1:-u vgl"
    ":0.0:NONE:1.2e9:0:0\n"
)
QACCT = "=" * 62 + "\nqname        long\nhostname     n6\nowner        vgl\njobnumber    579398\n"
SGE_QSTAT = "job-ID  prior   name       user         state submit/start at     queue\n" + "-" * 70
BJOBS = (
    "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n"
    "475819  xxxx    RUN   allcpus    head        2*node-rs01 *PP_R002_2 Feb  9 21:41\n"
)
BHIST = "Job <475819>, Job Name <a>, User <xxxx>, Project <default>, Command <run>\n"
LSB_ACCT = (
    '"JOB_FINISH" "10.1" 1750982475 475819 1000 33816578 1 1750978870 0 0 1750978875 "xxxx"\n'
)
FLUX = (
    "       JOBID USER     NAME       ST NTASKS NNODES     TIME INFO\n  f2Pz vic  run  CD 8 1 1m\n"
)
CONDOR = "000 (123.000.000) 2025-06-27 00:01:10 Job submitted from host: <10.0.0.1:9618>\n...\n"
CONDOR_HISTORY = (
    " ID     OWNER          SUBMITTED   RUN_TIME     ST COMPLETED   CMD            \n"
    " 123.0   vic             6/27 00:01   0+01:00:00 C   6/27 01:01 run.sh\n"
)
CONDOR_QUEUE = (
    "\n\n-- Schedd: head.example.org : <10.0.0.1:9618?... @ 06/27/25 00:01:10\n"
    "OWNER BATCH_NAME      SUBMITTED   DONE   RUN    IDLE  TOTAL JOB_IDS\n"
    "vic   ID: 123        6/27 00:01      _      1      _      1 123.0\n"
)
CONDOR_JOBS = (
    " ID      OWNER            SUBMITTED     RUN_TIME ST PRI SIZE CMD\n"
    " 123.0   vic             6/27 00:01   0+00:10:00 R  0    0.1 run.sh\n"
)
CLASSADS = (
    '*** Offset = 0 ClusterId = 123 ProcId = 0 Owner = "vic" CompletionDate = 1750982475\n'
    'ClusterId = 123\nProcId = 0\nOwner = "vic"\nJobStatus = 4\nRequestCpus = 4\n'
)
CLASSADS_XML = (
    '<?xml version="1.0"?>\n<!DOCTYPE classads SYSTEM "classads.dtd">\n<classads>\n<c>\n'
    '<a n="ClusterId"><i>123</i></a>\n</c>\n</classads>\n'
)
BACCT = (
    "\nAccounting information about jobs that are: \n  - submitted by users xxxx, \n"
    "  - completed normally or exited\n" + "-" * 60 + "\n"
)  # fmt: skip
SQUEUE = (
    "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
    "                 7      main        x      vic PD       0:00      1 (Priority)\n"
)
NEXTFLOW = (
    "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t%cpu\tpeak_rss\n"
    "1\tab/12\t901\tFASTQC (s1)\tCOMPLETED\t0\t2024-12-05 09:08:23.000\t1m 30s\t1m 2s\t180%\t5 MB\n"
)
DAX = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!-- generated: 2008 -->\n'
    '<adag xmlns="http://pegasus.isi.edu/schema/DAX" name="Montage" jobCount="25">\n'
    '  <job id="ID00000" name="mProjectPP" runtime="13.59"/>\n</adag>\n'
)
PEGASUS = "x-pegasus:\n  createdBy: vic\npegasus: '5.0'\nname: diamond\njobs:\n- type: job\n"
DAGMAN = '# diamond\nJOB A a.sub\nJOB B b.sub\nVARS A name="x"\nPARENT A CHILD B\nRETRY B 3\n'
FIXED = (
    "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n"
    "------------ ---------- ---------- ---------- ---------- ---------- -------- \n"
    "15715316_97+    mcorrex       main        lab          2  COMPLETED      0:0 \n"
)
PSPLIB = (
    "*" * 72 + "\nfile with basedata            : j30_17.bas\ninitial value random generator: 281\n"
    + "*" * 72 + "\nprojects                      :  1\njobs (incl. supersource/sink ):  32\n"
)  # fmt: skip
GML = 'graph [\n  directed 1\n  node [ id 0 label "a" ]\n]\n'
SACCT_JSON = {
    "jobs": [{"job_id": 7, "name": "x", "time": {"submission": 1, "elapsed": 2}}], "errors": []
}  # fmt: skip
FLUX_JSON = {"jobs": [{"id": "f2Pz", "t_submit": 1, "t_run": 2, "nnodes": 1, "ncores": 8}]}
SQUEUE_JSON = {"jobs": [{"job_id": 7, "submit_time": 1, "job_state": "PENDING"}]}
LSF_JSON = {"COMMAND": "bjobs", "JOBS": 1, "RECORDS": [{"JOBID": "475819"}]}
PBS_JSON = {"timestamp": 1, "pbs_version": "20.0", "Jobs": {"1001.pbs": {}}}
EMPTY_SACCT_JSON = {"meta": {"Slurm": {"version": {}}}, "jobs": []}

PBSNODES = "n1\n     Mom = n1\n     ntype = PBS\n     state = free\n"
QHOST = "HOSTNAME                ARCH         NCPU NSOC NCOR NTHR  LOAD  MEMTOT  MEMUSE\n"
BHOSTS = "HOST_NAME          STATUS          JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV \n"

HISTORY = (
    "2024-12-05 09:08:20\t28h\tgoofy_kilby\tOK\tca20a6\td0a60572-076e-451a-b10e-16059ed77e36\t"
    "nextflow run rnaseq\n"
)
BENCHMARK = "s\th:m:s\tmax_rss\n3.2\t0:00:03\t5.00\n"
EFFICIENCY = ",JobID,JobName,Elapsed,TotalCPU,NNodes,NCPUS,MaxRSS,ReqMem,CPU Efficiency (%)\n"
JOBLOG = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"
HYPERFINE = {"results": [{"command": "./f", "mean": 1.0, "user": 1.0, "system": 0.0}]}

TEXTS = {
    "what pbsnodes of PBS printed": PBSNODES,
    "what qhost of Grid Engine (SGE) printed": QHOST,
    "what bhosts or lshosts of LSF printed": BHOSTS,
    "a PBS accounting log": PBS,
    "what qstat -f of PBS printed": QSTAT_F,
    "what qstat of PBS printed": QSTAT,
    "an accounting file of Grid Engine (SGE)": SGE,
    "what qacct of Grid Engine (SGE) printed": QACCT,
    "what qstat of Grid Engine (SGE) printed": SGE_QSTAT,
    "what bjobs of LSF printed": BJOBS,
    "what bjobs -l or bhist of LSF printed": BHIST,
    "an accounting or event file of LSF (lsb.acct, lsb.events)": LSB_ACCT,
    "what flux jobs printed": FLUX,
    "an event log of HTCondor": CONDOR,
    "what condor_history or condor_q of HTCondor printed": CONDOR_HISTORY,
    "ClassAds of HTCondor (condor_history -l, or its history file)": CLASSADS,
    "ClassAds of HTCondor (condor_history -xml)": CLASSADS_XML,
    "what bacct of LSF printed": BACCT,
    "what squeue printed as a table": SQUEUE,
    "what sacct printed in columns of fixed width": FIXED,
    "a trace of Nextflow": NEXTFLOW,
    "a history of Nextflow": HISTORY,
    "a benchmark file of Snakemake": BENCHMARK,
    "an efficiency report of Snakemake's Slurm plugin": EFFICIENCY,
    "a job log of GNU parallel": JOBLOG,
    "a workflow of Pegasus (DAX)": DAX,
    "a workflow of Pegasus (YAML)": PEGASUS,
    "a workflow of HTCondor's DAGMan": DAGMAN,
    "a graph in GML": GML,
    "a project of PSPLIB": PSPLIB,
}
VALUES = {
    "hyperfine --export-json": HYPERFINE,
    "Flux's description of resources (R)": {"version": 1, "execution": {"R_lite": []}},
    "what qstat -F json of PBS printed": PBS_JSON,
    "what bjobs -json of LSF printed": LSF_JSON,
    "what flux jobs --json printed": FLUX_JSON,
    "what condor_history or condor_q of HTCondor printed": [{"ClusterId": 3, "ProcId": 0}],
    "what sacct --json printed": SACCT_JSON,
    "what squeue --json printed": SQUEUE_JSON,
    "JSON that a command of Slurm printed": EMPTY_SACCT_JSON,
}


def test_each_format_has_an_example():
    assert {format_row.name for format_row in FOREIGN_FORMATS} == TEXTS.keys() | VALUES.keys()


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_text_is_recognised_by_its_first_lines(name):
    format_guess = foreign_format(TEXTS[name])
    assert format_guess is not None
    assert format_guess.name == name
    assert foreign_format(TEXTS[name].replace("\n", "\r\n")) is format_guess


@pytest.mark.parametrize("text", [CONDOR_HISTORY, CONDOR_QUEUE, CONDOR_JOBS])
def test_each_table_of_htcondor_is_recognised(text):
    assert foreign_format(text).name == "what condor_history or condor_q of HTCondor printed"


def test_classads_whose_last_line_is_cut_are_recognised():
    name = "ClassAds of HTCondor (condor_history -l, or its history file)"
    assert foreign_format(CLASSADS[:-4]).name == name
    assert foreign_format('title = "a"\nprocs = 4\n') is None  # TOML


@pytest.mark.parametrize("name", sorted(VALUES))
def test_a_json_value_is_recognised_by_its_keys(name):
    format_guess = foreign_json(VALUES[name])
    assert format_guess is not None
    assert format_guess.name == name


#: Formats that are read as logs of jobs, and refused elsewhere.
RUNS = {row.name for row in FOREIGN_FORMATS if "as measured runs" in row.refusal}
LOGS = {row.name for row in FOREIGN_FORMATS if "as a log of jobs" in row.refusal} | RUNS


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", sorted(set(TEXTS) - LOGS))
def test_as_a_job_log_it_is_refused_whatever_the_file_is_called(tmp_path, name, packed):
    (tmp_path / "slurm.conf").write_text(CONF)
    for file in ("20250627", "log.txt", "log.csv"):
        path = tmp_path / (f"{file}.gz" if packed else file)
        content = TEXTS[name].encode()
        path.write_bytes(gzip.compress(content) if packed else content)
        with pytest.raises(InvalidInstance) as error:
            cs.cluster.Instance.read(path, machine=tmp_path / "slurm.conf")
        assert f"this is {name}, which cosched " in str(error.value)


@pytest.mark.parametrize("file", ["log.json", "log.txt", "log"])
@pytest.mark.parametrize("name", sorted(set(VALUES) - LOGS))
def test_so_is_json_as_a_job_log(tmp_path, name, file):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / file).write_text(json.dumps(VALUES[name]))
    with pytest.raises(InvalidInstance) as error:
        cs.cluster.Instance.read(tmp_path / file, machine=tmp_path / "slurm.conf")
    assert f"this is {name}, which cosched " in str(error.value)


@pytest.mark.parametrize(
    ("read", "arguments"),
    [
        (cs.packs.Instance.read, {"max_tasks": 1}),
        (cs.moldable.Instance.read, {}),
        (cs.dags.Instance.read, {"units": (1, 1)}),
    ],
)
@pytest.mark.parametrize("name", sorted(set(TEXTS) - RUNS))
def test_so_it_is_as_times_or_as_a_graph(tmp_path, name, read, arguments):
    (tmp_path / "file.csv").write_text(TEXTS[name])
    with pytest.raises(InvalidInstance) as error:
        read(tmp_path / "file.csv", **arguments)
    is_read = name == "a project of PSPLIB" and read == cs.moldable.Instance.read
    expected = "no section PRECEDENCE RELATIONS" if is_read else f"this is {name}"
    assert expected in str(error.value)


@pytest.mark.parametrize("suffix", [".xml", ".dag", ".txt", ".dot", ".sm"])
@pytest.mark.parametrize(
    ("name", "text"),
    [("DAX", DAX), ("DAGMan", DAGMAN), ("PSPLIB", PSPLIB), ("GML", GML), ("Nextflow", NEXTFLOW)],
)
def test_a_workflow_is_refused_whatever_its_suffix(tmp_path, name, text, suffix):
    path = tmp_path / f"graph{suffix}"
    path.write_text(text)
    reads = {"Nextflow": "a log and as measured runs", "PSPLIB": "moldable jobs only"}
    expected = f"reads as {reads[name]}" if name in reads else "cannot read yet"
    with pytest.raises(InvalidInstance, match=f"this is .*{name}.* {expected}"):
        cs.dags.Instance.read(path, units=(1,))


@pytest.mark.parametrize(
    "command",
    [
        ["audit", "FILE", "--machine", "slurm.conf", "-o", "page.html"],
        ["rightsize", "FILE", "--machine", "slurm.conf", "-o", "page.html"],
        ["rightsize", "FILE"],
        ["tune", "FILE", "--machine", "slurm.conf", "--vary", "bf_interval=30,60", "-o", "t.html"],
        ["compare", "cluster", "FILE", "--machine", "slurm.conf"],
        ["solve", "packs", "FILE", "--max-tasks", "1"],
        ["solve", "moldable", "FILE"],
        ["solve", "dags", "FILE", "--units", "1"],
        [
            "batch",
            "FILE",
            "--nodes",
            "1",
            "--time",
            "1:00:00",
            "--cores-per-node",
            "4",
            "-o",
            "out",
        ],
        ["plan", "FILE", "-o", "plan.json"],
    ],
)
def test_each_command_refuses_it_in_one_line(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "diamond.dag").write_text(DAGMAN)
    code = main([word.replace("FILE", "diamond.dag") for word in command])
    errors = capsys.readouterr().err
    assert code == 2, errors
    assert "diamond.dag: this is a workflow of HTCondor's DAGMan, which cosched cannot" in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["diamond.dag", "slurm.conf"]


def test_no_readable_file_of_the_project_is_taken_for_a_foreign_one():
    looked_at = 0
    for folder in ("tests_py/fixtures", "notebooks", "docs", "python"):
        for path in sorted((ROOT / folder).rglob("*")):
            foreign_folders = (
                "fixtures/sites",
                "fixtures/machines",
                "fixtures/task_logs",
                "sacct_json",
            )
            is_foreign = any(name in path.as_posix() for name in foreign_folders)
            if not path.is_file() or is_foreign:
                continue  # what batch systems and workflow systems wrote, some of it as JSON
            data = path.read_bytes()
            data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
            text = data.decode("utf-8", "replace")
            assert foreign_format(text) is None, path
            if path.name.endswith((".json", ".json.gz")):
                assert foreign_json(json.loads(text)) is None, path
            looked_at += 1
    assert looked_at > 200


@pytest.mark.parametrize(
    "text",
    [
        "task,processors,seconds\na,1,3\n",
        "JobID|User|Account|State|Submit|Start|Elapsed|NCPUS\n1|a|b|COMPLETED|x|y|1:00|3\n",
        "; Version: 2.2\n; Job: 1\n1 0 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n",
        "name,hash,seconds\na,b,3\n",
        "id t_CPU t_GPU\n0 3 1\n1 2 1 0\n",
        "JOB a b\n1 2 3\n",
        "graph { a -- b }",
        "a:b:c:d\n",
        '{"jobs": {"submit": [0]}, "nodes": 2}',
    ],
)
def test_what_looks_a_little_like_one_is_none(text):
    assert foreign_format(text) is None
    if text.startswith("{"):
        assert foreign_json(json.loads(text)) is None
