"""Settings named by `preset: NAME`: the papers' other systems, and published code."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rse_study.errors import InputError
from rse_study.methods import METHODS
from rse_study.registry import Registry, did_you_mean
from rse_study.spec import fraction

KEY = "preset"
# The published code clips no eta: a radius larger than any reach stands for no ball.
_NO_BALL = 1e3
_SIMCSE: dict[str, Any] = {
    "blend.pgd.num_steps": 0,
    "blend.fgsm.num_steps": 0,
    "masks.phi": 0.0,
    "lambda1": 0.0,
    "lambda2": 0.0,
    "z_adv_eta": "without",
}


@dataclass(frozen=True)
class Preset:
    """Settings of one method."""

    method: str
    settings: Mapping[str, Any]
    """values by path below the method"""
    about: str
    """the system they stand for, and what they cannot reproduce"""


PRESETS: Registry[Preset] = Registry(
    "preset",
    {
        "simcse": Preset(
            "robust_sent_embed",
            _SIMCSE,
            "SimCSE (Gao et al. 2021): no adversarial view, no replaced-token detection.",
        ),
        "simcse_supervised": Preset(
            "robust_sent_embed",
            {**_SIMCSE, "hard_negatives": "required"},
            "Supervised SimCSE (Gao et al. 2021, eq 5): with `views` of three columns, such as its NLI triplets.",
        ),
        "robust_embed": Preset(
            "robust_sent_embed",
            {"token_level.presence": "absent", "masks.phi": 0.0, "lambda2": 0.0, "z_adv_eta": "without"},
            "RobustEmbed: the sentence-level perturbation alone, no eta, no replaced-token detection.",
        ),
        "uscal": Preset(
            "robust_sent_embed",
            {
                "token_level.presence": "absent",
                "blend.pgd.num_steps": 0,
                "blend.fgsm.num_steps": 1,
                "blend.rho": 0.0,
                "masks.phi": 0.0,
                "lambda2": 0.0,
                "z_adv_eta": "without",
                "second_positive": "none",
            },
            "USCAL (Miao et al. 2021) as its users describe it: one FGSM step, and the adversarial view in a term of "
            "its own, weighted by lambda1.",
        ),
        "rse_released": Preset(
            "robust_sent_embed",
            {
                "blend.weighs": "fgsm",
                "blend.trajectories": "joint_state",
                "blend.pgd.num_steps": 5,
                "blend.pgd.step_size": 1e-6,
                "blend.pgd.ball.radius": 1e-6,
                "blend.fgsm.num_steps": 5,
                "blend.fgsm.step_size": 9.7e-4,
                "blend.fgsm.ball.radius": 1e-6,
                "blend.rho": 0.5,
                "token_level.presence": "present",
                "token_level.step_size": 2e-2,
                "token_level.ball.radius": _NO_BALL,
                "token_level.scaling": "after",
                "token_level.write_back": "accumulate",
                "rtd.positions": "everywhere",
                "rtd.choice": "argmax",
                "rtd.reduction": "mean_padding",
                "rtd.h": "after_head",
                "lambda1": 1 / 128,
                "lambda2": 0.005,
                "head": "batch_norm",
                "perturbed_tokens": "all",
                "delta_gradient": "without_eta",
                "inner_dropout": "eval",
                "second_positive": "none",
            },
            "RobustSentEmbed's published code, commit b4382370, as far as switches say it: delta saturates on a bound "
            "of 1e-6, rho weighs FGSM at every step, eta is rescaled after its step and never clipped, no second "
            "positive. It cannot be had, and mostly should not: the output of the embedding block is perturbed and "
            "embedded a second time; pairs of the inner loop mix anchors and positives of other sentences; eta is "
            "normalised in l2 and delta in linf; eta's start is divided by the norm of the whole batch, and V, to "
            "which whole etas are added, is shared by all runs of a process; the adversarial term takes the second "
            "view as its anchor and adversarial views as negatives; weight gradients of the inner loop stay in the "
            "optimiser; delta0 is normal; the head is twice as wide; D has two outputs.",
        ),
        "l2p_released": Preset(
            "l2p_csr",
            {
                "masks.num_steps": 4,
                "masks.step_size": 0.1,
                "masks.token_step": "sign",
                "masks.features": "shared",
            },
            "L2P-CSR's published code as far as switches say it. It passes no attention mask under its masks, which "
            "cannot be had: padding would change what is computed.",
        ),
    },
)


def meant(word: str, key: str = KEY) -> str:
    """Return the nearest preset or method, with its key if that is another one.

    >>> meant("robust_sent_embed"), meant("SimCSE")
    ('Did you mean `name: robust_sent_embed`?', "Did you mean 'simcse'?")
    """
    keys = {**dict.fromkeys(PRESETS, KEY), **dict.fromkeys(METHODS, "name")}
    plain = word.lower().replace("-", "_")
    near = plain if plain in keys else next(iter(difflib.get_close_matches(plain, keys, n=1)), "")
    if near and keys[near] != key:
        return f"Did you mean `{keys[near]}: {near}`?"
    return did_you_mean(near or word, [name for name in keys if keys[name] == key])


def _preset(name: str, *, where: str = "") -> Preset:
    if name not in set(PRESETS):
        raise InputError(f"no such preset {name!r}", where=where, remedy=meant(name))
    return PRESETS.get(name)


def with_preset(given: Any) -> Any:
    """Replace `preset` in a method's mapping by its settings, or raise InputError.

    >>> with_preset({"preset": "l2p_released"})["masks"]["num_steps"]
    4
    """
    if not isinstance(given, dict) or KEY not in given:
        return given
    preset = _preset(str(given[KEY]), where=f"method.{KEY}")
    name = given.get("name", preset.method)
    if name != preset.method:
        rule, remedy = f"a preset of {preset.method}", f"Name it, or leave the name {name!r} out"
        raise InputError(f"method.{KEY} = {given[KEY]!r}", rule=rule, remedy=remedy)
    merged: dict[str, Any] = {key: value for key, value in given.items() if key != KEY}
    merged["name"] = preset.method
    for path, value in preset.settings.items():
        merged = _put(merged, path.split("."), value, preset=str(given[KEY]), path=path)
    return merged


def fields_of(name: str, method: str, *, where: str = "") -> dict[str, Any]:
    """Return what a preset writes over a base of this method, by path below a trial."""
    preset = _preset(name, where=where)
    if preset.method != method:
        return {"method": {"name": preset.method, KEY: name}}
    return {f"method.{path}": value for path, value in preset.settings.items()}


def _put(content: dict[str, Any], keys: list[str], value: Any, *, preset: str, path: str) -> dict[str, Any]:
    first, *rest = keys
    below = content.get(first)
    if rest:
        inner = _put(below if isinstance(below, dict) else {}, rest, value, preset=preset, path=path)
        return content | {first: inner}
    if first in content and fraction(content[first]) != value:
        what = f"method.{path} = {content[first]!r}"
        rule = f"preset {preset!r} writes it too ({value!r})"
        raise InputError(what, rule=rule, remedy="Keep one of them")
    return content | {first: value}
