"""The page in a browser: clicks, keys, a phone's width, print. Skipped where there is no Chromium."""

import pytest
from browser import Browser, chromium


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    program = chromium()
    if program is None:
        pytest.skip("no Chromium here: install chromium to try the page in a browser")
    opened = Browser(program, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def text(browser, selector):
    return browser.run(f"document.querySelector({selector!r}).textContent")


def test_an_example_and_a_transformation_are_picked_by_clicks(browser, page):
    browser.open(page)
    before = browser.run("document.querySelector('#explore-frame').src")
    browser.click(".thumbs button:nth-child(2)")
    pressed = "[...document.querySelectorAll('.thumbs button')].map(b => b.getAttribute('aria-pressed')).join()"
    assert browser.run(pressed).startswith("false,true,false")
    assert browser.run("document.querySelector('#explore-frame').src") != before
    assert browser.run("document.querySelector('#explore-example').alt").startswith("example 2, ")
    browser.click(".choices label:nth-of-type(2)")
    assert text(browser, ".beside .which") == "flip-x"
    assert browser.run("document.querySelector('#slide').max") == "1"
    assert "mirrored" in text(browser, "#explore-ticks")


def test_the_slider_follows_keys_and_says_where_it_is(browser, page):
    browser.open(page)
    assert browser.run("document.querySelector('#reading').textContent").endswith("as the most natural value")
    browser.run("document.querySelector('#slide').focus({preventScroll: false})")
    browser.press("Home")
    assert text(browser, "#reading").startswith("−180°: ")
    browser.press("ArrowRight")
    assert text(browser, "#reading").startswith("−170°: ")
    assert browser.run("document.querySelector('#slide').getAttribute('aria-valuetext')") == text(browser, "#reading")
    assert browser.run("document.querySelector('.marker').style.left") == "2.78%"
    assert browser.run("document.querySelector('#explore-frame').alt").endswith("at rotation −170°")
    shift = browser.run(
        "(f => (f.parentElement.getBoundingClientRect().top - f.getBoundingClientRect().top) / f.offsetHeight * 37)"
        "(document.querySelector('#explore-frame'))"
    )
    assert shift == pytest.approx(1, abs=0.05)  # the window shows the second frame


def test_pressing_on_the_curve_moves_the_slider_there(browser, page):
    browser.open(page)
    browser.click("#explore-plot", share=0.75)
    assert text(browser, "#reading").startswith("+90°: ")
    assert browser.run("document.querySelector('#slide').value") == "27"


def test_the_keyboard_reaches_every_control_in_order(browser, page):
    browser.open(page)
    reached = []
    for _ in range(40):
        browser.press("Tab")
        reached.append(browser.run("(e => e.id || e.name || e.tagName)(document.activeElement)"))
    assert reached[0] == "A"  # skip to the content
    assert reached.index("BUTTON") < reached.index("coordinate") < reached.index("slide")


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(browser, page, width):
    browser.open(page, width=width)
    assert browser.run("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


def test_it_prints_without_controls(browser, page):
    browser.open(page)
    browser.send("Emulation.setEmulatedMedia", media="print")
    hidden = "['nav', '.thumbs', '.choices', '#slide'].every(s => !document.querySelector(s).offsetParent)"
    assert browser.run(hidden)
    assert browser.run("document.querySelector('#explore-plot').offsetHeight") > 50
    browser.send("Emulation.setEmulatedMedia", media="")
    assert browser.pdf().startswith(b"%PDF")


def test_it_fetches_nothing_and_nothing_goes_wrong(browser, page):
    browser.open(page)
    assert browser.problems == []
    assert {url.split(":")[0] for url in browser.requests} <= {"file", "data"}
