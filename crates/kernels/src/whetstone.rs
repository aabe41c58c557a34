//! The Whetstone benchmark: a mix of floating-point work as in Algol programs of 1970.
//!
//! Written anew from Curnow and Wichmann, "A synthetic benchmark", Computer Journal 19 (1976): eight modules with the
//! weights of their table, in double precision. One unit of work is 100 000 Whetstone instructions.

use std::hint::black_box;

use crate::error::{Error, Result};

/// Whetstone instructions in one unit of work.
pub const INSTRUCTIONS_PER_UNIT: u64 = 100_000;

/// Floating-point operations in one unit of work, where an elementary function counts as one.
///
/// An Algol interpreter's instructions were mostly not arithmetic, so these are far fewer: the weight of each module
/// times its statements times the operations of one.
pub const OPERATIONS_PER_UNIT: u64 = {
    let array_statements = 4 * (3 + 1);
    let trigonometric_statements = 2 * (8 + 5);
    let procedure = 3 * (1 + 1);
    let standard_functions = 1 + 3;
    12 * array_statements
        + 14 * 6 * array_statements
        + 32 * trigonometric_statements
        + 899 * procedure
        + 93 * standard_functions
};

const T: f64 = 0.499975;
const T1: f64 = 0.50025;
const T2: f64 = 2.0;

/// The results of the modules, in the order of the paper's modules 2, 3, 4, 6, 7, 8, 9 and 11.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Module 2: four elements of an array.
    pub array_elements: [f64; 4],
    /// Module 3: four elements of an array that is a parameter.
    pub array_parameter: [f64; 4],
    /// Module 4: an integer set by conditional jumps.
    pub conditional_jumps: i64,
    /// Module 6: three integers, and two elements set from them.
    pub integers: ([i64; 3], [f64; 2]),
    /// Module 7: two angles.
    pub trigonometry: [f64; 2],
    /// Module 8: the result of a procedure.
    pub procedure_calls: f64,
    /// Module 9: three elements of an array that was passed between procedures.
    pub array_references: [f64; 3],
    /// Module 11: a number near 5/6.
    pub standard_functions: f64,
}

/// Executes `units` units of work, that is `units` times 100 000 Whetstone instructions.
///
/// # Errors
/// [`Error::WrongResult`] if a module has an impossible result.
pub fn run(units: u32) -> Result<Outcome> {
    let loops = |weight: u32| u64::from(black_box(weight)) * u64::from(units);
    let array_elements = array_elements(loops(12));
    let outcome = Outcome {
        array_elements,
        array_parameter: array_parameter(array_elements, loops(14)),
        conditional_jumps: conditional_jumps(loops(345)),
        integers: integers(loops(210)),
        trigonometry: trigonometry(loops(32)),
        procedure_calls: procedure_calls(loops(899)),
        array_references: array_references(loops(616)),
        standard_functions: standard_functions(loops(93)),
    };
    check(units, &outcome)?;
    Ok(outcome)
}

/// Checks the results. Some modules end with the values that they began with, and the others approach a value from a
/// known side.
fn check(units: u32, outcome: &Outcome) -> Result<()> {
    if units == 0 {
        return Ok(());
    }
    let near = |found: f64, expected: f64| (found - expected).abs() <= 1e-9;
    let shrunk = |weight: f64| (2.0 * T).powf(weight * f64::from(units)) / 2.0;
    // x^(1 / 2 T1), iterated.
    let root = 0.75f64.powf((0.5 / T1).powf(93.0 * f64::from(units)));
    let sound = [
        ("2", outcome.array_elements.iter().all(|e| e.abs() < 1.5)),
        ("3", outcome.array_parameter.iter().all(|e| e.abs() < 1.5)),
        ("4", outcome.conditional_jumps == i64::from(units.is_multiple_of(2))),
        ("6", outcome.integers == ([1, 2, 3], [6.0, 6.0])),
        // Each round shrinks the angles by 2 T at least once and at most twice.
        ("7", outcome.trigonometry.iter().all(|&x| shrunk(64.0) <= x && x <= shrunk(32.0))),
        ("8", near(outcome.procedure_calls, T + T * (2.0 * T + 1.0) / 2.0)),
        ("9", outcome.array_references == array_reference_cycle(616 * u64::from(units))),
        ("11", near(outcome.standard_functions, root)),
    ];
    match sound.into_iter().find(|(_, sound)| !sound) {
        None => Ok(()),
        Some((module, _)) => Err(Error::WrongResult {
            benchmark: "whetstone",
            explanation: format!("module {module} cannot give this: {outcome:?}"),
        }),
    }
}

#[inline(never)]
fn array_elements(loops: u64) -> [f64; 4] {
    let t = black_box(T);
    let mut e = black_box([1.0, -1.0, -1.0, -1.0]);
    for _ in 0..loops {
        e[0] = (e[0] + e[1] + e[2] - e[3]) * t;
        e[1] = (e[0] + e[1] - e[2] + e[3]) * t;
        e[2] = (e[0] - e[1] + e[2] + e[3]) * t;
        e[3] = (-e[0] + e[1] + e[2] + e[3]) * t;
    }
    e
}

