"""Which Keras a tree was written for, and what says so.

Keras 2 and 3 differ under the same names, so the answer changes rules. In this order: what the caller states, what
the requirements allow, what the imports can only mean. Where nothing decides, it is 3 and the reason says that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from migrator.facts import Environment, Source
from migrator.scan.requirements import tensorflow_specifier

Keras = Literal[2, 3]

# One release of each kind that a specifier may allow. TensorFlow 2.16 was the first to bring Keras 3.
TENSORFLOW_WITH_KERAS_2 = ("1.4", "1.15.5", "2.0.0", "2.4.1", "2.8.0", "2.11.0", "2.13.0", "2.15.1")
TENSORFLOW_WITH_KERAS_3 = ("2.16.1", "2.17.0", "2.18.0", "2.19.0", "2.20.0", "2.21.0")
KERAS_2 = ("1.2.2", "2.0.0", "2.2.4", "2.3.1", "2.4.3", "2.8.0", "2.11.0", "2.15.0")
KERAS_3 = ("3.0.0", "3.3.0", "3.6.0", "3.10.0", "3.15.0")

ONLY_KERAS_2 = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?:tf_keras\b|tensorflow\.contrib\b|tensorflow\.python\.keras\b|keras\.engine\b"
    r"|keras\.layers\.core\b|keras\.utils\.(?:np_utils|generic_utils|vis_utils|layer_utils)\b|keras\.objectives\b"
    r"|tensorflow\.keras\.layers\.experimental\b|keras\.layers\.(?:merge|normalization|convolutional|recurrent)\b"
    r"|tensorflow\.compat\.v1\b|keras_contrib\b|tensorflow_addons\b)",
    re.MULTILINE,
)
ONLY_KERAS_3 = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?:tensorflow\.)?keras(?:\.src)?(?:\.ops|\.random|\.distribution|\.dtype_policies"
    r"|[ \t]+import[ \t]+[^\n#]*\b(?:ops|distribution|KerasTensor|Operation))\b|\bkeras_hub\b|\bkeras\.ops\.\w",
    re.MULTILINE,
)


def environment(found: Mapping[str, str], sources: Sequence[Source], stated: int | None = None) -> Environment:
    """`found` are the requirements of the tree, `stated` is what the caller knows better."""
    keras, reason = _keras(found, sources, stated)
    return Environment(keras, reason, dict(found))


def _keras(found: Mapping[str, str], sources: Sequence[Source], stated: int | None) -> tuple[Keras, str]:
    if stated is not None:
        return (2 if stated == 2 else 3), "stated by the caller"
    required = _from_requirements(found)
    if required:
        return required
    imported = _from_imports(sources)
    if imported:
        return imported
    return 3, "unknown, taken as Keras 3: neither requirements nor imports say which; state it if it is 2"


def _from_requirements(found: Mapping[str, str]) -> tuple[Keras, str] | None:
    specifier = found.get("keras")
    decided = specifier and _only(specifier, KERAS_2, KERAS_3)
    if decided:
        return decided, f"requirements ask for keras {specifier}"
    if "tf-keras" in found:
        return 2, "requirements ask for tf-keras, which is Keras 2"
    specifier = tensorflow_specifier(found)
    decided = specifier and _only(specifier, TENSORFLOW_WITH_KERAS_2, TENSORFLOW_WITH_KERAS_3)
    if decided:
        return decided, f"requirements ask for tensorflow {specifier}, which brings Keras {decided}"
    return None


def _only(specifier: str, older: Sequence[str], newer: Sequence[str]) -> Keras | None:
    """2 or 3 where the specifier allows releases of one kind only."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version

    try:
        allowed = SpecifierSet(specifier)
        exact = [Version(part.version.replace(".*", "")) for part in allowed if part.operator in ("==", "===", "~=")]
    except (InvalidSpecifier, InvalidVersion):
        return None
    if exact:  # a pinned release need not be one of ours
        return 2 if exact[0] < Version(newer[0]) else 3
    two, three = any(allowed.contains(v) for v in older), any(allowed.contains(v) for v in newer)
    return 2 if two and not three else 3 if three and not two else None


def _from_imports(sources: Sequence[Source]) -> tuple[Keras, str] | None:
    older = _first(ONLY_KERAS_2, sources)
    newer = _first(ONLY_KERAS_3, sources)
    if older and not newer:
        return 2, f"{older} uses what only Keras 2 has"
    if newer and not older:
        return 3, f"{newer} uses what only Keras 3 has"
    return None


def _first(pattern: re.Pattern[str], sources: Sequence[Source]) -> str | None:
    for source in sources:
        match = pattern.search(source.text)
        if match:
            line = source.text.count("\n", 0, match.end()) + 1
            return f"{source.path}, line {line} ({match[0].strip()})"
    return None
