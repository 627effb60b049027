"""Assess: what a resolved project uses, what moving it costs, what will hurt, and whether to do it."""

from migrator.assess.assessment import assess

__all__ = ["assess"]
