"""Scan: a path becomes an Inventory. Reads files, never imports or runs them."""

from migrator.scan.reader import read

__all__ = ["read"]
