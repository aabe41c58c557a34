//! Parses tokens into definitions and code sequences.
//!
//! ```text
//! pattern    = { definition | sequence }
//! definition = name "=" number
//! sequence   = selection { "," selection } ":" { action } "E"
//! selection  = number [ ".." number [ "by" number ] ]
//! action     = "R" | "S" number number | "W" number | "L" number "(" { action } ")"
//! number     = product { ("+" | "-") product }
//! product    = factor { ("*" | "/" | "%") factor }
//! factor     = digits [ unit ] | name | "(" number ")" | "-" factor
//! ```

use crate::expression::{ACTIONS, BY, Expression, ExpressionKind, UNITS, is_reserved};
use crate::lexer::{Placed, Token, tokens};
use crate::mistake::{Mistake, TextPlace};

/// A pattern as it is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Source {
    pub(crate) definitions: Vec<Definition>,
    pub(crate) sequences: Vec<Sequence>,
    /// The end of the text.
    pub(crate) end: TextPlace,
}

/// A name for a number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) place: TextPlace,
    pub(crate) value: Expression,
}

/// A code sequence and its nodes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sequence {
    pub(crate) selections: Vec<Selection>,
    pub(crate) actions: Vec<Written>,
    /// Number of definitions above it, which it may use.
    pub(crate) definitions_above: usize,
}

/// One node, or every `by`th from `first` to `last`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Selection {
    pub(crate) first: Expression,
    pub(crate) last: Option<Expression>,
    pub(crate) by: Option<Expression>,
}

/// An action as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Written {
    pub(crate) place: TextPlace,
    pub(crate) kind: WrittenKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WrittenKind {
    Receive,
    Send { to: Expression, bytes: Expression },
    WaitUntil { fraction: Expression },
    Loop { count: Expression, body: Vec<Written> },
}

pub(crate) fn parse(text: &str) -> Result<Source, Mistake> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let mut source = Source::default();
    loop {
        match &parser.peek().token {
            Token::End => break,
            Token::Word(name) if !ACTIONS.contains(&name.as_str()) && parser.is_definition() => {
                source.definitions.push(parser.definition()?);
            }
            Token::Word(name) if ACTIONS.contains(&name.as_str()) => {
                return Err(parser.unexpected(
                    "the next node (as `1:`): `E` ended this code sequence, or none has begun",
                ));
            }
            _ => {
                let definitions_above = source.definitions.len();
                source.sequences.push(parser.sequence(definitions_above)?);
            }
        }
    }
    source.end = parser.peek().place;
    Ok(source)
}

/// Maximum depth of parentheses. It prevents an overflow of the parser's stack.
const DEPTH_MAX: usize = 64;

