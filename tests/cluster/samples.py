"""A job small enough to read, and the shipped clusters."""

import shutil
from pathlib import Path

from rse_study.cluster.job import Job, run_options
from rse_study.cluster.spec import ClusterSpec, read_cluster
from rse_study.cluster.wheel import Wheel
from rse_study.study.definition.shipped import shipped_clusters

WHEEL = Wheel("rse_study-0.1.0-py3-none-any.whl", {"rse_study/__init__.py": b""})
STUDY = "name: little\nquestion: Does it run?\n"
CLUSTERS = tuple(path.stem for path in shipped_clusters())
TINY_GRID = """
name: {name}
question: Does a study end on a real cluster?
base:
  method:
    name: robust_sent_embed
    blend: {{pgd: {{num_steps: 0}}, fgsm: {{num_steps: 0}}}}
    masks: {{phi: 0}}
    lambda1: 0
    lambda2: 0
  encoder: {{name: tiny-vectors, pooling: mean}}
  corpus: {{source: builtin}}
  optimizer: {{lr: 1e-3}}
  budget: {{unit: steps, amount: {amount}}}
  selection: {{dev: builtin, every: {every}}}
grid: {{axes: {{optimizer.lr: [1e-3, 2e-3]}}}}
seeds: {seeds}
evaluations: [builtin/test]
"""


def job_on(spec: ClusterSpec, study: str = "little") -> Job:
    return Job(study, f"rse-{study}-0123456789ab", STUDY, spec.storage, run_options(spec), WHEEL)


def shipped(name: str, *overrides: str) -> ClusterSpec:
    return read_cluster(name, overrides)


def edited(folder: Path, name: str, *given: str | tuple[str, str]) -> ClusterSpec:
    """A shipped cluster with overrides, whose template a site has copied and changed."""
    spec = shipped(name, *(one for one in given if isinstance(one, str)))
    template = folder / Path(spec.template).name
    shutil.copy(spec.template, template)
    text = template.read_text(encoding="utf-8")
    for before, after in (one for one in given if not isinstance(one, str)):
        assert before in text, before
        text = text.replace(before, after)
    template.write_text(text, encoding="utf-8")
    return spec.model_copy(update={"template": str(template)})
