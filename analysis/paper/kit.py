"""Texts for a paper about a study: checklist, methods, BibTeX, replay."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import pandas as pd

from analysis.comparison import Comparison
from analysis.contents import Contents, label_of
from analysis.cost import costs
from analysis.formats import show_number, show_value
from analysis.phrases import counted, join_words, show_duration
from analysis.search import base_values, trials
from rse_study.results.comparing.criterion import criterion_of
from rse_study.results.study_record import AxisRecord

CPU_FAMILY = re.compile(r"\b\w+ \d+ \d+ (?=\S)")  # the maker's numbers before the model's name
BY_HAND = "*Not in the ledger; answer by hand.*"
EXPLAINED = (
    "`report` shows every number again, except those of single attacked inputs, whose texts are not in the archive. "
    "`replay` retrains one cell (here trial {}) and compares all its numbers: bit by bit on the same kind of "
    "machine, otherwise to 1e-6. The archive has the weights of an encoder or generator that the study trained, if "
    "the author still had them; otherwise they are retrained, and `replay` says so if they differ. `data fetch` "
    "needs a connection, and says sizes first."
)
HEAD = "Answers come from the study's ledger. Questions that it cannot answer are marked, and left to you."


@dataclass(frozen=True)
class KitSource:
    """A study's frames, its comparison and its citation."""

    contents: Contents
    comparison: Comparison | None
    citation: str

    @property
    def complete(self) -> pd.DataFrame:
        cells = self.contents.current
        return cells[cells["status"] == "complete"]

    def of_cells(self, name: str) -> list[Any]:
        """Return the different values of a key in the provenance of complete cells."""
        found = (where.get(name) for where in self.complete["provenance"])
        return list(dict.fromkeys(value for value in found if isinstance(value, str | int | float)))


WriteAnswer = Callable[[KitSource], str]


def checklist(source: KitSource) -> str:
    """Return the questions of ACL's and NeurIPS' checklists with answers, as Markdown."""
    lines = [f"# Reproducibility of {source.contents.study.name}", "", HEAD, ""]
    for question, where, answer in QUESTIONS:
        lines += [f"## {question}", "", f"({where})", "", answer(source) or BY_HAND, ""]
    return "\n".join(lines)


def how_compared(source: KitSource) -> str:
    """Return a paragraph on how rows were compared, to paste into a paper."""
    study, comparison = source.contents.study, source.comparison
    measure = label_of(study.objective)
    if comparison is None:
        return _how_confirmed(source, measure)
    counts = comparison.scores.table.notna().sum(axis=1)
    seeds = counted(int(counts.max()), "training seed") if len(counts) else "no training seed"
    if len(counts) and counts.min() < counts.max():
        seeds = f"{counts.min()} to {seeds}"
    if not comparison.baseline:
        return f"We report the mean and standard deviation of {measure} over {seeds}. No baseline was named."
    compared = [one for one in comparison.compared.values() if one is not None]
    if not compared:
        return f"Configurations were trained with {seeds}, too few for intervals."
    rule, every = comparison.scores.criterion, counted(len(compared), "row")
    exact = all(one.p_exact == one.p_exact for one in compared) and not rule.is_anytime
    parts = [
        f"Configurations were trained with {seeds} each and compared with {comparison.baseline} by {measure}, paired "
        f"by seed. {rule.sentence(len(compared))} The intervals hold simultaneously for {every} (Bonferroni).",
        rule.assumption,
        "P-values are those of the exact sign-flip test, adjusted by Holm's method." if exact else "",
        "Unless said otherwise, the intervals reflect variation over training seeds only, not over checkpoints or test "
        "items.",
    ]
    return " ".join(part for part in parts if part)


def _how_confirmed(source: KitSource, measure: str) -> str:
    study, plan = source.contents.study, source.contents.study.confirm_settings
    best = counted(plan.num_best, "best trial") if plan.num_best > 1 else "best trial"
    if study.tuned:
        best = f"best trial of each of the {len(study.tuned)} values of {study.settings.tune_each}"
    beside = " and the base setting" if plan.baseline == "base" else ""
    rule = criterion_of(study, source.contents.revisions, source.contents.cells)
    bounds = plan.until_decided
    seeds = f"{bounds.range_text} fresh seeds" if bounds else counted(len(plan.seeds), "fresh seed")
    return (
        f"We searched {counted(len(study.axes), 'hyperparameter')} with {counted(study.num_trials, 'trial')}, selected "
        f"by {measure}. The {best}{beside} were trained again with {seeds}, not used in the search; we report means "
        f"and, seed by seed, differences from the base. {rule.sentence()} The intervals reflect variation over "
        "training seeds only, not over checkpoints or test items."
    )


