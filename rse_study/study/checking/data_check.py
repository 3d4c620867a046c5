"""Data of a study: what it needs, and what of that is missing here.

Large files are not read to the end.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from rse_study.data import SUBSETS, hub_models, study_folders
from rse_study.data.catalogue import catalogue, sets_by_path
from rse_study.data.corpus import TextFiles, check_corpus, find_text, read_corpus
from rse_study.data.hub import Dataset, Table, check_dataset, folder_of
from rse_study.data.lexicons import wordnet_archive
from rse_study.data.own_tables import Rewrites, with_views
from rse_study.data.readers import read_dev, read_sts
from rse_study.data.text_files import find_file
from rse_study.downstream import sets_of, sets_of_recipe
from rse_study.errors import InputError
from rse_study.evaluation import BUILTIN
from rse_study.evaluation.attacks.attack_recipe import Resource
from rse_study.evaluation.attacks.recipes import recipes_with
from rse_study.study.checking.validation import CheckedStudy
from rse_study.training.materials import require_generator
from rse_study.training.trial import Trial

CORPUS = "corpus"
"""The end of what is wrong with a corpus that is not missing."""
Missing = tuple[str, InputError]  # field = value, and what is wrong with it


def check_data(checked: CheckedStudy, data_dir: Path, *, is_run: bool = False) -> list[InputError]:
    """Return a problem per missing corpus, model and set, each once.

    A model that only an unreachable hub could know is one if the study is to run; else see `notes_on_data`.
    """
    trials, models, where = [*trials_that_differ(checked)], models_of_study(checked), checked.where
    files, unknown = _problems(trials, where, data_dir), [*_models(models, where, data_dir)]
    needed = unknown if is_run else _but_unchecked(unknown)
    return [
        *_but_unchecked(files),
        *needed,
        *_evaluations(checked, data_dir),
        *_judges(*trials[0], where, data_dir),
        *_own_baselines(checked, *study_folders(checked.folder, data_dir)),
    ]


def _but_unchecked(problems: Iterable[InputError]) -> list[InputError]:
    return [problem for problem in problems if not isinstance(problem, hub_models.UncheckedModel)]


def check_trial(trial: Trial, where: str, data_dir: Path) -> list[InputError]:
    """Return the problems of a trial that is trained alone, from the file `where`."""
    trials = [("", trial)]
    found = [
        *_but_unchecked(_problems(trials, where, data_dir)),
        *_models(models_of(trials), where, data_dir),
    ]
    return [*found, *_judges("", trial, where, data_dir)]


def _problems(trials: Iterable[tuple[str, Trial]], where: str, data_dir: Path) -> list[InputError]:
    """Return what is wrong with corpora, word lists and generators, each once."""
    problems: dict[str, InputError] = {}
    read = set[tuple[object, ...]]()
    for at, trial in trials:
        folders = study_folders(Path(where).parent, data_dir)
        sought = (
            _corpus(trial, folders, read),
            _minilm(trial),
            _tried("method.rtd.generator", partial(require_generator, trial, *folders)),
            _tried(f"encoder.name = {trial.encoder.name!r}", partial(_check_encoder, trial, *folders)),
            _synonyms(trial, data_dir),
            _optimizer(trial, folders[0]),
            _replayed(trial, data_dir),
        )
        for what, problem in chain.from_iterable(sought):
            problems.setdefault(what, _problem_at(f"{at}{what}", problem, where))
    return [*problems.values()]


def notes_on_data(checked: CheckedStudy, data_dir: Path) -> list[str]:
    """Return notes on the data for readers of the scores; call `check_data` first."""
    asked = [name.partition("/") for name in checked.study.evaluation_names]
    tasks = [task for task, _, split in asked if task in SUBSETS and split == "test"]
    copies = [task for task in tasks if read_sts(task, "test", data_dir).variant == "senteval"]
    names = ", ".join(f"{task}/test" for task in copies)
    text = "SentEval's copy of the texts is read, tokenised and lower-cased: the published one is not here"
    trials, models, where = trials_that_differ(checked), models_of_study(checked), checked.where
    problems = [*_problems(trials, where, data_dir), *_models(models, where, data_dir)]
    unchecked = [str(problem) for problem in problems if isinstance(problem, hub_models.UncheckedModel)]
    return [*([f"{names}: {text}"] if names else []), *unchecked]


def trials_that_differ(checked: CheckedStudy) -> Iterator[tuple[str, Trial]]:
    """Yield the base and the trials that need other data, and where each stands."""
    yield "base.", checked.base
    seen = {checked.base.needs()}
    at, space = checked.space.at, checked.space
    points = [] if checked.rows else list(space.edges())
    rows = [(f"grid.rows.{row.label}" if row.label else f"{at} ({row})", row.trial) for row in checked.rows]
    for label, trial in [*rows, *((f"{at}.{', '.join(point)}", space.apply(point)) for point in points)]:
        if trial.needs() not in seen:
            seen.add(trial.needs())
            yield f"{label}: ", trial


def _corpus(trial: Trial, folders: tuple[Path, ...], read: set[tuple[object, ...]]) -> Iterator[Missing]:
    found, wanted = list[Missing](), (trial.corpus, trial.batch_size, trial.views, trial.needs_negatives)
    for source in dict.fromkeys((trial.views, trial.corpus.source)):
        if isinstance(source, TextFiles):
            for path in source.paths:
                found += _tried(f"corpus.source = {path!r}", partial(find_text, path, *folders))
        elif isinstance(source, Rewrites) and source.file:
            found += _tried(f"views.file = {source.file!r}", partial(find_file, source.file, *folders))
        elif isinstance(source, Table):
            what = f"corpus.source.dataset = {source.dataset!r}"
            found += _tried(what, partial(check_dataset, source.dataset, source.revision, *folders))
    yield from found
    if not found and wanted not in read:
        read.add(wanted)
        yield from _tried(CORPUS, partial(_check_texts, trial, *folders))


def _check_texts(trial: Trial, *folders: Path) -> None:
    """Check the corpus, and read it with its views to the end, unless one of them is on the hub."""
    check_corpus(trial.corpus, trial.batch_size, folders[-1], folders[0])
    names = filter(None, (getattr(one, "dataset", "") for one in (trial.views, trial.corpus.source)))
    if trial.views and all(folder_of(name, *folders) for name in names):
        sentences = read_corpus(trial.corpus, folders[-1], folders[0]).sentences
        with_views(trial.views, sentences, *folders, is_triple=trial.needs_negatives)


def _models(places: Mapping[hub_models.Model, str], where: str, data_dir: Path) -> Iterator[InputError]:
    """Yield what is wrong with each model that is named, where it is named first."""
    folders = study_folders(Path(where).parent, data_dir)
    for model, problem in hub_models.check_models(places, *folders).items():
        yield _problem_at(f"{places[model]} = {model[0]!r}", problem, where)


def models_of_study(checked: CheckedStudy) -> dict[hub_models.Model, str]:
    """Return every model that may be on the hub, with the field that names it first."""
    places = models_of(trials_that_differ(checked))
    recipes, masked_lm = recipes_with(Resource.MASKED_LM), checked.study.attacks.masked_lm
    is_asked = any(
        name.endswith(tuple(f"/{recipe}" for recipe in recipes)) for name in checked.study.evaluation_names
    )
    if is_asked and masked_lm not in ("", *hub_models.OUR_OWN):
        places.setdefault((masked_lm, "main"), "attacks.masked_lm")
    own = [(name, one) for name, one in checked.study.own_baselines.items() if one.encoder]
    return {(one.encoder, "main"): f"baselines.{name}.encoder" for name, one in own} | places


def models_of(trials: Iterable[tuple[str, Trial]]) -> dict[hub_models.Model, str]:
    """Return models that may be on the hub, with the field that names each first."""
    places: dict[hub_models.Model, str] = {}
    for at, trial in trials:
        for field, model in trial.models.items():
            if model[0] not in hub_models.OUR_OWN:
                places.setdefault(model, f"{at}{field}")
    return places


def _minilm(trial: Trial) -> Iterator[Missing]:
    for field in [field for field, (name, _) in trial.models.items() if name == "minilm"]:
        # This imports model code, which takes seconds.
        from rse_study.assets.tiny import minilm_folder

        yield from _tried(f"{field} = 'minilm'", minilm_folder)


def _check_encoder(trial: Trial, *folders: Path) -> None:
    """Check what a trial asks of its encoder, if that is on this machine."""
    folder = hub_models.described_folder((trial.encoder.name, trial.encoder.revision), *folders)
    if trial.encoder.name == "minilm":
        from rse_study.assets.tiny import has_minilm, minilm_folder

        folder = minilm_folder() if has_minilm() else None
    if folder is not None:
        # This imports model code, which takes seconds.
        from rse_study.assets.trial_checks import check_described

        check_described(trial, str(folder))


def _optimizer(trial: Trial, folder: Path) -> Iterator[Missing]:
    if trial.optimizer.class_ is not None:
        from rse_study.training.own_optimizer import source_of_optimizer  # torch, as the class itself does

        for _, problem in _tried("", partial(source_of_optimizer, trial.optimizer, folder)):
            yield problem.what, InputError(problem.rule, remedy=problem.remedy)


def _synonyms(trial: Trial, data_dir: Path) -> Iterator[Missing]:
    if trial.method.needs_synonyms:
        yield from _tried(f"method.name = {trial.method.name!r}", partial(wordnet_archive, data_dir))


def _replayed(trial: Trial, data_dir: Path) -> Iterator[Missing]:
    replayed = trial.replayed
    if replayed.recipe == "none":
        return
    # These import model and evaluation code, which takes seconds.
    from rse_study.assets.attack_resources import fingerprints_of
    from rse_study.assets.replayed import read_for

    yield from _tried(
        f"replayed.recipe = {replayed.recipe!r}", partial(fingerprints_of, replayed.recipe, data_dir)
    )
    if replayed.labelled != "none":
        yield from _tried(f"replayed.labelled = {replayed.labelled!r}", partial(read_for, replayed, data_dir))


def _evaluations(checked: CheckedStudy, data_dir: Path) -> Iterator[InputError]:
    for at, name in checked.study.located_evaluations():
        if name == BUILTIN:  # generated: always here
            continue
        for what, problem in _tried(f"{at} = {name!r}", partial(checked.read_evaluation, name, data_dir)):
            if not isinstance(problem, hub_models.UnknownModel):  # that is said of the field that names it
                yield _problem_at(what, problem, checked.where)


def _own_baselines(checked: CheckedStudy, *folders: Path) -> Iterator[InputError]:
    """Yield what is wrong with baselines of the user's own."""
    for name, own in checked.study.own_baselines.items():
        for what, problem in _tried(f"baselines.{name}", partial(own.check, *folders)):
            yield _problem_at(what, problem, checked.where)


