"""Copies of a shipped cluster's two files under a new name."""

import re
from pathlib import Path

from rse_study.cluster.reading import read_cluster, shipped_clusters
from rse_study.cluster.spec import KINDS
from rse_study.errors import InputError
from rse_study.registry import did_you_mean

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


def copy_shipped(shipped: str, name: str) -> list[Path]:
    """Write NAME.yaml and its template into this folder, and return their paths."""
    known = shipped_clusters()
    if shipped not in known:
        remedy = did_you_mean(shipped, known)
        raise InputError(f"no shipped cluster {shipped!r}", where="SHIPPED", remedy=remedy)
    if not NAME.fullmatch(name):
        rule = "letters, digits, - and _, at most 40, the first one a letter or a digit"
        raise InputError(
            f"{name!r} is not a valid name", where="NAME", rule=rule, remedy="For example: mysite"
        )
    template = Path(read_cluster(shipped).template)
    copy = name + next(end for end in KINDS if template.name.endswith(end))
    spec = known[shipped].read_text(encoding="utf-8").replace(template.name, copy)
    spec = re.sub(r"^name: .*$", f"name: {name}", spec, flags=re.MULTILINE)
    contents = {Path(f"{name}.yaml"): spec, Path(copy): template.read_text(encoding="utf-8")}
    for path in filter(Path.exists, contents):
        rule, remedy = "nothing is overwritten", "Choose another name, or remove it"
        raise InputError("already exists", where=str(path), rule=rule, remedy=remedy)
    for path, text in contents.items():
        path.write_text(text, encoding="utf-8")
    return list(contents)