struct Parser<'a> {
    tokens: &'a [Placed],
    at: usize,
    /// Number of open parentheses and signs.
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a Placed {
        &self.tokens[self.at]
    }

    /// Returns the next token. It never passes the end of the text.
    fn next(&mut self) -> &'a Placed {
        let placed = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        placed
    }

    fn take(&mut self, wanted: &Token) -> bool {
        let found = self.peek().token == *wanted;
        if found {
            self.next();
        }
        found
    }

    fn take_symbol(&mut self, symbol: char) -> bool {
        self.take(&Token::Symbol(symbol))
    }

    fn expect(&mut self, symbol: char, what: &str) -> Result<(), Mistake> {
        if self.take_symbol(symbol) { Ok(()) } else { Err(self.unexpected(what)) }
    }

    fn unexpected(&self, expected: &str) -> Mistake {
        let Placed { token, place } = self.peek();
        Mistake::new(*place, format!("{token} where {expected} is expected"))
    }

    /// Returns the result of `inner` one level deeper.
    fn nested<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, Mistake>,
    ) -> Result<T, Mistake> {
        if self.depth == DEPTH_MAX {
            let message = format!("more than {DEPTH_MAX} levels within one another");
            return Err(Mistake::new(self.peek().place, message));
        }
        self.depth += 1;
        let read = inner(self);
        self.depth -= 1;
        read
    }

    fn is_definition(&self) -> bool {
        let second = self.tokens.get(self.at + 1);
        second.is_some_and(|placed| placed.token == Token::Symbol('='))
    }

    fn definition(&mut self) -> Result<Definition, Mistake> {
        let Placed { token, place } = self.next();
        let Token::Word(name) = token else { unreachable!("a definition begins with a word") };
        if is_reserved(name) {
            let message = format!("`{name}` has a meaning of its own; choose another name");
            return Err(Mistake::new(*place, message));
        }
        self.expect('=', "`=`")?;
        Ok(Definition { name: name.clone(), place: *place, value: self.number("a number")? })
    }

    fn sequence(&mut self, definitions_above: usize) -> Result<Sequence, Mistake> {
        let mut selections = vec![self.selection()?];
        while self.take_symbol(',') {
            selections.push(self.selection()?);
        }
        self.expect(':', "`:` and the code sequence of the node")?;
        let actions = self.actions(None)?;
        Ok(Sequence { selections, actions, definitions_above })
    }

    fn selection(&mut self) -> Result<Selection, Mistake> {
        let first = self.number("the number of a node (as in `0:` or `0..3:`) or a definition")?;
        if !self.take(&Token::To) {
            return Ok(Selection { first, last: None, by: None });
        }
        let last = Some(self.number("the last node of the range")?);
        let by = match self.take(&Token::Word(BY.into())) {
            true => Some(self.number("the step of the range")?),
            false => None,
        };
        Ok(Selection { first, last, by })
    }

    /// Parses actions up to `E`, or, in a loop opened at `open`, up to its closing parenthesis.
    fn actions(&mut self, open: Option<TextPlace>) -> Result<Vec<Written>, Mistake> {
        let mut actions = Vec::new();
        loop {
            let Placed { token, place } = self.peek();
            match (token, open) {
                (Token::Word(word), None) if word == "E" => break,
                (Token::Symbol(')'), Some(_)) => break,
                (Token::Word(word), Some(open)) if word == "E" => {
                    let message =
                        format!("`E` inside a loop: the loop opened at {open} wants `)` first");
                    return Err(Mistake::new(*place, message));
                }
                _ => actions.push(self.action(open)?),
            }
        }
        self.next();
        Ok(actions)
    }

    fn action(&mut self, open: Option<TextPlace>) -> Result<Written, Mistake> {
        let place = self.peek().place;
        let word = match &self.peek().token {
            Token::Word(word) => word.as_str(),
            _ => "",
        };
        if !ACTIONS.contains(&word) {
            return Err(self.no_action(open));
        }
        self.next();
        let kind = match word {
            "R" => WrittenKind::Receive,
            "S" => WrittenKind::Send {
                to: self.number("the node that `S` sends to")?,
                bytes: self.number("the bytes that `S` sends")?,
            },
            "W" => WrittenKind::WaitUntil {
                fraction: self.number("the fraction of the period that `W` waits for")?,
            },
            _ => {
                let count = self.number("how often `L` repeats")?;
                let open = self.peek().place;
                self.expect('(', "`(` and the actions that `L` repeats")?;
                let body = self.nested(|parser| parser.actions(Some(open)))?;
                WrittenKind::Loop { count, body }
            }
        };
        Ok(Written { place, kind })
    }

    fn no_action(&self, open: Option<TextPlace>) -> Mistake {
        let Placed { token, place } = self.peek();
        let end = match open {
            Some(open) => format!("`)` to close the loop opened at {open}"),
            None => "`E` to end the code sequence".into(),
        };
        let hint = match token {
            Token::Word(word) if is_joined_action(word) => {
                let (action, rest) = word.split_at(1);
                format!(" (write `{action} {rest}`, with a space)")
            }
            _ => String::new(),
        };
        let message = format!("{token} where an action (R, S, W, L) or {end} is expected{hint}");
        Mistake::new(*place, message)
    }

    fn number(&mut self, what: &str) -> Result<Expression, Mistake> {
        self.chain(&['+', '-'], &mut |parser| {
            parser.chain(&['*', '/', '%'], &mut |parser| parser.factor(what))
        })
    }

    /// Parses operands with any of `operators` between them, combined from the left.
    fn chain(
        &mut self,
        operators: &[char],
        operand: &mut dyn FnMut(&mut Self) -> Result<Expression, Mistake>,
    ) -> Result<Expression, Mistake> {
        let mut left = operand(self)?;
        loop {
            let operator = match self.peek().token {
                Token::Symbol(symbol) if operators.contains(&symbol) => symbol,
                _ => return Ok(left),
            };
            self.next();
            let right = operand(self)?;
            let place = spanning(left.place, right.place);
            let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right));
            left = Expression { place, kind };
        }
    }

    fn factor(&mut self, what: &str) -> Result<Expression, Mistake> {
        let Placed { token, place } = self.peek();
        let place = *place;
        let kind = match token {
            Token::Number(value) => {
                self.next();
                ExpressionKind::Number(value * self.unit())
            }
            Token::Word(name) if !ACTIONS.contains(&name.as_str()) => {
                self.next();
                ExpressionKind::Name(name.clone())
            }
            Token::Symbol('-') => {
                self.next();
                ExpressionKind::Negative(Box::new(self.nested(|parser| parser.factor(what))?))
            }
            Token::Symbol('(') => {
                self.next();
                let inner = self.nested(|parser| parser.number("a number"))?;
                self.expect(')', "`)`")?;
                inner.kind
            }
            _ => return Err(self.unexpected(what)),
        };
        let last = self.tokens[self.at - 1].place;
        Ok(Expression { place: spanning(place, last), kind })
    }

    /// Parses the unit behind a number, in bytes.
    fn unit(&mut self) -> f64 {
        let Token::Word(word) = &self.peek().token else { return 1.0 };
        let Some((_, bytes)) = UNITS.iter().find(|(unit, _)| unit == word) else { return 1.0 };
        self.next();
        *bytes
    }
}

/// Returns whether a word is an action joined with its number, such as `S7`, as the paper prints it.
fn is_joined_action(word: &str) -> bool {
    let (action, rest) = word.split_at(1);
    ACTIONS.contains(&action) && !rest.is_empty() && rest.bytes().all(|c| c.is_ascii_digit())
}

/// Returns the place from the beginning of `first` to the end of `last`, if they are on one line.
fn spanning(first: TextPlace, last: TextPlace) -> TextPlace {
    if first.line != last.line {
        return first;
    }
    TextPlace { length: last.column + last.length - first.column, ..first }
}
