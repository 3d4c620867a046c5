"""Files of Ray's launcher are read by Ray's own validators; each catches what the other misses."""

import pytest

from rse_study.on_ray.nodes.launcher_check import check_launcher_file
from rse_study.yaml12 import parse_yaml
from tests.cluster.golden_files import rendered

VARIANTS = ("onprem", "aws-gpu", "gcp-gpu", "azure-gpu")


def content_of(variant):
    return parse_yaml(rendered(variant)["cluster.yaml"], where="")


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_rendered_file_has_no_problem(variant):
    assert [str(problem) for problem in check_launcher_file(content_of(variant), where="s")] == []


def changed(content, path, value):
    """The content with another value at a path of keys; None takes away what stands there."""
    for key in path[:-1]:
        content = content[key]
    content[path[-1]] = value
    if value is None:
        del content[path[-1]]


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("idle_timeout_minute", 5, "idle_timeout_minute: no such field of Ray's launcher. Did you mean 'id"),
        ("available_node_types.gpu.min_worker", 1, "available_node_types.gpu.min_worker: no such field"),
        ("max_workers", "8", "max_workers: '8' is not of type 'integer'"),
        ("head_node_type", "heads", "must be one of `available_node_types`.: Ray's launcher refuses"),
        ("provider", {"type": "amazon"}, "Ray's launcher refuses the file"),
        ("provider.head_ip", None, "head_ip"),  # machines of one's own need a head
    ],
)
def test_a_wrong_field_is_refused(path, value, said):
    content = content_of("aws-gpu" if value else "onprem")
    changed(content, path.split("."), value)
    (problem,) = check_launcher_file(content, where="s")
    assert said in str(problem)
