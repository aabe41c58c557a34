//! Tests the page as a whole: it requests nothing, its tables are copied, and it can be read without a script.

use record::Run;

use crate::stage::{SHOW_ALL, Stage};
use crate::synthetic::{self, CABINET, DESK, PREDICTED, run, run_of};

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
