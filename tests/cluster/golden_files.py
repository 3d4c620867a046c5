"""The rendered files of the shipped clusters, as they were last looked at.

`python -m tests.cluster.golden_files` writes them anew; read the difference before it is committed.
"""

from pathlib import Path

from rse_study.cluster.template import render
from tests.cluster.samples import CLUSTERS, job_on, shipped

FOLDER = Path(__file__).parent / "golden"


def rendered(name: str) -> dict[str, str]:
    spec = shipped(name)
    return render(spec, job_on(spec))


if __name__ == "__main__":
    for name in CLUSTERS:
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
        for file, text in rendered(name).items():
            path = FOLDER / name / file
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(Path.cwd()))
