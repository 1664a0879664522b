"""Pages in a real browser, without a network."""

import contextlib
import os
import tempfile

from support import program


@contextlib.contextmanager
def started():
    """A headless Chromium, until the end; the test needs one, see `support.lacking`."""
    browser, driver = program("chromium"), program("chromedriver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--window-size=1300,1000",
        "--host-resolver-rules=MAP * ~NOTFOUND",  # no network
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory() as own:  # it leaves what it writes
        environment = {**os.environ, "TMPDIR": own}
        service = webdriver.ChromeService(driver, env=environment)
        with webdriver.Chrome(options=options, service=service) as chrome:
            yield chrome


def wait(browser, condition):
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(browser, 20, poll_frequency=0.05).until(lambda _: condition())


def assert_no_errors(browser):
    """Nothing was told in the console, and nothing came from outside the page."""
    assert browser.get_log("browser") == []
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
    )
    assert [name for name in loaded if not name.startswith(("data:", "blob:"))] == []
