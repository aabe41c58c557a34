//! One node of the real-time test bench of MITRE section 5: its operations and its shortest period, with data flow or
//! without.

use contract::{
    Buffer, Rank, Result as RankResult, Source, Tag, TagSelector, TimeSpan, Work, WorkKind,
};
use fabric_sim::{Machine, Options, machine, run};
use kernels::fft::nominal_operations;
use serde::Deserialize;

/// A cell of table 5.1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BenchNodeCell {
    machine: String,
    /// Operations of the node on each matrix, in order.
    functions: Vec<Function>,
    /// True if matrices come from a source and results go to a sink.
    data_flow: bool,
    /// Function whose rate is computed instead of the period.
    rate_of: Option<Function>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Function {
    /// A transform of each row.
    Fft,
    /// A transpose of the matrix.
    CornerTurn,
}

/// A matrix of 512 rows of 512 single-precision complex numbers.
const ROWS: usize = 512;
const COLUMNS: usize = 512;
const MATRIX_BYTES: usize = ROWS * COLUMNS * 8;

impl Function {
    fn work(self) -> Work {
        match self {
            // Counted as in chains, so that the rates of tables 5.1 and 5.2 are of the same operations.
            Function::Fft => {
                Work::new(WorkKind::Fft, (ROWS as f64 * nominal_operations(COLUMNS)) as u64)
            }
            Function::CornerTurn => Work::new(WorkKind::CornerTurnBytes, MATRIX_BYTES as u64),
        }
    }
}

impl BenchNodeCell {
    /// Returns the shortest period in milliseconds, or the rate in millions of operations or bytes a second at that
    /// period.
    pub(crate) fn value(&self) -> Result<f64, String> {
        let machine = machine::find(&self.machine).map_err(|error| error.to_string())?;
        let period = period(&machine, &self.functions, self.data_flow)?;
        Ok(match self.rate_of {
            None => period.as_us() / 1e3,
            Some(function) => function.work().amount as f64 / period.as_us(),
        })
    }
}

/// Nodes of the bench. Without data flow only the stage works, with its two buffers; the others exist.
const SOURCE: usize = 0;
const STAGE: usize = 1;
const SINK: usize = 2;
/// Number of instances, about as many as in the paper's trials of 4 s.
const INSTANCES: u64 = 20;

const DATA: Tag = Tag::new(0);
const REQUEST: Tag = Tag::new(1);

/// Returns the time between results once the bench is full. It is the shortest period that its self-timed stage
/// sustains.
fn period(machine: &Machine, functions: &[Function], data_flow: bool) -> Result<TimeSpan, String> {
    let functions = functions.to_vec();
    let options = Options { check_results: false, ..Options::new(3) };
    let outcome = run(machine, &options, move |rank| match rank.rank() {
        SOURCE if data_flow => feed(rank),
        STAGE => process(rank, &functions, data_flow),
        SINK if data_flow => drain(rank),
        _ => Ok(TimeSpan::ZERO),
    });
    let outcome = outcome.map_err(|(rank, error)| format!("rank {rank}: {error}"))?;
    Ok(outcome.results[STAGE])
}

fn await_request(rank: &mut dyn Rank, from: usize) -> RankResult<()> {
    rank.receive(Source::Rank(from), TagSelector::Is(REQUEST), &mut []).map(drop)
}

fn feed(rank: &mut dyn Rank) -> RankResult<TimeSpan> {
    let matrix = vec![0; MATRIX_BYTES];
    for _ in 0..INSTANCES {
        await_request(rank, STAGE)?;
        rank.send(STAGE, DATA, &matrix)?;
    }
    Ok(TimeSpan::ZERO)
}

fn drain(rank: &mut dyn Rank) -> RankResult<TimeSpan> {
    let mut buffer = Buffer::zeroed(MATRIX_BYTES);
    for _ in 0..INSTANCES {
        let posted = rank.post_receive(Source::Rank(STAGE), TagSelector::Is(DATA), buffer)?;
        rank.send(STAGE, REQUEST, &[])?;
        buffer = rank.wait(posted)?.buffer;
    }
    Ok(TimeSpan::ZERO)
}

/// Runs the stage as in section 5.2: posts the next receive and requests its data, computes the arrived matrix, sends
/// the result once it is requested, and waits for the next. The first result is left out, because until then the bench
/// fills.
fn process(rank: &mut dyn Rank, functions: &[Function], data_flow: bool) -> RankResult<TimeSpan> {
    let result = vec![0; MATRIX_BYTES];
    let mut spare = Buffer::zeroed(if data_flow { MATRIX_BYTES } else { 0 });
    let (mut first, mut last) = (None, rank.now());
    for _ in 0..INSTANCES {
        let mut next = None;
        if data_flow {
            let posted = rank.post_receive(Source::Rank(SOURCE), TagSelector::Is(DATA), spare)?;
            rank.send(SOURCE, REQUEST, &[])?;
            next = Some(posted);
            spare = Buffer::zeroed(0);
        }
        for function in functions {
            rank.compute(function.work(), &mut || ());
        }
        if let Some(next) = next {
            await_request(rank, SINK)?;
            rank.send(SINK, DATA, &result)?;
            spare = rank.wait(next)?.buffer;
        }
        last = rank.now();
        first.get_or_insert(last);
    }
    let passed = last.since(first.unwrap_or(last));
    Ok(TimeSpan::from_ps(passed.as_ps() / (INSTANCES - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests table 5.1: each period times its rate are the operations of 512 transforms of 512 points, 512 x 5 x 512 x
    /// 9 = 11.8 million, also where the node turns corners; or the bytes of a matrix.
    #[test]
    fn published_rates_count_the_transforms_of_a_matrix_by_one_rule() {
        let published = |cell: &str| {
            let id = format!("mitre-1995/5.1/{cell}");
            crate::cells().into_iter().find(|cell| cell.id == id).unwrap().published.unwrap()
        };
        assert_eq!(Function::Fft.work().amount, 512 * 5 * 512 * 9);
        let of = [("fft", "mflops", 11_796.48), ("fft+ct", "mflops", 11_796.48)];
        for (node, unit, thousands) in of.into_iter().chain([("ct", "mb-per-s", 2_097.152)]) {
            for flow in ["without", "with"] {
                let period_ms = published(&format!("{node}/{flow}-data-flow-period-ms"));
                let rate = published(&format!("{node}/{flow}-data-flow-rate-{unit}"));
                assert!((period_ms * rate / thousands - 1.0).abs() < 0.005, "{node} {flow}");
            }
        }
    }

    /// Tests a link of 100 MB/s without other costs: 2 MiB take 20.97 ms. At 100 million operations a second the
    /// transforms take 117.96 ms, which hide the input. The output is added to them.
    #[test]
    fn computing_hides_what_comes_in_and_not_what_goes_out() {
        let text = "name = \"x\"\ntitle = \"x\"\n[processor]\nfft_mflops = 100\n[network]\nshape = \"line\"\n\
                    link_mb_per_s = 100\n[protocol]\neager_bytes = 0\n[[source]]\n\
                    of = [\"processor\", \"network\", \"protocol\"]\nkind = \"assumed\"\nfrom = \"a test\"\n";
        let machine = machine::parse("x", text).unwrap();
        let ms = |data_flow| period(&machine, &[Function::Fft], data_flow).unwrap().as_us() / 1e3;
        assert!((ms(false) - 117.9648).abs() < 1e-6, "{}", ms(false));
        let expected = 117.9648 + 20.97152;
        assert!((ms(true) - expected).abs() < 0.01, "{} where {expected}", ms(true));
    }
}
