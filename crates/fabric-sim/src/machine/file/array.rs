//! Reads an array of processors from a machine file.

use definition_files::FileError;

use super::array_schema::{FileArray, FileWiring};
use super::place::Place;
use crate::array::Wiring;
use crate::machine::{Array, WordCost};

pub(super) fn array(place: &Place<'_>, file: &FileArray) -> Result<Array, FileError> {
    let span = |key: &str, us| place.span(&format!("array.{key}"), Some(us));
    let cost = |key: &str, us, us_per_word| {
        let (fixed, word) = (span(&format!("{key}_us"), us)?, format!("{key}_us_per_word"));
        Ok(WordCost { fixed, word: span(&word, us_per_word)? })
    };
    for (key, value) in [
        ("links_max", file.links_max),
        ("word_bits", file.word_bits as usize),
        ("link_fifo_words", file.link_fifo_words),
        ("bus_out_fifo_words", file.bus_out_fifo_words),
        ("bus_in_fifo_words", file.bus_in_fifo_words),
    ] {
        if value == 0 {
            return Err(place.refuse(&format!("array.{key}"), "is 0; it must be at least 1"));
        }
    }
    let bit = place.rate("array.link_mhz", file.link_mhz)?;
    let array = Array {
        wiring: wiring(place, file)?,
        links_max: file.links_max,
        link_word: bit.times(u64::from(file.word_bits)),
        link_fifo_words: file.link_fifo_words,
        bus_word: span("bus_word_us", file.bus_word_us)?,
        bus_out_words: file.bus_out_fifo_words,
        bus_in_words: file.bus_in_fifo_words,
        send_call: cost("send", file.send_us, file.send_us_per_word)?,
        receive_call: cost("receive", file.receive_us, file.receive_us_per_word)?,
        latest_call: cost("latest", file.latest_us, file.latest_us_per_word)?,
        send_interrupt: cost(
            "send_interrupt",
            file.send_interrupt_us,
            file.send_interrupt_us_per_word,
        )?,
        receive_interrupt: cost(
            "receive_interrupt",
            file.receive_interrupt_us,
            file.receive_interrupt_us_per_word,
        )?,
        flag: span("flag_us", file.flag_us)?,
        sum_maximum: span("sum_maximum_us", file.sum_maximum_us)?,
    };
    for (key, cost) in [
        ("send_interrupt_us_per_word", array.send_interrupt),
        ("receive_interrupt_us_per_word", array.receive_interrupt),
        ("latest_us", array.latest_call),
    ] {
        let time = if key == "latest_us" { cost.fixed } else { cost.word };
        if time == contract::TimeSpan::ZERO {
            let why = "is 0; a program that only looks, or an interrupt, would never get on";
            return Err(place.refuse(&format!("array.{key}"), why));
        }
    }
    Ok(array)
}

fn wiring(place: &Place<'_>, file: &FileArray) -> Result<Vec<Wiring>, FileError> {
    let named = |kind| file.wiring.contains(&kind);
    for (key, given, kind) in [
        ("extents", file.extents.is_some(), FileWiring::EightNeighbours),
        ("dimensions", file.dimensions.is_some(), FileWiring::CubeConnectedCycles),
    ] {
        if given != named(kind) {
            let why = if given {
                "belongs to none of these wirings"
            } else {
                "must be given for this wiring"
            };
            let key = if given { key } else { "wiring" };
            return Err(place.refuse(&format!("array.{key}"), why));
        }
    }
    let wiring = |kind: &FileWiring| match kind {
        FileWiring::Row => Wiring::Row,
        FileWiring::Ring => Wiring::Ring,
        FileWiring::EightNeighbours => {
            let [rows, columns] = file.extents.unwrap_or_default();
            Wiring::EightNeighbours { rows, columns }
        }
        FileWiring::PerfectShuffle => Wiring::PerfectShuffle,
        FileWiring::CubeConnectedCycles => {
            Wiring::CubeConnectedCycles { dimensions: file.dimensions.unwrap_or_default() }
        }
    };
    Ok(file.wiring.iter().map(wiring).collect())
}

#[cfg(test)]
mod tests {
    use crate::machine::{find, parse};
    use contract::TimeSpan;

    const FEM: &str = include_str!("../../../../../machines/fem.toml");

    fn problem(from: &str, to: &str) -> String {
        let text = FEM.replace(from, to);
        assert_ne!(text, FEM, "{from}");
        parse("m.toml", &text).unwrap_err().to_string()
    }

    fn line(of: &str) -> usize {
        let lines = FEM.lines().enumerate().filter(|(_, line)| line.starts_with(of));
        1 + lines.last().unwrap().0
    }

    /// A word of 16 bits at 1.5 MHz takes 10.667 µs.
    #[test]
    fn the_finite_element_machine_has_links_and_a_bus() {
        let array = find("fem").unwrap().array.unwrap();
        assert_eq!(array.link_word, TimeSpan::from_ps(10_666_667));
        assert_eq!(array.bus_word, TimeSpan::from_ns(800));
        let fifos = (array.link_fifo_words, array.bus_out_words, array.bus_in_words);
        assert_eq!(fifos, (16, 64, 64));
        assert_eq!(array.send_call.of(2), TimeSpan::from_ns(757_700));
    }

    #[test]
    fn mistakes_are_named_with_file_and_line() {
        let expected =
            |field: &str, why: &str| format!("m.toml, line {}: `array.{field}` {why}", line(field));
        assert_eq!(
            problem("link_fifo_words = 16", "link_fifo_words = 0"),
            expected("link_fifo_words", "is 0; it must be at least 1")
        );
        assert_eq!(
            problem("link_mhz = 1.5", "link_mhz = 0"),
            expected("link_mhz", "is 0; a rate must be above it")
        );
        assert!(
            problem("bus_word_us = 0.8", "bus_word_us = -1")
                .starts_with(&expected("bus_word_us", "is -1; it must be a number"))
        );
        assert_eq!(
            problem("[\"eight-neighbours\"]", "[\"row\"]"),
            expected("extents", "belongs to none of these wirings")
        );
        assert_eq!(
            problem("[\"eight-neighbours\"]", "[\"eight-neighbours\", \"cube-connected-cycles\"]"),
            expected("wiring", "must be given for this wiring")
        );
        let unknown = problem("[\"eight-neighbours\"]", "[\"sixteen-neighbours\"]");
        let begin = format!("m.toml, line {}: ", line("wiring"));
        assert!(unknown.starts_with(&begin) && unknown.contains("unknown variant"), "{unknown}");
        assert!(
            problem("send_interrupt_us_per_word = 55", "send_interrupt_us_per_word = 0")
                .contains("never get on")
        );
    }
}
