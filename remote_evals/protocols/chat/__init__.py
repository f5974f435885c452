"""The `/chat` protocol, version 1."""
