"""Names that shells complete, at every press of a key: nothing heavy is imported."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rse_study.data.location import store_dir
from rse_study.study.definition.shipped import shipped_clusters, shipped_studies, shipped_trials

if TYPE_CHECKING:
    from typer import Context
else:
    Context = typer.Context.__base__  # typer passes one of these, and none of its own class

DEFAULT_STORE = store_dir()
YAML = ("*.yaml", "*.yml")
SUITES = ("sts", "fast", "full")


def complete_study(incomplete: str) -> list[str]:
    """Complete names of shipped studies and YAML files."""
    return _beginning(incomplete, [*(path.stem for path in shipped_studies()), *_yaml_files(incomplete)])


def complete_trial(incomplete: str) -> list[str]:
    """Complete names of shipped trials and YAML files."""
    return _beginning(incomplete, [*(path.stem for path in shipped_trials()), *_yaml_files(incomplete)])


def complete_ran_study(context: Context, incomplete: str) -> list[str]:
    """Complete names of the studies in the store."""
    store = Path(context.params.get("store") or DEFAULT_STORE)
    return _beginning(incomplete, sorted(path.parent.name for path in store.glob("*/ledger.sqlite")))


def complete_cluster(incomplete: str) -> list[str]:
    """Complete names of shipped clusters and YAML files."""
    return _beginning(incomplete, [*(path.stem for path in shipped_clusters()), *_yaml_files(incomplete)])


def complete_model(incomplete: str) -> list[str]:
    """Complete folders with a model, and the encoder that comes as an extra."""
    folder = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    configs = (*folder.glob("*/config.json"), *folder.glob("*/model/config.json"))
    here = {str(folder / path.relative_to(folder).parts[0]) for path in configs}
    return _beginning(incomplete, ["minilm", *sorted(here)])


def complete_suite(incomplete: str) -> list[str]:
    """Complete names of the suites that score frozen vectors."""
    return _beginning(incomplete, SUITES)


def complete_data_set(incomplete: str) -> list[str]:
    """Complete names of the catalogue's data sets."""
    from rse_study.data.catalogue import catalogue

    return _beginning(incomplete, catalogue())


def _yaml_files(incomplete: str) -> list[str]:
    folder = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    return sorted(str(path) for pattern in YAML for path in folder.glob(pattern))


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
