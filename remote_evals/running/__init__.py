"""Runs evals: plans their runs, a few at a time, decides the outcome of each, and stops the rest if need be.

In: evals and cases, the target and the judge they run with, and limits.
Out: an `EvalReport`, and calls of a `Listener` during the run.
"""
