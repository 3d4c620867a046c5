"""Manipulation checks of the terms of losses, by the name in metrics."""

from rse_study.results.manipulation import LIMITS, Checks, ManipulationCheck


def share_checks(name: str, part: str) -> Checks:
    """Return the checks of a term's share in the gradient's norm and in the loss."""
    return tuple(
        ManipulationCheck(f"{share}{name}", part, *LIMITS[share], f"the row without {part}")
        for share in ("gradient_share/", "loss_share/")
    )


TERMS: dict[str, Checks] = {
    "contrastive": share_checks("contrastive", "L_con"),
    "adversarial": share_checks("adversarial", "lambda1 L_con(z_adv, {z_pos})"),
    "rtd": (
        *share_checks("rtd", "lambda2 L_RTD"),
        ManipulationCheck(
            "rtd/replaced", "the generator G", *LIMITS["rtd/replaced"], "L_RTD with nothing to detect"
        ),
        ManipulationCheck(
            "rtd/detected", "the discriminator D", *LIMITS["rtd/detected"], "L_RTD that asks for a rate alone"
        ),
    ),
    "virtual": share_checks("virtual", "lambda F"),
    "align": share_checks("align", "the alignment of both views"),
    "masked_lm": share_checks("masked_lm", "the masked LM"),
}  # fmt: skip
"""Terms of the methods of the papers; a method adds `share_checks` of a term of its own to its `checks`."""
