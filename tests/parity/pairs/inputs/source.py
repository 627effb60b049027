"""Two inputs, one of integers, and two outputs in a dict."""

from tensorflow import keras
from tensorflow.keras import layers


def build():
    words = keras.Input((6,), dtype="int32", name="words")
    numbers = keras.Input((3,), name="numbers")
    x = layers.Embedding(20, 4)(words)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Concatenate()([x, numbers])
    x = layers.Dense(7, activation="tanh")(x)
    x = layers.LayerNormalization()(x)
    return keras.Model([words, numbers], {"score": layers.Dense(1)(x), "kind": layers.Dense(4)(x)})
