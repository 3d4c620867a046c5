"""Files of Ray's launcher are read by Ray's own validators; each catches what the other misses."""

import pytest

from rse_study.on_ray.nodes.launcher_check import check_launcher_file
from rse_study.yaml12 import parse_yaml
from tests.cluster.golden_files import rendered

VARIANTS = ("onprem", "onprem-container", "aws-gpu", "gcp-gpu", "azure-gpu")


def content_of(variant):
    return parse_yaml(rendered(variant)[0].text, where="")


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_rendered_file_has_no_problem(variant):
    assert [str(problem) for problem in check_launcher_file(content_of(variant), where="s")] == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"idle_timeout_minute": 5},
            "idle_timeout_minute: no such field of Ray's launcher. Did you mean 'idle_timeout_minutes'?",
        ),
        ({"max_workers": "8"}, "max_workers: '8' is not of type 'integer'"),
        (
            {"head_node_type": "heads"},
            "`head_node_type` must be one of `available_node_types`.: Ray's launcher refuses",
        ),
        ({"provider": {"type": "amazon"}}, "Ray's launcher refuses the file"),
    ],
)
def test_a_wrong_field_is_refused(change, said):
    (problem,) = check_launcher_file(content_of("aws-gpu") | change, where="s")
    assert said in str(problem)


def test_a_node_type_is_read_strictly():
    content = content_of("aws-gpu")
    content["available_node_types"]["gpu"]["min_worker"] = 1
    (problem,) = check_launcher_file(content, where="s")
    assert "available_node_types.gpu.min_worker: no such field" in str(problem)


def test_machines_of_ones_own_need_a_head():
    content = content_of("onprem")
    del content["provider"]["head_ip"]
    (problem,) = check_launcher_file(content, where="s")
    assert "head_ip" in str(problem)
