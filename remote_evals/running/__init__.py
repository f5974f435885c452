"""Running evals: concurrency, one attempt, its verdict, stopping."""
