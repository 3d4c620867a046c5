"""The rendered files of the shipped clusters, as they were last looked at.

`python -m tests.cluster.golden_files` writes them anew; read the difference before it is committed.
"""

from pathlib import Path

from rse_study.cluster.job import RenderedFile
from rse_study.cluster.template import render
from tests.cluster.samples import CLUSTERS, job_on, shipped

FOLDER = Path(__file__).parent / "golden"


def rendered(name: str) -> tuple[RenderedFile, ...]:
    spec = shipped(name)
    return render(spec, job_on(spec))


if __name__ == "__main__":
    for name in CLUSTERS:
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
        for file in rendered(name):
            path = FOLDER / name / file.name
            path.write_text(file.text, encoding="utf-8")
            print(path.relative_to(Path.cwd()))
