"""Scripts of sacctmgr, as people write them and as sacctmgr reads them."""

from contextlib import nullcontext
from copy import deepcopy

import pytest

from cosched.errors import InvalidInstance
from cosched.slurm.accounts.accounting_dump import read_accounts
from cosched.slurm.accounts.script import _Database, script_rows
from cosched.slurm.accounts.script_commands import read_script


def rows_of(text):
    """Associations by account and user, QOS by name, and notes."""
    script = script_rows([(f"s:{k}", line) for k, line in enumerate(text.splitlines(), 1)])
    associations = {
        (row["Account"], row["User"]): row for row in script.rows if "Account" in row
    }  # fmt: skip
    qos = {row["Name"]: row for row in script.rows if "Name" in row}
    return associations, qos, list(script.notes)


def users_of(text):
    associations, _, _ = rows_of(text)
    return {key: row for key, row in associations.items() if key[1] not in ("", "root")}


BASE = """add qos fast,slow Priority=5
add account phys Fairshare=30
add account chem parent=phys
add user ann,bob account=phys,chem
"""


def test_without_a_condition_all_qos_are_modified_and_a_bare_word_behind_set_is_passed_over():
    _, qos, notes = rows_of("add qos fast Priority=5\nmodify QOS set normal Priority=7\n")
    assert {name: row["Priority"] for name, row in qos.items()} == {"normal": "7", "fast": "7"}
    assert notes == [
        "s:2: modify qos: 'normal' behind set is passed over, as sacctmgr does",
        "s:2: modify qos: no condition (where): all 2 QOS are modified",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "modify user where name=ann account=chem set MaxJobs=4",
        "modify user set MaxJobs=4 where name=ann account=chem",
        "modify user ann account=chem set MaxJobs=4",
        "modify user ann where account=chem set MaxJobs=4",
        "update user name=ann accounts=chem set maxjobs=4",
        "mod u n=ann ac=chem set maxj=4",
        "-i modify user where name=ann account=chem set MaxJobs=4",
        "--immediate -Q modify user name=ann account=chem set MaxJobs=4",
        "sacctmgr -i modify user where name=ann account=chem set MaxJobs=4",
        "sacctmgr modify -i user name=ann account=chem set MaxJobs=4 -Q",
        "sacctmgr --immediate --quiet modify user name=ann account=chem set MaxJobs=4",
        "  sudo -u slurm /usr/bin/sacctmgr -iQ modify user name=ann account=chem set MaxJobs=4",
        "yes | sacctmgr modify user name='ann' account=\"chem\" set MaxJobs=4 > /dev/null 2>&1",
        "true && sacctmgr -i modify user name=ann account=chem set MaxJobs=4 || exit 1",
        "$SACCTMGR -i modify user name=ann account=chem set MaxJobs=4  # bob too?",
        "docker exec $CONTROLLER sacctmgr -i modify user ann account=chem set MaxJobs=4",
        "sacctmgr -i modify user ann \\\n  account=chem \\\n  set MaxJobs=4",
        "if ! sacctmgr -i modify user ann account=chem set MaxJobs=4; then exit 1; fi",
    ],
)
def test_a_command_has_many_spellings(line):
    users = users_of(BASE + line)
    assert users["chem", "ann"]["MaxJobs"] == "4"
    assert [key for key, row in users.items() if "MaxJobs" in row] == [("chem", "ann")]


