"""What a deployment speaks: bytes in, a run out, no I/O."""
