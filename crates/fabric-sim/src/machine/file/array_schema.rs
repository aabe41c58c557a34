//! The fields of `[array]` in a machine file.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileArray {
    pub(super) wiring: Vec<FileWiring>,
    pub(super) extents: Option<[usize; 2]>,
    pub(super) dimensions: Option<u32>,
    pub(super) links_max: usize,
    pub(super) link_mhz: f64,
    pub(super) word_bits: u32,
    pub(super) link_fifo_words: usize,
    pub(super) bus_word_us: f64,
    pub(super) bus_out_fifo_words: usize,
    pub(super) bus_in_fifo_words: usize,
    pub(super) send_us: f64,
    pub(super) send_us_per_word: f64,
    pub(super) receive_us: f64,
    pub(super) receive_us_per_word: f64,
    pub(super) latest_us: f64,
    pub(super) latest_us_per_word: f64,
    pub(super) send_interrupt_us: f64,
    pub(super) send_interrupt_us_per_word: f64,
    pub(super) receive_interrupt_us: f64,
    pub(super) receive_interrupt_us_per_word: f64,
    pub(super) flag_us: f64,
    pub(super) sum_maximum_us: f64,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileWiring {
    Row,
    Ring,
    EightNeighbours,
    PerfectShuffle,
    CubeConnectedCycles,
}