#[inline(never)]
fn array_parameter(mut e: [f64; 4], loops: u64) -> [f64; 4] {
    for _ in 0..loops {
        six_times(black_box(&mut e), T, T2);
    }
    e
}

#[inline(never)]
fn six_times(e: &mut [f64; 4], t: f64, t2: f64) {
    for _ in 0..6 {
        e[0] = (e[0] + e[1] + e[2] - e[3]) * t;
        e[1] = (e[0] + e[1] - e[2] + e[3]) * t;
        e[2] = (e[0] - e[1] + e[2] + e[3]) * t;
        e[3] = (-e[0] + e[1] + e[2] + e[3]) / t2;
    }
}

#[inline(never)]
fn conditional_jumps(loops: u64) -> i64 {
    let mut j = 1i64;
    for _ in 0..loops {
        j = if black_box(j) == 1 { 2 } else { 3 };
        j = if black_box(j) > 2 { 0 } else { 1 };
        j = if black_box(j) < 1 { 1 } else { 0 };
    }
    j
}

#[inline(never)]
fn integers(loops: u64) -> ([i64; 3], [f64; 2]) {
    let (mut j, mut k, mut l) = (1i64, 2i64, 3i64);
    let mut e = [0.0f64; 4];
    for _ in 0..loops {
        (j, k, l) = black_box((j, k, l));
        j = j * (k - j) * (l - k);
        k = l * k - (l - j) * k;
        l = (l - k) * (k + j);
        e[(l - 2) as usize] = (j + k + l) as f64;
        e[(k - 2) as usize] = (j * k * l) as f64;
    }
    ([j, k, l], [e[1], e[0]])
}

#[inline(never)]
fn trigonometry(loops: u64) -> [f64; 2] {
    let (mut x, mut y) = black_box((0.5f64, 0.5f64));
    for _ in 0..loops {
        let sums = |x: f64, y: f64| (x + y).cos() + (x - y).cos() - 1.0;
        x = T * (T2 * x.sin() * x.cos() / sums(x, y)).atan();
        y = T * (T2 * y.sin() * y.cos() / sums(x, y)).atan();
    }
    [x, y]
}

#[inline(never)]
fn procedure_calls(loops: u64) -> f64 {
    let (x, y, mut z) = (1.0, 1.0, 1.0);
    for _ in 0..loops {
        procedure(black_box(x), black_box(y), black_box(&mut z));
    }
    z
}

#[inline(never)]
fn procedure(x: f64, y: f64, z: &mut f64) {
    let x = T * (x + y);
    let y = T * (x + y);
    *z = (x + y) / T2;
}

#[inline(never)]
fn array_references(loops: u64) -> [f64; 3] {
    let mut e = [1.0, 2.0, 3.0];
    for _ in 0..loops {
        pass_around(black_box(&mut e), black_box([0, 1, 2]));
    }
    e
}

#[inline(never)]
fn pass_around(e: &mut [f64; 3], [j, k, l]: [usize; 3]) {
    e[j] = e[k];
    e[k] = e[l];
    e[l] = e[j];
}

/// Returns the expected result of the module: 1 2 3 becomes 2 3 2 and then alternates between that and 3 2 3.
fn array_reference_cycle(loops: u64) -> [f64; 3] {
    match loops {
        0 => [1.0, 2.0, 3.0],
        odd if odd % 2 == 1 => [2.0, 3.0, 2.0],
        _ => [3.0, 2.0, 3.0],
    }
}

#[inline(never)]
fn standard_functions(loops: u64) -> f64 {
    let mut x = black_box(0.75f64);
    for _ in 0..loops {
        x = (x.ln() / T1).exp().sqrt();
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_units_give_the_published_results() {
        // The expected numbers are those that every correct implementation prints at ten units, to the digits that are
        // usually printed.
        let outcome = run(10).unwrap();
        let near = |found: &[f64], expected: &[f64]| {
            let close = |(a, b): (&f64, &f64)| (a - b).abs() < 5e-5;
            assert!(found.iter().zip(expected).all(close), "{found:?} is not {expected:?}");
        };
        near(&outcome.array_elements, &[-0.0683, -0.4626, -0.7297, -1.1240]);
        near(&outcome.array_parameter, &[-0.0553, -0.4474, -0.7110, -1.1031]);
        near(&outcome.trigonometry, &[0.4904, 0.4904]);
        near(&[outcome.procedure_calls], &[0.9999]);
        near(&[outcome.standard_functions], &[0.8347]);
        assert_eq!(outcome.integers, ([1, 2, 3], [6.0, 6.0]));
    }

    #[test]
    fn no_work_leaves_the_start() {
        assert_eq!(run(0).unwrap().standard_functions, 0.75);
    }
}