@pytest.mark.parametrize(
    "line",
    [
        "# sacctmgr -i add account bio",
        "   # add account bio",
        "echo sacctmgr -i add account bio",
        "sacctmgr show account bio",
        "sacctmgr -i list associations account=bio format=User",
        "sacctmgr -r add account bio",
        "set -e",
        "for account in bio; do",
        "Account|User|Share",
    ],
)
def test_what_is_no_command_changes_nothing(line):
    assert rows_of(BASE + line) == rows_of(BASE)


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("sacctmgr -i add account $bio", "not followed: 'add account $bio': expected words"),
        ('sacctmgr -i add account "${bio}"', "not followed: 'add account ${bio}'"),
        ("sacctmgr -i add account $(id -gn)", "s:5: not followed: 'add account $': expected"),
        ("sacctmgr -i < more.txt", "s:5: not followed: sacctmgr is told its commands elsewhere"),
        ("sacctmgr load cluster.cfg", "s:5: not followed: 'load cluster.cfg'"),
        ("add users zoe account=phys", "s:5: not followed: 'add users zoe account=phys'"),
        ("add account phys Fairshare=99", "s:5: add account: nothing new: an account that is"),
        ("add user ann account=phys", "s:5: add user: nothing new: a user who is there keeps"),
        ("add qos fast Priority=1", "s:5: add qos: nothing new: a QOS that is there keeps"),
        ("add user zoe account=bio,phys", "s:5: add user: no account bio before it: skipped"),
        ("add user zoe account=phys,chem", "s:5: add user: no DefaultAccount: phys, the first, as"),
        ("modify user zoe set MaxJobs=1", "s:5: modify user: nothing meets the conditions"),
        ("modify qos none set Priority=1", "s:5: modify qos: there is none of that name"),
        ("delete account none", "s:5: delete account: there is none of that name"),
        ("modify user set MaxJobs=1", "s:5: modify user: no condition (where): all users are"),
        ("modify user ann set DefaultQOS=fast", "discarded, as sacctmgr does: ann has no access"),
        ("delete user ann account=phys", "s:5: delete user: user ann is left without a default"),
        ("add resource matlab count=3", "s:5: add resource: licences of a slurmdbd are not read"),
    ],
)
def test_what_is_not_followed_or_changes_nothing_is_noted_with_its_line(line, note):
    notes = rows_of(BASE + line)[2]
    assert any(note in machine_note for machine_note in notes), notes


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("modify user ann set foo=3", "s:5: 'foo=3': no option of modify user"),
        ("modify user foo=3 set MaxJobs=1", "s:5: 'foo=3': no condition of sacctmgr"),
        ("modify user ann set", "s:5: modify user: expected set Option=value"),
        ("modify user ann MaxJobs=4", "s:5: 'MaxJobs=4': no condition of sacctmgr: expected set"),
        ("modify user ann set bare", "s:5: 'bare': expected Option=value behind set"),
        ("modify account phys set name=x", "s:5: 'name=x': the name of an account cannot be set"),
        ("modify user ann set MaxJobs=many", "s:5: 'MaxJobs=many': expected a whole number"),
        ("modify user ann set MaxJobs+=3", "s:5: 'MaxJobs+=3': expected = alone"),
        ("modify user ann set MaxWall=soon", "s:5: 'MaxWall=soon': expected minutes"),
        ("modify user ann set qos=none", "s:5: 'qos=none': no QOS 'none': expected one of normal"),
        ("modify user ann set qos=fast,+slow", "s:5: 'qos=fast,+slow': expected names alone"),
        ("modify user ann set GrpTRES=8", "s:5: 'GrpTRES=8': expected amounts as cpu=8,node=2"),
        ("modify user ann set DefaultAccount=x", "user ann has no association with account 'x'"),
        ("modify user set NewName=x", "s:5: 'NewName=x': expected one user"),
        ("modify user ann set NewName=bob", "s:5: 'NewName=bob': there is a user 'bob' already"),
        ("modify qos fast set Flags=Fast", "s:5: 'Flags=Fast': expected flags: DenyOnLimit"),
        ("modify qos fast set Flags=Deny", "s:5: 'Flags=Deny': expected flags: DenyOnLimit"),
        ("modify qos set Preempt+=fast", "s:5: modify qos: QOS fast may preempt itself"),
        ("modify account chem set parent=x", "s:5: modify account: no account 'x' before it"),
        ("add account bio parent=x", "s:5: add account: no account 'x' before it"),
        ("add user zoe account=phys DefaultAccount=x", "s:5: add user: no account 'x' before it"),
        ("add user zoe account=x", "s:5: add user: no account 'x' before it"),
        ("add user zoe", "s:5: add user: expected Account= or DefaultAccount="),
        ("add user account=phys", "s:5: add user: expected Name="),
        ("delete account root", "s:5: delete account: the root account cannot be deleted"),
        ("delete user", "s:5: delete user: expected Name="),
        ("sacctmgr -x add account bio", "s:5: '-x': no option of sacctmgr"),
        ("sacctmgr add users zoe", "s:5: 'add users zoe': expected add and one of Account"),
        ("sacctmgr add account 'bio", "s:5: no closing quotation"),
    ],
)
def test_what_sacctmgr_refuses_is_refused_with_its_line(line, message):
    with pytest.raises(InvalidInstance) as error:
        rows_of(BASE + line)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "line",
    [
        "command sacctmgr -i add account bio",
        "sacctmgr -i add account geo 2>&- && sacctmgr -i add account bio",
        "echo hello > && sacctmgr -i add account bio",
        "echo 'step #2'; sacctmgr -i add account bio",
        'echo "step \\" #2"; sacctmgr -i add account bio',
        "add account bio  # sacctmgr was there before",
        "sacctmgr -i <<EOF\nadd account bio\nEOF",
        "sacctmgr -i <<-EOF\nadd account bio\nEOF",
    ],
)
def test_a_shell_script_is_read_as_a_shell_reads_it(line):
    associations, _, notes = rows_of(BASE + line)
    assert ("bio", "") in associations
    assert notes == rows_of(BASE)[2]


