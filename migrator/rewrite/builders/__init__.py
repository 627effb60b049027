"""One function a file, for layers whose arguments need arithmetic: a `LayerCall` in, a `Step` out."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from migrator.rewrite.models.ir import Step
    from migrator.rewrite.models.layer_call import LayerCall


def builder(stem: str) -> Callable[[LayerCall], Step]:
    """The builder that a rule names by its file's stem."""
    function: Callable[[LayerCall], Step] = getattr(import_module(f"{__name__}.{stem}"), stem)
    return function
