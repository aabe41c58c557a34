//! Text with line breaks, for the terminal.

/// Longest line in characters. It fits a terminal of 80 columns.
const LINE: usize = 78;

/// Returns `text` with line breaks between words, each line after `indent`. Line breaks in the text stay.
pub(crate) fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = Vec::new();
    for paragraph in text.trim().lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let length = |text: &str| text.chars().count();
            if !line.is_empty() && length(indent) + length(&line) + 1 + length(word) > LINE {
                lines.push(format!("{indent}{line}"));
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(if line.is_empty() { line } else { format!("{indent}{line}") });
    }
    lines.join("\n")
}

/// As [`wrapped`], but the first line begins with `label`, padded to `width` characters, and the others with as many
/// spaces.
pub(crate) fn labelled(label: &str, width: usize, text: &str) -> String {
    let indent = " ".repeat(width);
    wrapped(text, &indent).replacen(&indent, &format!("{label:width$}"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_text_is_broken_between_words() {
        let words = "word ".repeat(40);
        let text = wrapped(&format!("{words}\n\nnext"), "  ");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.len() <= LINE));
        // 15 words of 4 letters and 14 spaces after an indent of 2 are 76 characters. One more word would make 81.
        assert_eq!(lines.len(), 3 + 2, "{text}");
        assert_eq!(lines[0].len(), 76);
        assert_eq!(&lines[3..], ["", "  next"]);
        assert_eq!(text.split_whitespace().count(), 41);
    }

    #[test]
    fn further_lines_of_a_label_stand_below_its_text() {
        let text = labelled(" name", 9, &"word ".repeat(20));
        // 9 characters of label and 14 words with 13 spaces are 78, which a line may have.
        let (first, second) = text.split_once('\n').unwrap();
        assert_eq!(first, format!(" name    {}", "word ".repeat(14).trim_end()));
        assert_eq!(second, format!("         {}", "word ".repeat(6).trim_end()));
    }

    #[test]
    fn a_word_longer_than_a_line_stands_alone() {
        let long = "x".repeat(100);
        assert_eq!(wrapped(&format!("a {long} b"), ""), format!("a\n{long}\nb"));
    }
}
