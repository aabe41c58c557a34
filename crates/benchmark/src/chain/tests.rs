//! Chains as files describe them.

use super::Function::{CornerTurn, Fft};
use super::*;

#[test]
fn the_built_in_chain_is_one() {
    let chain = Chain::example();
    assert_eq!((chain.ranks(), chain.matrix_bytes()), (2, 2 << 20));
    // 2 x 512 rows of 5 x 512 x 9 operations.
    assert_eq!(chain.operations(), 2.0 * 512.0 * 5.0 * 512.0 * 9.0);
    // Powers of two up to a rank's share of the matrix.
    assert_eq!(chain.granularities(), [1, 2, 4, 8, 16, 32, 64, 128, 256]);
}

const TEXT: &str = "title = 't'\n[matrix]\nrows = 8\ncolumns = 4\n[flow]\nrows_per_message = 4\n[[stage]]\nfunctions = ['fft', 'corner-turn']\n";

#[test]
fn a_file_says_what_flows_and_what_is_done() {
    let read = Chain::parse("test.toml", TEXT).unwrap();
    let mut expected = Chain::of((8, 4, 4), &[(&[Fft, CornerTurn], 1)]);
    (expected.file, expected.text) = ("test.toml".into(), TEXT.into());
    expected.title = "t".into();
    expected.buffers = 3;
    expected.stages[0].name = "fft + corner-turn".into();
    assert_eq!(read, expected);
}

#[test]
fn mistakes_are_told_with_their_line() {
    let told = |from: &str, to: &str| {
        assert!(TEXT.contains(from), "{from}");
        Chain::parse("test.toml", &TEXT.replace(from, to)).unwrap_err().to_string()
    };
    let cases = [
        (
            "rows = 8",
            "rows = 0",
            "test.toml, line 3: `matrix.rows` is 0; it must be a number from 1 to 65536",
        ),
        (
            "rows = 8",
            "rows = -8",
            "line 3: `rows`: invalid value: integer `-8`, expected a whole number from 0 on",
        ),
        (
            "'fft', 'corner-turn'",
            "'fft', 'turn'",
            "test.toml, line 8: there is no function `turn`; there are `fft`, `weight`, `corner-turn`",
        ),
        (
            "'fft', 'corner-turn'",
            "'corner-turn', 'fft'",
            "line 7: stage 1 (corner-turn + fft) has a function after its corner turn",
        ),
        (
            "rows_per_message = 4",
            "rows_per_message = 3",
            "line 6: the source gives each rank 8 rows, which are no whole number of messages of 3 rows",
        ),
        ("rows_per_message = 4", "rows_per_message = 8", "line 6: the sink gives each rank 4 rows"),
        (
            "'corner-turn']",
            "'corner-turn']\nranks = 3",
            "has 3 ranks, which do not divide its 8 rows",
        ),
        ("columns", "colums", "line 4: unknown field `colums`"),
        ("'corner-turn']", "'corner-turn']\non = []", "line 9: `on` is empty"),
        ("'corner-turn']", "'corner-turn']\non = [1, 1]", "line 9: `on` names rank 1 twice"),
        ("'corner-turn']", "'corner-turn']\non = [4096]", "line 9: `on` names rank 4096"),
        ("'corner-turn']", "'corner-turn']\non = [1]\nranks = 1", "`ranks` must be left out"),
        ("'corner-turn']", "'corner-turn']\non = [3]", "no part of the chain is on rank 2"),
        ("[[stage]]", "[source]\nranks = 3\n[[stage]]", "line 8: the source has 3 ranks, which do"),
        ("[[stage]]", "[sink]\non = [0, 1, 2]\n[[stage]]", "line 8: the sink has 3 ranks"),
        ("[[stage]]\nfunctions = ['fft', 'corner-turn']\n", "", "line 1: there is no [[stage]]"),
    ];
    for (from, to, message) in cases {
        let found = told(from, to);
        assert!(found.contains(message), "{found}\nand not\n{message}");
    }
}
