"""The PyTorch variants of a benchmark: a whole training step, eager, or with loss and gradients compiled.

Request: as for the TensorFlow variant; `mode` is `eager` or `compiled`. TensorFloat-32 is off: single precision means
single precision on both sides.
"""

import importlib
import os
import platform
import shutil
from typing import Any, Dict, List, Mapping

import torch

from . import batches, bench_loop, loading, torch_losses
from .bench_optimizers import optimizer_for
from .torch_model import Model

COMPILERS = ("g++", "clang++", "c++", "cl")


def main(request: Dict[str, Any]) -> Dict[str, Any]:
    """Serves steps until our side closes the line; gives the facts about where they ran."""
    return bench_loop.serve(request, prepare)


def prepare(request: Dict[str, Any]) -> bench_loop.Prepared:
    """Builds the model and its step. Raises Missing where the asked device or a compiler is not there."""
    device = _device(request["device"])
    torch.set_num_threads(request["threads"])
    torch.set_num_interop_threads(request["threads"])
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    if request["mode"] == "compiled":
        _need_compiler()
        importlib.import_module("torch._inductor.compile_fx")  # counts as the framework's size, not as the model's
    memory = AllocatorMemory() if device == "cuda" else bench_loop.ResidentMemory()
    step = _step(dict(request, device=device))
    return step, memory, {"device": device, "python": platform.python_version(), "torch": torch.__version__}


def _device(asked: str) -> str:
    if asked == "cuda" and not torch.cuda.is_available():
        raise bench_loop.Missing("PyTorch finds no GPU here.")
    return "cpu" if asked == "cpu" or not torch.cuda.is_available() else "cuda"


def _need_compiler() -> None:
    """Compiling for the processor, and the launchers of GPU kernels, need a C++ compiler."""
    chosen = os.environ.get("CXX")
    if not any(shutil.which(name) for name in ([chosen] if chosen else COMPILERS)):
        raise bench_loop.Missing("torch.compile needs a C++ compiler (g++ or clang++), and there is none here.")


class AllocatorMemory:
    """Peak bytes of PyTorch's CUDA allocator."""

    kind = "vram"

    def peak(self) -> int:
        """Bytes since the last restart."""
        return int(torch.cuda.max_memory_allocated())

    def restart(self) -> None:
        """Forgets peaks so far."""
        torch.cuda.reset_peak_memory_stats()


def _step(request: Mapping[str, Any]) -> bench_loop.Step:
    parts = [batches.inputs(request, number) for number in range(batches.COUNT)]
    model = Model(request, "float32", parts[0])
    if model.module is None:
        raise ValueError("{} gives no torch.nn.Module, so there is nothing to train".format(request["ref"]))
    module = model.module
    loss = torch_losses.loss_function(request.get("loss"))
    with torch.no_grad():
        shapes = [tuple(leaf.shape) for _, leaf in model(parts[0]) if leaf.is_floating_point()]
    data = [_arguments(model, request, part, shapes, number) for number, part in enumerate(parts)]
    module.train()
    optimizer = optimizer_for(request.get("optimizer"), [p for p in module.parameters() if p.requires_grad])
    penalty = getattr(module, "penalty", None)

    def objective(args: List[Any], kwargs: Dict[str, Any], targets: List[Any]) -> Any:
        value = loss(loading.leaves(module(*args, **kwargs)), targets)
        return value + penalty() if callable(penalty) else value

    compute = torch.compile(objective) if request["mode"] == "compiled" else objective
    count = [0]

    def step() -> None:
        args, kwargs, targets = data[count[0] % len(data)]
        count[0] += 1
        optimizer.zero_grad()
        compute(args, kwargs, targets).backward()
        optimizer.step()
        if request["device"] == "cuda":
            torch.cuda.synchronize()

    return step


def _arguments(model: Model, request: Mapping[str, Any], part: Any, shapes: Any, number: int) -> Any:
    """What the module is called with for one batch, and its targets, as tensors on the device."""
    args, kwargs = loading.arranged([model.tensor(array) for array in part], model.names, model.form)
    return args, kwargs, [model.tensor(target) for target in batches.targets(request, shapes, number)]
