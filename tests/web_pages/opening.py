"""A live page in a browser: opened so that nothing it does wrong goes by, and waited for without polling."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from tests.browser import Browser, Message, Page

POLICY: Final = """\
addEventListener("securitypolicyviolation", (event) => {
  console.error("policy", event.violatedDirective, event.sourceFile);
});
"""
PATIENCE_MS: Final = 50_000  # a page that has not come so far by then never does
UNTIL: Final = """\
new Promise((done, fail) => {
  const timer = setTimeout(() => fail(new Error(`not in time: ${document.body.innerText}`)), %d);
  const look = () => {
    if (!(%s)) return;
    clearTimeout(timer);
    observer.disconnect();
    done();
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  look();
})
"""
KIND: Final = 'document.querySelector(".connection")?.dataset.kind'


@contextmanager
def opened(
    browser: Browser, port: int, path: str, *, is_cut_off: bool = False, width: int = 1280, height: int = 800
) -> Generator[Page]:
    """Open a page. It must not complain, nor ask anybody else for anything, nor load itself again. While the
    web process is away, a browser complains of what it cannot load."""
    origin = f"http://127.0.0.1:{port}/"
    page = Page(browser, origin + path, width, height, script=POLICY)
    yield page
    complaints = [each for each in page.complaints if not (is_cut_off and is_of_network(each))]
    assert complaints == []
    assert [each for each in page.requests if not each.startswith(origin)] == []
    assert page.requests.count(origin + path) == 1
    page.close()


def is_of_network(complaint: Message) -> bool:
    entry: Message = complaint["params"].get("entry", {})
    return entry.get("source") == "network"


def until(page: Page, condition: str) -> None:
    page.awaited(UNTIL % (PATIENCE_MS, condition))
