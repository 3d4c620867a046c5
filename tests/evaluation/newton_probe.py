"""Binary logistic regression and nested cross-validation written as plain loops, to compare the real ones with."""

import numpy as np
from sklearn.model_selection import StratifiedKFold

from rse_study.evaluation.transfer import nested_predictions


def newton(features, labels, C):
    """(weights, intercept): minimum of |w|^2 / 2 + C * sum of log(1 + exp(-s m)) by Newton's method."""
    design = np.column_stack([features, np.ones(len(features))])
    penalty = np.diag([1.0] * features.shape[1] + [0.0])
    w = np.zeros(design.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-design @ w))
        gradient = penalty @ w + C * design.T @ (p - labels)
        hessian = penalty + C * design.T @ (design * (p * (1 - p))[:, None])
        w = w - np.linalg.solve(hessian, gradient)
    return w[:-1], w[-1]


def accuracy(features, labels, train, test, C):
    """Fit on the places `train`, share of right answers on `test`."""
    shift = sum(features[i] for i in train) / len(train)
    scale = np.sqrt(sum(((features[i] - shift) ** 2).sum() for i in train) / (len(train) * len(shift)))
    w, b = newton(np.array([(features[i] - shift) / scale for i in train]), labels[train], C)
    right = 0
    for i in test:
        right += int(((features[i] - shift) / scale @ w + b > 0) == bool(labels[i]))
    return right / len(test)


def nested(features, labels, grid, num_folds, seed):
    """(accuracy, C) of each outer fold."""
    found = []
    outer = StratifiedKFold(num_folds, shuffle=True, random_state=seed)
    for train, test in outer.split(features, labels):
        best, best_C = -1.0, None
        for C in grid:
            total = 0.0
            inner = StratifiedKFold(num_folds, shuffle=True, random_state=seed)
            for a, b in inner.split(features[train], labels[train]):
                total += accuracy(features, labels, train[a], train[b], C)
            if total / num_folds > best:
                best, best_C = total / num_folds, C
        found.append((accuracy(features, labels, train, test, best_C), best_C))
    return found


def nested_accuracies(features, labels, preset, seed):
    """The accuracy of each outer fold."""
    predicted, fold_of = nested_predictions(features, labels, preset, seed)
    return [float(np.mean((predicted == labels)[fold_of == fold])) for fold in range(preset.num_folds)]
