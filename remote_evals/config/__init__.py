"""Reads what people configure: settings files, and which deployment and judge a suite uses.

In: settings and suite documents (TOML, YAML, JSON), options, environment variables.
Out: validated models, targets and judges; or every problem at once, each with its file and line.
"""