@pytest.mark.parametrize(
    "line",
    ["command -v sacctmgr add account bio", "which sacctmgr  # sacctmgr -i add account bio"],
)
def test_a_command_that_is_looked_up_or_a_comment_adds_nothing(line):
    assert rows_of(BASE + line) == rows_of(BASE)


def test_the_default_qos_of_an_association_keeps_its_qos():
    with pytest.raises(InvalidInstance, match="QOS fast is the default QOS of an association"):
        rows_of(BASE + "modify user ann set qos+=fast DefaultQOS=fast\ndelete qos fast\n")


def test_limits_are_inherited_as_sacctmgr_shows_them():
    associations, _, _ = rows_of(
        BASE + "modify account phys set MaxJobs=7 MaxTRES=cpu=8,node=2 GrpJobs=9 DefaultQOS=-1\n"
        "modify account chem set MaxTRES=cpu=4 MaxWall=1-0\nmodify user bob set MaxJobs=1\n"
    )
    ann, bob = associations["chem", "ann"], associations["chem", "bob"]
    assert (ann["MaxJobs"], ann["MaxTRES"], ann["MaxWall"]) == ("7", "cpu=4,node=2", "1-0")
    assert bob["MaxJobs"] == "1"
    assert "GrpJobs" not in ann
    assert associations["phys", "ann"]["MaxTRES"] == "cpu=8,node=2"


def test_a_time_limit_is_rounded_up_to_minutes_as_sacctmgr_does():
    associations, _, _ = rows_of(BASE + "modify account phys set MaxWall=90:30 GrpWall=1-0:00:00\n")
    assert associations["phys", ""]["MaxWall"] == "91"
    assert associations["phys", ""]["GrpWall"] == "1-0:00:00"


def test_minus_one_lifts_a_limit_and_amounts_are_merged():
    associations, qos, _ = rows_of(
        BASE + "modify account phys set GrpTRES=cpu=8,mem=100G MaxJobs=4\n"
        "modify account phys set GrpTRES=node=3,cpu=-1 MaxJobs=-1 GrpMem=200 GrpNodes=2\n"
        "modify qos fast set MaxTRESPU=gres/gpu:a100=2,CPU=4 MaxWall=60\n"
        "modify qos fast set MaxTRESPU=cpu=-1 MaxWall=-1\n"
    )
    assert associations["phys", ""]["GrpTRES"] == "mem=200,node=2"
    assert "MaxJobs" not in associations["phys", ""]
    assert qos["fast"] == {"Name": "fast", "Priority": "5", "MaxTRESPU": "gres/gpu:a100=2"}


