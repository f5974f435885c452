"""Loads suites: cases as data in YAML, JSON or JSONL files, and evals in Python files.

In: paths, folders and globs, and the variables that fill `${VAR}`.
Out: validated suites and the evals to run; or every problem at once, each with its file and line.
"""
