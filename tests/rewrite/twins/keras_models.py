"""Small Keras models with fixed initial weights; torch_models.py has their twins."""

import keras
import numpy as np
from keras import layers


def fixed(model):
    """Weights from a seed, the same arrays in the same order on both sides."""
    rng = np.random.default_rng(7)
    model.set_weights([rng.normal(size=weights.shape).astype("float32") * 0.5 for weights in model.get_weights()])
    return model


def build_classifier():
    """Three classes, probabilities."""
    inputs = keras.Input((4,))
    x = layers.Dense(8, activation="relu")(inputs)
    return fixed(keras.Model(inputs, layers.Dense(3, activation="softmax")(x)))


def build_regressor():
    """One number, with an L2 penalty on the first kernel."""
    inputs = keras.Input((4,))
    x = layers.Dense(8, activation="tanh", kernel_regularizer=keras.regularizers.L2(0.01))(inputs)
    return fixed(keras.Model(inputs, layers.Dense(1)(x)))


def build_detector():
    """One probability."""
    inputs = keras.Input((4,))
    x = layers.Dense(8, activation="tanh")(inputs)
    return fixed(keras.Model(inputs, layers.Dense(1, activation="sigmoid")(x)))


def build_pair():
    """Two inputs, logits of three classes."""
    left, right = keras.Input((4,)), keras.Input((2,))
    x = layers.Dense(5, activation="tanh")(layers.Concatenate()([left, right]))
    return fixed(keras.Model([left, right], layers.Dense(3)(x)))