def test_lists_of_qos_and_flags_are_set_added_to_and_removed_from():
    associations, qos, _ = rows_of(
        BASE + "modify account phys set qos=fast\nmodify user ann set qos+=slow\n"
        "modify user bob set qos=slow\nmodify user bob set qos+=fast,normal qos-=slow\n"
        "modify qos fast set Flags=DenyOnLimit,nodecay Preempt=slow,normal\n"
        "modify qos fast set Flags+=OverPartQOS\n"
        "modify qos fast set Flags=Relative Flags-=DenyOnLimit Preempt-=normal\n"
        "modify qos slow set Flags=DenyOnLimit\nmodify qos slow set Flags=-1\n"
    )
    assert associations["phys", "ann"]["QOS"] == "fast,slow"
    assert associations["phys", "bob"]["QOS"] == "fast,normal"
    assert qos["fast"]["Flags"] == "NoDecay,OverPartQOS"
    assert qos["fast"]["Preempt"] == "slow"
    assert "Flags" not in qos["slow"]


def test_a_script_of_a_site_keeps_to_the_words_of_both_versions():
    """MaxTRESPerJob of 22.05 may be cut to MaxTRES, MaxJobs of a QOS is of a user."""
    _, qos, _ = rows_of("add qos a MaxTRESP=cpu=4 MaxJobs=2 MaxSubmit=9 MaxWallDur=60 GrpCPUs=8\n")
    assert qos["a"] == {
        "Name": "a", "MaxTRES": "cpu=4", "MaxJobsPU": "2", "MaxSubmitPU": "9", "MaxWall": "60",
        "GrpTRES": "cpu=8",
    }  # fmt: skip


def test_names_are_listed_expanded_and_in_lower_case():
    users = users_of("add account P1,P2\nadd user Zoe,u[08-10] account='p1, P2'\n")
    assert set(users) == {
        (account, user) for account in ("p1", "p2") for user in ("zoe", "u08", "u09", "u10")
    }


def test_deleting_an_account_deletes_what_is_below_it():
    associations, _, _ = rows_of(BASE + "add account bio\ndelete account phys\n")
    assert set(associations) == {("root", ""), ("root", "root"), ("bio", "")}


def test_an_account_may_go_below_one_of_its_own():
    associations, _, _ = rows_of(BASE + "modify account phys set parent=chem\n")
    assert associations["chem", ""]["ParentName"] == "root"
    assert associations["phys", ""]["ParentName"] == "chem"


def test_an_account_cannot_be_its_own_parent():
    rows = script_rows(
        [("x:1", "add account a1,a2"), ("x:2", "modify account where a1,a2 set parent=a1")]
    )
    parents = {row["Account"]: row.get("ParentName") for row in rows.rows if "Account" in row}
    assert parents == {"root": None, "a1": "root", "a2": "a1"}
    assert rows.notes == (
        "x:2: modify account: account a1 stays as it is: it cannot be its own parent",
    )


def test_the_root_has_no_parent_and_an_account_is_not_its_own():
    associations, _, _ = rows_of(BASE + "add account bio\nmodify account set parent=phys\n")
    parents = {account: row.get("ParentName") for (account, user), row in associations.items()
               if not user}  # fmt: skip
    assert parents == {"root": None, "phys": "root", "chem": "phys", "bio": "phys"}
    _, _, notes = rows_of(BASE + "modify account root set parent=phys\n")
    assert any("nothing meets the conditions: nothing is modified" in note for note in notes)


def test_a_renamed_user_keeps_associations_and_default_account():
    users = users_of(BASE + "modify user ann set DefaultAccount=chem NewName=zoe\n")
    assert users["phys", "zoe"]["Def Acct"] == "chem"
    assert ("phys", "ann") not in users


