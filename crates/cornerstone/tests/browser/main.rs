//! The report in a real browser: drawn, read with pointer and keys, copied, printed, in light and dark, on a phone.
//!
//! What a chart shows is compared with the table under it, which other code wrote.

mod chromium;
#[path = "../synthetic/mod.rs"]
mod synthetic;

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use contract::record::Run;
use cornerstone::report;

use chromium::Browser;
use synthetic::{CABINET, DESK, PREDICTED, run, run_of};

/// Scrolls through the page until all that can be drawn is drawn.
const SHOW_ALL: &str = r"(async () => {
    document.querySelectorAll('details').forEach((d) => { d.open = true; });
    for (let y = 0; y < document.documentElement.scrollHeight; y += 700) {
        scrollTo({ top: y, behavior: 'instant' });
        await new Promise((done) => setTimeout(done, 40));
    }
})()";
/// For each drawn chart, how many pixels of its canvas are painted.
const PAINTED: &str = r"[...document.querySelectorAll('figure[data-drawn] canvas:not(.line-sample)')].map((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let painted = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i]) painted++;
    return painted;
})";

/// A page in a browser. Browsers run one at a time: several at once starve each other on a small machine.
struct Stage {
    browser: Browser,
    _folder: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());

impl Stage {
    fn new(test: &str, runs: &[Run]) -> Option<Stage> {
        let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut browser = Browser::start(test)?;
        let folder = tempfile::tempdir().expect("a folder for the page");
        let page: PathBuf = folder.path().join("report.html");
        std::fs::write(&page, report::render(runs)).expect("the page is written");
        browser.open(&page);
        Some(Stage { browser, _folder: folder, _turn: turn })
    }

    /// Brings a chart into view and gives the middle of one of its points: the `index`th of its first line.
    fn place_of(&mut self, chart: &str, index: usize) -> (f64, f64) {
        self.browser.evaluate(&format!("document.querySelector('{chart}').scrollIntoView({{block: 'center', behavior: 'instant'}})"));
        self.browser.wait_for(&format!("!!document.querySelector('{chart}[data-drawn] .u-over')"));
        let over = format!("document.querySelector('{chart} .u-over').getBoundingClientRect()");
        let (left, top) = (
            self.browser.number(&format!("{over}.left")),
            self.browser.number(&format!("{over}.top")),
        );
        // The keyboard moves to the point; the ring around it is where the pointer must go.
        self.browser.evaluate(&format!(
            "document.querySelector('{chart} .plot').focus({{preventScroll: true}})"
        ));
        for _ in 0..=index {
            self.browser.press("ArrowRight");
        }
        let tip = self.browser.text(&format!("document.querySelector('{chart} .tip').dataset.at"));
        let (x, y) = tip.split_once(',').expect("two coordinates");
        (left + x.parse::<f64>().unwrap(), top + y.parse::<f64>().unwrap())
    }

    /// The value as the table under the chart writes it, of a row of the first benchmark.
    fn table_value(&mut self, row: usize) -> String {
        self.browser.text(&format!(
            "document.querySelectorAll('table.numbers tbody tr')[{row}].querySelector('td.median').title"
        ))
    }
}

const FIRST_CHART: &str = "#benchmark-0 figure";

#[test]
fn no_page_complains_or_asks_for_anything() {
    let pages: [(&str, Vec<Run>); 8] = [
        ("one run", vec![run(&DESK)]),
        ("two runs", vec![run(&DESK), run(&CABINET)]),
        ("three runs", vec![run(&DESK), run(&CABINET), run(&PREDICTED)]),
        ("an empty run", vec![synthetic::empty_run()]),
        ("no run", vec![]),
        ("one benchmark", vec![run_of(&DESK, "barrier")]),
        ("pairs and links", vec![synthetic::pairs_run()]),
        ("a hostile run", vec![synthetic::hostile_run(), synthetic::hostile_run()]),
    ];
    for (name, runs) in pages {
        let Some(mut stage) = Stage::new("no_page_complains_or_asks_for_anything", &runs) else {
            return;
        };
        stage.browser.evaluate(SHOW_ALL);
        assert_eq!(stage.browser.complaints(), [""; 0], "{name}");
        assert_eq!(stage.browser.requests(), [""; 0], "{name}");
    }
}

