"""How often a case runs, and how many of its runs must pass."""


def find_repeat_mistake(repeat: int | None, pass_at: int | None) -> str | None:
    """Return what is wrong with the number of runs and of those that must pass, None for nothing."""
    if repeat is not None and repeat < 1:
        return f"repeat must be at least 1, got {repeat}"
    if pass_at is not None and pass_at < 1:
        return f"pass_at must be at least 1, got {pass_at}"
    if pass_at is not None and pass_at > (repeat or 1):
        return f"pass_at {pass_at} can never be reached by {repeat or 1} run(s); raise repeat, or lower pass_at"
    return None
