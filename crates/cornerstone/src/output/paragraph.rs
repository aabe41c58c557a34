//! Running text in lines that do not tire the eye.

/// The longest line, in characters.
const LINE: usize = 88;

/// `text` with line breaks between words, each line behind `indent`; its own line breaks stay.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_text_is_broken_between_words() {
        let words = "word ".repeat(40);
        let text = wrapped(&format!("{words}\n\nnext"), "  ");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.len() <= LINE));
        // 17 words of 4 letters and 16 spaces after an indent of 2 make 86; one more would make 91.
        assert_eq!(lines.len(), 3 + 2, "{text}");
        assert_eq!(lines[0].len(), 86);
        assert_eq!(&lines[3..], ["", "  next"]);
        assert_eq!(text.split_whitespace().count(), 41);
    }

    #[test]
    fn a_word_longer_than_a_line_stands_alone() {
        let long = "x".repeat(100);
        assert_eq!(wrapped(&format!("a {long} b"), ""), format!("a\n{long}\nb"));
    }
}
