"""Templates are filled in to the files that were last looked at, and their readers take them."""

import base64
import gzip
import json
import os
import re
import subprocess
import tarfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema import Draft7Validator

from rse_study.cluster.job import submission_stem
from rse_study.cluster.spec import ClusterSpec, Limits, Machine, WorkerGroup
from rse_study.cluster.template import filled_template, render, values_of
from rse_study.errors import InputError, InputErrors
from rse_study.yaml12 import parse_yaml
from tests import needs
from tests.cases import cases
from tests.cluster.golden_files import FOLDER, rendered
from tests.cluster.samples import CLUSTERS, WHEEL, edited, job_on, shipped

PAGE = Path(__file__).parents[2] / "docs" / "clusters.md"
SCHEMA = Path(os.environ.get("RSE_STUDY_DATA") or "absent") / "kuberay" / "rayjob-v1-schema.json.gz"
METADATA = ("name", "generateName", "namespace", "labels", "annotations", "finalizers", "ownerReferences")
COMMENTED = [
    ("# kueue.x-k8s.io", "kueue.x-k8s.io"),
    ("# suspend: true", "suspend: true"),
    ("enableInTreeAutoscaling: true", "enableInTreeAutoscaling: false"),
    ("# - {name: shared-data", "- {name: shared-data"),
    ("# nodeSelector", "nodeSelector"),
    ("# imagePullSecrets", "imagePullSecrets"),
]


def test_the_files_are_those_in_golden():
    kept = {path.relative_to(FOLDER).as_posix(): path.read_text("utf-8") for path in FOLDER.glob("*/*")}
    files = {f"{name}/{file}": text for name in CLUSTERS for file, text in rendered(name).items()}
    assert files == kept, "python -m tests.cluster.golden_files writes them anew"


@needs.programs("shellcheck")
@cases("file", ["slurm/job.sbatch", "local/cluster.sh"])
def test_shellcheck_warns_of_nothing(file):
    said = subprocess.run(["shellcheck", "-S", "warning", FOLDER / file], capture_output=True, text=True)
    assert said.stdout == ""


def test_rays_autoscaler_reads_the_rayjob():
    """The head offers the driver's resource and no CPU, workers what the spec says."""
    config = pytest.importorskip("ray.autoscaler._private.kuberay.autoscaling_config")
    manifest = parse_yaml(rendered("kuberay")["rayjob.yaml"], where="")
    cluster = {"metadata": {"namespace": "default", "name": "c"}, "spec": manifest["spec"]["rayClusterSpec"]}
    types = config._derive_autoscaling_config_from_ray_cr(cluster)["available_node_types"]
    head, group = types["headgroup"]["resources"], types["gpu"]
    assert (head["CPU"], head["rse_driver"]) == (0, 1000)
    assert (group["resources"]["CPU"], group["resources"]["GPU"]) == (7, 1)
    assert (group["min_workers"], group["max_workers"]) == (0, 4)


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that refuses fields which it does not name, unless it says that it keeps them."""
    changed = dict(schema)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            changed[key] = strict(schema[key])
    if "properties" in schema:
        changed["properties"] = {name: strict(one) for name, one in schema["properties"].items()}
        if not schema.get("additionalProperties") and not schema.get("x-kubernetes-preserve-unknown-fields"):
            changed["additionalProperties"] = False
    return changed


@needs.skip_for("" if SCHEMA.is_file() else needs.reason_without_data(f"kuberay/{SCHEMA.name}"))
@cases("changes", [[], COMMENTED])
def test_kuberay_knows_every_field_of_the_rayjob_also_of_its_commented_lines(changes, tmp_path):
    """By its schema, read strictly, for Kubernetes drops unknown fields silently."""
    schema = json.loads(gzip.decompress(SCHEMA.read_bytes()))
    schema["properties"]["metadata"] = {"type": "object", "properties": {name: {} for name in METADATA}}
    spec = edited(tmp_path, "kuberay", *changes)
    manifest = parse_yaml(render(spec, job_on(spec))["rayjob.yaml"], where="")
    assert [error.message for error in Draft7Validator(strict(schema)).iter_errors(manifest)] == []


@cases(("changes", "code"), [([], ["rse_study/__init__.py"]), ([("PYTHONPATH", "ANOTHER")], [])])
def test_the_configmap_holds_the_study_its_files_and_the_code_unless_the_image_has_it(
    changes, code, tmp_path
):
    spec = edited(tmp_path, "kuberay", ("namespace: default", "namespace: team"), *changes)
    (tmp_path / "one.txt").write_text("a")
    job = replace(job_on(spec), files=dict.fromkeys(("dev.tsv", "corpus/one.txt"), tmp_path / "one.txt"))
    content = parse_yaml(render(spec, job)["configmap.yaml"], where="")
    assert content["metadata"].items() >= {"namespace": "team", "name": job.submission_id}.items()
    with tarfile.open(fileobj=BytesIO(base64.b64decode(content["binaryData"]["code.tar.xz"]))) as archive:
        assert archive.getnames() == [*code, "study.yaml", "dev.tsv", "corpus/one.txt"]


def test_code_that_is_too_large_is_refused_with_another_way():
    noise = {"noise": Random(0).randbytes(1_048_577)}  # which nothing makes smaller
    spec = shipped("kuberay")
    with pytest.raises(InputError, match=r"at most 1,048,576 bytes. Put this version into the image"):
        render(spec, replace(job_on(spec), wheel=replace(WHEEL, files=noise)))


def test_a_manifest_that_is_no_rayjob_is_refused(tmp_path):
    spec = edited(tmp_path, "kuberay", ("kind: RayJob", "kind: Pod"))
    with pytest.raises(InputError, match=r"is no RayJob: a RayJob with metadata.name is expected"):
        render(spec, job_on(spec))


@cases("study", ["a", "under_scored", "x" * 64, "a-very-long-name-that-ends-with-a-dash-here---"])
def test_a_submission_id_is_a_name_that_kubernetes_takes(study):
    name = f"{submission_stem(study)}-0123456789ab-99"
    assert len(name) <= 47 and name.replace("-", "").isalnum() and name == name.lower().strip("-")
    assert submission_stem("x" * 63) != submission_stem("x" * 64)


def filled(spec):
    return filled_template(spec, job_on(spec))


def test_what_belongs_to_the_shell_stays(tmp_path):
    line = """echo "$@" "${words[@]}" ${x@Q} me@host.org $job `date` \\@ '@{limits.hours}' # a@b @ {x}"""
    text = filled(edited(tmp_path, "slurm", "limits.hours=1.5", ("set -m", line)))
    assert line.replace("@{limits.hours}", "1.5") in text


