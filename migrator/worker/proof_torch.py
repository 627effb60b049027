"""The PyTorch side of the catalogue's proofs: runs the rewritten examples.

Request: `arrays` (a safetensors file) and `cases` (`code`, `inputs`, `plain`, `differentiable`, `proof`). Leaves
`outputs.safetensors`.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Mapping, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from . import proof_common


class Torch(proof_common.Side):
    """Eager PyTorch."""

    def tensor(self, array: np.ndarray) -> Any:
        """See Side."""
        return torch.from_numpy(array.copy())

    def array(self, value: Any) -> tuple[np.ndarray, str] | None:
        """See Side."""
        if not isinstance(value, torch.Tensor):
            return None
        name = str(value.dtype).replace("torch.", "")
        value = value.detach()
        return (value.float() if value.dtype == torch.bfloat16 else value).numpy(), name

    def evaluate(self, run: Callable[[], Any], inputs: Sequence[Any]) -> tuple[Any, list[np.ndarray] | None]:
        """See Side."""
        for tensor in inputs:
            tensor.requires_grad_(True)
        value = run()
        if not inputs:
            return value, None
        tensors = [leaf for leaf in proof_common.leaves(value) if isinstance(leaf, torch.Tensor)]
        floats = [tensor for tensor in tensors if tensor.is_floating_point()]
        if not floats:
            return value, None
        terms = [(x.double() * torch.from_numpy(proof_common.weights(x.shape))).sum() for x in floats]
        total = torch.stack(terms).sum()
        if not total.requires_grad:
            return value, [np.zeros(tuple(tensor.shape), tensor.detach().numpy().dtype) for tensor in inputs]
        found = torch.autograd.grad(total, list(inputs), allow_unused=True)
        pairs = zip(found, inputs)
        return value, [(torch.zeros_like(x) if g is None else g).detach().numpy() for g, x in pairs]

    def seed(self) -> None:
        """See Side."""
        torch.manual_seed(1)

    def draw(self) -> float:
        """See Side."""
        return float(torch.randn(()))


def main(request: Mapping[str, Any]) -> dict[str, Any]:
    """Run the examples; see the module's text."""
    namespace = {"torch": torch, "F": F, "nn": nn, "np": np, "math": math}
    facts = proof_common.run(request, Torch(namespace))
    facts["versions"] = {"torch": torch.__version__}
    return facts
