"""Metrics on held-out data, by Keras name, in NumPy, so that both sides are scored by the same code."""

from __future__ import annotations

from typing import Callable

import numpy as np


def accuracy(outputs: np.ndarray, targets: np.ndarray) -> float:
    """The share of right classes: the largest of several outputs, or one output above a half, as Keras reads it."""
    if outputs.ndim > 1 and outputs.shape[-1] > 1:
        chosen = outputs.argmax(axis=-1)
        dense = targets.shape == outputs.shape
        right = targets.argmax(axis=-1) if dense else targets.reshape(chosen.shape)
        return float(np.mean(chosen == right))
    return float(np.mean((outputs.reshape(-1) > 0.5) == (targets.reshape(-1) > 0.5)))


def mean_squared_error(outputs: np.ndarray, targets: np.ndarray) -> float:
    """The mean of squared differences."""
    return float(np.mean(np.square(outputs.astype(np.float64) - targets.reshape(outputs.shape))))


def mean_absolute_error(outputs: np.ndarray, targets: np.ndarray) -> float:
    """The mean of absolute differences."""
    return float(np.mean(np.abs(outputs.astype(np.float64) - targets.reshape(outputs.shape))))


SCORES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": accuracy,
    "acc": accuracy,
    "sparse_categorical_accuracy": accuracy,
    "categorical_accuracy": accuracy,
    "binary_accuracy": accuracy,
    "mean_squared_error": mean_squared_error,
    "mse": mean_squared_error,
    "mean_absolute_error": mean_absolute_error,
    "mae": mean_absolute_error,
}
