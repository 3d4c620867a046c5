"""The rendered files of the shipped clusters, as they were last looked at.

`python -m tests.cluster.golden_files` writes them anew; read the difference before it is committed.
"""

from pathlib import Path

from rse_study.cluster.job import RenderedFile
from rse_study.cluster.render import render
from tests.cluster.samples import CLUSTERS, job_on, shipped

FOLDER = Path(__file__).parent / "golden"
VARIANTS: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in CLUSTERS},
    "slurm-symmetric-run": ("slurm", "form=symmetric-run", "workers.node.gpus=4", "options=['--exclusive']"),
    "kuberay-volume": (
        "kuberay",
        "ship_code=false",
        "queue=sweeps",
        "storage=/data/rse-study",
        "volumes=[{claim: shared-data, path: /data}]",
        "workers.gpu.labels={rse/pool: t4}",
    ),
    "onprem-container": ("onprem", "container=rse-study:0.1.0", "ssh_key=~/.ssh/cluster", "install=false"),
}
"""a shipped cluster and overrides, by the folder of its files"""


def rendered(variant: str) -> tuple[RenderedFile, ...]:
    name, *overrides = VARIANTS[variant]
    spec = shipped(name, *overrides)
    return render(spec, job_on(spec))


if __name__ == "__main__":
    for variant in VARIANTS:
        (FOLDER / variant).mkdir(parents=True, exist_ok=True)
        for file in rendered(variant):
            path = FOLDER / variant / file.name
            path.write_text(file.text, encoding="utf-8")
            print(path.relative_to(Path.cwd()))
