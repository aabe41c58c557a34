//! The targets of the kernels, and whether they are met.

/// Found and wanted ratios, in the order in which they were found.
#[derive(Default)]
pub(crate) struct Targets(Vec<Target>);

struct Target {
    what: String,
    found: Option<f64>,
    wanted: f64,
}

impl Targets {
    /// Records a ratio that should be at least `wanted`; `None` if a contender is missing.
    pub(crate) fn at_least(&mut self, what: impl Into<String>, found: Option<f64>, wanted: f64) {
        self.0.push(Target { what: what.into(), found, wanted });
    }

    /// Prints the table and its sum.
    pub(crate) fn print(&self) {
        println!("\n{:<70} {:>7} {:>7}", "target", "found", "wanted");
        for Target { what, found, wanted } in &self.0 {
            let (shown, verdict) = match found {
                Some(found) if found >= wanted => (format!("{found:.2}"), "met"),
                Some(found) => (format!("{found:.2}"), "NOT met"),
                None => ("-".into(), "cannot tell"),
            };
            println!("{what:<70} {shown:>7} {wanted:>7.2} {verdict}");
        }
        let met = |target: &&Target| target.found.is_some_and(|found| found >= target.wanted);
        println!("{} of {} targets met", self.0.iter().filter(met).count(), self.0.len());
    }
}
