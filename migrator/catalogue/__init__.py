"""The rules: `rules/*.toml`, checked, and found by canonical name."""

from migrator.catalogue.catalogue import Catalogue
from migrator.catalogue.loader import load_rules

__all__ = ["Catalogue", "load_rules"]
