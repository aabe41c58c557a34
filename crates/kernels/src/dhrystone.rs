//! The Dhrystone benchmark, version 2: a mix of statements as in systems programs of 1984.
//!
//! Written anew from Weicker, "Dhrystone benchmark: rationale for version 2 and measurement rules", SIGPLAN Notices 23
//! (1988), which defines each procedure and the final values of all variables. The rules forbid inlining across the two
//! source files of the original: here no procedure is ever inlined, and its arguments are hidden from the optimiser.
//! Pointers to records are indices into a heap of two.

use std::hint::black_box;

use crate::error::{Error, Result};

/// The enumeration of five identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Identity {
    First,
    Second,
    Third,
    Fourth,
    #[expect(
        dead_code,
        reason = "the definition names five, and branches on each, but never makes this one"
    )]
    Fifth,
}

type Text = [u8; 30];

const SOME_STRING: &Text = b"DHRYSTONE PROGRAM, SOME STRING";
const FIRST_STRING: &Text = b"DHRYSTONE PROGRAM, 1'ST STRING";
const SECOND_STRING: &Text = b"DHRYSTONE PROGRAM, 2'ND STRING";
const THIRD_STRING: &Text = b"DHRYSTONE PROGRAM, 3'RD STRING";

/// A record of the variant that the benchmark uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    next: Option<usize>,
    discriminant: Identity,
    identity: Identity,
    number: i32,
    text: Text,
}

/// The global variables.
struct Globals {
    heap: [Record; 2],
    /// The record that procedures start from, and the one that it points to.
    start: Option<usize>,
    number: i32,
    truth: bool,
    first_letter: u8,
    second_letter: u8,
    row: [i32; 50],
    table: Box<[[i32; 50]; 50]>,
}

/// The results of the benchmark in addition to the globals.
struct Locals {
    first: i32,
    second: i32,
    third: i32,
    identity: Identity,
    first_text: Text,
    second_text: Text,
}

/// Runs the benchmark's loop `runs` times; each iteration is one Dhrystone.
///
/// # Errors
/// [`Error::WrongResult`] if any variable has another final value than in the definition.
pub fn run(runs: u32) -> Result<()> {
    let mut globals = black_box(Globals::new());
    let mut locals = Locals {
        first: 0,
        second: 0,
        third: 0,
        identity: Identity::Second,
        first_text: *black_box(FIRST_STRING),
        second_text: *FIRST_STRING,
    };
    for index in 1..=black_box(runs) {
        once(&mut globals, &mut locals, index as i32);
    }
    if runs == 0 { Ok(()) } else { check(&globals, &locals, runs) }
}

#[inline(never)]
fn once(globals: &mut Globals, locals: &mut Locals, index: i32) {
    procedure_5(globals);
    procedure_4(globals);
    locals.first = 2;
    locals.second = 3;
    locals.second_text = *black_box(SECOND_STRING);
    locals.identity = Identity::Second;
    globals.truth = !function_2(globals, &locals.first_text, &locals.second_text);
    while locals.first < locals.second {
        locals.third = 5 * locals.first - locals.second;
        procedure_7(locals.first, locals.second, &mut locals.third);
        locals.first += 1;
    }
    procedure_8(globals, locals.first, locals.third);
    procedure_1(globals, globals.start.expect("it was allocated"));
    let mut letter = b'A';
    while letter <= globals.second_letter {
        if locals.identity == function_1(globals, letter, b'C') {
            procedure_6(globals, Identity::First, &mut locals.identity);
            locals.second_text = *black_box(THIRD_STRING);
            locals.second = index;
            globals.number = index;
        }
        letter += 1;
    }
    locals.second *= locals.first;
    locals.first = locals.second / locals.third;
    locals.second = 7 * (locals.second - locals.third) - locals.first;
    procedure_2(globals, &mut locals.first);
}

impl Globals {
    fn new() -> Self {
        let start = Record {
            next: Some(1),
            discriminant: Identity::First,
            identity: Identity::Third,
            number: 40,
            text: *SOME_STRING,
        };
        let next = Record { next: None, number: 0, text: [b' '; 30], ..start };
        let mut table = Box::new([[0; 50]; 50]);
        table[8][7] = 10;
        Globals {
            heap: [start, next],
            start: Some(0),
            number: 0,
            truth: false,
            first_letter: 0,
            second_letter: 0,
            row: [0; 50],
            table,
        }
    }
}

#[inline(never)]
fn procedure_1(globals: &mut Globals, record: usize) {
    let next = globals.heap[record].next.expect("the first record points to the second");
    globals.heap[next] = globals.heap[globals.start.expect("it was allocated")];
    globals.heap[record].number = 5;
    globals.heap[next].number = globals.heap[record].number;
    globals.heap[next].next = globals.heap[record].next;
    let found = procedure_3(globals);
    globals.heap[next].next = found;
    if globals.heap[next].discriminant == Identity::First {
        globals.heap[next].number = 6;
        let mut identity = globals.heap[next].identity;
        procedure_6(globals, globals.heap[record].identity, &mut identity);
        globals.heap[next].identity = identity;
        globals.heap[next].next = globals.heap[globals.start.expect("it was allocated")].next;
        let mut number = globals.heap[next].number;
        procedure_7(number, 10, &mut number);
        globals.heap[next].number = number;
    } else {
        globals.heap[record] = globals.heap[next];
    }
}

