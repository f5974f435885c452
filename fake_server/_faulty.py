"""Every fault of a stream, each a change to the frames that reach the client."""

from fake_server._faulty_bodies import BODY_CHANGES
from fake_server._faulty_frames import FRAME_CHANGES
from fake_server._faulty_order import ORDER_CHANGES
from fake_server._frames import Frames
from fake_server.faults import Fault

CHANGES = {**BODY_CHANGES, **FRAME_CHANGES, **ORDER_CHANGES}


def with_fault(frames: Frames, fault: Fault | None) -> Frames:
    """Return `frames` as `fault` lets them through; it may raise `ConnectionEnd`."""
    change = CHANGES.get(fault.name) if fault else None
    return change(frames, fault) if change and fault else frames
