"""Reading of a cluster's spec from a YAML file or by a shipped name."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from rse_study.cluster.kinds import KINDS
from rse_study.cluster.spec import ClusterSpec
from rse_study.errors import InputError, InputErrors
from rse_study.registry import did_you_mean
from rse_study.study.definition.reading import apply_overrides, build, read_extended


def shipped_clusters() -> dict[str, Path]:
    """Return the specs in the package, by name."""
    folder = Path(str(files("clusters")))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def cluster_file(given: str) -> Path:
    """Return the YAML file of a path or of a shipped cluster's name."""
    if Path(given).suffix in (".yaml", ".yml") or Path(given).is_file():
        return Path(given)
    shipped = shipped_clusters()
    wanted = given.replace("_", "-")
    if wanted in shipped:
        return shipped[wanted]
    rule = "a YAML file or the name of a shipped cluster"
    raise InputError(f"no cluster {given!r}", where="SPEC", rule=rule, remedy=did_you_mean(given, shipped))


def read_cluster(given: str, overrides: Sequence[str] = ()) -> ClusterSpec:
    """Read a cluster by path or shipped name; InputErrors lists all wrong fields."""
    path = cluster_file(given)
    content = read_extended(path)
    apply_overrides(content, overrides)
    kind, names = content.get("kind"), ", ".join(KINDS)
    if kind is None:
        rule, remedy = "is required", f"Write `kind:` and one of {names}"
        raise InputError("kind", where=str(path), rule=rule, remedy=remedy)
    if not isinstance(kind, str) or kind not in KINDS:
        remedy = did_you_mean(str(kind), KINDS)
        raise InputError(f"kind = {kind!r}", where=str(path), rule="no such kind of cluster", remedy=remedy)
    try:
        return build(KINDS[kind], content, where=str(path))
    except InputErrors as error:
        raise InputErrors([_with_remedy(problem) for problem in error.problems]) from None


def _with_remedy(problem: InputError) -> InputError:
    """Explain the price, which has no default: forgetting it would show on the bill."""
    if problem.what.endswith("price_per_hour") and problem.rule == "is required":
        remedy = "Write what an hour of one such node costs; 0 if it is free"
        return InputError(problem.what, where=problem.where, rule=problem.rule, remedy=remedy)
    return problem