#[inline(never)]
fn procedure_2(globals: &Globals, number: &mut i32) {
    let mut local = *number + 10;
    loop {
        let mut identity = Identity::Second;
        if black_box(globals).first_letter == b'A' {
            local -= 1;
            *number = local - globals.number;
            identity = Identity::First;
        }
        if identity == Identity::First {
            break;
        }
    }
}

#[inline(never)]
fn procedure_3(globals: &mut Globals) -> Option<usize> {
    let start = globals.start.expect("it was allocated");
    let next = globals.heap[start].next;
    let number = globals.number;
    procedure_7(10, number, &mut globals.heap[start].number);
    next
}

#[inline(never)]
fn procedure_4(globals: &mut Globals) {
    let local = globals.first_letter == b'A';
    globals.truth |= local;
    globals.second_letter = b'B';
}

#[inline(never)]
fn procedure_5(globals: &mut Globals) {
    globals.first_letter = b'A';
    globals.truth = false;
}

#[inline(never)]
fn procedure_6(globals: &Globals, value: Identity, result: &mut Identity) {
    *result = value;
    if !function_3(value) {
        *result = Identity::Fourth;
    }
    match value {
        Identity::First => *result = Identity::First,
        Identity::Second if globals.number > 100 => *result = Identity::First,
        Identity::Second => *result = Identity::Fourth,
        Identity::Third => *result = Identity::Second,
        Identity::Fourth => {}
        Identity::Fifth => *result = Identity::Third,
    }
}

#[inline(never)]
fn procedure_7(first: i32, second: i32, result: &mut i32) {
    let local = first + 2;
    *result = second + local;
}

#[inline(never)]
fn procedure_8(globals: &mut Globals, first: i32, second: i32) {
    let at = (first + 5) as usize;
    globals.row[at] = second;
    globals.row[at + 1] = globals.row[at];
    globals.row[at + 30] = at as i32;
    for index in at..=at + 1 {
        globals.table[at][index] = at as i32;
    }
    globals.table[at][at - 1] += 1;
    globals.table[at + 20][at] = globals.row[at];
    globals.number = 5;
}

#[inline(never)]
fn function_1(globals: &mut Globals, first: u8, second: u8) -> Identity {
    let copy = first;
    let again = copy;
    if again != second {
        return Identity::First;
    }
    globals.first_letter = copy;
    Identity::Second
}

#[inline(never)]
fn function_2(globals: &mut Globals, first: &Text, second: &Text) -> bool {
    let mut at = 2;
    let mut letter = 0;
    while at <= 2 {
        if function_1(globals, first[at], second[at + 1]) == Identity::First {
            letter = b'A';
            at += 1;
        }
    }
    if (b'W'..b'Z').contains(&letter) {
        at = 7;
    }
    if letter == b'R' {
        return true;
    }
    if black_box(first) > black_box(second) {
        at += 7;
        globals.number = at as i32;
        return true;
    }
    false
}

#[inline(never)]
fn function_3(value: Identity) -> bool {
    let local = black_box(value);
    local == Identity::Third
}

fn check(globals: &Globals, locals: &Locals, runs: u32) -> Result<()> {
    let [start, next] = &globals.heap;
    let sound = [
        ("the global number", globals.number == 5),
        ("the global truth value", globals.truth),
        ("the first global letter", globals.first_letter == b'A'),
        ("the second global letter", globals.second_letter == b'B'),
        ("element 8 of the row", globals.row[8] == 7),
        ("element 8, 7 of the table", globals.table[8][7] == runs as i32 + 10),
        (
            "the first record",
            (start.discriminant, start.identity) == (Identity::First, Identity::Third),
        ),
        ("the first record's number", start.number == 17),
        ("the first record's text", &start.text == SOME_STRING),
        (
            "the second record",
            (next.discriminant, next.identity) == (Identity::First, Identity::Second),
        ),
        ("the second record's number", next.number == 18),
        ("the second record's text", &next.text == SOME_STRING),
        ("the pointers", start.next == Some(1) && next.next == Some(1)),
        ("the first local number", locals.first == 5),
        ("the second local number", locals.second == 13),
        ("the third local number", locals.third == 7),
        ("the local identity", locals.identity == Identity::Second),
        ("the first local text", &locals.first_text == FIRST_STRING),
        ("the second local text", &locals.second_text == SECOND_STRING),
    ];
    match sound.into_iter().find(|(_, sound)| !sound) {
        None => Ok(()),
        Some((what, _)) => Err(Error::WrongResult {
            benchmark: "dhrystone",
            explanation: format!("{what} is not what the definition gives after {runs} runs"),
        }),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_variable_ends_as_defined() {
        for runs in [0, 1, 2, 3, 1000] {
            super::run(runs).unwrap();
        }
    }
}
