"""One HTTP exchange with a deployment: connecting, credentials, limits, and what went wrong.

In: a URL, headers, a token, limits, and the proxy and certificates of this machine.
Out: an answer whose headers have come, or a `RemoteError` that says what happened and what to try.
"""
