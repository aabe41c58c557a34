//! What the ranks of a host do, as text: a line for each rank with its number, and the lines about it, indented.

use launcher::{Activity, RankActivity};

const INDENT: char = '\t';

/// Writes the lines that describe each rank.
pub(crate) fn to_text(ranks: &[RankActivity], lines: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (one, lines) in ranks.iter().zip(lines) {
        text += &format!("{}\n", one.rank);
        lines.iter().for_each(|line| text += &format!("{INDENT}{line}\n"));
    }
    text
}

/// Reads such a text.
pub(crate) fn from_text(text: &str) -> Vec<RankActivity> {
    let mut ranks: Vec<(usize, Vec<String>)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix(INDENT), ranks.last_mut()) {
            (Some(line), Some((_, lines))) => lines.push(line.into()),
            _ => ranks.extend(line.parse().ok().map(|rank| (rank, Vec::new()))),
        }
    }
    let activity = |(rank, lines)| {
        let activity = Activity::Described(lines);
        RankActivity { rank, host: None, activity }
    };
    ranks.into_iter().map(activity).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_about_each_rank_arrive_as_they_were() {
        let finished = |rank| RankActivity { rank, host: None, activity: Activity::Finished };
        let ranks = [3, 1].map(finished);
        let lines = [&["waits in MPI_Recv", "not received there so far: 1 message"][..], &["12"]];
        let owned = lines.map(|lines| lines.iter().map(|line| line.to_string()).collect());
        let read = from_text(&to_text(&ranks, &owned));
        let of = |rank: usize, lines: &[&str]| {
            let lines = lines.iter().map(|line| line.to_string()).collect();
            RankActivity { rank, host: None, activity: Activity::Described(lines) }
        };
        assert_eq!(read, [of(3, lines[0]), of(1, lines[1])]);
        assert!(from_text("\n\tnothing before it\n").is_empty());
    }
}
