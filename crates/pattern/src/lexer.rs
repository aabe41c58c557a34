//! Splits text into tokens.

use std::fmt;

use crate::mistake::{Mistake, TextPlace};

/// A piece of the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A number, whole or not.
    Number(f64),
    /// A name, an action or a unit.
    Word(String),
    /// One of `: = , ( ) + - * / %`.
    Symbol(char),
    /// `..`
    To,
    /// The end of the text.
    End,
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Placed {
    pub(crate) token: Token,
    pub(crate) place: TextPlace,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Number(value) => write!(f, "`{value}`"),
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Symbol(symbol) => write!(f, "`{symbol}`"),
            Token::To => f.write_str("`..`"),
            Token::End => f.write_str("the end of the file"),
        }
    }
}

/// Returns the tokens of `text`, [`Token::End`] last. A `#` begins a comment, which lasts to the end of the line.
pub(crate) fn tokens(text: &str) -> Result<Vec<Placed>, Mistake> {
    let mut found = Vec::new();
    let mut end = TextPlace { line: 1, column: 1, length: 0 };
    for (index, line) in text.lines().enumerate() {
        let line: Vec<char> = line.chars().collect();
        let number = index as u32 + 1;
        let mut at = 0;
        while at < line.len() && line[at] != '#' {
            if line[at].is_whitespace() {
                at += 1;
                continue;
            }
            let rest = &line[at..];
            let (token, length) = next(rest)
                .map_err(|(message, length)| Mistake::new(place(number, at, length), message))?;
            found.push(Placed { token, place: place(number, at, length) });
            at += length;
        }
        end = place(number, line.len(), 0);
    }
    found.push(Placed { token: Token::End, place: end });
    Ok(found)
}

fn place(line: u32, at: usize, length: usize) -> TextPlace {
    TextPlace { line, column: at as u32 + 1, length: length as u32 }
}

/// Returns the token at the beginning of `rest` and its length, or the mistake there.
fn next(rest: &[char]) -> Result<(Token, usize), (String, usize)> {
    match rest[0] {
        '.' if rest.get(1) == Some(&'.') => Ok((Token::To, 2)),
        ':' | '=' | ',' | '(' | ')' | '+' | '-' | '*' | '/' | '%' => {
            Ok((Token::Symbol(rest[0]), 1))
        }
        c if c.is_ascii_digit() || c == '.' => number(rest),
        c if is_letter(c) => {
            let length = rest.iter().take_while(|&&c| is_letter(c) || c.is_ascii_digit()).count();
            Ok((Token::Word(rest[..length].iter().collect()), length))
        }
        other => {
            Err((format!("`{other}` means nothing in a pattern; a comment begins with `#`"), 1))
        }
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// Reads a number. It stops before `..`, so that `0..3` is a range.
fn number(rest: &[char]) -> Result<(Token, usize), (String, usize)> {
    let digits =
        |from: usize| rest[from..].iter().take_while(|c| c.is_ascii_digit() || **c == '_').count();
    let mut length = digits(0);
    if rest.get(length) == Some(&'.') && rest.get(length + 1) != Some(&'.') {
        length += 1 + digits(length + 1);
    }
    let text: String = rest[..length].iter().filter(|&&c| c != '_').collect();
    match text.parse() {
        Ok(value) => Ok((Token::Number(value), length)),
        Err(_) => Err((format!("`{text}` is no number"), length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Token> {
        tokens(text).unwrap().into_iter().map(|placed| placed.token).collect()
    }

    #[test]
    fn a_range_is_not_a_fraction() {
        let expected = [Token::Number(0.0), Token::To, Token::Number(1.5), Token::End];
        assert_eq!(kinds("0..1.5"), expected);
    }

    #[test]
    fn comments_and_line_ends_separate_tokens() {
        let found = tokens("S 1 # to the right\n\t262_144").unwrap();
        assert_eq!(found[2].token, Token::Number(262_144.0));
        assert_eq!(found[2].place, TextPlace { line: 2, column: 2, length: 7 });
        assert_eq!(found[3].token, Token::End);
    }

    #[test]
    fn a_unit_may_touch_its_number() {
        let expected = [Token::Number(256.0), Token::Word("KiB".into()), Token::End];
        assert_eq!(kinds("256KiB"), expected);
    }

    #[test]
    fn foreign_characters_are_named_with_their_place() {
        let mistake = tokens("0: R\n1: ✗ E").unwrap_err();
        assert_eq!(mistake.place, TextPlace { line: 2, column: 4, length: 1 });
        assert!(mistake.message.starts_with("`✗` means nothing"), "{}", mistake.message);
        assert!(tokens("a = .").unwrap_err().message.contains("is no number"));
    }
}
