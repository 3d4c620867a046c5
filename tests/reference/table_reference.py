"""What V[vocab d], the table of token-level perturbations, becomes after a batch (its `write_back`)."""

from torch import Tensor


def write_back(
    table: Tensor,
    ids: Tensor,
    perturbable: Tensor,
    eta_start: Tensor,
    eta_end: Tensor,
    *,
    rule: str = "mean",
    rows: list[int] | None = None,
) -> Tensor:
    """V after the batch; only words seen at perturbable positions change.

    `mean` over the word's occurrences in the batch, then overwrite; `none` V as it was. Our readings of the
    two that no paper defines: `last` is the occurrence in the highest row of the global batch (`rows`,
    default 0..b-1), there the rightmost; `accumulate` is V[w] += sum over occurrences of eta_end - eta_start,
    with the projected eta_start.
    """
    if rule not in ("mean", "last", "accumulate", "none"):
        raise ValueError(rule)
    new = table.clone()
    order = sorted(range(len(ids)), key=lambda s: s if rows is None else rows[s])
    seen: dict[int, list[tuple[int, int]]] = {}
    for s in order:
        for i in range(len(ids[s])):
            if bool(perturbable[s][i]):
                seen.setdefault(int(ids[s][i]), []).append((s, i))
    for word, places in seen.items():
        if rule == "mean":
            new[word] = sum(eta_end[s][i] for s, i in places) / len(places)
        elif rule == "last":
            new[word] = eta_end[places[-1][0]][places[-1][1]]
        elif rule == "accumulate":
            new[word] = table[word] + sum(eta_end[s][i] - eta_start[s][i] for s, i in places)
    return new
