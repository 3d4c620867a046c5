"""Files that workers need and leave, as the driver sees them."""

import shutil
import sys
from collections.abc import Collection
from pathlib import Path

from ray.cloudpickle import register_pickle_by_value

from rse_study.assets.fingerprint import whole_folder_of_model
from rse_study.downstream.scored_model import RelocatableEvaluation
from rse_study.evaluation.evaluations import Evaluation
from rse_study.evaluation.registry import class_in
from rse_study.on_ray.stored.folders import StudyFolders
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.evaluation_file import FILE_NAME as EVALUATIONS_FILE
from rse_study.results.files.item_file import FILE_NAME as ITEMS_FILE
from rse_study.results.files.result_file import FILE_NAME
from rse_study.results.files.schema import MODEL_FOLDER, baselines_folder, cell_folder, cells_folder
from rse_study.storage.folders import SUFFIX, get_folder, remove_folder
from rse_study.storage.node_cache import NodeCache
from rse_study.storage.storage import Storage, study_key
from rse_study.training.materials import Materials


class StudyFiles:
    """The files of a study in its own folder, which all nodes see under the same path."""

    storage: Storage | None = None
    """None where workers see the study's own folder"""
    keeps_items = True
    """whether workers leave scores of single items"""

    def __init__(self, folders: StudyFolders) -> None:
        self.folders = folders
        self.train_runs = str(folders.train_runs)
        """folder for Ray Train's own notes; empty: a temporary one on each node"""

    def hand_out(self, materials: Materials) -> str:
        """Put materials where workers find them; return their name there."""
        return str(materials.save(self.folders.materials))

    def carried(self, evaluation: Evaluation) -> Evaluation:
        """Return the evaluation as workers can read it.

        The class of one that a study names by class goes with it: no worker finds a file beside the study.
        """
        if class_in(evaluation.name):
            register_pickle_by_value(sys.modules[type(evaluation).__module__])
        return evaluation

    def cell(self, identity: str) -> str:
        """Return the folder of a cell as workers name it."""
        return str(cell_folder(self.folders.study, identity))

    def baselines(self) -> str:
        """Return the folder of the baselines as workers name it."""
        return str(baselines_folder(self.folders.study))

    def bring_results(self) -> None:
        """Fetch every result that is not here yet."""

    def bring_result(self, identity: str) -> None:
        """Fetch a cell's newest result and its scores, if there are any."""

    def set_aside(self, identity: str, name: str) -> None:
        """Rename a cell's result, so that it no longer counts as one."""
        result = cell_folder(self.folders.study, identity) / FILE_NAME
        result.replace(result.with_name(name))

    def bring_outcomes(self) -> None:
        """Fetch the outcomes of attacks."""

    def drop_models(self, identities: Collection[str]) -> None:
        """Delete the models of these cells; their results stay."""
        for identity in identities:
            shutil.rmtree(cell_folder(self.folders.study, identity) / MODEL_FOLDER, ignore_errors=True)


class StoredFiles(StudyFiles):
    """A storage that all nodes reach; workers see nothing of the driver's disk."""

    def __init__(self, folders: StudyFolders, storage: Storage, cache: Path) -> None:
        super().__init__(folders)
        self.storage = self._storage = storage
        self.train_runs = ""
        self._shared, self._key = NodeCache(cache, storage), study_key(folders.study.name)
        self._put: dict[str, str] = {}  # names in the storage, by the file or folder here

    def hand_out(self, materials: Materials) -> str:
        here = materials.file_name
        if here not in self._put:
            commits = dict(one.split("@") for one in materials.fingerprints.values() if "@" in one)
            moved = materials.relocated(lambda name: self._store(name, commits.get(name, "main")))
            file = moved.save(self.folders.materials)  # its name says what is in it
            self._storage.upload(file, key := f"{self._key}/materials/{file.name}")
            self._put[here] = key
        return self._put[here]

    def carried(self, evaluation: Evaluation) -> Evaluation:
        if not isinstance(evaluation, RelocatableEvaluation):
            return super().carried(evaluation)
        return evaluation.relocated(self._store)

    def cell(self, identity: str) -> str:
        return f"{self._key}/{cell_folder(Path(), identity)}"

    def baselines(self) -> str:
        return f"{self._key}/{baselines_folder(Path())}"

    def bring_results(self) -> None:
        prefix = f"{self._key}/{cells_folder(Path())}"
        for key in (*self._storage.keys(prefix), *self._storage.keys(self.baselines())):
            here = self.folders.study / key.removeprefix(f"{self._key}/")
            if here.name in (FILE_NAME, ITEMS_FILE) and not here.exists():
                write_whole(here, self._storage.read(key))

    def bring_result(self, identity: str) -> None:
        for name in (FILE_NAME, ITEMS_FILE, EVALUATIONS_FILE):
            content = self._storage.find(f"{self.cell(identity)}/{name}")
            if content is not None:
                write_whole(cell_folder(self.folders.study, identity) / name, content)

    def set_aside(self, identity: str, name: str) -> None:
        super().set_aside(identity, name)
        key = f"{self.cell(identity)}/{FILE_NAME}"
        content = self._storage.find(key)
        if content is not None:
            self._storage.write(f"{self.cell(identity)}/{name}", content)
            self._storage.delete(key)

    def bring_outcomes(self) -> None:
        for key in self._storage.keys(self._key):
            folder = key.removesuffix(SUFFIX)
            if folder != key and folder.rpartition("/")[2].startswith("attacks"):
                get_folder(self._storage, folder, self.folders.study / folder.removeprefix(f"{self._key}/"))

    def drop_models(self, identities: Collection[str]) -> None:
        super().drop_models(identities)
        for identity in identities:
            remove_folder(self._storage, f"{self.cell(identity)}/{MODEL_FOLDER}")

    def _store(self, name: str, revision: str = "main") -> str:
        if name not in self._put:
            self._put[name] = self._shared.put(whole_folder_of_model(name, revision))
        return self._put[name]
