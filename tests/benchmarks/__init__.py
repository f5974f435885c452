"""How fast the client is compared with others that do the same work: `python -m tests.benchmarks` prints a table.

Run it from the top of the repository. It is a script and not a test: pytest collects none of it, and a missed target
is printed, not raised. Every figure is the median of interleaved rounds, each measured in a process of its own, while
the server runs on another core if there is one. `--help` lists the options.

`--only soak` is different: one long run with faults in it. Its limits do not depend on the speed of the machine, so the
script exits with 1 if one is missed.
"""
