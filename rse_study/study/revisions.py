"""Permitted changes of an edited study: it may grow, and its results stay valid."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter

from rse_study.errors import InputError, InputErrors, refuse
from rse_study.results.study_record import StudyRecord
from rse_study.search.stopping import EarlyStopping
from rse_study.spec import Spec
from rse_study.study.definition.config import REMOVED, Study
from rse_study.study.definition.parts import Sampler
from rse_study.training.trial import Trial

StudyKind = Literal["grid", "search"]
Section = dict[str, Any] | None
ABSENT = "absent"
GROWS = "may grow, and not shrink"


@dataclass(frozen=True)
class ForbiddenChange:
    """A changed setting that must stay as it is."""

    path: str
    old: Any
    new: Any
    rule: str = "must stay"


FieldChanges = Iterator[str | ForbiddenChange]  # words about a change, or what forbids it
ChangeRule = Callable[[str, Any, Any, StudyKind], FieldChanges]


def change_between(old: StudyRecord, new: StudyRecord) -> str:
    """Describe how `new` differs from `old`; empty for the same question and plan.

    Where a study runs and what it may cost do not count. InputErrors name every forbidden path.
    """
    if old.kind != new.kind:
        raise InputErrors([_problem(ForbiddenChange("kind", old.kind, new.kind), new.name)])
    words: list[str] = []
    refused: list[ForbiddenChange] = []
    for name in Study.model_fields:
        before, now = (_value_of(record.resolved, name) for record in (old, new))
        if before == now:
            continue
        for change in CHANGE_RULES.get(name, _stays)(name, before, now, new.kind):
            (words if isinstance(change, str) else refused).append(change)  # type: ignore[arg-type]
    gone = ((name, old.resolved.get(name)) for name in REMOVED)
    refused += [ForbiddenChange(*one, ABSENT, "this version has no such setting") for one in gone if one[1]]
    refused += _reordered(old, new)
    refuse([_problem(problem, new.name, old.file) for problem in refused])
    words.extend(_measured_again(old.fingerprints, new.fingerprints))
    return "; ".join(words)


def change_to(frozen: StudyRecord, study: Study) -> str:
    """Describe how a file's study differs from the frozen one, as far as settings go."""
    kind = "search" if study.grid is None else "grid"
    now = {"kind": kind, "name": study.name, "resolved": study.resolved()}
    return change_between(frozen, frozen.model_copy(update=now))


def _reordered(old: StudyRecord, new: StudyRecord) -> Iterator[ForbiddenChange]:
    """Refuse another order of axes or choices, on which a search's draws depend."""
    if new.kind != "search":
        return
    before, now = ({axis.name: list(axis.choices) for axis in record.axes} for record in (old, new))
    if list(before) != list(now) and set(before) == set(now):
        yield ForbiddenChange("search", list(before), list(now), "keeps the order of its axes")
    for name in before.keys() & now.keys():
        if before[name] != now[name] and sorted(map(str, before[name])) == sorted(map(str, now[name])):
            yield ForbiddenChange(f"search.{name}", before[name], now[name], "keeps the order of its choices")