def test_associations_of_one_cluster_count(tmp_path):
    (tmp_path / "s.sh").write_text(
        "sacctmgr -i add cluster one\nsacctmgr -i add cluster Two Fairshare=1\n"
        "sacctmgr -i add account a\nsacctmgr -i add account b cluster=two\n"
    )
    accounts = [row["Account"] for row in read_accounts(tmp_path / "s.sh", "TWO").associations]
    assert accounts == ["root", "a", "b", "root"]
    accounting_dump = read_accounts(tmp_path / "s.sh")
    assert [row["Account"] for row in accounting_dump.associations] == ["root", "a", "root"]
    assert (
        "associations of cluster one (the first): 4 of other clusters (two) are left"
        in " ".join(accounting_dump.notes)
    )


TREE = """add account a,b Fairshare=2
add account below parent=a
add qos fast,slow
add user ann account=a,below
"""


def database_of(text):
    script = read_script([(f"s:{k}", line) for k, line in enumerate(text.splitlines(), 1)])
    database = _Database(script.notes)
    for command in script.commands:
        database.apply(command)
    return database


@pytest.mark.parametrize(
    "line",
    [
        "modify account a set parent=below DefaultQOS=fast",  # discarded: no access to fast
        "modify account a set parent=none",
        "modify account a set MaxJobs=4 GrpJobs=x",
        "modify account cluster=one,two a set parent=none MaxJobs=4",
        "modify cluster one set GrpJobs=4 MaxJobs=x",
        "modify cluster set GrpJobs=4 MaxJobs=x",
        "add cluster one,two GrpJobs=4 MaxJobs=x",
        "add account c cluster=one,two parent=none",
        "add user bob cluster=one,two account=none",
        "add user bob account=a QosLevel=none",
        "modify user ann set MaxJobs=4 DefaultAccount=b",
        "modify user ann cluster=one set MaxJobs=4 DefaultAccount=b",
        "modify user ann set MaxJobs=4 DefaultQOS=fast",
        "modify user set MaxJobs=4 NewName=zoe",
        "modify qos fast set Priority=4 Flags=none",
        "modify qos fast set Priority=4 Preempt=fast",
        "delete account root",
        "delete qos",
        "add qos other Priority=x",
    ],
)
@pytest.mark.parametrize("clusters", ["", "add cluster one\nadd cluster two\n"])
def test_a_command_that_is_refused_or_discarded_changes_nothing(line, clusters):
    database = database_of(clusters + TREE + "add user zoe account=b\n")
    before = deepcopy((database.qos, database.clusters))
    (command,) = read_script([("s:9", line)]).commands
    is_discarded = "DefaultQOS" in line
    with nullcontext() if is_discarded else pytest.raises(InvalidInstance, match="s:9"):
        database.apply(command)
    assert not is_discarded or "discarded, as sacctmgr does" in database.notes[-1]
    assert (database.qos, database.clusters) == before


def test_one_cluster_that_discards_a_command_discards_it_for_all():
    text = "add cluster one\nadd cluster two\n" + TREE
    text += "modify account a cluster=one set QosLevel+=fast\n"
    database = database_of(text)
    before = deepcopy(database.clusters)
    (command,) = read_script([("s:9", "modify account a set MaxJobs=4 DefaultQOS=fast")]).commands
    database.apply(command)
    assert "discarded" in database.notes[-1]
    assert database.clusters == before


def test_resources_have_their_numbers_as_in_slurm():
    _, qos, _ = rows_of("add qos fast GrpTRES=1=8,2=4G,4=2,6=5,7=6,8=7\n")
    assert qos["fast"]["GrpTRES"] == "cpu=8,mem=4G,node=2,fs/disk=5,vmem=6,pages=7"
    with pytest.raises(InvalidInstance, match=r"9=1.*expected amounts as cpu=8,node=2"):
        rows_of("add qos fast GrpTRES=9=1\n")
