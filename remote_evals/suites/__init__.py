"""Cases as data: suite files, discovery, selection, JSON Schema."""
