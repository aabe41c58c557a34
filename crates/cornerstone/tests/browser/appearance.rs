//! Tests the appearance in light and dark, on paper and on a phone, and WCAG's requirements on names and contrast.

use crate::stage::{SHOW_ALL, Stage};
use crate::synthetic::{self, CABINET, DESK, PREDICTED, run, run_of};

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

/// Tests the contrast that WCAG 2.1 requires: 4.5 for text, 3 for lines.
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

/// Returns the relative luminance of `#rrggbb` (WCAG 2.1).
fn luminance(colour: &str) -> f64 {
    let channel = |at: usize| {
        let c = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("a colour")) / 255.0;
        if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}
