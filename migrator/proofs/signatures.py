"""The catalogue's signatures against the installed TensorFlow: no invented argument, order or default survives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from migrator.catalogue.signature import same_value
from migrator.facts import Rule

_EVERY_LAYER = {"name", "dtype", "trainable"}
_UNKNOWN = ("<", "NOVALUE")  # sentinels that have no spelling in source


def compare(rule: Rule, installed: Mapping[str, Sequence[Mapping[str, Any]] | None]) -> list[str]:
    """One sentence for each name of the rule that is missing or has other parameters."""
    faults = []
    for name in (rule.tf, *rule.also):
        found = installed.get(name)
        if found is None:
            if not _retired(name):
                faults.append(f"{name} does not exist in the installed TensorFlow.")
            continue
        fault = _difference(rule, found)
        if fault:
            faults.append(f"The signature of {name} is another one: {fault}.")
    return faults


def _retired(name: str) -> bool:
    """Spellings of older versions, which old code still has and the installed framework need not know."""
    old = name.startswith(("tf.compat.v1.", "tf.contrib.", "tf.keras.Functional."))
    return old or any(part.endswith("_v2") or part in ("experimental", "legacy") for part in name.split(".")[:-1])


def _difference(rule: Rule, found: Sequence[Mapping[str, Any]]) -> str | None:
    if any(parameter.variadic for parameter in rule.parameters) or any(item["variadic"] for item in found):
        return None  # *args, **kwargs: the names are documented, not declared
    own = [parameter.name for parameter in rule.parameters]
    if found and found[0]["name"] == "self" and own[:1] != ["self"]:
        found = found[1:]  # a method, called on an object
    if rule.family == "layer":  # what every layer takes is not repeated in each entry
        found = [item for item in found if item["name"] in own or item["name"] not in _EVERY_LAYER]
    names = [item["name"] for item in found]
    if own != names:
        return f"({', '.join(names)}) instead of ({', '.join(own)})"
    for parameter, item in zip(rule.parameters, found, strict=True):
        default = item["default"]
        if (parameter.default is None) != (default is None):
            return f"`{parameter.name}` has {'a' if default is not None else 'no'} default"
        if parameter.default is None or default.startswith(_UNKNOWN):
            continue
        if not same_value(parameter.default, default):
            return f"`{parameter.name}` defaults to {default} instead of {parameter.default}"
    return None
