//! Mistakes in a pattern, with their places.

use std::fmt;

/// A place in a pattern's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPlace {
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1 in characters.
    pub column: u32,
    /// Length in characters; 0 at the end of the text.
    pub length: u32,
}

impl fmt::Display for TextPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Its place.
    pub place: TextPlace,
    /// Description of the mistake and of what was expected.
    pub message: String,
}

impl Mistake {
    pub(crate) fn new(place: TextPlace, message: impl Into<String>) -> Self {
        Mistake { place, message: message.into() }
    }
}

/// A pattern that cannot be run: its mistakes, printed beside the text.
///
/// One mistake reads
/// ```text
/// ring.pmp:3:6: there is no node 4: the pattern has nodes 0 to 3
///   3 | 3: S 4 100 R E
///     |      ^
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    name: String,
    lines: Vec<String>,
    mistakes: Vec<Mistake>,
}

impl Refusal {
    pub(crate) fn new(name: &str, text: &str, mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort_by_key(|mistake| mistake.place);
        mistakes.dedup();
        Refusal { name: name.into(), lines: text.lines().map(String::from).collect(), mistakes }
    }

    /// Returns the mistakes, in the order of the text; at least one.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    fn excerpt(&self, place: TextPlace, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(line) = self.lines.get(place.line as usize - 1) else { return Ok(()) };
        let number = place.line.to_string();
        // Tabs are kept, so that the mark is below its text for every width of tabs.
        let before = line.chars().take(place.column as usize - 1);
        let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let mark = "^".repeat(place.length.max(1) as usize);
        write!(f, "\n  {number} | {line}\n  {:1$} | {indent}{mark}", "", number.len())
    }
}

/// Maximum number of printed mistakes. More would scroll the first away.
const SHOWN_MAX: usize = 8;

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.mistakes.iter().take(SHOWN_MAX).enumerate() {
            let line_end = if index == 0 { "" } else { "\n" };
            write!(f, "{line_end}{}:{}: {}", self.name, mistake.place, mistake.message)?;
            self.excerpt(mistake.place, f)?;
        }
        match self.mistakes.len().saturating_sub(SHOWN_MAX) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more like these"),
        }
    }
}

impl std::error::Error for Refusal {}
