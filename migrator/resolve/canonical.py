"""Dotted names become canonical TensorFlow names: the root is normalised, the spelling after it stays.

`keras.layers.Dense`, `tensorflow.keras.layers.Dense` and `tf_keras.layers.Dense` are all `tf.keras.layers.Dense`;
`tf.compat.v1`, `tf.contrib` and companion libraries keep their root.
"""

from __future__ import annotations


def words(*lines: str) -> frozenset[str]:
    """The words of some lines, for tables of names that would fill pages as lists."""
    return frozenset(word for line in lines for word in line.split())


ROOTS = {
    "tensorflow": "tf",
    "keras": "tf.keras",
    "tf_keras": "tf.keras",
}
COMPANIONS = words(
    "tensorflow_addons tensorflow_probability tensorflow_hub tensorflow_datasets tensorflow_text tensorflow_io "
    "tensorflow_model_optimization tensorflow_transform tensorflow_recommenders tf_slim tf_agents keras_cv keras_nlp "
    "keras_hub keras_core keras_contrib keras_applications keras_preprocessing keras_tuner kerastuner",
)
SAME = (  # longest first; a left side in the middle of a chain becomes the right side
    ("tf.keras.api._v2.keras", "tf.keras"),
    ("tf.compat.v2", "tf"),
    ("tf._api.v2.v2", "tf"),
    ("tf._api.v2", "tf"),
    ("tf.python.keras", "tf.keras"),
    ("tf.keras.src", "tf.keras"),
)


def from_import(dotted: str) -> str | None:
    """The canonical name of a module or member as an import spells it; None where it is not TensorFlow's."""
    root, dot, rest = dotted.partition(".")
    if root in COMPANIONS:
        return dotted
    if root == "transformers":
        return dotted if rest.startswith("TF") else None
    if root not in ROOTS:
        return None
    return normal(ROOTS[root] + dot + rest)


def normal(name: str) -> str:
    """`name` with doubled roots taken out: `tf.compat.v2.nn.relu` is `tf.nn.relu`."""
    for longer, shorter in SAME:
        if name == longer or name.startswith(longer + "."):
            return normal(shorter + name[len(longer) :])
    return name
