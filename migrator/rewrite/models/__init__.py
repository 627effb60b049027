"""From functions that build and apply Keras layers in one breath to `nn.Module` classes.

`binding` finds the functions and what is a tensor in them, `analysis` reads each one into a tree of regions (`ir`),
`layout` decides which tensors run channels-first, `naming` names classes and attributes, and the two printers write
`__init__` and `forward` from the same tree.
"""