def bibtex(source: KitSource) -> str:
    """Return a BibTeX entry that cites the study and its software."""
    study, revisions = source.contents.study, source.contents.revisions
    year = str(revisions["at"].iloc[-1])[:4]
    title = (study.title or study.name).replace("{", "").replace("}", "")
    note = source.citation.replace("_", r"\_").replace("'", "")
    fields = {"title": f"{{{title}}}: a study run with rse\\_study", "year": year, "note": note}
    body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{study.name},\n{body}\n}}\n"


def how_to_replay(source: KitSource, archive: str) -> str:
    """Return the commands with which a stranger reads and replays the archive."""
    study = source.contents.study
    packages = _packages(source)
    pins = " ".join(
        f"'{name}=={version.partition('+')[0]}'" for name, version in packages.items() if name != "rse-study"
    )
    numbered = source.complete[source.complete["trial"] >= 0]
    cell = f"{numbered['trial'].iloc[0]}/{numbered['seed'].iloc[0]}" if len(numbered) else "TRIAL/SEED"
    return "\n".join(
        [
            f"# Replay {study.name}",
            "",
            "In an environment with rse_study, from the folder of this file (`pip` installs the versions of the runs):",
            "",
            *([f"    pip install {pins}"] if pins else []),
            f"    rse-study report {archive}",
            f"    rse-study data fetch --for studies/{study.name}/{study.name}.yaml",
            f"    rse-study replay {study.name} {cell}",
            "",
            fill(EXPLAINED.format(cell.replace("/", ", seed ")), 110),
            "",
            source.citation,
            "",
        ]
    )


def _infrastructure(source: KitSource) -> str:
    def said(name: str) -> str:
        return join_words(source.of_cells(name)) or "not recorded"

    if not source.of_cells("device"):
        return ""
    memory = join_words(f"{size:g} GiB" for size in source.of_cells("memory_gib")) or "not recorded"
    return (
        f"Device: {said('device')}; CPU: {CPU_FAMILY.sub('', said('processor'))}; memory of the machine: {memory}; "
        f"operating system: {said('system')}. Workers of a cell: {said('workers')}; CPU threads of each: "
        f"{said('threads')}; precision: {said('precision')}."
    )


def _budget(source: KitSource) -> str:
    known = costs(source.contents)
    if source.contents.attempts.empty:  # as after `doctor --rebuild`, which cannot know them
        known = {name: value for name, value in known.items() if not name.startswith(("attempts", "device"))}
    account = [f"* {name}: {value}" for name, value in known.items()]
    work = [float(where["work"]) for where in source.complete["provenance"] if "work" in where]
    more = [
        f"* training, all complete cells: {sum(work):.3g} x P x T operations (P parameters, T tokens of a batch)"
    ]
    return "\n".join([*account, *(more if work else [])])


def _runtime(source: KitSource) -> str:
    seconds = source.complete["duration_s"]
    if seconds.empty:
        return ""
    return (
        f"Training and scoring of a run (one configuration, one seed): {show_duration(seconds.median())} (median; "
        f"{show_duration(seconds.min())} to {show_duration(seconds.max())}, {counted(len(seconds), 'complete run')})."
    )


def _parameters(source: KitSource) -> str:
    found = source.of_cells("parameters")
    return f"{join_words(f'{int(number):,}' for number in found)} trained parameters." if found else ""


def _versions(source: KitSource) -> str:
    python = source.of_cells("python")
    named = [f"Python {version}" for version in python]
    return ", ".join([*named, *(f"{name} {version}" for name, version in _packages(source).items())])


def _packages(source: KitSource) -> dict[str, str]:
    """Return the packages of the newest run, or else of a complete cell."""
    runs = source.contents.provenance
    found = [runs[-1].get("packages", {})] if runs else []
    found += [where.get("packages", {}) for where in source.complete["provenance"]]
    return next((dict(one) for one in found if one), {})


def _settings(source: KitSource) -> str:
    study = source.contents.study
    lines = json.dumps(study.settings.base, indent=1, ensure_ascii=False).splitlines()
    return "\n".join(
        ["The base; rows and trials change the settings they name.", "", *(f"    {line}" for line in lines)]
    )


def _bounds(source: KitSource) -> str:
    study = source.contents.study
    if not study.axes:
        return "Nothing was searched; the table lists the rows."
    told = [f"* {axis.symbol or axis.name}: {_domain(axis)}" for axis in study.axes]
    settings = study.settings
    sampler = settings.sampler
    named = sampler.get("name") or sampler.get("class") or ""
    how = (
        f"{counted(study.num_trials, 'trial')}, including the base if it is a point of the space; the others were "
        f"proposed by {named}, seed {study.search_seed}"
        if study.kind == "search"
        else "a fraction of all combinations, of resolution " + str(settings.grid.resolution)
        if settings.grid.factorial
        else "every combination"
    )
    return "\n".join([*told, f"* {how}"])


