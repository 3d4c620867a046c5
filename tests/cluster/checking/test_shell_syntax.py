"""What a spec has of shell is read by bash before anybody runs it."""

from rse_study.cluster.checking.shell_syntax import check_commands, check_shell
from rse_study.cluster.render import render
from rse_study.yaml12 import parse_yaml
from tests.cases import cases
from tests.cluster.golden_files import rendered
from tests.cluster.samples import job_on, shipped

UNENDED = "environment.activate=['echo \"no end']"


def test_a_local_script_is_read():
    assert list(check_shell(rendered("local")[0].text, where="s")) == []
    spec = shipped("local", UNENDED)
    (problem,) = check_shell(render(spec, job_on(spec))[0].text, where="s")
    assert "unexpected EOF" in str(problem)


@cases("name", ["onprem", "aws-gpu", "gcp-gpu", "azure-gpu"])
def test_a_launchers_commands_are_read(name):
    content = parse_yaml(rendered(name)[0].text, where="")
    assert list(check_commands(content, where="s")) == []
    spec = shipped(name, UNENDED)
    broken = parse_yaml(render(spec, job_on(spec))[0].text, where="")
    assert len(list(check_commands(broken, where="s"))) == 5, (
        "the wheel, and `ray stop` and `ray start` twice"
    )


def test_nothing_of_it_runs(tmp_path):
    assert list(check_shell(f"touch {tmp_path}/ran", where="s")) == []
    assert list(tmp_path.iterdir()) == []
