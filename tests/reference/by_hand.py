"""Numbers worked out by hand, beside what a reference says."""

import torch


def numbers(*values) -> torch.Tensor:
    """In float64."""
    return torch.tensor(values, dtype=torch.float64)


def near(actual, expected) -> None:
    """Equal but for rounding."""
    torch.testing.assert_close(torch.as_tensor(actual, dtype=torch.float64), expected, rtol=1e-12, atol=1e-12)
