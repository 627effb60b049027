"""Makes the arrays of a pair's `training.data`: request `ref`, `folder`. Leaves `arrays.safetensors` with
`train/x/<n>`, `train/y`, `test/x/<n>`, `test/y`.

The callable takes nothing and returns `(x_train, y_train), (x_test, y_test)`; an x may be several arrays (a list,
tuple or dict). Whatever can become a NumPy array is taken: tensors of either framework too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping

import numpy as np

from . import files, loading


def main(request: Mapping[str, Any]) -> dict[str, Any]:
    """`samples` of each part; raises ValueError where the callable returns something else."""
    made = loading.load(request["ref"], request["folder"])()
    arrays = {}
    samples = {}
    for part, pair in zip(("train", "test"), _parts(made, request["ref"])):
        inputs = [_array(leaf) for _, leaf in loading.leaves(pair[0])]
        target = _array(pair[1])
        if not inputs or any(len(array) != len(target) for array in inputs):
            lengths = [len(array) for array in inputs]
            raise ValueError(f"{part}: {part} inputs of lengths {lengths} for {len(target)} targets")
        arrays.update({f"{part}/x/{index}": array for index, array in enumerate(inputs)})
        arrays[part + "/y"] = target
        samples[part] = len(target)
    files.write_arrays(Path(request["out"], "arrays.safetensors"), arrays)
    return {"samples": samples}


def _parts(made: Any, ref: str) -> Any:
    good = isinstance(made, (tuple, list)) and len(made) == 2
    if not good or any(not isinstance(part, (tuple, list)) or len(part) != 2 for part in made):
        raise ValueError(f"{ref} should return (x_train, y_train), (x_test, y_test)")
    return made


def _array(value: Any) -> np.ndarray:
    array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    if array.dtype == object:
        raise ValueError(f"the data holds {type(value).__name__}, which is no numeric array")
    return array.astype(np.float32) if array.dtype == np.float64 else array
