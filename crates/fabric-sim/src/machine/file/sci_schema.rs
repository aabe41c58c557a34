//! The fields of rings of SCI in a machine file.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileSci {
    pub(super) shape: String,
    pub(super) link_gbit_per_s: Option<f64>,
    pub(super) queue_packets: Option<u32>,
    #[serde(default)]
    pub(super) access: FileSciAccess,
    pub(super) seats: Option<u32>,
    #[serde(default)]
    pub(super) retry: FileSciRetry,
    pub(super) urgency: Option<FileSciUrgency>,
    pub(super) urgent_bytes: Option<u64>,
    pub(super) stripping_us: Option<f64>,
    pub(super) routing_us: Option<f64>,
    pub(super) host_us: Option<f64>,
    pub(super) responder_us: Option<f64>,
    pub(super) bypass_us: Option<f64>,
    pub(super) transmission_us: Option<f64>,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileSciAccess {
    Free,
    #[default]
    GoBits,
    Train,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileSciRetry {
    #[default]
    Aged,
    Again,
    Directed,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileSciUrgency {
    Preempt,
    TwoBits,
}
