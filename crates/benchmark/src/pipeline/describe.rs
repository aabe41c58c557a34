//! A chain in words.

use super::chain::{Chain, ELEMENT_BYTES};
use super::geometry::levels;

impl Chain {
    /// What flows where, a line for each stage.
    pub fn describe(&self) -> String {
        let levels = levels(self);
        let [source, .., sink] = levels.as_slice() else { unreachable!("a chain has two ends") };
        let mut text = format!(
            "{}: {} stages on {} ranks, a matrix of {} x {} elements ({} bytes) each period\n",
            self.title,
            self.stages.len(),
            self.ranks(),
            self.rows,
            self.columns,
            self.matrix_bytes()
        );
        text += &format!(
            "messages of {} rows; {} ahead at each rank; sends {}\n\n",
            self.rows_per_message,
            self.buffers,
            if self.overlap_sends { "overlap with work" } else { "are waited for" }
        );
        let message = |columns: usize| self.rows_per_message * columns * ELEMENT_BYTES;
        text += &format!(
            "rank {}: source, messages of {} bytes\n",
            source.first,
            message(source.columns)
        );
        for (stage, level) in self.stages.iter().zip(&levels[1..]) {
            let ranks = match level.ranks {
                1 => format!("rank {}", level.first),
                ranks => format!("ranks {} to {}", level.first, level.first + ranks - 1),
            };
            let turned = if level.turns { ", then hands on columns as rows" } else { "" };
            text += &format!(
                "{ranks}: {}, {} rows of {} elements each{turned}\n",
                stage.name,
                level.strip(),
                level.columns
            );
        }
        text + &format!("rank {}: sink, {} x {} elements\n", sink.first, sink.rows, sink.columns)
    }
}
