"""Chromium on the page: `browser.py ADDRESS TABLE REQUEST WORDS [FOLDER]`, ADDRESS as `lakeward serve` prints it; pictures go to FOLDER.

A person asks, takes back what was remembered, changes a step, previews, runs, draws, downloads, undoes, searches WORDS, looks at a dataset, and
walks the map by keys. Each page is checked in light and dark, on a wide screen and at 320 pixels, which is 400 % zoom: no violation that axe
finds, nothing wider than the screen, no request to another place, no error of a script.
"""

import sys
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

CHROMIUM = "/usr/bin/chromium"
SCREENS = [("light", 1280), ("dark", 1280), ("light", 320), ("dark", 320)]


def check(page, name, folder):
    page.locator("main[data-ready]").wait_for()
    for scheme, width in SCREENS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        found = Axe().run(page).response["violations"]
        assert not found, (name, scheme, width, [(it["id"], it["nodes"][0]["html"], it["nodes"][0]["failureSummary"]) for it in found])
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 1, (name, scheme, width, wide)
        if folder:
            suffix = "" if (scheme, width) == SCREENS[0] else f"-{scheme}-{width}"
            page.screenshot(path=Path(folder) / f"{name}{suffix}.png")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})
    print(name)


def led_to(page, place):
    """Whoever did something sees what came of it, and reads on there."""
    page.locator("main[data-ready]").wait_for()
    seen = page.evaluate("id => { const at = document.getElementById(id).getBoundingClientRect(); return at.top < innerHeight && at.bottom > 0; }", place)
    focused = page.evaluate("document.activeElement.id")
    assert seen and focused == place, (place, seen, focused, page.url)


def converse(page, table, request, folder):
    page.get_by_label("Your task or question").fill(request)
    page.get_by_label("The table you start from").fill(table)
    page.get_by_label("Your task or question").press("Control+Enter")
    page.locator("#answer-1").wait_for()
    led_to(page, "answer-1")
    check(page, "conversation", folder)
    page.get_by_role("link", name="Preview operation 1").click()
    page.locator("details.change summary").first.click()
    check(page, "preview", folder)
    page.get_by_role("button", name="Take step 1 out").click()
    page.get_by_role("heading", name="Changed operation").wait_for()
    page.go_back()
    # By keyboard alone; progress is told, and the end of it leads to the conversation.
    page.get_by_role("button", name="Run it").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Results").wait_for()
    led_to(page, "result-1")
    check(page, "ran", folder)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download result 1 as CSV").click()
    assert download.value.suggested_filename.endswith("-result-1.csv")
    assert len(Path(download.value.path()).read_text(encoding="utf-8").splitlines()) > 1
    page.get_by_role("link", name="Look at result 1").click()
    check(page, "result", folder)
    page.get_by_label("Form", exact=True).select_option("scatter")
    page.get_by_role("button", name="Draw").click()
    assert page.locator("svg.chart circle").count() > 1
    page.go_back()
    page.go_back()
    page.get_by_role("button", name="Take the latest operation back").click()
    page.get_by_text("It was taken back").wait_for()
    led_to(page, "result-1")
    page.get_by_role("button", name="Accept").first.click()
    page.get_by_text("Accepted: ").wait_for()
    led_to(page, "table-1")
    check(page, "accepted", folder)
    # A mistake stays in the page, with what was typed.
    page.get_by_label("Say what to change").fill("/help")
    page.get_by_role("button", name="Send").click()
    page.get_by_text("On this page").wait_for()
    assert page.get_by_label("Say what to change").input_value() == "/help"
    check(page, "command", folder)


def look_around(page, words, folder):
    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_label("Tables about").fill(words)
    page.get_by_role("button", name="Search").click()
    check(page, "search", folder)
    page.locator("ol.answers a").first.click()
    page.get_by_role("button", name="Copy Text").wait_for()
    check(page, "dataset", folder)
    page.get_by_role("button", name="Copy Text").click()
    page.get_by_role("button", name="Copied").wait_for()
    page.get_by_role("link", name="Start from this table").click()
    assert page.get_by_label("The table you start from").input_value()


def walk_the_map(page, folder):
    page.get_by_role("link", name="Map", exact=True).click()
    page.locator("svg.map").wait_for()
    check(page, "map", folder)
    page.locator("#map").focus()
    page.keyboard.press("ArrowDown")
    first = page.evaluate("document.activeElement.dataset.node")
    page.keyboard.press("ArrowDown")
    second = page.evaluate("document.activeElement.dataset.node")
    assert first is not None and second is not None and first != second, (first, second)
    assert page.locator("svg.map.focused").count() == 1
    before = page.evaluate("document.querySelector('svg.map').clientWidth")
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert page.evaluate("document.querySelector('svg.map').clientWidth") > before
    title = page.evaluate("document.activeElement.getAttribute('aria-label').replace(/: \\d+ joins, \\d+ unions$/, '')")
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=2, name="Cite").wait_for()
    assert page.get_by_role("heading", level=1).inner_text() == title, title


def in_chinese(browser, address, cookies, request, folder):
    """The page as a browser shows it whose user reads Chinese."""
    context = browser.new_context(locale="zh-CN")
    context.set_default_timeout(60_000)
    context.add_cookies(cookies)
    page = context.new_page()
    page.goto(urljoin(address, "/"))
    assert page.evaluate("document.documentElement.lang") == "zh-Hans"
    check(page, "home-chinese", folder)
    page.get_by_label("用自己的话描述任务或问题").fill(request)
    page.get_by_role("button", name="提问").click()
    page.locator("#answer-1").wait_for()
    led_to(page, "answer-1")
    check(page, "conversation-chinese", folder)
    page.get_by_role("link", name="地图", exact=True).click()
    page.get_by_text("用方向键在表之间移动").wait_for()
    context.close()


def main(address, table, request, words, folder=None):
    elsewhere, errors = [], []
    host = urlsplit(address).netloc
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.on("request", lambda it: elsewhere.append(it.url) if urlsplit(urljoin(address, it.url)).netloc not in (host, "") else None)
        # The page that tells of a mistake has its status, which browsers tell too.
        page.on("console", lambda it: errors.append(it.text) if it.type == "error" and "status of 400" not in it.text else None)
        page.on("pageerror", lambda it: errors.append(str(it)))
        page.on("dialog", lambda it: errors.append(it.message))
        page.goto(address)
        check(page, "home", folder)
        converse(page, table, request, folder)
        look_around(page, words, folder)
        walk_the_map(page, folder)
        in_chinese(browser, address, context.cookies(), request, folder)
        page.get_by_role("button", name="Log out").click()
        check(page, "login", folder)
        browser.close()
    assert not elsewhere and not errors, (elsewhere, errors)


main(*sys.argv[1:])
