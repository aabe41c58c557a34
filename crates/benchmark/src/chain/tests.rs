//! Tests chains as files describe them.

use super::*;
use crate::stage_functions::Function;

#[test]
fn the_built_in_chain_is_one() {
    let chain = Chain::example();
    assert_eq!((chain.ranks(), chain.matrix_bytes()), (2, 2 << 20));
    // 2 x 512 rows of 5 x 512 x 9 operations.
    assert_eq!(chain.operations(), 2.0 * 512.0 * 5.0 * 512.0 * 9.0);
    // Powers of two up to a rank's part of the matrix.
    assert_eq!(chain.granularities(), [1, 2, 4, 8, 16, 32, 64, 128, 256]);
}

const TEXT: &str = "title = 't'\n[matrix]\nrows = 8\ncolumns = 4\n[flow]\nrows_per_message = 4\n[[stage]]\nfunctions = ['fft', 'corner-turn']\n";

#[test]
fn a_file_says_what_flows_and_what_is_done() {
    let read = Chain::parse("test.toml", TEXT).unwrap();
    let mut expected = Chain::of((8, 4, 4), &[(&[Function::FFT, Function::CORNER_TURN], 1)]);
    (expected.file, expected.text) = ("test.toml".into(), TEXT.into());
    expected.title = "t".into();
    (expected.buffers, expected.extent) = (3, (4, 4));
    expected.stages[0].name = "fft + corner-turn".into();
    assert_eq!(read, expected);
}

/// Checks that the chain is refused with the message of each case, in which a text is replaced by another.
fn refused(cases: &[(&str, &str, &str)]) {
    for (from, to, message) in cases {
        assert!(TEXT.contains(from), "{from}");
        let found = Chain::parse("test.toml", &TEXT.replace(from, to)).unwrap_err().to_string();
        assert!(found.contains(message), "{found}\nand not\n{message}");
    }
}

#[test]
fn mistakes_are_told_with_their_line() {
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
            "test.toml, line 8: there is no function `turn`; there are `fft`, `weight`, `inner-product`, ",
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
    refused(&cases);
}

#[test]
fn functions_and_targets_that_cannot_be_are_told_with_their_line() {
    refused(&[
        (
            "'fft', 'corner-turn'",
            "'fft', 3",
            "line 8: a function is of type integer; it must be a name, or a table",
        ),
        ("'fft'", "{ taps = 3 }", "line 8: a function has no `name`"),
        (
            "'fft'",
            "{ name = 'tdfir', taps = 'a' }",
            "line 8: `taps` of a function is of type string; it must",
        ),
        ("'fft'", "{ name = 'tdfir', tap = 3 }", "line 8: `tdfir` has no parameter `tap`"),
        (
            "'fft'",
            "{ name = 'tdfir', taps = 5 }",
            "line 7: stage 1 (tdfir + corner-turn) cannot do `tdfir`, which has 5 taps, more than its rows",
        ),
        (
            "'fft'",
            "{ name = 'beamforming', antennas = 3 }",
            "cannot do `beamforming`, which needs snapshots of 3 antennas",
        ),
        (
            "[[stage]]",
            "[[sink.target]]\nrow = 4\ncolumn = 0\nat_least_db = 3\n[[stage]]",
            "the sink is to find a target at row 4, column 0 of a result of 4 x 8 elements",
        ),
        (
            "[[stage]]",
            "[scene]\nkind = 'sar'\nrow_taps = 9\ncolumn_taps = 1\n[[stage]]",
            "line 7: the scene has chirps of 9 x 1 points, which do not fit a matrix of 8 x 4",
        ),
    ]);
}

#[test]
fn functions_that_shorten_rows_shorten_the_matrix() {
    // Rows of 12 elements become weights and 3 snapshots of 4, then 3 products; turned, 3 rows of 8.
    let text = TEXT
        .replace("columns = 4", "columns = 12")
        .replace("rows_per_message = 4", "rows_per_message = 1");
    let functions = "{ name = 'qr-weights', antennas = 4 }, { name = 'inner-product', antennas = 4 }, 'corner-turn'";
    let chain =
        Chain::parse("test.toml", &text.replace("'fft', 'corner-turn'", functions)).unwrap();
    let levels = levels(&chain);
    let shapes: Vec<_> =
        levels.iter().map(|one| (one.rows, one.columns, one.result_columns)).collect();
    assert_eq!(shapes, [(8, 12, 12), (8, 12, 3), (3, 8, 8)]);
    assert_eq!(chain.result_shape(), (3, 8));
    // A factorisation of 3 + 4 rows of 4, 16 (7 x 16 / 2 - 64 / 6) operations, and 3 products of 4 of 8, in 8 rows. The
    // total is counted in whole operations: 8 x 725.33.
    assert_eq!(chain.operations(), 5802.0 + 8.0 * 3.0 * 4.0 * 8.0);
    assert!(
        chain
            .describe()
            .contains("8 rows of 12 elements each, of which it makes 3, then hands on columns")
    );
}
