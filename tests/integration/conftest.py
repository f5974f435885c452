"""Fixtures that start once for all integration tests that use them."""

from collections.abc import Iterator

import pytest

from tests.serving.nginx import Nginx, run_nginx


@pytest.fixture(scope="session")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    """Run nginx with agents behind it."""
    with run_nginx(tmp_path_factory.mktemp("nginx")) as running:
        yield running
