"""A study's files: what workers need and leave, as the driver sees it; payloads."""

import shutil
import sys
from collections.abc import Collection, Hashable
from pathlib import Path
from typing import Any

from ray.cloudpickle import register_pickle_by_value

from rse_study.assets.store import whole_folder_of_model
from rse_study.downstream.models import RelocatableEvaluation
from rse_study.evaluation import class_in
from rse_study.evaluation.evaluations import Evaluation
from rse_study.on_ray.queue import Cell
from rse_study.on_ray.workers import BaselinePayload, CellPayload
from rse_study.on_ray.workers.workplace import StoredFolder, storage_cache
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.result_file import EVALUATIONS_FILE, FILE_NAME, ITEMS_FILE
from rse_study.results.files.schema import MODEL_FOLDER, baselines_folder, cell_folder, cells_folder
from rse_study.results.records import OWN_BASELINE, own_subject
from rse_study.storage.folders import SUFFIX, NodeCache, get_folder
from rse_study.storage.storage import Storage, study_key
from rse_study.study.definition.config import Study
from rse_study.study.definition.own_baselines import OwnBaseline
from rse_study.study.definition.parts import Resources
from rse_study.training.materials import Materials, PrepareMaterials, identity_of
from rse_study.training.trial import Trial


class StudyFiles:
    """The files of a study: in its own folder, which all nodes see, or in a storage.

    With a storage, workers see nothing of the driver's disk, and what they leave is brought from there. The study's
    folder is an absolute path, for workers have another working directory.
    """

    keeps_items = True
    """whether workers leave scores of single items"""

    def __init__(self, study_dir: Path, storage: Storage | None = None, cache: Path | None = None) -> None:
        self.study_dir, self.storage = study_dir, storage
        self._key = study_key(study_dir.name)
        self._root = Path(self._key) if storage else study_dir
        self._put: dict[str, str] = {}  # names in the storage, by the file or folder here
        self._cache = cache

    @property
    def ray_folder(self) -> Path:
        """Ray's own notes: disposable."""
        return self.study_dir / "ray"

    @property
    def train_runs(self) -> str:
        """The folder for Ray Train's own notes; empty: a temporary one on each node."""
        return "" if self.storage else str(self.ray_folder / "train")

    def hand_out(self, materials: Materials) -> str:
        """Put materials where workers find them; return their name there."""
        folder, here = self.study_dir / "materials", materials.file_name
        if self.storage is None:
            return str(materials.save(folder))
        if here not in self._put:
            commits = dict(one.split("@") for one in materials.fingerprints.values() if "@" in one)
            moved = materials.relocated(lambda name: self._store(name, commits.get(name, "main")))
            file = moved.save(folder)  # its name says what is in it
            self.storage.upload(file, key := f"{self._key}/materials/{file.name}")
            self._put[here] = key
        return self._put[here]

    def carried(self, evaluation: Evaluation) -> Evaluation:
        """Return the evaluation as workers can read it.

        The class of one that a study names by class goes with it: no worker finds a file beside the study.
        """
        if self.storage and isinstance(evaluation, RelocatableEvaluation):
            return evaluation.relocated(self._store)
        if class_in(evaluation.name):
            register_pickle_by_value(sys.modules[type(evaluation).__module__])
        return evaluation

    def cell(self, identity: str) -> str:
        """Return the folder of a cell as workers name it."""
        return str(cell_folder(self._root, identity))

    def baselines(self) -> str:
        """Return the folder of the baselines as workers name it."""
        return str(baselines_folder(self._root))

    def bring_results(self) -> None:
        """Fetch every result that is not here yet."""
        if self.storage is None:
            return
        for key in (*self.storage.keys(str(cells_folder(self._root))), *self.storage.keys(self.baselines())):
            here = self.study_dir / key.removeprefix(f"{self._key}/")
            if here.name in (FILE_NAME, ITEMS_FILE) and not here.exists():
                write_whole(here, self.storage.read(key))

    def bring_result(self, identity: str) -> None:
        """Fetch a cell's newest result and its scores, if there are any."""
        for name in (FILE_NAME, ITEMS_FILE, EVALUATIONS_FILE):
            self._stored_cell(identity).bring_file(name)

    def set_aside(self, identity: str, name: str) -> None:
        """Rename a cell's result, so that it no longer counts as one."""
        cell = self._stored_cell(identity)
        (cell.folder / FILE_NAME).replace(cell.folder / name)
        for one in (name, FILE_NAME):
            cell.publish(one)

    def bring_outcomes(self) -> None:
        """Fetch the outcomes of attacks."""
        for key in self.storage.keys(self._key) if self.storage else ():
            folder = key.removesuffix(SUFFIX)
            if self.storage and folder != key and folder.rpartition("/")[2].startswith("attacks"):
                get_folder(self.storage, folder, self.study_dir / folder.removeprefix(f"{self._key}/"))

    def drop_models(self, identities: Collection[str]) -> None:
        """Delete the models of these cells; their results stay."""
        for identity in identities:
            cell = self._stored_cell(identity)
            shutil.rmtree(cell.folder / MODEL_FOLDER, ignore_errors=True)
            cell.publish(MODEL_FOLDER)

    def _stored_cell(self, identity: str) -> StoredFolder:
        return StoredFolder(self.storage, self.cell(identity), cell_folder(self.study_dir, identity))

    def _store(self, name: str, revision: str = "main") -> str:
        assert self.storage is not None
        if name not in self._put:
            shared = NodeCache(self._cache or storage_cache(), self.storage)
            self._put[name] = shared.put(whole_folder_of_model(name, revision))
        return self._put[name]