def _judges(at: str, trial: Trial, where: str, data_dir: Path) -> Iterator[InputError]:
    """Yield what is wrong with the sets that trials are judged by, which are those of the base."""
    folders = study_folders(Path(where).parent, data_dir)
    for name in trial.selection.sets:
        for what, problem in _tried(f"selection.dev = {name!r}", partial(read_dev, name, *folders)):
            yield _problem_at(f"{at}{what}", problem, where)


def _tried(what: str, find: Callable[[], object]) -> Iterator[Missing]:
    try:
        find()
    except InputError as problem:
        yield what, problem


def _problem_at(what: str, problem: InputError, where: str) -> InputError:
    location = f" ({problem.where})" if problem.where and repr(problem.where) not in what else ""
    rule = f"{problem.what}{location}" + (f": {problem.rule}" if problem.rule else "")
    kind = hub_models.UncheckedModel if isinstance(problem, hub_models.UncheckedModel) else InputError
    return kind(what, where=where, rule=rule, remedy=problem.remedy)


@dataclass(frozen=True)
class Needs:
    """Everything a study reads, each once, in the order of the study."""

    sets: tuple[str, ...]
    """names of the catalogue"""
    texts: tuple[str, ...]
    """corpus files that the catalogue does not know"""
    datasets: tuple[Dataset | Rewrites, ...]
    """corpora on the hub, or in folders in its layout"""
    models: tuple[hub_models.Model, ...]


