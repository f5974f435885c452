"""One HTTP exchange with a deployment: connecting, limits, credentials, and what went wrong in words."""
