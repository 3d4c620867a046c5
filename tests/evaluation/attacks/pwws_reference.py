"""PWWS as plain loops, one text at a time, written from the protocol: no batches, no memory, no generators."""

import math


def cut(sentence):
    """[(start, end)] of words: letters, digits and '-_*@ that hang together, none of the latter in front."""
    found, start = [], None
    for i, character in enumerate(sentence + " "):
        inside = character.isalnum() or character in "'-_*@`"
        if start is None and inside and character not in "'-_*@":
            start = i
        if start is not None and not inside:
            found.append((start, i))
            start = None
    return found


def put(sentence, position, new):
    start, end = cut(sentence)[position]
    return sentence[:start] + new + sentence[end:]


def pwws(sentence, gold, victim, synonyms_of, stopwords):
    """(outcome, adversarial sentence, number of queries)."""
    queries = 0

    def ask(text):
        nonlocal queries
        queries += 1
        (row,) = victim([(text,)])
        return 1.0 - float(row[gold]), int(row.argmax()) != gold

    clean, is_wrong = ask(sentence)
    if is_wrong:
        return "skipped", sentence, queries
    words = [sentence[start:end] for start, end in cut(sentence)]
    modifiable = [i for i in range(len(words)) if words[i] not in stopwords]
    saliencies = []
    for i in modifiable:
        saliencies.append(ask(put(sentence, i, "[UNK]"))[0])
    effects = []
    for i in modifiable:
        best = None
        for synonym in synonyms_of(words[i]):
            score = ask(put(sentence, i, synonym))[0]
            if best is None or score > best:
                best = score
        effects.append(0.0 if best is None else best)
    total = sum(math.exp(saliency) for saliency in saliencies)
    weights = {i: math.exp(s) / total * e for i, s, e in zip(modifiable, saliencies, effects, strict=True)}

    current, score = sentence, clean
    for i in sorted(modifiable, key=lambda i: (-weights[i], i)):
        best_score, best_text, best_flips = -1.0, None, False
        for synonym in synonyms_of(words[i]):
            text = put(current, i, synonym)
            this_score, flips = ask(text)
            if this_score > best_score:
                best_score, best_text, best_flips = this_score, text, flips
        if best_text is not None and best_score > score:
            current, score = best_text, best_score
            if best_flips:
                return "succeeded", current, queries
    return "failed", current, queries
