//! The use of the links of rings: what each link has carried, and the time that packets waited for it.

use contract::{Time, TimeSpan};

/// The use of all links. A link has the number of the node that sends over it.
#[derive(Debug)]
pub(super) struct Links {
    each: Vec<Carried>,
    /// The times in which links were busy, if they are kept.
    spans: Option<Vec<(u32, Time, Time)>>,
}

/// The use of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carried {
    /// Time in which it carried packets, each with its idle symbol.
    pub(crate) busy: TimeSpan,
    /// Number of packets, echoes included.
    pub(crate) packets: u64,
    /// Sum of the times that packets waited for it. Packets that still wait are not included.
    pub(crate) waited: TimeSpan,
    /// Maximum number of packets that waited at once, since it was last read.
    pub(crate) queue_max: u64,
}

impl Links {
    pub(super) fn new(nodes: usize) -> Self {
        Links { each: vec![Carried::default(); nodes], spans: None }
    }

    /// Keeps the times in which links are busy from now on.
    pub(super) fn keep_spans(&mut self) {
        self.spans = Some(Vec::new());
    }

    /// Records that a node begins to send a packet, which has waited since it `entered`, while `others` others still
    /// wait.
    pub(super) fn record(
        &mut self,
        node: u32,
        (entered, now): (Time, Time),
        length: TimeSpan,
        others: usize,
    ) {
        let waited = now.since(entered);
        let of = &mut self.each[node as usize];
        of.busy = of.busy + length;
        of.packets += 1;
        of.waited = of.waited + waited;
        of.queue_max = of.queue_max.max(others as u64 + u64::from(waited > TimeSpan::ZERO));
        if let Some(spans) = &mut self.spans {
            spans.push((node, now, now + length));
        }
    }

    /// Returns the use of each link that was used.
    pub(super) fn take_use(&mut self) -> Vec<(u32, Carried)> {
        let mut used = Vec::new();
        for (node, of) in self.each.iter_mut().enumerate().filter(|(_, of)| of.packets > 0) {
            used.push((node as u32, *of));
            of.queue_max = 0;
        }
        used
    }

    /// Returns the times in which links were busy.
    pub(super) fn take_spans(&mut self) -> Vec<(u32, Time, Time)> {
        self.spans.take().unwrap_or_default()
    }
}