#[test]
fn charts_are_drawn_when_they_come_into_view_and_not_before() {
    let Some(mut stage) =
        Stage::new("charts_are_drawn_when_they_come_into_view_and_not_before", &[run(&DESK)])
    else {
        return;
    };
    let browser = &mut stage.browser;
    let figures = browser.number("document.querySelectorAll('figure[data-chart]').length");
    let drawn = "document.querySelectorAll('figure[data-chart][data-drawn]').length";
    assert!(figures > 20.0, "{figures}");
    assert!(browser.number(drawn) < figures / 2.0);
    browser.evaluate(SHOW_ALL);
    browser.wait_for(&format!("{drawn} === {figures}"));
    let painted = browser.evaluate(PAINTED);
    let painted = painted.as_array().unwrap();
    assert!(painted.len() as f64 >= figures);
    assert!(painted.iter().all(|pixels| pixels.as_u64().unwrap() > 500), "{painted:?}");
}

#[test]
fn a_large_report_draws_only_what_is_in_view() {
    let Some(mut stage) =
        Stage::new("a_large_report_draws_only_what_is_in_view", &[synthetic::large_run()])
    else {
        return;
    };
    let drawn = "document.querySelectorAll('figure[data-drawn]').length";
    assert!(stage.browser.number("document.querySelectorAll('figure[data-chart]').length") > 200.0);
    assert!(stage.browser.number(drawn) < 20.0);
}

#[test]
fn pointing_at_a_chart_shows_what_the_table_says() {
    let runs = [run_of(&DESK, "ping-pong")];
    let Some(mut stage) = Stage::new("pointing_at_a_chart_shows_what_the_table_says", &runs) else {
        return;
    };
    let times: Vec<_> =
        runs[0].measurements.iter().filter(|m| m.metric == "time").map(|m| &m.summary).collect();
    for row in [0, 2, 11] {
        // Else the test could not tell a median from an end of its interval.
        assert!(times[row].ci_low < 0.995 * times[row].median, "{:?}", times[row]);
        let place = stage.place_of(FIRST_CHART, row);
        stage.browser.press("Escape");
        assert_eq!(
            stage.browser.evaluate(&format!("document.querySelector('{FIRST_CHART} .tip').hidden")),
            true
        );
        stage.browser.point_at(place);
        stage.browser.wait_for(&format!("!document.querySelector('{FIRST_CHART} .tip').hidden"));
        let tip =
            stage.browser.text(&format!("document.querySelector('{FIRST_CHART} .tip').innerText"));
        let value = stage.table_value(row);
        let near = format!("document.querySelector('{FIRST_CHART} .tip tr.near td').textContent");
        assert_eq!(stage.browser.text(&near), value);
        for part in ["interval", "p99", "samples", "message size"] {
            assert!(tip.contains(part), "{part} is not in {tip}");
        }
        stage.browser.evaluate("document.activeElement.blur()");
    }
}

#[test]
fn the_arrow_keys_read_a_chart_aloud() {
    let Some(mut stage) =
        Stage::new("the_arrow_keys_read_a_chart_aloud", &[run_of(&DESK, "ping-pong")])
    else {
        return;
    };
    stage.place_of(FIRST_CHART, 1);
    let said = stage.browser.text("document.getElementById('announcement').textContent");
    let value = stage.table_value(1);
    assert!(said.contains("1 B") && said.contains(&value), "{said} / {value}");
    stage.browser.press("ArrowLeft");
    let said = stage.browser.text("document.getElementById('announcement').textContent");
    let value = stage.table_value(0);
    assert!(said.contains("0 B") && said.contains(&value), "{said} / {value}");
}

#[test]
fn a_click_on_a_point_shows_its_samples() {
    let Some(mut stage) =
        Stage::new("a_click_on_a_point_shows_its_samples", &[run_of(&DESK, "ping-pong")])
    else {
        return;
    };
    let place = stage.place_of(FIRST_CHART, 2);
    stage.browser.click_at(place);
    stage.browser.wait_for(
        "document.querySelectorAll('details.samples[open] figure[data-drawn]').length === 2",
    );
    let chosen = stage
        .browser
        .text("document.querySelector('details.samples select').selectedOptions[0].textContent");
    assert_eq!(chosen, "2 ranks, 8 B");
    let facts = stage.browser.text("document.querySelector('details.samples .facts').textContent");
    let value = stage.table_value(2);
    assert!(facts.contains(&format!("median {value}")), "{facts} / {value}");
    let painted = stage.browser.evaluate(PAINTED);
    assert!(painted.as_array().unwrap().iter().all(|pixels| pixels.as_u64().unwrap() > 500));
}

