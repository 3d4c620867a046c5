"""Keys of older specs, each with the place where it stands today."""

from collections.abc import Iterator
from typing import Any

from rse_study.errors import InputError

TEMPLATES = {
    "slurm": "slurm.sbatch",
    "kuberay": "kuberay.rayjob.yaml",
    "local": "local.sh",
    "onprem": "onprem.launcher.yaml",
    **{cloud: f"{cloud}-gpu.launcher.yaml" for cloud in ("aws", "gcp", "azure")},
}
"""templates by the former `kind`"""
GONE = {
    "form": "there is one form, head and workers as steps",
    "port": "the template chooses one",
    "dashboard_port": "a free one is taken",
    "token": "it is in Ray's own file, or in that of RAY_AUTH_TOKEN_PATH",
}
IN_TEMPLATE = """
environment account qos options requeue warn_seconds start_seconds partition constraint gres image ray_version namespace
token_secret secrets volumes service_account image_pull_secret queue submission_mode attempts keep_seconds ship_code
node_selector tolerations gpu_resource ssh_user ssh_key ssh_public_key container setup install host hosts region zone
project resource_group instance_profile instance disk_gb spot accelerator
"""


def moved_keys(content: dict[str, Any], *, where: str) -> Iterator[InputError]:
    """Yield a problem for each key that stands in the template today, or nowhere."""
    kind = str(content.get("kind", ""))
    template = TEMPLATES.get(kind, content.get("template") or "NAME.sbatch")
    if "kind" in content:
        rule, remedy = "the end of the template's name says it", f"Write `template: {template}` instead"
        yield InputError(f"kind = {kind!r}", where=where, rule=rule, remedy=remedy)
    workers = content.get("workers")
    groups = workers.items() if isinstance(workers, dict) else ()
    for at, given in {
        "": content,
        "head.": content.get("head"),
        **{f"workers.{k}.": v for k, v in groups},
    }.items():
        for key in given if isinstance(given, dict) else ():
            if key in IN_TEMPLATE.split():
                remedy = f"Write it into your copy of {template}: rse-study cluster init copies it"
                yield InputError(f"{at}{key}", where=where, rule="stands in the template now", remedy=remedy)
            elif key in GONE:
                yield InputError(f"{at}{key}", where=where, rule=GONE[key], remedy="Remove it")
