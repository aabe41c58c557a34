//! A chain in words.

use super::definition::{Chain, ELEMENT_BYTES};
use super::geometry::levels;
use super::scene::SoughtTarget;

impl Chain {
    /// Returns a description of the flow, with a line for each stage.
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
            "messages of {} rows; {} ahead at each rank; sends {}",
            self.rows_per_message,
            self.buffers,
            if self.overlap_sends { "overlap with work" } else { "are waited for" }
        );
        if self.backlog > 0 {
            text += &format!("; up to {} matrices may wait at the source", self.backlog);
        }
        text += "\n\n";
        let message = |columns: usize| self.rows_per_message * columns * ELEMENT_BYTES;
        text += &format!(
            "{}: source, messages of {} bytes\n",
            named(&source.ranks),
            message(source.columns)
        );
        for (stage, level) in self.stages.iter().zip(&levels[1..]) {
            let result = match level.result_columns == level.columns {
                true => String::new(),
                false => format!(", of which it makes {}", level.result_columns),
            };
            let turned = if level.turns { ", then hands on columns as rows" } else { "" };
            text += &format!(
                "{}: {}, {} rows of {} elements each{result}{turned}\n",
                named(&level.ranks),
                stage.name,
                level.strip(),
                level.columns
            );
        }
        if let Some(scene) = &self.scene {
            text += &format!("the matrices show {}\n", scene.describe());
        }
        for SoughtTarget { row, column, at_least_db } in &self.targets {
            text += &format!(
                "the sink must find a target at row {row}, column {column}, {at_least_db} dB above the noise\n"
            );
        }
        let sink_ranks = named(&sink.ranks);
        text + &format!("{sink_ranks}: sink, {} x {} elements\n", sink.rows, sink.columns)
    }
}

/// Returns ranks in words.
fn named(ranks: &[usize]) -> String {
    match ranks {
        [rank] => format!("rank {rank}"),
        [first, .., last] if ranks.windows(2).all(|pair| pair[0] + 1 == pair[1]) => {
            format!("ranks {first} to {last}")
        }
        _ => {
            let ranks: Vec<_> = ranks.iter().map(usize::to_string).collect();
            format!("ranks {}", ranks.join(", "))
        }
    }
}
