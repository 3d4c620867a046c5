"""Validation of a study as a whole, which finds every problem before it starts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rse_study.data import data_dir, study_folders
from rse_study.data.hub_models import local_name
from rse_study.downstream import read_evaluation
from rse_study.errors import InputError, InputErrors, refuse
from rse_study.evaluation.evaluations import Evaluation
from rse_study.results.row_names import names_of_rows
from rse_study.search.state import most_cells_by_stage
from rse_study.study.checking import RULES, RULES_OF_TRIALS, broken_rules, edges, search_methods
from rse_study.study.checking import rules_of_search as rules_of_search  # enters its rules
from rse_study.study.checking.rules import own_evaluations
from rse_study.study.definition.config import Grid, Study
from rse_study.study.definition.content import PartialStudy, partial_study, read_content
from rse_study.study.definition.domains import Domain
from rse_study.study.definition.reading import build
from rse_study.study.definition.resolution import resolve_space
from rse_study.study.definition.rows import Row, rows_of
from rse_study.study.definition.space import Space
from rse_study.training.trial import Trial

OWN = (own_evaluations, search_methods.own_sampler, search_methods.own_rule)
"""rules of classes that a study names, each of the study and the folder of its file"""


@dataclass(frozen=True)
class CheckedStudy:
    """A study that can run, and the warnings about it."""

    study: Study
    space: Space[Trial]
    warnings: tuple[str, ...]
    rows: tuple[Row, ...] = ()
    """all trials of a grid; empty for a search"""
    rungs: tuple[int, ...] = ()
    """optimiser steps at which a cell of the search may be stopped"""
    where: str = ""
    """file it was read from"""

    @property
    def base(self) -> Trial:
        """The study's base, without its generator if no row replaces tokens."""
        base, methods = self.study.base, [row.trial.method for row in self.rows]
        if not base.method.generator or not methods or any(method.generator for method in methods):
            return base
        return base.model_copy(update={"method": methods[0]})

    @property
    def folder(self) -> Path:
        """Folder of the study's file, where corpora and models are looked for first."""
        return Path(self.where).parent

    def read_evaluation(self, name: str, data_dir: Path) -> Evaluation:
        """Read an evaluation with its data and the study's settings.

        A masked LM is one in a folder of the study, if there is such a folder.
        """
        attacks, folders = self.study.attacks, study_folders(self.folder, data_dir)
        if own := next((one for one in self.study.own_files if one.evaluation == name), None):
            return own.read(*folders)
        masked_lm = local_name(attacks.masked_lm, *folders)
        attacks = attacks.model_copy(update={"masked_lm": masked_lm})
        return read_evaluation(name, data_dir, replace(self.study.settings, attacks=attacks))

    def own_fingerprints(self) -> dict[str, str]:
        """Return today's fingerprints of evaluations on own files that are here."""
        found = dict[str, str]()
        for one in self.study.own_files:
            with suppress(InputError):
                found[one.evaluation] = one.read(*study_folders(self.folder, data_dir())).fingerprint
        return found

    @property
    def num_cells(self) -> int:
        """Number of planned cells; for a search the most there may be."""
        if self.rows:
            return len(self.rows) * len(self.study.all_seeds)
        return sum(most_cells_by_stage(self.study.search_settings, len(self.space.axes)).values())


def read_study(path: Path, overrides: Sequence[str] = (), max_hours: float | None = None) -> CheckedStudy:
    """Read and check the study in a YAML file; raise InputErrors with every problem.

    Of a search, a limit in device hours is its budget (0: none).
    """
    content = read_content(path, overrides)
    budget, is_limited = content.get("search_budget") or {}, max_hours is not None
    if is_limited and not content.get("grid") and (max_hours or budget) and isinstance(budget, dict):
        content["search_budget"] = budget | {"device_hours": max_hours}
    return check_content(content, where=str(path))


def check_content(content: dict[str, Any], *, where: str) -> CheckedStudy:
    """Build and check the study in a mapping; raise InputErrors with every problem."""
    try:
        return check_study(build(Study, content, where=where), where=where)
    except InputErrors as error:
        problems, partial = list(error.problems), partial_study(content, where)
        if partial is not None and partial.dropped:
            problems += [*partial.further, *_check_parts(partial, where=where)[2]]
        raise InputErrors(problems) from None


def readable_part(path: Path, overrides: Sequence[str]) -> tuple[CheckedStudy, PartialStudy] | None:
    """Return the valid parts of a study, so that its data can be checked, too."""
    partial = partial_study(read_content(path, overrides))
    if partial is None:
        return None
    where, study = str(path), partial.study
    rows = () if partial.lacks("base", "grid") else _check_parts(partial, where=where)[1]
    return CheckedStudy(study, Space(study.base, ()), (), rows, (), where), partial


