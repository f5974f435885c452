"""Evals for deployed AI agents."""
