"""No connection, in each way: the agent never saw the request, and the message says why."""

from remote_evals import Limits, RemoteUnreachableError
from tests.serving.deployments import Failure, fail_among_others
from tests.serving.ports import closed_port, full_port


def assert_unreachable(failure: Failure, happened: str, advice: str) -> None:
    assert type(failure.error) is RemoteUnreachableError
    assert happened in failure.error.happened
    assert advice in failure.error.advice
    assert failure.row.run.last_event is None
    assert failure.row.run.timing.headers_ms is None


async def test_a_refused_connection() -> None:
    """Nobody listens: the system's own words, and the advice to look whether the deployment is up."""
    with closed_port() as host:
        failure = await fail_among_others(f"http://{host}/agent?key=1")
    assert_unreachable(failure, "could not connect (Connection refused)", "is up")


async def test_a_name_that_does_not_exist() -> None:
    """A host name that is not found is told from a host that does not answer: .invalid is the name of none."""
    failure = await fail_among_others("http://agent.invalid")
    assert_unreachable(failure, "the host name was not found", "spelling")


async def test_no_answer_to_the_connect() -> None:
    """A host that takes no connection, as behind a firewall that drops, ends by the connect limit."""
    with full_port() as host:
        failure = await fail_among_others(f"http://{host}", limits=Limits(connect_s=0.2))
    assert_unreachable(failure, "no connection within 200ms", "is up")
