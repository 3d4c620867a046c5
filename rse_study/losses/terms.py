"""Manipulation checks of the terms of losses, by the name in metrics."""

from rse_study.results.manipulation import LIMITS, Checks, ManipulationCheck


def share_checks(name: str, part: str) -> Checks:
    """Return the checks of a term's share in the gradient's norm and in the loss."""
    measure, left = "{} of the gradients of all terms", f"the row without {part}"
    return (
        ManipulationCheck(f"gradient_share/{name}", part, measure, *LIMITS["gradient_share/"], left),
        ManipulationCheck(f"loss_share/{name}", part, "{} of the loss", *LIMITS["loss_share/"], left),
    )


TERMS: dict[str, Checks] = {
    "contrastive": share_checks("contrastive", "L_con"),
    "adversarial": share_checks("adversarial", "lambda1 L_con(z_adv, {z_pos})"),
    "rtd": (
        *share_checks("rtd", "lambda2 L_RTD"),
        ManipulationCheck(
            "rtd/replaced", "the generator G", "which replaces {} of the tokens",
            *LIMITS["rtd/replaced"], "L_RTD with nothing to detect",
        ),
        ManipulationCheck(
            "rtd/detected", "the discriminator D", "which detects {} of the replaced tokens",
            *LIMITS["rtd/detected"], "L_RTD that asks for a rate alone",
        ),
    ),
    "virtual": share_checks("virtual", "lambda F"),
    "align": share_checks("align", "the alignment of both views"),
    "masked_lm": share_checks("masked_lm", "the masked LM"),
}  # fmt: skip
"""Terms of the methods of the papers; a method adds `share_checks` of a term of its own to its `checks`."""