def needs_of(checked: CheckedStudy) -> Needs:
    """Return what a study needs, whether it is here or not."""
    trials = [trial for _, trial in trials_that_differ(checked)]
    sources = [source for trial in trials for source in (trial.corpus.source, trial.views)]
    on_hub = [one for one in sources if isinstance(one, Dataset | Rewrites) and one.dataset]
    paths = [path for source in sources if isinstance(source, TextFiles) for path in source.paths]
    by_path = sets_by_path()
    of_trials = (name for trial in trials for name in _sets_of_trial(trial))
    of_evaluations = (
        name
        for evaluation in checked.study.evaluations
        if isinstance(evaluation, str)
        for name in sets_of(evaluation, checked.study.settings)
    )
    sets = [*(by_path[path].name for path in paths if path in by_path), *of_trials, *of_evaluations]
    paths += [name for trial in trials for name in trial.selection.files]
    paths += [one.path for one in checked.study.own_files]
    paths += filter(None, (getattr(source, "file", "") for source in sources))
    paths += [one.vectors for one in checked.study.own_baselines.values() if one.vectors]
    return Needs(
        sets=tuple(dict.fromkeys(sets)),
        texts=tuple(dict.fromkeys(path for path in paths if path not in by_path)),
        datasets=tuple(dict.fromkeys(on_hub)),
        models=tuple(models_of_study(checked)),
    )


def _sets_of_trial(trial: Trial) -> Iterator[str]:
    yield from (name for name in trial.selection.sets if name in catalogue())
    if trial.method.needs_synonyms:
        yield "wordnet"
    if trial.replayed.recipe != "none":
        yield from sets_of_recipe(trial.replayed.recipe)
        yield from (name for name in (trial.replayed.labelled,) if name in catalogue())
