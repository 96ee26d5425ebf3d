"""A headless Chromium, or the reason why there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
DRIVER = shutil.which("chromedriver")


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """One browser for all pages, without access to any network."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("chromium and chromedriver are not installed (make browser)")
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = CHROMIUM
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--force-prefers-reduced-motion",
        "--window-size=1280,900",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()
