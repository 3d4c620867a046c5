"""The spec of a cluster: what rse_study checks, prices and follows.

Everything else that Slurm, KubeRay or Ray's launcher must know stands in the spec's template.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from rse_study.errors import InputError, InputErrors
from rse_study.registry import did_you_mean
from rse_study.spec import Spec, field
from rse_study.study.definition.reading import apply_overrides, build, read_extended
from rse_study.study.definition.shipped import shipped_clusters

DRIVER_RESOURCE = "rse_driver"
"""resource of the head alone, reserved by drivers and waiting tasks, not CPUs"""
NUM_DRIVERS = 1000
STUDY_FILE = "study.yaml"
KINDS = {".sbatch": "slurm", ".rayjob.yaml": "kuberay", ".launcher.yaml": "launcher", ".sh": "local"}
"""reader of a template, by the end of its name"""

Count = Annotated[int, Field(ge=0, le=1_000_000)]
Amount = Annotated[float, Field(ge=0, le=1e6)]
# A shell and sbatch read it as one word.
Folder = Annotated[str, Field(pattern=r"^[^\s%'\"\\$`#;&|<>(){}*?]*$")]


class Machine(Spec):
    """The resources and the price of one node."""

    cpus: Count = field(gt=0)
    memory_gib: Amount = field(gt=0)
    gpus: Count = 0
    price_per_hour: Amount
    """price of one such node for an hour, in the currency of the study's allowance; 0 if nobody bills it"""


class WorkerGroup(Machine):
    """Nodes of one kind, on which trials run."""

    max_nodes: Count = field(1, gt=0)
    min_nodes: Count = 1
    """number of nodes that run whether idle or not; without it `max_nodes`"""
    labels: dict[str, str] = Field(default_factory=dict)
    """Ray's node labels, by which a study may ask for this kind"""

    @model_validator(mode="before")
    @classmethod
    def _all_run(cls, given: Any) -> Any:
        if isinstance(given, dict) and "max_nodes" in given:
            return {"min_nodes": given["max_nodes"]} | given
        return given

    @model_validator(mode="after")
    def _from_few_to_many(self) -> "WorkerGroup":
        few, many = self.min_nodes, self.max_nodes
        if few > many:
            raise ValueError(f"min_nodes {few} is more than max_nodes {many}. Lower it, or raise max_nodes")
        return self


class Limits(Spec):
    """How long a cluster may live."""

    hours: Amount = field(24.0, gt=0)
    """time limit of the whole job"""
    idle_minutes: Amount = field(10.0, gt=0)
    """time after which an idle node ends, if the cluster can grow again"""


class ClusterSpec(Spec):
    """A cluster: its head holds the driver and runs no trials; its workers run them."""

    name: str = field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=40)
    """the cluster's own name"""
    template: str = field(pattern=rf"({'|'.join(KINDS).replace('.', '[.]')})$")
    """a file beside the spec, or a shipped one: NAME.sbatch, .rayjob.yaml, .launcher.yaml or .sh"""
    head: Machine
    """on Slurm, its share of the first node"""
    workers: Annotated[Mapping[str, WorkerGroup], Field(min_length=1)]
    """kinds of worker nodes, by the names that the template uses"""
    storage: str = ""
    """place of the files of studies that name none: a URL, or a folder that all nodes see"""
    shared: tuple[str, ...] = ()
    """folders that all nodes see under the same path"""
    folder: Folder = ""
    """Slurm: a folder that all nodes see, for the jobs' files and logs"""
    store: Folder = field("studies", min_length=1)
    """folder of the driver's ledgers, on the head's own disk; a relative one is below the job's folder"""
    limits: Limits = Limits()

    @property
    def kind(self) -> str:
        """Reader of the template: `slurm`, `kuberay`, `launcher` or `local`."""
        return next(kind for end, kind in KINDS.items() if self.template.endswith(end))

    @property
    def shared_folders(self) -> tuple[str, ...]:
        """Folders that all nodes see."""
        return (*self.shared, self.folder) if self.folder else self.shared

    @model_validator(mode="after")
    def _has_folder(self) -> "ClusterSpec":
        if self.kind == "slurm" and not self.folder.startswith("/"):
            raise ValueError(
                f"folder = {self.folder!r}: jobs of Slurm need an absolute folder that all nodes see. "
                "For example: folder: /shared/me/rse-study"
            )
        return self


def cluster_file(given: str) -> Path:
    """Return the YAML file of a path, with or without its end, or of a shipped name."""
    path = Path(given)
    if path.suffix in (".yaml", ".yml") or path.is_file():
        return path
    if (own := Path(f"{given}.yaml")).is_file():
        return own
    known, wanted = {path.stem: path for path in shipped_clusters()}, given.replace("_", "-")
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
