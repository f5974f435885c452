"""Values that know nothing of agents: durations, text, JSON values, threads, URLs.

In: strings, numbers, JSON-like values and functions, from files, from code or from outside.
Out: the same parsed, compared, made safe to show, or run in a thread; `ValueError` for what cannot be parsed.
"""