#[test]
fn a_line_can_be_switched_off_and_on() {
    let Some(mut stage) =
        Stage::new("a_line_can_be_switched_off_and_on", &[run_of(&DESK, "broadcast")])
    else {
        return;
    };
    stage.place_of(FIRST_CHART, 0);
    stage.browser.press("Escape");
    let before = stage.browser.evaluate(PAINTED)[0].as_u64().unwrap();
    let button = "document.querySelectorAll('.switches button')[3]";
    stage.browser.evaluate(&format!("{button}.click()"));
    assert_eq!(stage.browser.text(&format!("{button}.getAttribute('aria-pressed')")), "false");
    stage.browser.wait_for(&format!("({PAINTED})[0] < {before}"));
    stage.browser.evaluate(&format!("{button}.click()"));
    stage.browser.wait_for(&format!("({PAINTED})[0] === {before}"));
}

#[test]
fn light_and_dark_follow_the_system_and_the_button() {
    let Some(mut stage) = Stage::new(
        "light_and_dark_follow_the_system_and_the_button",
        &[run_of(&DESK, "ping-pong")],
    ) else {
        return;
    };
    let background = "getComputedStyle(document.body).backgroundColor";
    let axis = "getComputedStyle(document.documentElement).getPropertyValue('--soft')";
    stage.browser.prefer("light");
    let light = (stage.browser.text(background), stage.browser.text(axis));
    stage.browser.prefer("dark");
    let dark = (stage.browser.text(background), stage.browser.text(axis));
    assert_ne!(light.0, dark.0);
    assert_ne!(light.1, dark.1);
    stage.browser.evaluate("document.getElementById('theme').click()");
    assert_eq!(stage.browser.text(background), light.0);
    assert_eq!(stage.browser.text("document.getElementById('theme').textContent"), "Dark");
    stage.browser.evaluate("document.getElementById('theme').click()");
    assert_eq!(stage.browser.text(background), dark.0);
    assert_eq!(stage.browser.complaints(), [""; 0]);
}

#[test]
fn a_table_is_copied_as_tab_separated_values() {
    let Some(mut stage) =
        Stage::new("a_table_is_copied_as_tab_separated_values", &[run_of(&DESK, "ping-pong")])
    else {
        return;
    };
    stage.browser.evaluate(
        "addEventListener('copy', () => { window.copied = getSelection().toString() || document.activeElement.value; });
         document.querySelector('details.table').open = true;
         Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } });
         document.querySelector('details.table button.copy').click()",
    );
    stage.browser.wait_for("typeof window.copied === 'string'");
    let copied = stage.browser.text("window.copied");
    let rows: Vec<Vec<&str>> = copied.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 1 + 12);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{rows:?}");
    assert_eq!(rows[0][1], "size in bytes");
    // Bytes, not `4 MiB`, so that a spreadsheet can count with them.
    assert_eq!(rows[12][1], "4194304");
    assert!(rows[12][2].parse::<f64>().is_ok(), "{:?}", rows[12]);
    stage
        .browser
        .wait_for("document.querySelector('details.table button.copy').textContent === 'Copied'");
}

#[test]
fn without_a_clipboard_a_table_is_copied_the_old_way() {
    let Some(mut stage) = Stage::new(
        "without_a_clipboard_a_table_is_copied_the_old_way",
        &[run_of(&DESK, "ping-pong")],
    ) else {
        return;
    };
    stage.browser.evaluate(
        "addEventListener('copy', () => { window.copied = document.activeElement.value; });
         document.querySelector('details.table').open = true;
         Object.defineProperty(navigator, 'clipboard', { value: undefined });
         document.querySelector('details.table button.copy').click()",
    );
    stage.browser.wait_for("typeof window.copied === 'string'");
    assert_eq!(stage.browser.text("window.copied").lines().count(), 13);
}

#[test]
fn a_phone_need_not_scroll_sideways() {
    for runs in [
        vec![run(&DESK)],
        vec![run(&DESK), run(&CABINET), run(&PREDICTED)],
        vec![synthetic::hostile_run()],
    ] {
        let Some(mut stage) = Stage::new("a_phone_need_not_scroll_sideways", &runs) else { return };
        stage.browser.size(360, 740);
        stage.browser.evaluate(SHOW_ALL);
        assert_eq!(stage.browser.number("document.documentElement.scrollWidth"), 360.0);
        stage.browser.size(1280, 900);
        stage.browser.size(360, 740);
        stage.browser.wait_for("[...document.querySelectorAll('figure[data-drawn] .uplot')].every((plot) => plot.offsetWidth <= 360)");
    }
}