def check_study(study: Study, *, where: str) -> CheckedStudy:
    """Check a study as a whole; raise InputErrors with every problem found."""
    space, rows, problems = _check_parts(PartialStudy(study), where=where)
    refuse(problems)
    warnings = tuple(_warnings(study, space, rows, Path(where).parent))
    return CheckedStudy(study, space, warnings, rows, search_methods.rungs(study), where)


CheckedParts = tuple[Space[Trial], tuple[Row, ...], list[InputError]]
"""Space and rows as far as they can be read, and every problem."""


def _check_parts(partial: PartialStudy, *, where: str) -> CheckedParts:
    """Check everything but single fields, except what depends on fields that could not be read."""
    study = partial.study
    of_file: dict[str, Any] = {"where": where, "broken": partial.broken}
    problems = broken_rules(RULES, study, **of_file) + broken_rules(OWN, study, Path(where).parent, **of_file)
    if partial.lacks("base"):
        return Space(study.base, ()), (), problems + _settings_of_rows(partial, where)
    if study.grid is None:
        space, rows, found = _check_search(study, where, is_whole=not partial.lacks("search"))
    else:
        space, rows, found = _check_grid(study.base, study.grid, where, is_whole=not partial.lacks("grid"))
    problems += found
    if not found and not partial.lacks("search", "grid"):
        problems += broken_rules(RULES_OF_TRIALS, study, space, rows, **of_file)
    problems += broken_rules(
        [search_methods.measured_at_rungs, search_methods.alike_at_rungs], study, space, **of_file
    )
    return space, rows, problems


def _check_search(study: Study, where: str, *, is_whole: bool) -> CheckedParts:
    domains: Mapping[str, Domain] = study.search or {}
    if not is_whole:  # the parent of an axis may be unreadable
        domains = {name: domain for name, domain in domains.items() if set(domain.when) <= set(domains)}
    space, problems = resolve_space(study.base, domains, where=where)
    problems = problems + edges.check_edges(space, where=where)
    return space, (), problems or edges.flat_axes(space, where=where)


def _check_grid(base: Trial, grid: Grid, where: str, *, is_whole: bool) -> CheckedParts:
    space, problems = resolve_space(base, grid.domains, where=where, at=grid.at)
    if not is_whole:
        return space, (), problems
    rows, found = rows_of(grid, space, where=where)
    problems = problems + found
    return space, rows, problems or edges.flat_grid(space, rows, where=where)


def _settings_of_rows(partial: PartialStudy, where: str) -> list[InputError]:
    """Return what is wrong with rows and axes over a base of which single fields are not readable."""
    grid = partial.study.grid
    if "base" in partial.broken or ("base", "method") in partial.dropped:
        return []  # which fields there are is not known
    if grid is None:
        return _check_search(partial.study, where, is_whole=False)[2]
    space, problems = resolve_space(partial.study.base, grid.domains, where=where, at=grid.at)
    return problems + rows_of(grid, space, where=where)[1]


def _warnings(study: Study, space: Space[Trial], rows: Sequence[Row], folder: Path) -> list[str]:
    if study.grid is not None:
        names = names_of_rows([(number, row.label, row.proposal) for number, row in enumerate(rows)])
        trials = {name: [row.trial] for name, row in zip(names, rows, strict=True)}
        starts = list(_starts_without_baselines(study, rows))
        return edges.risks_among(row.trial for row in rows) + edges.inert_parts(trials) + starts
    warnings = edges.risks_of_saturation(space) + edges.inert_parts(edges.rows_of_search(space))
    if space.base_point is None:
        warnings.append("the base lies outside the space, so it is not among the trials")
    warnings += search_methods.sampler_warnings(study, folder)
    if study.evaluations and study.confirm is None:
        warnings.append(
            "evaluations are of confirmed trials, and nothing is confirmed: none will be measured"
        )
    return warnings


def _starts_without_baselines(study: Study, rows: Sequence[Row]) -> Iterator[str]:
    own, of_base = study.base.encoder.name, [one for one in study.baselines if isinstance(one, str)]
    measured = [one for one in of_base if one != "token_overlap"]
    others = list(dict.fromkeys(row.trial.encoder.name for row in rows if row.trial.encoder.name != own))
    if others and measured:
        yield (
            f"baselines = {', '.join(measured)}: measured on {own}, with which rows that start from "
            f"{', '.join(others)} cannot be compared. Keep token_overlap alone, or give each encoder a study"
        )
