"""The shell lines of a spec are read by bash before anybody runs them."""

from rse_study.cluster.checking.shell_lines import check_shell_lines
from tests.cases import cases
from tests.cluster.samples import CLUSTERS, shipped


@cases("name", CLUSTERS)
def test_a_line_without_an_end_is_refused_with_its_place(name):
    spec = shipped(name, "environment.activate=['. /venv/bin/activate', 'echo \"no end']")
    (problem,) = check_shell_lines(spec, where="s")
    assert str(problem).startswith("s: environment.activate: line ")
    assert "unexpected EOF" in str(problem) and "bash cannot read it" in str(problem)


def test_lines_of_a_script_are_read_as_one():
    lines = ["if true; then", "module load cuda", "fi"]
    assert list(check_shell_lines(shipped("slurm", f"environment.activate={lines}"), where="s")) == []
    (problem,) = check_shell_lines(shipped("slurm", f"environment.activate={lines[:1]}"), where="s")
    assert "syntax error: unexpected end of file" in str(problem)


def test_a_launcher_joins_its_lines():
    (problem,) = check_shell_lines(shipped("aws-gpu", "environment.activate=['sleep 1 &']"), where="s")
    assert "unexpected token `&&'" in str(problem)


def test_a_new_nodes_lines_are_read_one_by_one():
    (problem,) = check_shell_lines(shipped("onprem", "setup=['true', 'echo (']"), where="s")
    assert str(problem).startswith("s: setup.1: line 1: syntax error")


def test_nothing_of_it_runs(tmp_path):
    spec = shipped("local", f"environment.activate=['touch {tmp_path}/ran']")
    assert list(check_shell_lines(spec, where="s")) == []
    assert list(tmp_path.iterdir()) == []
