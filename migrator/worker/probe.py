"""Says what one interpreter has: versions of packages, and the devices that one framework sees when it is imported.

`packages` maps the name a package is imported by to the names it may be installed under.
"""

from __future__ import annotations

import platform
from importlib import metadata
from typing import Any, Sequence


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Versions (None where a package is absent), and the devices of `framework`, if it can be imported at all."""
    facts: dict[str, Any] = {
        "python": platform.python_version(),
        "packages": {name: version(names) for name, names in request["packages"].items()},
        "devices": [],
        "broken": "",
    }
    framework = request["framework"]
    if facts["packages"].get(framework):
        try:
            facts["devices"] = {"tensorflow": _tensorflow, "torch": _torch}[framework]()
        except Exception as error:  # a half-installed framework fails in its own ways; all of them are a finding
            facts["broken"] = "{}: {}".format(type(error).__name__, " ".join(str(error).split())[:300])
    return facts


def version(names: Sequence[str]) -> str | None:
    """The version of the first of these distributions that is installed, None where none is."""
    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def _tensorflow() -> list[str]:
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    return [tf.config.experimental.get_device_details(gpu).get("device_name", gpu.name) for gpu in gpus]


def _torch() -> list[str]:
    import torch

    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
