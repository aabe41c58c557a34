//! The tables and fields of a machine file.

use serde::Deserialize;

use crate::machine::NumberSource;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) level: Option<FileLevel>,
    pub(super) ranks_max: Option<usize>,
    pub(super) ranks_per_processor: Option<usize>,
    #[serde(default)]
    pub(super) processor: FileProcessor,
    #[serde(default)]
    pub(super) endpoint: FileEndpoint,
    #[serde(default)]
    pub(super) protocol: FileProtocol,
    pub(super) network: Option<FileNetwork>,
    pub(super) sci: Option<super::sci_schema::FileSci>,
    #[serde(default)]
    pub(super) inner_network: Vec<FileNetwork>,
    #[serde(default)]
    pub(super) fault: Vec<FileFault>,
    pub(super) ring_collectives: Option<FileRing>,
    pub(super) board: Option<FileBoard>,
    pub(super) windows: Option<FileWindows>,
    pub(super) array: Option<super::array_schema::FileArray>,
    #[serde(default)]
    pub(super) pause: Vec<FilePause>,
    #[serde(default)]
    pub(super) source: Vec<NumberSource>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileLevel {
    Loggp,
    Packets,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileProcessor {
    pub(super) polling_us: Option<f64>,
    pub(super) time_slice_us: Option<f64>,
    pub(super) switch_us: Option<f64>,
    pub(super) floating_point_mflops: Option<f64>,
    pub(super) fft_mflops: Option<f64>,
    pub(super) copy_mb_per_s: Option<f64>,
    #[serde(default)]
    pub(super) copy: Vec<FilePiece>,
    pub(super) corner_turn_mb_per_s: Option<f64>,
    pub(super) reduction_mops: Option<f64>,
    pub(super) matrix_multiply_mflops: Option<f64>,
    pub(super) sort_mops: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileEndpoint {
    pub(super) send_us: Option<f64>,
    pub(super) send_ns_per_byte: Option<f64>,
    #[serde(default)]
    pub(super) send: Vec<FilePiece>,
    pub(super) receive_us: Option<f64>,
    pub(super) receive_ns_per_byte: Option<f64>,
    #[serde(default)]
    pub(super) receive: Vec<FilePiece>,
    pub(super) unexpected_us: Option<f64>,
    pub(super) unexpected_ns_per_byte: Option<f64>,
    pub(super) packet_send_us: Option<f64>,
    pub(super) packet_send_ns_per_byte: Option<f64>,
    pub(super) packet_receive_us: Option<f64>,
    pub(super) packet_receive_ns_per_byte: Option<f64>,
    pub(super) post_us: Option<f64>,
    #[serde(default)]
    pub(super) library_posts: bool,
    pub(super) setup_us: Option<f64>,
    #[serde(default)]
    pub(super) setup: Vec<FilePiece>,
    #[serde(default)]
    pub(super) simplex: bool,
    pub(super) simplex_from_bytes: Option<u64>,
    pub(super) gap_us: Option<f64>,
    #[serde(default)]
    pub(super) gap: Vec<FilePiece>,
    #[serde(default)]
    pub(super) posted_in_memory: bool,
    #[serde(default = "yes")]
    pub(super) engine_overlaps_link: bool,
    #[serde(default)]
    pub(super) co_processor: bool,
    #[serde(default)]
    pub(super) interleaves_messages: bool,
    #[serde(default)]
    pub(super) processor_forwards: bool,
    #[serde(default)]
    pub(super) send_waits_for_link: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilePiece {
    pub(super) from_bytes: u64,
    pub(super) us: f64,
    pub(super) ns_per_byte: f64,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileProtocol {
    pub(super) eager_bytes: Option<u64>,
    pub(super) announcement: Option<FileAnnouncement>,
    pub(super) control_bytes: Option<u32>,
    pub(super) answer_us: Option<f64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileAnnouncement {
    Message,
    Free,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileNetwork {
    pub(super) name: Option<String>,
    pub(super) nodes: Option<usize>,
    pub(super) nodes_per_port: Option<usize>,
    pub(super) message_us: Option<f64>,
    pub(super) message_ns_per_byte: Option<f64>,
    pub(super) detour_bytes: Option<u64>,
    pub(super) notice_us: Option<f64>,
    pub(super) shape: FileShape,
    #[serde(default)]
    pub(super) one_way: bool,
    #[serde(default)]
    pub(super) extents: Vec<usize>,
    pub(super) arity: Option<usize>,
    #[serde(default)]
    pub(super) links: Vec<(usize, usize)>,
    pub(super) packet_bytes: Option<u32>,
    pub(super) header_bytes: Option<u32>,
    pub(super) link_mb_per_s: f64,
    pub(super) packet_us: Option<f64>,
    #[serde(default)]
    pub(super) simplex_links: bool,
    #[serde(default)]
    pub(super) single_hop: bool,
    pub(super) latency_us: Option<f64>,
    pub(super) forward_us: Option<f64>,
    pub(super) forward_control_us: Option<f64>,
    pub(super) switching: Option<FileSwitching>,
    pub(super) merge: Option<FileMerge>,
    pub(super) buffer_packets: Option<u32>,
    pub(super) slot_us: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileShape {
    Line,
    Ring,
    Mesh,
    Torus,
    EightNeighbours,
    Hypercube,
    Bus,
    Switch,
    FatTree,
    Graph,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileSwitching {
    StoreAndForward,
    CutThrough,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileMerge {
    RoundRobin,
    Age,
    FixedPriority,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRing {
    pub(super) barrier_entry_us: f64,
    pub(super) barrier_hop_us: f64,
    pub(super) forward_us: f64,
    pub(super) packet_us: f64,
    pub(super) allgather_entry_us: f64,
    pub(super) allgather_step_us: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileBoard {
    pub(super) ranks_max: Option<usize>,
    pub(super) bytes_max: Option<u64>,
    pub(super) line_bytes: Option<u64>,
    pub(super) piece_bytes: u64,
    pub(super) slot_bytes: Option<u64>,
    pub(super) places: u64,
    pub(super) see_us: f64,
    pub(super) look_us: Option<f64>,
    #[serde(default)]
    pub(super) crowding_permille: u32,
    pub(super) put: Vec<FilePiece>,
    pub(super) take: Vec<FilePiece>,
    pub(super) combine: Vec<FilePiece>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileWindows {
    #[serde(default)]
    pub(super) path: FileAccessPath,
    pub(super) put_us: Option<f64>,
    pub(super) put_ns_per_byte: Option<f64>,
    #[serde(default)]
    pub(super) put: Vec<FilePiece>,
    pub(super) get_us: Option<f64>,
    pub(super) get_ns_per_byte: Option<f64>,
    #[serde(default)]
    pub(super) get: Vec<FilePiece>,
    pub(super) update_us: Option<f64>,
    pub(super) update_ns_per_byte: Option<f64>,
    #[serde(default)]
    pub(super) update: Vec<FilePiece>,
    pub(super) target_us: Option<f64>,
    pub(super) target_ns_per_byte: Option<f64>,
    pub(super) target_update_us: Option<f64>,
    pub(super) target_update_ns_per_byte: Option<f64>,
    pub(super) done_us: Option<f64>,
    pub(super) see_us: Option<f64>,
    #[serde(default)]
    pub(super) request_bytes: u32,
    #[serde(default)]
    pub(super) answer_bytes: u32,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileAccessPath {
    #[default]
    Network,
    Processor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilePause {
    pub(super) period_us: f64,
    pub(super) length_us: f64,
    pub(super) period_jitter_us: Option<f64>,
    pub(super) length_jitter_us: Option<f64>,
    #[serde(default)]
    pub(super) at_once: bool,
    pub(super) processors: Option<Vec<usize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultsFile {
    pub(super) fault: Vec<FileFault>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileFault {
    pub(super) at_us: f64,
    pub(super) until_us: Option<f64>,
    pub(super) network: Option<String>,
    pub(super) link: Option<(usize, usize)>,
    pub(super) port: Option<usize>,
    pub(super) switch: Option<bool>,
    pub(super) node: Option<usize>,
}

fn yes() -> bool {
    true
}
