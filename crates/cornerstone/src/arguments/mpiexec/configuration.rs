//! Files of `-configfile`: the programs of a run, one a line (MPI 5.0, section 11.5, form B).

use std::ffi::OsString;
use std::path::Path;

use crate::failure::Failure;

/// The words of each line that has any, with its number in the file.
pub(super) fn read(path: &Path) -> Result<Vec<(usize, Vec<OsString>)>, Failure> {
    let cannot = |why: String| Failure::usage(format!("mpiexec: '{}': {why}", path.display()));
    let text = definition_files::read_text(path).map_err(|error| cannot(error.to_string()))?;
    let lines = lines(&text).map_err(cannot)?;
    if lines.is_empty() {
        return Err(cannot("it names no program".into())
            .hint("write a line for each program: its options, the program and its arguments"));
    }
    Ok(lines)
}

fn lines(text: &str) -> Result<Vec<(usize, Vec<OsString>)>, String> {
    let mut lines = Vec::new();
    let mut whole = String::new();
    let mut begin = 1;
    for (index, line) in text.lines().enumerate() {
        if whole.is_empty() {
            begin = index + 1;
            if line.trim_start().starts_with('#') {
                continue;
            }
        }
        if let Some(start) = line.strip_suffix('\\') {
            whole += start;
            whole.push(' ');
            continue;
        }
        whole += line;
        let words = words(&whole).map_err(|why| format!("line {begin}: {why}"))?;
        whole.clear();
        if !words.is_empty() {
            lines.push((begin, words));
        }
    }
    match whole.trim().is_empty() {
        true => Ok(lines),
        false => Err(format!("line {begin} is to be continued, and the file ends")),
    }
}

/// Returns the words of a line, as a shell divides it without replacing anything: quotes keep blanks, and outside of
/// single quotes \ keeps the next character.
fn words(line: &str) -> Result<Vec<OsString>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                let next = letters.next().ok_or("a \\ at the end")?;
                word.get_or_insert_default().push(next);
            }
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, Some(end)) if letter == end => quote = None,
            (_, None) if letter.is_whitespace() => words.extend(word.take().map(OsString::from)),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(quote) = quote {
        return Err(format!("a {quote} without its end"));
    }
    words.extend(word.map(OsString::from));
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_comments_continuations_and_quotes() {
        let text = "# programs\n\n-n 2 ./a 'b c' \"d\\\"e\" f\\ g ''\n  # more\n-n 3 \\\n -env A 1 ./b # c\n";
        let found: Vec<(usize, Vec<String>)> = lines(text)
            .unwrap()
            .into_iter()
            .map(|(line, words)| {
                (line, words.into_iter().map(|w| w.into_string().unwrap()).collect())
            })
            .collect();
        let first = ["-n", "2", "./a", "b c", "d\"e", "f g", ""].map(String::from).to_vec();
        // A '#' inside a line is the program's.
        let second = ["-n", "3", "-env", "A", "1", "./b", "#", "c"].map(String::from).to_vec();
        assert_eq!(found, [(3, first), (5, second)]);
    }

    #[test]
    fn what_has_no_end_is_named_with_its_line() {
        for (text, expected) in [
            ("./a\n./b 'c\n", "line 2: a ' without its end"),
            ("./a\\\n", "line 1 is to be continued"),
            ("\"\\", "line 1"),
        ] {
            let why = lines(text).unwrap_err();
            assert!(why.contains(expected), "{text:?}: {why}");
        }
    }
}