def _measured_again(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """Yield evaluations whose data or settings changed; note fingerprints that an old study lacks."""
    if new and not old:
        yield "fingerprints of its evaluations noted"
    names = [name for name in new if name in old and new[name] != old[name]]
    if names:
        yield f"measured again: {', '.join(names)}"


def _value_of(resolved: Mapping[str, Any], name: str) -> Any:
    """Return a field of a frozen study, or its default if the study was frozen without it."""
    if name in resolved:
        return resolved[name]
    info = Study.model_fields[name]
    default = None if info.is_required() else info.get_default(call_default_factory=True)
    return TypeAdapter(Any).dump_python(default, mode="json")


def _stays(path: str, old: Any, new: Any, kind: StudyKind) -> FieldChanges:
    yield from _differences(_leaves(old, path), _leaves(new, path))


def _base(path: str, old: Any, new: Any, kind: StudyKind) -> FieldChanges:
    before, now = _leaves_before(Trial.model_validate(new), path, old), _leaves(new, path)
    unit, amount = f"{path}.budget.unit", f"{path}.budget.amount"
    if kind == "grid" and before.get(unit) == now[unit]:
        yield from _grows(amount, before.pop(amount), now.pop(amount), kind)
        if all(Trial(budget=one["budget"]).report_every == one["report_every"] for one in (old, new)):
            for leaves in (before, now):
                leaves.pop(f"{path}.report_every")  # nobody's choice: it follows the budget
    yield from _differences(before, now)


def _search(path: str, old: Section, new: Section, kind: StudyKind) -> FieldChanges:
    """Keep all of a search; compare variants by name, too, since one may have no settings."""
    yield from _stays(path, old, new, kind)
    for name in set(old or {}) & set(new or {}):
        before, now = ((axes or {})[name].get("variants", {}) for axes in (old, new))
        if set(before) != set(now):
            yield ForbiddenChange(f"{path}.{name}.variants", sorted(before), sorted(now))


def _sampler(path: str, old: Any, new: Any, kind: StudyKind) -> FieldChanges:
    yield from _differences(_leaves_before(Sampler.model_validate(new), path, old), _leaves(new, path))


def _leaves_before(spec: Spec, path: str, old: Any) -> dict[str, Any]:
    """Return all leaves; a field the study was frozen without had its neutral value."""
    return dict(_neutral_leaves(spec, path)) | _leaves(old, path)


def _early_stopping(path: str, old: Any, new: Any, kind: StudyKind) -> FieldChanges:
    """Keep the rule as it was, except for fields added or removed since it was frozen."""
    old = old and dict(old)
    if old and (let_run := old.pop("let_run", 0)):  # of earlier versions
        yield ForbiddenChange(f"{path}.let_run", let_run, ABSENT, "this version lets no trial run on")
    elif old is None or new is None:
        yield from _differences(_leaves(old, path), _leaves(new, path))
    else:
        spec: Spec = TypeAdapter(EarlyStopping).validate_python(new)
        yield from _differences(_leaves_before(spec, path, old), _leaves(new, path))


def _differences(before: dict[str, Any], now: dict[str, Any]) -> FieldChanges:
    for leaf in {**before, **now}:
        old, new = before.get(leaf, ABSENT), now.get(leaf, ABSENT)
        if old != new:
            yield ForbiddenChange(leaf, old, new)


def _grows(path: str, old: Any, new: Any, kind: StudyKind) -> FieldChanges:
    if new > old:
        yield f"{path}: {old} -> {new}"
    elif new < old:
        yield ForbiddenChange(path, old, new, GROWS)


def _free(path: str, old: Any, new: Any, kind: StudyKind) -> FieldChanges:
    if old != new:
        yield f"{path} changed" if path == "question" else f"{path}: {_shown(old)} -> {_shown(new)}"


def _leaf_by_leaf(path: str, old: Any, new: Any, kind: StudyKind) -> FieldChanges:
    """Allow every change: the scores it affects are measured again."""
    before, now = _leaves(old, path), _leaves(new, path)
    yield from (f"{leaf}: {before.get(leaf)} -> {now[leaf]}" for leaf in now if before.get(leaf) != now[leaf])


def _search_budget(path: str, old: Any, new: Any, kind: StudyKind) -> FieldChanges:
    """Allow every change; limits of earlier versions, which are 0, are none."""
    before, now = ({name: one for name, one in (given or {}).items() if one} for given in (old, new))
    yield from _free(path, before or None, now or None, kind)


def _seeds(path: str, old: Any, new: Any, kind: StudyKind) -> FieldChanges:
    yield from _stays(path, old, new, kind) if kind != "grid" else _chosen_seeds(path, old, new, kind)


def _chosen_seeds(path: str, old: Any, new: Any, kind: StudyKind) -> FieldChanges:
    """Allow every change of how seeds are chosen: of a list, from it to bounds, back, or of the bounds."""
    are_bounded = [isinstance(seeds, dict) for seeds in (old, new)]
    change: ChangeRule = _leaf_by_leaf if all(are_bounded) else _free if any(are_bounded) else _counted
    yield from change(path, old, new, kind)


def _confirm(path: str, old: Section, new: Section, kind: StudyKind) -> FieldChanges:
    if old is None or new is None:
        yield "confirmation added" if new else ForbiddenChange(path, old, ABSENT, GROWS)
        return
    yield from _grows(f"{path}.num_best", old["num_best"], new["num_best"], kind)
    before, now = old["seeds"], new["seeds"]
    if isinstance(before, list) and isinstance(now, list) and not set(before) <= set(now):
        yield ForbiddenChange(f"{path}.seeds", before, now, GROWS)
    else:
        yield from _chosen_seeds(f"{path}.seeds", before, now, kind)
    if (old["baseline"], new["baseline"]) == ("none", "base"):
        yield f"{path}.baseline added"
    else:
        yield from _stays(f"{path}.baseline", old["baseline"], new["baseline"], kind)


def _ablation_path(path: str, old: Section, new: Section, kind: StudyKind) -> FieldChanges:
    if old is None or new is None:
        rule = "may be added, and not removed"
        yield "ablation path added" if new else ForbiddenChange(path, old, ABSENT, rule)
        return
    yield from _free(f"{path}.order", old["order"], new["order"], kind)
    yield from _counted(f"{path}.seeds", old["seeds"], new["seeds"])


def _grid(path: str, old: dict[str, Any], new: dict[str, Any], kind: StudyKind) -> FieldChanges:
    for key in ("axes", "factorial"):
        once, today = old.get(key, {}), new.get(key, {})
        for name in {**once, **today}:
            before, now = once.get(name), today.get(name)
            is_alike = before and now and set(before) == set(now) and before["into"] == now["into"]
            if is_alike and "variants" not in now:
                yield from _counted(f"values of {name}", _values(before), _values(now))
            else:
                yield from _stays(f"{path}.{key}.{name}", before, now, kind)
    yield from _free(f"{path}.resolution", old.get("resolution"), new.get("resolution"), kind)
    yield from _named("rows", old["rows"], new["rows"])
    yield from _free(f"{path}.baseline", old.get("baseline", ""), new["baseline"], kind)


def _named(
    noun: str, old: dict[str, Any] | None, new: dict[str, Any] | None, kind: StudyKind = "grid"
) -> FieldChanges:
    """Allow every change of things with a name."""
    old, new = old or {}, new or {}
    yield from _counted(noun, list(old), list(new))
    if num_changed := sum(old[label] != new[label] for label in old if label in new):
        yield f"{noun} changed: {num_changed}"


def _counted(noun: str, old: Sequence[Any], new: Sequence[Any], kind: StudyKind = "grid") -> FieldChanges:
    for word, some, others in (("added", new, old), ("removed", old, new)):
        number = sum(item not in others for item in some)
        if number:
            yield f"{noun} {word}: {number}"


CHANGE_RULES: dict[str, ChangeRule] = {
    "question": _free,
    "keep_models": _free,
    "keep_items": _free,
    "paper": _free,
    "margin": _free,
    "base": _base,
    "early_stopping": _early_stopping,
    "grid": _grid,
    "contrasts": _named,
    "search": _search,
    "num_trials": _grows,
    "search_budget": _search_budget,
    "seeds": _seeds,
    "evaluations": _counted,
    "attacks": _leaf_by_leaf,
    "fine_tuning": _leaf_by_leaf,
    "tasks": _leaf_by_leaf,
    "baselines": _counted,
    "confirm": _confirm,
    "sampler": _sampler,
    "ablation_path": _ablation_path,
}
"""Rules of change, by field; every other field stays."""


def _values(axis: dict[str, Any]) -> Sequence[Any]:
    return axis["choice"] if "choice" in axis else range(axis["int"][0], axis["int"][1] + 1)


def _neutral_leaves(spec: Spec, path: str) -> Iterator[tuple[str, Any]]:
    for name, info in type(spec).model_fields.items():
        extra, value = info.json_schema_extra, getattr(spec, name)
        if isinstance(extra, dict) and "neutral" in extra:
            neutral = extra["neutral"]
            content = neutral.model_dump(mode="json") if isinstance(neutral, Spec) else neutral
            yield from _leaves(content, f"{path}.{name}").items()
        elif isinstance(value, Spec):
            yield from _neutral_leaves(value, f"{path}.{name}")


def _leaves(content: Any, path: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        return {path: ABSENT if content is None else content}
    return {leaf: value for key in content for leaf, value in _leaves(content[key], f"{path}.{key}").items()}


def _problem(refused: ForbiddenChange, name: str, file: str = "") -> InputError:
    old = _shown(refused.old)
    rule = f"was {old} when the study was frozen{f' from {file}' if file else ''}, and {refused.rule}"
    restored = f", or restore {old}" if refused.old != ABSENT else ", or remove it"
    # A study whose seeds raced, for instance, in an earlier version: its file is refused now.
    is_gone = refused.path in ("early_stopping.let_run", *REMOVED) or refused.path.startswith("base.watched.")
    is_gone |= refused.path == "seeds" and len(refused.old) > 1
    remedy = f"Give the study another name{'' if is_gone else restored}"
    return InputError(f"{refused.path} = {_shown(refused.new)}", where=name, rule=rule, remedy=remedy)


def _shown(value: Any) -> str:
    return value if value == ABSENT else json.dumps(value, ensure_ascii=False)
