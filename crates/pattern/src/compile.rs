//! Compiles code sequences to a flat list of actions for every node, with everything in range.

use std::collections::HashMap;

use crate::expression::{NODE, NODES, Names};
use crate::mistake::{Mistake, TextPlace};
use crate::parser::{Selection, Sequence, Source, Written, WrittenKind};
use crate::program::{
    Action, BYTES_MAX, LOOP_DEPTH_MAX, NODES_MAX, Node, Pattern, STEPS_MAX, STEPS_OF_ALL_MAX,
};

/// Compiles `source`, or returns everything that is out of range.
pub(crate) fn compile(name: &str, source: &Source) -> Result<Pattern, Vec<Mistake>> {
    let scopes = scopes(source)?;
    let numbers = node_numbers(source, &scopes)?;
    let mut mistakes = Vec::new();
    let mut nodes = vec![Node::default(); numbers.len()];
    let mut steps_of_all: u64 = 0;
    for &(number, sequence) in &numbers {
        let mut names = scopes[source.sequences[sequence].definitions_above].clone();
        names.define(NODE, f64::from(number));
        names.define(NODES, numbers.len() as f64);
        let mut compiler = Compiler {
            names,
            number,
            nodes: numbers.len() as u32,
            depth: 0,
            node: &mut nodes[number as usize],
            mistakes: &mut mistakes,
        };
        let steps = compiler.all(&source.sequences[sequence].actions);
        steps_of_all = steps_of_all.saturating_add(steps);
        if steps_of_all > STEPS_OF_ALL_MAX {
            let message = format!(
                "nodes 0 to {number} take {steps_of_all} steps a period together; \
                 {STEPS_OF_ALL_MAX} are the most"
            );
            let place = source.sequences[sequence].selections[0].first.place;
            mistakes.push(Mistake::new(place, message));
            break;
        }
    }
    if mistakes.is_empty() {
        Ok(Pattern { name: name.into(), nodes, sources: Vec::new() })
    } else {
        Err(mistakes)
    }
}

/// Returns the values of names after each definition: entry d contains the first d.
fn scopes(source: &Source) -> Result<Vec<Names>, Vec<Mistake>> {
    let mut scopes = vec![Names::default()];
    let mut places: HashMap<&str, TextPlace> = HashMap::new();
    for definition in &source.definitions {
        let mut names = scopes.last().expect("there is a first").clone();
        let value = definition.value.value(&names).map_err(|mistake| vec![mistake])?;
        names.define(&definition.name, value);
        if let Some(before) = places.insert(&definition.name, definition.place) {
            let message = format!("`{}` is defined already, at {before}", definition.name);
            return Err(vec![Mistake::new(definition.place, message)]);
        }
        scopes.push(names);
    }
    Ok(scopes)
}

/// Returns the sequence of each node, in the order of the nodes. They must be 0 to the last, without gaps.
fn node_numbers(source: &Source, scopes: &[Names]) -> Result<Vec<(u32, usize)>, Vec<Mistake>> {
    let mut found: HashMap<u32, (usize, TextPlace)> = HashMap::new();
    let mut mistakes = Vec::new();
    for (index, sequence) in source.sequences.iter().enumerate() {
        for (number, place) in selected(sequence, &scopes[sequence.definitions_above])? {
            if let Some((_, before)) = found.insert(number, (index, place)) {
                let message = format!("node {number} has a code sequence already, at {before}");
                mistakes.push(Mistake::new(place, message));
            }
        }
    }
    let Some(last) = found.keys().max().copied() else {
        let message = "the pattern has no nodes; begin with `0:` and the code sequence of node 0";
        return Err(vec![Mistake::new(source.end, message)]);
    };
    if let Some(missing) = (0..last).find(|number| !found.contains_key(number)) {
        let place = found[&last].1;
        let message = format!("node {missing} has no code sequence, but node {last} has one");
        mistakes.push(Mistake::new(place, message));
    }
    if mistakes.is_empty() {
        let mut numbers: Vec<(u32, usize)> =
            found.into_iter().map(|(number, (sequence, _))| (number, sequence)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    } else {
        Err(mistakes)
    }
}

/// Returns the nodes of a sequence, each with its place in the text.
fn selected(sequence: &Sequence, names: &Names) -> Result<Vec<(u32, TextPlace)>, Vec<Mistake>> {
    let mut all = Vec::new();
    for selection in &sequence.selections {
        let (first, last, by) = ends(selection, names).map_err(|mistake| vec![mistake])?;
        let place = selection.first.place;
        all.extend((first..=last).step_by(by).map(|number| (number, place)));
    }
    Ok(all)
}

fn ends(selection: &Selection, names: &Names) -> Result<(u32, u32, usize), Mistake> {
    let number = |expression: &crate::expression::Expression| {
        expression.whole(names, "the number of a node", NODES_MAX - 1)
    };
    let first = number(&selection.first)?;
    let Some(last) = &selection.last else { return Ok((first, first, 1)) };
    let last_number = number(last)?;
    if last_number < first {
        let message = format!("the range ends at {last_number}, before it begins at {first}");
        return Err(Mistake::new(last.place, message));
    }
    let by = match &selection.by {
        None => 1,
        Some(by) => match by.whole(names, "the step of a range", NODES_MAX)? {
            0 => return Err(Mistake::new(by.place, "a range cannot go in steps of 0")),
            by => by as usize,
        },
    };
    Ok((first, last_number, by))
}

/// The compiler of one node.
struct Compiler<'a> {
    names: Names,
    number: u32,
    nodes: u32,
    depth: usize,
    node: &'a mut Node,
    mistakes: &'a mut Vec<Mistake>,
}

