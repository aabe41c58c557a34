//! A page in a browser, with the queries of the tests.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use cornerstone::report;
use record::Run;

use crate::chromium::Browser;

/// Script that scrolls through the page until all charts are drawn.
pub(crate) const SHOW_ALL: &str = r"(async () => {
    document.querySelectorAll('details').forEach((d) => { d.open = true; });
    for (let y = 0; y < document.documentElement.scrollHeight; y += 700) {
        scrollTo({ top: y, behavior: 'instant' });
        await new Promise((done) => setTimeout(done, 40));
    }
})()";

/// Expression for the number of painted pixels on the canvas of each drawn chart.
pub(crate) const PAINTED: &str = r"[...document.querySelectorAll('figure[data-drawn] canvas:not(.line-sample)')].map((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let painted = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i]) painted++;
    return painted;
})";

pub(crate) const FIRST_CHART: &str = "#benchmark-0 figure";

/// A page in a browser. Browsers run one at a time, because several at once starve each other on a small machine.
pub(crate) struct Stage {
    pub(crate) browser: Browser,
    _folder: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());

impl Stage {
    pub(crate) fn new(test: &str, runs: &[Run]) -> Option<Stage> {
        let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut browser = Browser::start(test)?;
        let folder = tempfile::tempdir().expect("a folder for the page");
        let page: PathBuf = folder.path().join("report.html");
        std::fs::write(&page, report::render(runs)).expect("the page is written");
        browser.open(&page);
        Some(Stage { browser, _folder: folder, _turn: turn })
    }

    /// Scrolls to a chart and returns the middle of one of its points: the `index`th of its first line.
    pub(crate) fn place_of(&mut self, chart: &str, index: usize) -> (f64, f64) {
        // A pointer that rests on the chart moves the focus between two keys: a browser repeats its last movement when
        // the layout has changed.
        self.browser.point_at((2.0, 2.0));
        self.browser.evaluate(&format!("document.querySelector('{chart}').scrollIntoView({{block: 'center', behavior: 'instant'}})"));
        self.browser.wait_for(&format!("!!document.querySelector('{chart}[data-drawn] .u-over')"));
        let over = format!("document.querySelector('{chart} .u-over').getBoundingClientRect()");
        let (left, top) = (
            self.browser.number(&format!("{over}.left")),
            self.browser.number(&format!("{over}.top")),
        );
        // The keyboard moves to the point. The ring around it is the place for the pointer.
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

    /// Returns the value in the table under the chart, of a row of the first benchmark.
    pub(crate) fn table_value(&mut self, row: usize) -> String {
        self.browser.text(&format!(
            "document.querySelectorAll('table.numbers tbody tr')[{row}].querySelector('td.median').title"
        ))
    }
}
