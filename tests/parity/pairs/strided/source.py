"""A strided convolution, batch normalisation, a square convolution, dropout and a regulariser."""

from tensorflow import keras
from tensorflow.keras import layers


def build():
    inputs = keras.Input((8, 8, 1))
    x = layers.Conv2D(
        4, 3, strides=2, padding="same", activation="relu", kernel_regularizer=keras.regularizers.L2(1e-2)
    )(inputs)
    x = layers.BatchNormalization()(x)
    x = layers.Conv2D(4, 3, padding="same", use_bias=False)(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.3)(x)
    x = layers.Dense(3, activation="softmax")(x)
    return keras.Model(inputs, x)