def _domain(axis: AxisRecord) -> str:
    if axis.choices:
        return ", ".join(show_value(choice) for choice in axis.choices)
    return f"{show_value(axis.low)} to {show_value(axis.high)}{', logarithmic' if axis.log else ''}"


def _best(source: KitSource) -> str:
    contents = source.contents
    if contents.study.kind != "search":
        return ""
    table = trials(contents)
    if not table["best"].any():
        return ""
    row, base = table[table["best"]].iloc[0], base_values(contents)
    values = [
        f"{heading} {show_value(row[heading])} (base {show_value(base.get(axis.name))})"
        for axis, heading in zip(contents.study.axes, contents.study.headings, strict=True)
    ]
    return (
        f"Trial {row['trial']}: {join_words(values)}. The base's other settings: {contents.study.name}.yaml."
    )


def _selection(source: KitSource) -> str:
    study = source.contents.study
    dev, every = study.settings.of_base("selection.dev"), study.settings.of_base("selection.every")
    named = join_words(dev) if isinstance(dev, list | tuple) else dev
    kept = (
        f"Checkpoints were measured on {named or 'dev'} every {every} steps, the best kept. " if every else ""
    )
    return f"{kept}Configurations were compared by {label_of(study.objective)}. No test split was used for selection."


def _dev_beside_test(source: KitSource) -> str:
    study, evaluations = source.contents.study, source.contents.evaluations
    cells = source.complete[source.complete["stage"].isin(["grid", "confirm"])]
    if cells.empty:
        return ""
    rows = cells[["identity", "name", "objective"]]
    table = {label_of(study.objective): rows.groupby("name")["objective"].mean()}
    for measure in study.shown_measures:
        values = evaluations[evaluations["metric"] == measure.metric].set_index("subject")["value"]
        means = rows.assign(value=rows["identity"].map(values)).groupby("name")["value"].mean()
        table |= {measure.name: means} if means.notna().any() else {}
    return "\n".join(_markdown(pd.DataFrame(table).loc[list(dict.fromkeys(rows["name"]))]))


def _markdown(table: pd.DataFrame) -> Iterator[str]:
    yield f"| row | {' | '.join(map(str, table.columns))} |"
    yield "|---|" + "--:|" * len(table.columns)
    for name, values in table.iterrows():
        yield f"| {name} | {' | '.join(show_number(value) for value in values)} |"


def _data(source: KitSource) -> str:
    evaluations = source.contents.evaluations
    sizes = evaluations[["task", "split", "preset", "num_examples"]].drop_duplicates()
    told = [
        f"* {one.task}/{one.preset or one.split}: {counted(int(one.num_examples), 'item')}"
        for one in sizes.itertuples()
    ]
    prints = source.contents.study.fingerprints
    more = [f"* fingerprint of {name}: {value[:12]}" for name, value in sorted(prints.items())]
    return "\n".join([*told, *more])


def _by_hand(_: KitSource) -> str:
    return ""


QUESTIONS: Sequence[tuple[str, str, WriteAnswer]] = (
    ("How many parameters do the models have?", "ACL C1", _parameters),
    ("What computing infrastructure was used?", "ACL C1, NeurIPS 8", _infrastructure),
    ("What was the total computational budget?", "ACL C1, NeurIPS 8", _budget),
    ("What is the average run time of each model?", "EMNLP 2021 and later", _runtime),
    ("What are the bounds of each hyperparameter, and how many trials were there?", "ACL C2, NeurIPS 6", _bounds),
    ("What are the best-found hyperparameter values?", "ACL C2, NeurIPS 6", _best),
    ("What are the other settings of training?", "ACL C2, NeurIPS 6", _settings),
    ("How were they selected?", "ACL C2, NeurIPS 6", _selection),
    ("What is the validation score behind each test score?", "EMNLP 2021 and later", _dev_beside_test),
    ("What do the error bars mean, and over what was sampled?", "ACL C3, NeurIPS 7", how_compared),
    ("Which data and splits were used, and how large are they?", "ACL B6, NeurIPS 6", _data),
    ("Which packages were used, in which versions?", "ACL C4", _versions),
    ("Are code and results available?", "NeurIPS 5", lambda source: f"The archive beside this file. {source.citation}"),
    ("Were the creators of data and models cited, and their licences followed?", "ACL B1 to B3, NeurIPS 12", _by_hand),
    ("What do the data contain: personal information, languages, domains?", "ACL B4 and B5", _by_hand),
    ("What are the limits and risks of the work?", "ACL A1 and A2, NeurIPS 2 and 10", _by_hand),
)  # fmt: skip
