"""Reading of a cluster's spec from a YAML file or by a shipped name."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from rse_study.cluster.spec import ClusterSpec
from rse_study.errors import InputError, InputErrors
from rse_study.registry import did_you_mean
from rse_study.study.definition import shipped
from rse_study.study.definition.reading import apply_overrides, build, read_extended


def shipped_clusters() -> dict[str, Path]:
    """Return the specs in the package, by name."""
    return {path.stem: path for path in shipped.shipped_clusters()}


def cluster_file(given: str) -> Path:
    """Return the YAML file of a path, with or without its end, or of a shipped name."""
    path = Path(given)
    if path.suffix in (".yaml", ".yml") or path.is_file():
        return path
    if (own := Path(f"{given}.yaml")).is_file():
        return own
    known, wanted = shipped_clusters(), given.replace("_", "-")
    if wanted in known:
        return known[wanted]
    rule = "a YAML file or the name of a shipped cluster"
    raise InputError(f"no cluster {given!r}", where="SPEC", rule=rule, remedy=did_you_mean(given, known))


def read_cluster(given: str, overrides: Sequence[str] = ()) -> ClusterSpec:
    """Read a cluster by path or shipped name; InputErrors lists all wrong fields."""
    path = cluster_file(given)
    content = read_extended(path)
    apply_overrides(content, overrides)
    try:
        spec = build(ClusterSpec, content, where=str(path))
    except InputErrors as error:
        raise InputErrors([_with_remedy(problem) for problem in error.problems]) from None
    return spec.model_copy(update={"template": str(_template_file(spec.template, path))})


def _template_file(name: str, spec: Path) -> Path:
    """Return a template beside the spec, or a shipped one."""
    places = (spec.parent, Path(str(files("clusters"))))
    if found := next((place / name for place in places if (place / name).is_file()), None):
        return found
    rule = f"there is no such file in {spec.absolute().parent}, and none that is shipped"
    remedy = did_you_mean(name, [path.name for place in places for path in place.glob("*.*[hl]")])
    raise InputError(f"template = {name!r}", where=str(spec), rule=rule, remedy=remedy)


def _with_remedy(problem: InputError) -> InputError:
    """Explain the price, which has no default, and where everything else stands."""
    remedy = problem.remedy
    if problem.what.endswith("price_per_hour") and problem.rule == "is required":
        remedy = "Write what an hour of one such node costs; 0 if it is free"
    elif problem.rule.startswith("no such field"):
        end = "" if remedy.endswith("?") else "."
        remedy += f"{end} What Slurm, KubeRay or Ray's launcher alone must know stands in the template"
    return InputError(problem.what, where=problem.where, rule=problem.rule, remedy=remedy)