class MaterialsCache:
    """Prepares materials once for all trials that need the same ones."""

    def __init__(self, prepare: PrepareMaterials) -> None:
        self._prepare = prepare
        self._prepared: dict[Hashable, Materials] = {}
        self.own: dict[str, OwnBaseline] = {}
        """baselines of the user's own by subject"""

    def of(self, trial: Trial | OwnBaseline) -> Materials:
        needs = trial.needs()
        if isinstance(trial, Trial) and needs not in self._prepared:
            self._prepared[needs] = self._prepare(trial)
        return self._prepared[needs]

    def find_own(self, study: Study, base: Trial, *folders: Path) -> dict[str, str]:
        """Prepare the user's own baselines; return fingerprints as a record has them."""
        found = {one: one.materials(self.of(base), *folders) for one in study.own_baselines.values()}
        self._prepared |= {one.needs(): materials for one, materials in found.items()}
        fingerprints = {name: found[one].fingerprints["base"] for name, one in study.own_baselines.items()}
        self.own = {own_subject(name, fingerprints[name]): one for name, one in study.own_baselines.items()}
        return {f"{OWN_BASELINE}{name}": fingerprint for name, fingerprint in fingerprints.items()}

    def identify(self, trial: Trial, seed: int) -> str:
        return identity_of(trial, seed, self.of(trial))


class Payloads:
    """Makes the payloads of one study."""

    def __init__(self, files: StudyFiles, materials: MaterialsCache, coordinator: str) -> None:
        self._files, self._materials, self._coordinator = files, materials, coordinator

    def of_cell(self, cell: Cell, attempt: int = 0, rungs: tuple[int, ...] = ()) -> CellPayload:
        """Return the payload of an attempt at a cell; `attempt` 0 only scores it."""
        return CellPayload(
            cell=cell.identity,
            number=cell.number,
            seed=cell.seed,
            continues=cell.continues,
            attempt=attempt,
            rungs=rungs,
            coordinator=self._coordinator,
            folder=self._files.cell(cell.identity),
            train_runs=self._files.train_runs,
            keeps_items=self._files.keeps_items,
            resources=cell.resources,
            **self._shared(cell.trial),
        )

    def of_baseline(self, baseline: str, base: Trial | OwnBaseline, resources: Resources) -> BaselinePayload:
        """Return the payload of a baseline of the base trial, or of a user's own."""
        folder, shared = self._files.baselines(), self._shared(base)
        return BaselinePayload(baseline=baseline, folder=folder, resources=resources, **shared)

    def _shared(self, trial: Trial | OwnBaseline) -> dict[str, Any]:
        materials = self._files.hand_out(self._materials.of(trial))
        storage = self._files.storage
        where = {"storage": storage.location, "patience_s": storage.patience_s} if storage else {}
        return {"trial": trial, "materials": materials, **where}