impl Compiler<'_> {
    /// Compiles a code sequence. Returns its number of steps, with loops counted as often as they run.
    fn all(&mut self, written: &[Written]) -> u64 {
        let mut steps = 0u64;
        for action in written {
            match self.action(action) {
                Ok(taken) => steps = steps.saturating_add(taken),
                Err(mistake) => self.mistakes.push(mistake),
            }
        }
        steps
    }

    fn action(&mut self, written: &Written) -> Result<u64, Mistake> {
        let action = match &written.kind {
            WrittenKind::Receive => Action::Receive,
            WrittenKind::Send { to, bytes } => {
                let to = self.destination(to)?;
                let bytes = bytes.whole(&self.names, "the length of the message", BYTES_MAX)?;
                Action::Send { to, bytes }
            }
            WrittenKind::WaitUntil { fraction } => {
                let value = fraction.value(&self.names)?;
                if !(0.0..1.0).contains(&value) {
                    let message =
                        format!("the fraction of the period is {value}; it is from 0 to below 1");
                    return Err(Mistake::new(fraction.place, message));
                }
                Action::WaitUntil { fraction: value }
            }
            WrittenKind::Loop { count, body } => {
                let most = u32::try_from(STEPS_MAX).expect("it is a million");
                let rounds = count.whole(&self.names, "the number of rounds", most)?;
                return self.repeat(written.place, rounds, body);
            }
        };
        self.push(action, written.place);
        Ok(1)
    }

    fn push(&mut self, action: Action, place: TextPlace) {
        self.node.actions.push(action);
        self.node.places.push(place);
    }

    fn destination(&self, to: &crate::expression::Expression) -> Result<u32, Mistake> {
        let last = self.nodes - 1;
        let number = to.whole(&self.names, "the node that `S` sends to", u32::MAX)?;
        if number > last {
            let message = format!("there is no node {number}: the pattern has nodes 0 to {last}");
            return Err(Mistake::new(to.place, message));
        }
        if number == self.number {
            let message = format!("node {number} sends to itself; a message goes to another node");
            return Err(Mistake::new(to.place, message));
        }
        Ok(number)
    }

    fn repeat(&mut self, place: TextPlace, count: u32, body: &[Written]) -> Result<u64, Mistake> {
        if self.depth == LOOP_DEPTH_MAX {
            let message = format!("loops lie more than {LOOP_DEPTH_MAX} deep in one another");
            return Err(Mistake::new(place, message));
        }
        let before = self.node.actions.len();
        self.push(Action::Loop { rounds: count }, place);
        self.depth += 1;
        let steps = self.all(body).saturating_mul(u64::from(count));
        self.depth -= 1;
        if steps == 0 {
            // There is nothing to repeat. An interpreter should not have to count to a million for it.
            self.node.actions.truncate(before);
            self.node.places.truncate(before);
            return Ok(0);
        }
        self.push(Action::Repeat { start: before as u32 + 1 }, place);
        if steps > STEPS_MAX {
            let message = format!(
                "node {} takes {steps} steps a period in this loop; {STEPS_MAX} are the most",
                self.number
            );
            return Err(Mistake::new(place, message));
        }
        Ok(steps)
    }
}
