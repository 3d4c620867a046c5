"""A template's variables are filled in, and everything else in it stays as it was written."""

import re
from pathlib import Path

import pytest

from rse_study.cluster.spec import ClusterSpec, Limits, Machine, WorkerGroup
from rse_study.cluster.template import filled_template, values_of
from rse_study.errors import InputErrors
from tests.cases import cases
from tests.cluster.samples import edited, job_on, shipped

PAGE = Path(__file__).parents[2] / "docs" / "clusters.md"


def filled(spec):
    return filled_template(spec, job_on(spec))


def test_what_belongs_to_the_shell_stays(tmp_path):
    line = """echo "$@" "${words[@]}" ${x@Q} me@host.org $job `date` \\@ '@{limits.hours}' # a@b @ {x}"""
    text = filled(edited(tmp_path, "slurm", ("set -m", line), overrides=("limits.hours=1.5",)))
    assert line.replace("@{limits.hours}", "1.5") in text


def test_every_unknown_variable_is_named_with_file_line_and_the_nearest(tmp_path):
    changes = [("@{workers.node.cpus}", "@{workers.nodes.cpus}"), ("set -m", "set -m # @{hours}")]
    spec = edited(tmp_path, "slurm", *changes)
    with pytest.raises(InputErrors) as refused:
        filled(spec)
    first, *_ = map(str, refused.value.problems)
    assert first.startswith(
        f"{tmp_path}/slurm.sbatch:7: @{{workers.nodes.cpus}}: the spec and the job have no"
    )
    assert "Did you mean 'workers.node.cpus'?" in first
    assert "@{hours}" in str(refused.value)


@cases(
    ("name", "override"),
    [
        ("slurm", "storage='/shared/$(reboot)'"),
        ("slurm", "storage=/shared/`reboot`"),
        ("slurm", 'workers.node.labels={gpu: "a\\"; reboot"}'),
        ("slurm", 'workers.node.labels={gpu: "a\'; reboot"}'),
        ("slurm", 'storage="/shared\\n#SBATCH --uid=0"'),
        ("local", 'storage="a\\u2028b"'),
        ("kuberay", "storage='a\\b'"),
    ],
)
def test_no_value_ends_a_quoted_word_or_adds_a_line(name, override):
    with pytest.raises(InputErrors, match="a template takes no quotes"):
        filled(shipped(name, override))


def keys_of(cls, at=""):
    """Every key of a spec with its default, as the page has them."""
    inner = {"head": Machine, "workers": WorkerGroup, "limits": Limits}
    others = {"workers.NAME.min_nodes": "`max_nodes`", "store": "`studies`"}  # of the same type; a word
    for name, one in cls.model_fields.items():
        key = f"{at}{name}"
        if name in inner:
            yield from keys_of(inner[name], f"{key}.NAME." if name == "workers" else f"{key}.")
        elif one.is_required():
            yield key, "required"
        else:
            default = one.get_default(call_default_factory=True)
            yield key, others.get(key) or (f"{default:g}" if isinstance(default, int | float) else "none")


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
