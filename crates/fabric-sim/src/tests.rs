//! Programs on small machines, with expected times derived by hand.

mod boards;
mod contexts;
mod determinism;
mod errors;
mod fairness;
mod forwarding;
mod growth;
mod levels;
mod many_ranks;
mod networks;
mod paths;
mod requests;
mod ring_links;
mod rings;
mod sharing;
mod sleeps;
mod time;
mod traces;
mod windows;

use contract::{Rank, Result, Source, Tag, Time, TimeSpan};

use crate::machine::parse;
use crate::{Failure, Machine, Options, Outcome};

const TAG: Tag = Tag::new(3);

/// Creates a machine from these lines of TOML, with the source of every part assumed.
fn machine(lines: &str) -> Machine {
    let text = format!(
        "name = \"test\"\ntitle = \"a test's\"\n{lines}\n[[source]]\n\
         of = [\"processor\", \"endpoint\", \"protocol\", \"network\", \"inner_network\", \"sci\", \"ring_collectives\", \"board\", \"windows\", \"pause\"]\n\
         kind = \"assumed\"\nfrom = \"a test\"\n"
    );
    parse("test.toml", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn run<T: 'static>(
    machine: &Machine,
    ranks: usize,
    program: impl Fn(&mut dyn Rank) -> Result<T> + 'static,
) -> std::result::Result<Outcome<T>, Failure> {
    crate::run(machine, &Options::new(ranks), program)
}

/// Returns the time from the beginning of the only message, which rank 0 sends, to the end of its receive.
fn time_of_one(machine: &Machine, options: &Options, to: usize, bytes: usize) -> TimeSpan {
    let outcome = crate::run(machine, options, move |rank| {
        match rank.rank() {
            0 => rank.send(to, TAG, &vec![7; bytes])?,
            me if me == to => {
                rank.receive(Source::Rank(0), TAG.into(), &mut vec![0; bytes])?;
            }
            _ => {}
        }
        Ok(rank.now())
    });
    outcome.unwrap().results[to].since(Time::ZERO)
}
