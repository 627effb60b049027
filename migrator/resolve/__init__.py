"""Resolve: what the names in the sources of an Inventory mean. Reads trees, never imports the code."""

from migrator.resolve.project import resolve

__all__ = ["resolve"]
