"""Residual blocks made by a helper in a loop, two of them alike, and a pooling on a map of odd size."""

from tensorflow import keras
from tensorflow.keras import layers


def block(x, filters):
    y = layers.Conv2D(filters, 3, padding="same")(x)
    y = layers.BatchNormalization(epsilon=1e-5)(y)
    y = layers.ReLU()(y)
    y = layers.Conv2D(filters, 3, padding="same")(y)
    return layers.ReLU()(layers.Add()([x, y]))


def build():
    inputs = keras.Input((9, 7, 2))
    x = layers.Conv2D(4, 1, activation="relu")(inputs)
    for _ in range(2):
        x = block(x, 4)
    x = layers.MaxPooling2D(2)(x)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, layers.Dense(1, activation="sigmoid")(x))
