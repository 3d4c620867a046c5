"""Options that a spec hands on to sbatch are known, written out, and not the spec's own."""

import pytest

from rse_study.cluster.checking.batch_options import check_batch_options, check_option_names
from rse_study.errors import InputErrors
from tests.cases import cases
from tests.cluster.samples import shipped


@cases(
    ("option", "said"),
    [
        ("--exclusiv", "s: options: --exclusiv: no such option of sbatch. Did you mean 'exclusive'?"),
        ("-N", "s: options: -N: an option is written out: --name=value."),
        (
            "--nodes=9",
            "s: options: --nodes: is set by the spec already. Use the spec's own key, or take it away",
        ),
        ("--signal=B:USR2@9", "s: options: --signal: is set by the spec already."),
        ("", "s: options: : an option is written out: --name=value"),
    ],
)
def test_a_wrong_option_is_refused(option, said):
    spec = shipped("slurm", f"options=['{option}']")
    (problem,) = (*check_batch_options(spec, where="s"), *check_option_names(spec, where="s"))
    assert str(problem).startswith(said)


@cases(
    ("override", "named"),
    [
        ('workers.node.partition="a\\n#SBATCH --uid=0"', "workers.node.partition"),
        ('workers.node.constraint="a\\nb"', "workers.node.constraint"),
        ('account="a\\n#SBATCH --uid=0"', "account"),
        ('qos="a\\n"', "qos"),
        ('options=["--comment=a\\n#SBATCH --uid=0"]', "options.0"),
        ('options=["--comment=a\\u2028b"]', "options.0"),
    ],
)
def test_no_value_adds_a_line_to_the_script(override, named):
    with pytest.raises(InputErrors, match=rf": {named} = .*: must match"):
        shipped("slurm", override)


def test_what_sbatch_takes_is_no_problem():
    spec = shipped("slurm", "options=['--exclusive', '--comment=of two words']")
    assert list(check_batch_options(spec, where="s")) == list(check_option_names(spec, where="s")) == []


def test_an_option_of_a_newer_sbatch_is_its_own_to_judge():
    assert list(check_batch_options(shipped("slurm", "options=['--stepmgr']"), where="s")) == []
