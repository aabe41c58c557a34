//! Suppressions: a file with findings that do not count.

use std::path::{Path, PathBuf};

use benchmark::most_similar;

use super::kind::MistakeKind;
use super::mistake::Mistake;
use super::table::{all, kind_named};
use crate::failure::Failure;

/// Least similarity of a suggested kind.
const SIMILAR: f64 = 0.6;

/// The lines of a file of suppressions.
#[derive(Debug)]
pub(crate) struct Suppressions {
    path: PathBuf,
    lines: Vec<Line>,
}

/// A line: a kind, a pattern for files and one for functions.
#[derive(Debug)]
struct Line {
    number: usize,
    text: String,
    kind: &'static MistakeKind,
    file: String,
    function: String,
    was_used: bool,
}

impl Suppressions {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = definition_files::read_text(path).map_err(|error| {
            Failure::usage(format!("reading the suppressions '{}': {error}", path.display()))
        })?;
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            // Names may contain the character.
            let end = if line.starts_with('#') { Some(0) } else { line.find(" #") };
            let line = line[..end.unwrap_or(line.len())].trim();
            if !line.is_empty() {
                let at = |failure: Failure| failure.of(&format!("{}:{number}", path.display()));
                lines.push(Line::read(number, line).map_err(at)?);
            }
        }
        Ok(Suppressions { path: path.to_owned(), lines })
    }

    /// Returns whether a finding is suppressed.
    pub(crate) fn suppress(&mut self, mistake: &Mistake) -> bool {
        let mut is_suppressed = false;
        // Each line that fits was used, even if another one would do.
        for line in self.lines.iter_mut().filter(|line| line.fits(mistake)) {
            (line.was_used, is_suppressed) = (true, true);
        }
        is_suppressed
    }

    /// Returns a remark for each line that has suppressed nothing.
    pub(crate) fn unused(&self) -> Vec<String> {
        let unused = self.lines.iter().filter(|line| !line.was_used);
        let path = self.path.display();
        unused
            .map(|line| format!("{path}:{}: '{}' has suppressed nothing", line.number, line.text))
            .collect()
    }
}

impl Line {
    fn read(number: usize, text: &str) -> Result<Self, Failure> {
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let (file, function) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let pattern = |text: &str| if text.is_empty() { "*".to_owned() } else { text.to_owned() };
        let kind = kind_named(name).ok_or_else(|| unknown(name))?;
        if !kind.goes_on() {
            let why = format!("'{name}' ends the program, and cannot be suppressed");
            return Err(Failure::usage(why).hint(hint()));
        }
        Ok(Line {
            number,
            text: text.to_owned(),
            kind,
            file: pattern(file),
            function: pattern(function.trim()),
            was_used: false,
        })
    }

    fn fits(&self, mistake: &Mistake) -> bool {
        let is_any = self.file == "*" && self.function == "*";
        let fits = |function: &str, file: &str| {
            let fits = |file| is_like(&self.file, file);
            let is_of_file =
                fits(file) || file.match_indices('/').any(|(at, _)| fits(&file[at + 1..]));
            is_of_file && is_like(&self.function, function)
        };
        let is_there = mistake.sides.iter().any(|side| {
            let file = side.place.line.as_ref().map_or("", |(file, _)| file);
            fits(side.place.function.as_deref().unwrap_or_default(), file)
        });
        self.kind.name == mistake.kind.name && (is_any || is_there)
    }
}

fn unknown(name: &str) -> Failure {
    let names = all().map(|kind| kind.name);
    let meant =
        most_similar(name, names, SIMILAR).map(|nearest| format!("did you mean '{nearest}'? "));
    Failure::usage(format!("there is no kind of mistake '{name}'")).hint(format!(
        "{}{}",
        meant.unwrap_or_default(),
        hint()
    ))
}

fn hint() -> String {
    let names: Vec<&str> = all().filter(|kind| kind.goes_on()).map(|kind| kind.name).collect();
    format!("a line is KIND [FILE [FUNCTION]], with one of the kinds {}", names.join(", "))
}

/// Returns whether a text is like a pattern, in which `*` stands for any text.
fn is_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mistakes::Side;
    use crate::source_place::SourcePlace;

    fn read(text: &str) -> Result<Suppressions, Failure> {
        let lab = tempfile::tempdir().unwrap();
        let path = lab.path().join("suppressions.txt");
        std::fs::write(&path, text).unwrap();
        Suppressions::read(&path)
    }

    fn leak(file: &str, function: &str) -> Mistake {
        let line = Some((file.to_owned(), 12));
        let place = SourcePlace { function: Some(function.into()), line, code: None };
        let sides = vec![Side { rank: Some(0), call: None, place }];
        let kind = kind_named("leak").unwrap();
        Mistake { kind, message: String::new(), sides, ranks: vec![0], times: 1 }
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text) in [
            ("*", ""),
            ("a*", "a"),
            ("a*c", "abc"),
            ("*b*", "abc"),
            ("a*b*c", "a1b2bc"),
            ("ab", "ab"),
        ] {
            assert!(is_like(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a*", "b"), ("ab", "abc"), ("a*a", "a"), ("*b*", "ac"), ("", "a")]
        {
            assert!(!is_like(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn lines_suppress_by_kind_file_and_function_and_those_that_did_not_are_named() {
        let text = "# of a library\nleak solver.c setup\nleak src/other.c\nown-overlap  # all\n\nleak *.f90 m::*\n";
        let mut read = read(text).unwrap();
        assert!(read.suppress(&leak("/home/user/src/solver.c", "setup")));
        assert!(!read.suppress(&leak("/home/user/src/solver.c", "main")));
        assert!(!read.suppress(&leak("/home/user/src/mysolver.c", "setup")));
        assert!(read.suppress(&leak("/home/user/src/other.c", "anything")));
        assert!(!read.suppress(&leak("/home/user/lib/other.c", "anything")));
        assert!(read.suppress(&leak("model.f90", "m::start")));
        let unused = read.unused();
        assert_eq!(unused.len(), 1);
        assert!(unused[0].ends_with("suppressions.txt:4: 'own-overlap' has suppressed nothing"));
    }

    #[test]
    fn a_bad_line_is_refused_with_its_place() {
        for (text, words) in [
            ("leak\nleek a.c", "suppressions.txt:2: there is no kind of mistake 'leek'"),
            ("deadlock", "suppressions.txt:1: 'deadlock' ends the program"),
        ] {
            let failure = read(text).unwrap_err();
            assert!(failure.message().ends_with(words) || failure.message().contains(words));
            assert_eq!(failure.code(), 2);
        }
        assert!(Suppressions::read(Path::new("/not/there")).is_err());
    }
}
