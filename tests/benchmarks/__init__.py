"""How fast the client is, beside others that do the same work: `python -m tests.benchmarks` prints one table.

Run it from the top of the repository. It is a script and not a test: pytest collects none of it, and a missed target
is printed, not raised. Every figure is the median of interleaved rounds, each measured in a process of its own, while
the server runs on another core where there is one. `--help` lists the options.

`--only soak` is of another kind: one long run with faults in it, whose bounds no machine is too slow for, so that a
missed one makes the script exit with 1.
"""
