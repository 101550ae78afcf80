"""Chromium on the page: `browser.py ADDRESS TABLE REQUEST [FOLDER]`, ADDRESS as `lakeward serve` prints it; screenshots go to FOLDER.

A person asks, previews, runs, downloads, undoes, searches and looks at a dataset. Each page is checked in light and dark, on a wide screen and at
320 pixels, which is 400 % zoom: no violation that axe finds, nothing wider than the screen, no request to another place, no error of a script.
"""

import sys
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

CHROMIUM = "/usr/bin/chromium"
SCREENS = [("light", 1280), ("dark", 1280), ("light", 320), ("dark", 320)]


def check(page, name, folder):
    for scheme, width in SCREENS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        found = Axe().run(page).response["violations"]
        assert not found, (name, scheme, width, [(it["id"], it["nodes"][0]["html"]) for it in found])
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 1, (name, scheme, width, wide)
        if folder:
            page.screenshot(path=Path(folder) / f"{name}-{scheme}-{width}.png")
    page.set_viewport_size({"width": 1280, "height": 900})
    print(name)


def visit(page, address, table, request, folder):
    page.goto(address)
    check(page, "home", folder)
    page.get_by_label("Your task or question").fill(request)
    page.get_by_label("The table you start from").fill(table)
    page.get_by_role("button", name="Ask").click()
    check(page, "conversation", folder)
    page.get_by_role("link", name="Preview operation 1").click()
    check(page, "preview", folder)
    # By keyboard alone.
    page.get_by_role("button", name="Run it").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Operations that were run").wait_for()
    check(page, "result", folder)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download step 1 as CSV").click()
    assert download.value.suggested_filename.endswith("-step-1.csv")
    assert len(Path(download.value.path()).read_text(encoding="utf-8").splitlines()) > 1
    page.get_by_role("button", name="Take the latest operation back").click()
    page.get_by_text("taken back").wait_for()
    page.get_by_role("link", name="Search").click()
    page.get_by_label("Tables about").fill(table)
    page.get_by_role("button", name="Search").click()
    check(page, "search", folder)
    page.locator("ol.answers a").first.click()
    check(page, "dataset", folder)
    page.get_by_role("link", name="Start from this table").click()
    assert page.get_by_label("The table you start from").input_value()
    page.get_by_role("button", name="Log out").click()
    check(page, "login", folder)


def main(address, table, request, folder=None):
    elsewhere, errors = [], []
    host = urlsplit(address).netloc
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.on("request", lambda it: elsewhere.append(it.url) if urlsplit(urljoin(address, it.url)).netloc not in (host, "") else None)
        page.on("console", lambda it: errors.append(it.text) if it.type == "error" else None)
        page.on("dialog", lambda it: errors.append(it.message))
        visit(page, address, table, request, folder)
        browser.close()
    assert not elsewhere and not errors, (elsewhere, errors)


main(*sys.argv[1:])
