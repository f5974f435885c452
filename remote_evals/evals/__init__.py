"""What the author of an eval uses: `define_eval`, and `t` with its assertions.

In: an eval's code, a session of a target, and the judge, if any.
Out: an `Eval` that the runner can run; the runs and assertion results that its `t` collected.
"""
