//! What limits a chain, in words.

use reproduction::{Bottleneck, ChainPart, ChangedChain};

use super::quantity;

/// Returns what a change is: `6 buffers`, `links 2 times as fast`.
pub(crate) fn change(changed: &ChangedChain) -> String {
    let to = changed.to;
    match &changed.part {
        ChainPart::Stage(number, name) => format!("stage {number} ({name}) {to} times as fast"),
        ChainPart::Links => format!("links {to} times as fast"),
        ChainPart::Buffers => format!("{to} buffers"),
        ChainPart::Source => format!("the source on {to} ranks"),
        ChainPart::Sink => format!("the sink on {to} ranks"),
    }
}

/// Returns the sentence that names what limits a chain.
pub(crate) fn limit_of_chain(found: &Bottleneck) -> String {
    let us = |us: f64| quantity(us, "us");
    let Some(first) = found.limits() else {
        let least = 100.0 * Bottleneck::LEAST_SAVING;
        return format!(
            "no part alone limits the chain: a change of one of them brings less than {least:.0} %"
        );
    };
    let to = first.to;
    let (what, changed) = match &first.part {
        ChainPart::Stage(number, name) => {
            (format!("stage {number} ({name}) limits"), format!("{to} times as fast"))
        }
        ChainPart::Links => ("the links limit".into(), format!("{to} times as fast")),
        ChainPart::Buffers => ("the buffers limit".into(), format!("with {to}")),
        ChainPart::Source => ("the source limits".into(), format!("on {to} ranks")),
        ChainPart::Sink => ("the sink limits".into(), format!("on {to} ranks")),
    };
    let (before, after) = (us(found.matrix_us), us(first.matrix_us));
    format!("{what} the chain: {changed}, a matrix would take {after} instead of {before}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_brings_most_is_named_or_none() {
        let changed = |part, to, matrix_us| ChangedChain { part, to, matrix_us };
        let buffers = changed(ChainPart::Buffers, 16.0, 4190.0);
        let stage = changed(ChainPart::Stage(1, "fft".into()), 2.0, 5900.0);
        assert_eq!(change(&stage), "stage 1 (fft) 2 times as fast");
        let found = Bottleneck { matrix_us: 6260.0, changes: vec![buffers, stage] };
        assert_eq!(
            limit_of_chain(&found),
            "the buffers limit the chain: with 16, a matrix would take 4.19 ms instead of 6.26 ms"
        );
        let even = Bottleneck { matrix_us: 4200.0, ..found };
        let words = "no part alone limits the chain: a change of one of them brings less than 2 %";
        assert_eq!(limit_of_chain(&even), words);
    }
}
