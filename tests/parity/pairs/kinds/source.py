"""What a TensorFlow side may be: a subclassed model, a bare layer, a module, a function; and layers of many kinds."""

import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = layers.Dense(6, activation="gelu")
        self.norm = layers.BatchNormalization()
        self.dropout = layers.Dropout(0.1)
        self.last = layers.Dense(2)

    def call(self, x, training=None):
        x = self.norm(self.first(x), training=training)
        return self.last(self.dropout(x, training=training) * 2.0)


class Module(tf.Module):
    def __init__(self):
        super().__init__()
        dtype = keras.backend.floatx()
        self.matrix = tf.Variable(tf.random.normal([5, 3], dtype=dtype), name="matrix")
        self.offset = tf.Variable(tf.zeros([3], dtype=dtype), name="offset")

    def __call__(self, x):
        return tf.nn.tanh(x @ self.matrix + self.offset)


class Single(layers.Layer):
    def call(self, x):
        return x * tf.constant(1.5, tf.float32)


def subclassed():
    return Subclassed()


def bare_layer():
    return layers.Conv2DTranspose(3, 3, strides=2)


def module():
    return Module()


def function():
    return lambda x: tf.nn.relu(x) * 2


def single_precision():
    inputs = keras.Input((5,))
    return keras.Model(inputs, layers.Dense(3)(Single()(inputs)))


def depthwise():
    inputs = keras.Input((7, 7, 3))
    x = layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same")(inputs)
    x = layers.SeparableConv2D(5, 3)(x)
    x = layers.PReLU(shared_axes=[1, 2])(x)
    return keras.Model(inputs, layers.GlobalMaxPooling2D()(x))


def recurrent():
    inputs = keras.Input((5, 3))
    return keras.Model(inputs, layers.Dense(2)(layers.LSTM(4)(inputs)))
