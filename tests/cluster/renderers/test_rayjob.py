"""What Ray's own autoscaler for Kubernetes reads from a rendered RayJob."""

import base64
import tarfile
from io import BytesIO
from random import Random

import pytest

from rse_study.cluster.checking.names import LABEL
from rse_study.cluster.job_report import numbered_id, submission_stem
from rse_study.cluster.render import render
from rse_study.cluster.renderers.rayjob import config_map
from rse_study.cluster.wheel import zipped
from rse_study.errors import InputError
from rse_study.yaml12 import parse_yaml
from tests.cases import cases
from tests.cluster.golden_files import rendered
from tests.cluster.samples import WHEEL, job_on, shipped

LONGEST_NAME = 47  # of a RayJob; KubeRay refuses longer ones


@pytest.fixture
def node_types():
    """The autoscaler's own reading of the cluster; its head offers no CPU, but the driver's resource."""
    config = pytest.importorskip("ray.autoscaler._private.kuberay.autoscaling_config")
    manifest = parse_yaml(rendered("kuberay")[1].text, where="")
    cluster = {"metadata": {"namespace": "default", "name": "c"}, "spec": manifest["spec"]["rayClusterSpec"]}
    return config._derive_autoscaling_config_from_ray_cr(cluster)["available_node_types"]


def test_the_head_offers_the_drivers_resource_and_no_cpu_and_workers_what_the_spec_says(node_types):
    head, group = node_types["headgroup"]["resources"], node_types["gpu"]
    assert (head["CPU"], head["rse_driver"]) == (0, 1000)
    assert (group["resources"]["CPU"], group["resources"]["GPU"]) == (7, 1)
    assert (group["min_workers"], group["max_workers"]) == (0, 4)


def test_the_configmap_holds_study_and_code():
    spec = shipped("kuberay")
    content = config_map(spec, job_on(spec))
    code = BytesIO(base64.b64decode(content["binaryData"]["code.tar.xz"]))
    with tarfile.open(fileobj=code) as archive:
        assert archive.getnames() == ["rse_study/__init__.py"]
    assert set(content["data"]) == {"study.yaml"}


def test_code_that_is_too_large_is_refused_with_another_way():
    spec = shipped("kuberay")
    job = job_on(spec)
    noise = Random(0).randbytes(1_048_577)  # which nothing makes smaller
    large = type(job)(**{**vars(job), "wheel": type(WHEEL)(WHEEL.name, zipped([("noise", noise)]))})
    with pytest.raises(
        InputError, match=r"a ConfigMap holds at most 1,048,576 bytes. Put this version into the image"
    ):
        render(spec, large)


@cases("study", ["a", "under_scored", "x" * 64, "a-very-long-name-that-ends-with-a-dash-here---"])
def test_a_submission_id_is_a_name_that_kubernetes_takes(study):
    name = numbered_id(f"{submission_stem(study)}-0123456789ab", 99)
    assert len(name) <= LONGEST_NAME
    assert LABEL.fullmatch(name)


def test_long_names_that_begin_alike_stay_apart():
    assert submission_stem("x" * 63) != submission_stem("x" * 64)