#[test]
fn paper_gets_every_chart_in_light() {
    let Some(mut stage) = Stage::new("paper_gets_every_chart_in_light", &[run(&DESK)]) else {
        return;
    };
    stage.browser.prefer("dark");
    stage.browser.evaluate("addEventListener('beforeprint', () => {
        window.printed = {
            theme: document.documentElement.dataset.theme,
            missing: [...document.querySelectorAll('figure[data-chart]:not([data-drawn])')].filter((f) => !f.closest('details:not([open])')).length,
        };
    })");
    let paper = stage.browser.call("Page.printToPDF", serde_json::json!({"printBackground": true}));
    assert!(paper["data"].as_str().unwrap().len() > 20_000);
    assert_eq!(stage.browser.text("window.printed.theme"), "light");
    assert_eq!(stage.browser.number("window.printed.missing"), 0.0);
    stage.browser.wait_for("document.documentElement.dataset.theme === undefined");
}

#[test]
fn without_a_script_the_numbers_can_still_be_read() {
    let Some(mut stage) =
        Stage::new("without_a_script_the_numbers_can_still_be_read", &[run_of(&DESK, "ping-pong")])
    else {
        return;
    };
    stage.browser.call("Emulation.setScriptExecutionDisabled", serde_json::json!({"value": true}));
    stage.browser.call("Page.reload", serde_json::json!({}));
    stage.browser.wait_for(
        "document.readyState === 'complete' && !document.querySelector('figure[data-drawn]')",
    );
    assert_eq!(
        stage.browser.number("document.querySelectorAll('table.numbers tbody tr').length"),
        12.0
    );
    assert!(
        stage.browser.number("document.querySelector('noscript').getBoundingClientRect().height")
            > 0.0
    );
}

#[test]
fn everything_that_can_be_pressed_has_a_name_and_can_be_reached_by_key() {
    let Some(mut stage) = Stage::new(
        "everything_that_can_be_pressed_has_a_name_and_can_be_reached_by_key",
        &[run(&DESK), run(&CABINET)],
    ) else {
        return;
    };
    stage.browser.evaluate(SHOW_ALL);
    let nameless = stage.browser.evaluate(
        "[...document.querySelectorAll('button, a, select, input, summary, [tabindex]')]
            .filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.[0]?.textContent.trim()) || e.tabIndex < 0)
            .map((e) => e.outerHTML.slice(0, 120))",
    );
    assert_eq!(nameless, serde_json::json!([]));
    let dangling = stage.browser.evaluate("[...document.querySelectorAll('a[href^=\"#\"]')].map((a) => a.hash).filter((hash) => !document.getElementById(hash.slice(1)))");
    assert_eq!(dangling, serde_json::json!([]));
}

/// The contrast that WCAG 2.1 asks for: 4.5 for text, 3 for lines.
#[test]
fn text_and_lines_stand_out_from_what_is_behind_them_in_light_and_dark() {
    let Some(mut stage) = Stage::new(
        "text_and_lines_stand_out_from_what_is_behind_them_in_light_and_dark",
        &[run_of(&DESK, "ping-pong")],
    ) else {
        return;
    };
    for scheme in ["light", "dark"] {
        stage.browser.prefer(scheme);
        let names = [
            "ink", "soft", "accent", "caution", "calm", "line-0", "line-1", "line-2", "line-3",
            "line-4", "line-5", "line-6",
        ];
        let back = ["card", "page"];
        for (name, behind) in names.iter().flat_map(|name| back.map(|behind| (name, behind))) {
            let [front, back] = [name, &behind].map(|name| {
                let text = stage.browser.text(&format!(
                    "getComputedStyle(document.documentElement).getPropertyValue('--{name}').trim()"
                ));
                luminance(&text)
            });
            let contrast = (front.max(back) + 0.05) / (front.min(back) + 0.05);
            let wanted = if name.starts_with("line") { 3.0 } else { 4.5 };
            assert!(contrast >= wanted, "{scheme}: {name} on {behind}: {contrast:.2}");
        }
    }
}

/// The relative luminance of `#rrggbb` (WCAG 2.1).
fn luminance(colour: &str) -> f64 {
    let channel = |at: usize| {
        let c = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("a colour")) / 255.0;
        if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}