def test_every_unknown_variable_is_named_with_file_line_and_the_nearest(tmp_path):
    changes = [("@{workers.node.cpus}", "@{workers.nodes.cpus}"), ("set -m", "set -m # @{hours}")]
    with pytest.raises(InputErrors) as refused:
        filled(edited(tmp_path, "slurm", *changes))
    first, *_ = map(str, refused.value.problems)
    rule = "@{workers.nodes.cpus}: the spec and the job have no such value"
    assert first.startswith(f"{tmp_path}/slurm.sbatch:7: {rule}. Did you mean 'workers.node.cpus'?")
    assert "@{hours}" in str(refused.value)


@cases("character", ["'", '"', "\\", "$", "`", "\n", "\u2028"])
def test_no_value_ends_a_quoted_word_or_adds_a_line(character):
    for key, value in {"storage": f"a{character}b", "workers.node.labels": {"gpu": f"a{character}b"}}.items():
        with pytest.raises(InputErrors, match="a template takes no quotes"):
            filled(shipped("slurm", f"{key}={json.dumps(value)}"))


def keys_of(cls, at=""):
    """Every key of a spec with its default, as the page has them."""
    inner = {"head": (Machine, ""), "workers": (WorkerGroup, "NAME."), "limits": (Limits, "")}
    others = {"min_nodes": "`max_nodes`", "store": "`studies`"}  # of the same type; a word
    for name, one in cls.model_fields.items():
        if name in inner:
            yield from keys_of(inner[name][0], f"{at}{name}.{inner[name][1]}")
        else:
            default = f"{one.default:g}" if isinstance(one.default, int | float) else "none"
            yield f"{at}{name}", "required" if one.is_required() else others.get(name, default)


def test_the_page_lists_every_key_of_a_spec_with_its_default():
    rows = re.findall(r"^\| (`[^|]*`) \| ([^|]*) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = {key: default for keys, default in rows for key in re.findall(r"`([^`]*)`", keys)}
    known = dict(keys_of(ClusterSpec))
    assert {key: listed.get(key) for key in known} == known


def test_the_page_lists_every_variable():
    listed = set(re.findall(r"^\| `@\{([^}]*)\}`", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    spec = shipped("slurm")
    known = {name.replace("workers.node.", "workers.NAME.") for name in values_of(spec, job_on(spec))}
    assert listed == known
