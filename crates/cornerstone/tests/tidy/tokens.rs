//! Splits Rust's text into words and signs, without comments and without the content of quotes.

/// A word, a number, `::`, a sign, or `""` for a literal in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    /// Line, counted from 1.
    pub(crate) line: usize,
}

impl Token<'_> {
    /// Returns whether this is a name or a keyword.
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(|first: char| first.is_alphabetic() || first == '_')
    }
}

/// Returns the tokens of `text`.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < text.len() {
        let rest = &text[at..];
        let length = length_of_next(rest);
        if let Some(shown) = shown(&rest[..length]) {
            tokens.push(Token { text: shown, line });
        }
        line += rest[..length].matches('\n').count();
        at += length;
    }
    tokens
}

/// Returns the token of a piece of text: none for a comment, a space and a lifetime.
fn shown(piece: &str) -> Option<&str> {
    let quoted = piece.ends_with(['"', '\'', '#']) && piece.len() > 1;
    if piece.starts_with(char::is_whitespace) || piece.starts_with("//") || piece.starts_with("/*")
    {
        None
    } else if quoted {
        Some("\"\"")
    } else if piece.starts_with('\'') {
        None
    } else {
        Some(piece)
    }
}

/// Returns the length in bytes of the first piece of `rest`.
fn length_of_next(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return length_of_block_comment(rest);
    }
    if let Some(length) = length_of_quoted(rest) {
        return length;
    }
    if rest.starts_with("::") {
        return 2;
    }
    let is_in_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    // A lifetime: a letter in single quotes was handled above.
    let begin = usize::from(rest.starts_with('\''));
    let word = rest[begin..].find(|letter| !is_in_word(letter)).unwrap_or(rest.len() - begin);
    if word > 0 {
        return begin + word;
    }
    rest.chars().next().map_or(1, char::len_utf8)
}

fn length_of_block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// Returns the length of a string or of a letter in quotes, if `rest` begins with one.
fn length_of_quoted(rest: &str) -> Option<usize> {
    let letters = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        rest.strip_prefix(prefix).is_some_and(|after| after.starts_with(['"', '#', '\'']))
    })?;
    let after = &rest[letters.len()..];
    if letters.ends_with('r') {
        let hashes = after.len() - after.trim_start_matches('#').len();
        let end = format!("\"{}", &after[..hashes]);
        let inside = after[hashes..].strip_prefix('"')?;
        return Some(letters.len() + hashes + 1 + inside.find(&end)? + end.len());
    }
    let quote = after.chars().next().filter(|&quote| quote != '#')?;
    let mut escaped = false;
    for (at, letter) in after.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return Some(letters.len() + at + 1),
            // More than one letter without a backslash: a lifetime, or a loop's name.
            _ if quote == '\''
                && !after[at + letter.len_utf8()..].starts_with('\'')
                && !after[1..].starts_with('\\') =>
            {
                return None;
            }
            _ => {}
        }
    }
    None
}

/// Returns the tokens without the items that only tests have: those after `#[cfg(test)]` and similar attributes.
pub(crate) fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if is_for_tests(&tokens[at..]) {
            at = end_of_item(tokens, at);
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

fn is_for_tests(tokens: &[Token]) -> bool {
    if tokens[0].text != "#" {
        return false;
    }
    let text: Vec<&str> =
        tokens.iter().take_while(|token| token.text != "]").map(|token| token.text).collect();
    text.starts_with(&["#", "[", "cfg", "("]) && text.contains(&"test") && !text.contains(&"not")
}

/// Returns the index behind the item at `at`, which may begin with attributes.
fn end_of_item(tokens: &[Token], mut at: usize) -> usize {
    while tokens.get(at).is_some_and(|token| token.text == "#") {
        at = end_of_group(tokens, at + 1);
    }
    while at < tokens.len() {
        match tokens[at].text {
            ";" | "," => return at + 1,
            "{" => return end_of_group(tokens, at),
            "(" | "[" => at = end_of_group(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// Returns the index behind the bracket that closes the one at `at`.
pub(crate) fn end_of_group(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_strings_and_lifetimes_are_no_words() {
        assert_eq!(texts("a // b\n/* c /* d */ e */ f"), ["a", "f"]);
        assert_eq!(
            texts(r##"x("a\"b", r#"c"d"#, b'\'', '"', '{')"##),
            ["x", "(", "\"\"", ",", "\"\"", ",", "\"\"", ",", "\"\"", ",", "\"\"", ")"]
        );
        assert_eq!(
            texts("fn f<'a>(x: &'a str)"),
            ["fn", "f", "<", ">", "(", "x", ":", "&", "str", ")"]
        );
    }

    #[test]
    fn lines_are_counted_through_strings_and_comments() {
        assert_eq!(tokens("\"a\nb\" /*\n*/ c").last(), Some(&Token { text: "c", line: 3 }));
    }

    #[test]
    fn what_only_tests_have_is_left_out() {
        let all = tokens(
            "a; #[cfg(test)] #[x] mod tests { b; { c } } #[cfg(not(test))] d; #[cfg(all(test, e))] fn f() { g }",
        );
        let kept: Vec<&str> = without_tests(&all).iter().map(|token| token.text).collect();
        assert_eq!(
            kept,
            ["a", ";", "#", "[", "cfg", "(", "not", "(", "test", ")", ")", "]", "d", ";"]
        );
    }
}
