"""``society explore`` and ``society export``, and the five questions answered in the browser."""

import json
import re
import shutil

import pytest

from tests.browser import CHROMIUM, Browser
from tests.command_line import society
from virsci_society.agents.invented_names import masked_name, with_invented_names
from virsci_society.scenarios.explorer.explorer_data import waits_of
from virsci_society.society.results.run import Run


@pytest.fixture(scope="module")
def page(small_run, tmp_path_factory):
    """The explorer of the small run."""
    path = tmp_path_factory.mktemp("page") / "explorer.html"
    done = society("explore", small_run, "--out", path)
    assert done.exit_code == 0, done.output
    assert "left out" not in done.output
    return path


def test_the_page_may_be_written_into_a_folder_without_prompts(small_run, tmp_path):
    done = society("explore", small_run, "--no-prompts", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "explorer.html").is_file()
    assert "omitted: All prompts: not asked for." in done.output


@pytest.mark.parametrize(
    ("command", "name"),
    [(("explore", "--no-prompts"), "explorer.html"), (("export", "figures"), "figures")],
)
def test_nothing_is_written_through_a_link_in_a_run_folder(small_run, tmp_path, command, name):
    copy, elsewhere = shutil.copytree(small_run, tmp_path / "run"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (copy / name).symlink_to(elsewhere if "." not in name else elsewhere / "new")
    assert society(*command, copy).exit_code == 2
    assert list(elsewhere.iterdir()) == []


@pytest.fixture(scope="module")
def opened(page):
    """The page in a browser, which must neither request nor complain to the end."""
    with Browser() as browser:
        browser.open(page)
        browser.until("document.documentElement.dataset.ready === 'true'")
        yield browser
        assert browser.requests() == []
        assert browser.complaints() == []


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")
class TestInTheBrowser:
    """One page, driven as its readers drive it."""

    @pytest.fixture
    def browser(self, opened, page):
        opened.value("location.hash = ''")
        opened.until("document.querySelector('#tabs [aria-current]')?.textContent === 'overview'")
        return opened

    def text(self, browser):
        return browser.value("document.getElementById('view').textContent")

    def rows(self, browser):
        """The cells of the list that is shown."""
        return browser.value(
            "[...document.querySelectorAll('#view tbody tr')].map((row) => "
            "[...row.children].map((cell) => cell.textContent))"
        )

    def choose(self, browser, selector, text=""):
        """One click, and the view that it leads to."""
        before = browser.value("location.hash")
        browser.click(selector, text)
        browser.until(f"location.hash !== {json.dumps(before)}")
        browser.until("new Promise((done) => requestAnimationFrame(() => done(true)))")

    @pytest.mark.slow
    def test_who_bridged_most_teams(self, browser, small_run):
        self.choose(browser, "#tabs button", "people")
        joined = Run.open(small_run).table("members").groupby("scientist").size()
        who, teams, *_ = self.rows(browser)[0]
        assert int(teams) == joined.max() == joined[masked_name(who)]

    @pytest.mark.slow
    def test_why_a_paper_cites_another(self, browser, small_run):
        run = Run.open(small_run)
        self.choose(browser, "#tabs button", "papers")
        self.choose(browser, "#view tbody a")
        paper = browser.value("new URLSearchParams(location.hash.slice(1)).get('paper')")
        cites = run.table("citations")
        text = self.text(browser)
        assert all(cited in text for cited in cites[cites["citing"] == paper]["cited"])
        assert "idea that builds on it by" in text
        self.choose(browser, "#view ul a[href*='call=']")
        assert browser.value("document.querySelectorAll('.turn.found').length") == 1

    @pytest.mark.slow
    def test_who_voted_for_the_idea_that_lost(self, browser, small_run):
        self.choose(browser, "#tabs button", "teams")
        self.choose(browser, "#view tbody th a")
        text = self.text(browser)
        assert "✓ written up" in text
        team = browser.value("new URLSearchParams(location.hash.slice(1)).get('team')")
        calls = Run.open(small_run).table("calls")
        voters = calls[(calls["team"] == masked_name(team)) & (calls["act"] == "vote")]["scientist"]
        assert len(voters) > 0
        table = " ".join(" ".join(row) for row in self.rows(browser))
        assert all(voter in table for voter in map(with_invented_names, voters))

    def test_when_the_giant_component_formed(self, browser):
        assert "iant component" in self.text(browser)

    def test_which_team_waited_longest(self, browser, small_run):
        self.choose(browser, "#tabs button", "teams")
        waits = waits_of(Run.open(small_run)).groupby(["team", "who"])["days"].sum()
        team, days, most, _ = self.rows(browser)[0]
        assert float(days) == pytest.approx(waits.groupby("team").sum().max(), abs=0.06)
        assert masked_name(most.split()[0]) == waits[masked_name(team)].idxmax()

    def test_the_past_is_shown_as_it_was(self, browser, small_run):
        run = Run.open(small_run)
        team = run.table("teams").iloc[0]
        day = int(team["formed"]) + 1
        browser.value(f"location.hash = 'day={day}&team={with_invented_names(team['team'])}'")
        browser.until("document.querySelector('#view h2').textContent.startsWith('Team')")
        text = self.text(browser)
        assert "published" not in text
        asked = run.table("calls")
        later = ((asked["team"] == team["team"]) & (asked["asked"] > day)).sum()
        assert f"{later} calls after this day" in text

    def test_search_finds_what_was_said_and_keeps_it_in_the_address(self, browser, small_run):
        calls = Run.open(small_run).table("calls")
        word = json.loads(calls[calls["form"] == "Idea"]["reply"].iloc[0])["Title"].split()[0]
        self.choose(browser, "#tabs button", "search")
        browser.value(
            "(() => { const field = document.querySelector('#view [type=search]'); field.value = "
            f"{json.dumps(word)}; field.dispatchEvent(new Event('input')); }})()"
        )
        browser.until("document.querySelectorAll('#view mark').length > 0")
        assert word.lower() in browser.value("location.hash").lower()
        found = calls["reply"].str.lower().str.contains(word.lower(), regex=False).sum()
        assert self.text(browser).split("call")[0].endswith(f"{found} ")

    def test_keys_and_play_move_the_day(self, browser):
        browser.page.keyboard.press("Home")
        browser.until("document.getElementById('day').value === '0'")
        browser.page.keyboard.press("ArrowRight")
        browser.until("document.getElementById('day').value === '1'")
        browser.page.keyboard.press("Space")
        browser.until("Number(document.getElementById('day').value) > 1")
        browser.page.keyboard.press("Space")
        browser.until("document.getElementById('play').textContent === '▶'")
        assert "day=" in browser.value("location.hash")

    def test_a_click_on_a_scientist_shows_it(self, browser):
        place = browser.value(
            "(() => { const box = document.querySelector('canvas').getBoundingClientRect();"
            "return [box.left, box.top, box.width, box.height]; })()"
        )
        for down in range(3, 30):
            for along in range(3, 30):
                if "who=" not in browser.value("location.hash"):
                    x, y = place[0] + place[2] * along / 32, place[1] + place[3] * down / 32
                    browser.page.mouse.click(x, y)
        assert re.search("who=[A-Z][a-z]+$", browser.value("location.hash"))

    @pytest.mark.parametrize("width", [360, 1440])
    def test_nothing_is_cut(self, browser, width):
        browser.size(width, 800)
        try:
            for view in ("", "tab=people", "tab=teams", "tab=papers", "tab=search", "tab=keys"):
                browser.value(f"location.hash = '{view}'")
                over = browser.value(
                    "new Promise((done) => setTimeout(() => done([document.documentElement, "
                    "...document.querySelectorAll('.scroll, #view')].filter((one) => "
                    "one.scrollWidth > one.clientWidth + 1).map((one) => one.outerHTML)), 40))"
                )
                assert over == [], view
        finally:
            browser.size(1440, 900)
