"""`migrate`: moves a TensorFlow codebase to PyTorch 2 and proves every step."""

__version__ = "0.1.0"
