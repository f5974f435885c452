"""Where measurements run: each in a fresh process, so that no cache, no garbage and no warm code passes between two."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

Figures = dict[str, float]

_FILES = 4096
_STATM = Path("/proc/self/statm")
_CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


class MeasurementFailedError(Exception):
    """A measuring process did not come to its end; the message is what it said."""


def measure_module(name: str, *args: str, limit_s: float | None = None) -> Figures:
    """Run a module of this package, whose last line of output is its figures in JSON."""
    return measure_script([sys.executable, "-m", f"{__package__}.{name}", *args], limit_s)


def measure_script(argv: Sequence[str], limit_s: float | None = None) -> Figures:
    """Run a command whose last line of output is its figures in JSON, and pass on its standard error.

    Raises `MeasurementFailedError`.
    """
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=limit_s, check=True)
    except subprocess.TimeoutExpired:
        raise MeasurementFailedError(f"not done in {limit_s:.0f} s") from None
    except subprocess.CalledProcessError as error:
        raise MeasurementFailedError(error.stderr.strip().rpartition("\n")[2] or f"exit {error.returncode}") from None
    sys.stderr.write(done.stderr)
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def measure_duration(argv: Sequence[str]) -> Figures:
    """Run a command and return how many seconds it took, from its start to its exit."""
    started = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    return {"seconds": time.perf_counter() - started}


def pin_to_core(index: int) -> None:
    """Keep this process, and those it starts from now on, on one of its cores; where the system cannot, nowhere."""
    if _CORES:
        os.sched_setaffinity(0, {_CORES[index]})


def resident_bytes() -> int:
    """Return the memory of this process that is in use; 0 where /proc does not say."""
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if _STATM.exists() else 0


def allow_many_files() -> None:
    """Allow as many open files as the largest crowd has streams, and more: each is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < _FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES, hard))
