"""One seed for all generators of random numbers."""

from __future__ import annotations

import random

import numpy as np
import torch


def seed_all(seed: int) -> None:
    """Seed Python's, NumPy's and PyTorch's generators."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
