"""A batch script is read by bash, and its directives are known."""

import pytest

from rse_study.cluster.checking.batch_script import check_batch_script
from rse_study.cluster.render import render
from tests.cases import cases
from tests.cluster.golden_files import rendered
from tests.cluster.samples import job_on, shipped


def said_of(*overrides):
    spec = shipped("slurm", *overrides)
    (file,) = render(spec, job_on(spec))
    return [str(problem) for problem in check_batch_script(file.text, where="s")]


@pytest.mark.parametrize("variant", ["slurm", "slurm-symmetric-run"])
def test_a_rendered_script_has_no_problem(variant):
    (file,) = rendered(variant)
    assert list(check_batch_script(file.text, where="s")) == []


@cases(
    ("option", "said"),
    [
        ("--exclusiv", "s: options: --exclusiv: no such option of sbatch. Did you mean 'exclusive'?"),
        ("-N", "s: options: -N: an option is written out: --name=value."),
        (
            "--nodes=9",
            "s: options: --nodes: is set by the spec already. Use the spec's own key, or take it away",
        ),
    ],
)
def test_a_wrong_directive_is_refused(option, said):
    (problem,) = said_of(f"options=['{option}']")
    assert problem.startswith(said)


def test_what_bash_cannot_read_is_refused():
    (problem,) = said_of("environment.activate=['if true; then']")
    assert "bash cannot read what is rendered" in problem
