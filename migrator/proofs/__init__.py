"""Every rule's example executed in TensorFlow and in PyTorch on the same arrays. Stands above rewrite."""
