"""The twins of keras_models.py, written by hand."""

import numpy as np
import torch
from torch import nn


def fixed(model):
    """Weights from a seed, the same arrays in the same order on both sides."""
    rng = np.random.default_rng(7)
    with torch.no_grad():
        for parameter in model.parameters():
            array = rng.normal(size=tuple(parameter.shape)[::-1]).astype("float32") * 0.5
            parameter.copy_(torch.tensor(array.T))
    return model


class Classifier(nn.Sequential):
    """Three classes, probabilities."""

    def __init__(self):
        super().__init__(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(dim=-1))


class Regressor(nn.Sequential):
    """One number, with an L2 penalty on the first kernel."""

    def __init__(self):
        super().__init__(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

    def penalty(self):
        """0.01 times the sum of squares of the first kernel."""
        return 0.01 * self[0].weight.square().sum()


class Detector(nn.Sequential):
    """One probability."""

    def __init__(self):
        super().__init__(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())


class Pair(nn.Module):
    """Two inputs, logits of three classes."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(6, 5)
        self.head = nn.Linear(5, 3)

    def forward(self, left, right):
        """Logits of shape (N, 3)."""
        return self.head(torch.tanh(self.dense(torch.cat([left, right], dim=-1))))


def build_classifier():
    """A classifier with the fixed weights."""
    return fixed(Classifier())


def build_regressor():
    """A regressor with the fixed weights."""
    return fixed(Regressor())


def build_detector():
    """A detector with the fixed weights."""
    return fixed(Detector())


def build_pair():
    """A model of two inputs with the fixed weights."""
    return fixed(Pair())
