"""Mutants of what people write: studies, cluster specs and overrides."""

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tests.hostile.execution import Mutant
from tests.hostile.mutations import (
    TEXTS,
    YAML_TEXTS,
    as_file,
    as_yaml,
    mangled,
    mangled_lines,
    misspelt,
    mutate,
    nodes,
    value,
)

ROOT = Path(__file__).parents[2]


def nothing() -> str:
    return ""


@cache
def contents(kind: str) -> list[tuple[str, dict[str, Any]]]:
    """Return text and mapping of every shipped study or cluster, without `extends`."""
    from rse_study.study.definition.reading import read_extended
    from rse_study.study.definition.shipped import shipped_clusters, shipped_studies

    paths = sorted(shipped_studies() if kind == "study" else shipped_clusters())
    return [(as_file(content), content) for content in map(read_extended, paths)]


@cache
def fields() -> list[str]:
    """Return the paths of all fields of a trial and of the shipped studies."""
    from rse_study.study.definition.paths import walk
    from rse_study.training.trial import Trial

    own = {".".join(map(str, path)) for _, content in contents("study") for path in nodes(content)}
    return sorted(own | {f"base.{path}" for path, _ in walk(Trial())})


def _written(random: Random, kind: str, path: Path) -> None:
    pool = contents(kind)
    text, tree = random.choice(pool)
    way = random.randrange(20)
    if way < 14:
        path.write_text(as_file(mutate(random, tree, [one for _, one in pool])), "utf-8", "surrogatepass")
    elif way < 18:
        path.write_text(mangled_lines(random, text), "utf-8", "surrogatepass")
    elif way == 18:
        path.write_bytes(mangled(random, text.encode()))
    else:
        _extending(random, path, text)


def _extending(random: Random, path: Path, text: str) -> None:
    other, name = path.with_name("below.yaml"), as_yaml(random.choice(TEXTS))
    other.write_text(text, encoding="utf-8")
    chosen = random.choice(
        [
            name,
            f"[{name}, {name}]",
            "below.yaml",
            path.name,
            "[below, below]",
            "5",
            "{a: b}",
            "[[]]",
            "/dev/zero",
        ]
    )
    path.write_text(f"extends: {chosen}\n{random.choice(['', text, 'name: x'])}\n", "utf-8", "surrogatepass")


def study(random: Random, folder: Path) -> Mutant:
    _written(random, "study", folder / "study.yaml")
    command = random.choice([["validate"]] * 8 + [["validate", "--json"], ["plan"]])
    return [[command[0], str(folder / "study.yaml"), *command[1:]]], nothing


def cluster(random: Random, folder: Path) -> Mutant:
    _written(random, "cluster", folder / "cluster.yaml")
    with_study = ["joint"] if random.random() < 0.1 else []
    return [["cluster", "validate", str(folder / "cluster.yaml"), *with_study]], nothing


def override(random: Random, folder: Path) -> Mutant:
    given = []
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        path = random.choice(fields())
        path = random.choice(
            [path, path, path, misspelt(random, path), path.rpartition(".")[2], random.choice(TEXTS)]
        )
        text = random.choice([as_yaml(value(random)), random.choice(YAML_TEXTS), random.choice(TEXTS)])
        given += ["-o", random.choice([f"{path}={text}"] * 12 + [path, f"={text}", f"{path}.={text}"])]
    given = [text.replace("\0", "").encode("utf-8", "replace").decode() for text in given]
    return [["validate", random.choice(["joint", "quickstart", "mini_joint"]), *given]], nothing
