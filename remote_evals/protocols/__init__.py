"""What deployments speak: one folder a protocol, and what all protocols share.

In: prompts and decisions, which become requests; the bytes of the answers, which become events.
Out: `Request`s to send, and the `RunResult` that the events add up to. Nothing here does any I/O.
"""
