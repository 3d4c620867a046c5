"""Simpler published methods, each written on its own and plainly: what settings of the step must equal."""

import torch
from torch.nn.functional import logsigmoid, normalize

TAU, RADIUS, SIGMA = 0.05, 2.5e-2, 0.1


def simcse(networks, batch, run, step):
    """Unsupervised SimCSE: every sentence twice under different dropout masks, the rest of the batch as negatives."""
    z, z_pos = _views(networks, [_words(networks, batch)] * 2, batch, run, step)
    return _contrastive(z, [z_pos], z_pos).mean()


def robust_embed(networks, batch, run, step, *, rho, num_steps=2, alpha=6e-3, beta=4e-3, lambda1=0.3):
    """RobustEmbed: PGD and FGSM from one start, mixed by rho; rho = 1 is PGD alone, rho = 0 FGSM alone (linf)."""
    words = _words(networks, batch)
    delta = _delta(networks, words.detach(), batch, run, step, rho, num_steps, alpha, beta)
    z, z_pos, z_adv = _views(networks, [words, words, words + delta], batch, run, step)
    losses = _contrastive(z, [z_pos, z_adv], z_pos) + lambda1 * _contrastive(z_adv, [z_pos], z_pos)
    return losses.mean()


def _words(networks, batch):
    return networks.encoder.backbone.embeddings.word_embeddings(batch.ids)


def _cls(networks, points, mask):
    positions = torch.arange(mask.shape[1]).expand(mask.shape)
    encode = networks.encoder.backbone
    return encode(inputs_embeds=points, attention_mask=mask.long(), position_ids=positions)[0][:, 0]


def _head(networks, pooled):
    return torch.tanh(networks.head.linear(pooled))


def _views(networks, inputs, batch, run, step):
    with run.streams.dropout(step, "outer", 0):
        pooled = _cls(networks, torch.cat(inputs), batch.mask.repeat(len(inputs), 1))
    return [_head(networks, view) for view in pooled.split(len(batch.ids))]


def _contrastive(z, positives, z_pos):
    anchor = normalize(z, dim=-1)
    own = (anchor * normalize(torch.stack(positives), dim=-1)).sum(-1) / TAU
    negative = anchor @ normalize(z_pos, dim=-1).T / TAU
    negative = negative.masked_fill(torch.eye(len(z), dtype=bool), torch.finfo(z.dtype).min)
    return -logsigmoid(own.logsumexp(0) - negative.logsumexp(1))


def _start(words, batch, run, step):
    width, delta = words.shape[-1], torch.zeros_like(words)
    for i, row in enumerate(batch.rows.tolist()):
        real = int(batch.mask[i].sum())
        noise = torch.rand(real, width, generator=run.streams.generator("delta0", step, row)).to(words.dtype)
        delta[i, :real] = (2 * noise - 1) * SIGMA / width**0.5
    return (delta * batch.perturbable[:, :, None]).clamp(-RADIUS, RADIUS)


def _delta(networks, words, batch, run, step, rho, num_steps, alpha, beta):
    networks.eval()
    with torch.no_grad():
        z_pos = _head(networks, _cls(networks, words, batch.mask))
    pgd = fgsm = _start(words, batch, run, step)
    for _ in range(num_steps):
        point = (words + _mix(pgd, fgsm, rho)).requires_grad_()
        z = _head(networks, _cls(networks, point, batch.mask))
        loss = _contrastive(z, [z_pos], z_pos).sum()
        gradient = torch.autograd.grad(loss, point)[0] * batch.perturbable[:, :, None]
        largest = gradient.abs().amax((1, 2), keepdim=True)
        largest = torch.where(largest > 0, largest, 1)
        pgd = (pgd + alpha * (gradient / largest)).clamp(-RADIUS, RADIUS)
        fgsm = (fgsm + beta * gradient.sign()).clamp(-RADIUS, RADIUS)
    networks.train()
    return _mix(pgd, fgsm, rho)


def _mix(pgd, fgsm, rho):
    if rho in (0, 1):
        return pgd if rho == 1 else fgsm
    return rho * pgd + (1 - rho) * fgsm
