"""What an eval is given: `t`, its assertions, and `define_eval`."""
