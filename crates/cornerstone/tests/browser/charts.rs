//! Tests charts: they are drawn when they are visible, and read with pointer and keys.

use crate::stage::{FIRST_CHART, PAINTED, SHOW_ALL, Stage};
use crate::synthetic::{self, DESK, run, run_of};

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
        // Otherwise the test could not distinguish a median from an end of its interval.
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
