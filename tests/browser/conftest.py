"""Fixtures: a JupyterLab, a Chromium, and a page that fails if a request leaves this machine."""

from __future__ import annotations

import pytest

from tests.browser.lab import (
    FLAGS,
    HANGS,
    HOW_TO_INSTALL,
    LOCAL,
    find_chromium,
    new_context,
    start_lab,
)


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """One JupyterLab for all tests; put notebooks into it with lab.add(path)."""
    pytest.importorskip("jupyterlab", reason="needs JupyterLab: pip install -e '.[course]'")
    home = tmp_path_factory.mktemp("jupyter")
    root = tmp_path_factory.mktemp("notebooks")
    with start_lab(home, root) as running:
        yield running


@pytest.fixture(scope="session")
def chromium():
    path = find_chromium()
    if path is None:
        pytest.skip(f"needs Chromium. As root: {HOW_TO_INSTALL}")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright: pip install -e '.[dev]'"
    )
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=FLAGS, timeout=HANGS * 1000)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """An empty page, 1280 pixels wide. `page.errors` collects the errors of its scripts."""
    context = new_context(chromium)
    opened = context.new_page()
    outside: list[str] = []
    opened.errors = []
    context.on("request", lambda r: outside.append(r.url) if not LOCAL.match(r.url) else None)
    opened.on("websocket", lambda w: outside.append(w.url) if not LOCAL.match(w.url) else None)
    opened.on("pageerror", lambda e: opened.errors.append(str(e)))
    opened.on("console", lambda m: opened.errors.append(m.text) if m.type == "error" else None)
    yield opened
    context.close()
    assert not outside, f"requests left this machine: {outside}"
