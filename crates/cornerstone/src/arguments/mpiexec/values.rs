//! Values of options of mpiexec that have a form of their own.

use std::path::Path;

use crate::failure::Failure;

/// Returns the largest number of ranks of a list such as `1,4:16:4` (from 4 to 16 by 4) that is at most `most`, or the
/// largest of all. `None` if there is none, or if the list is no list.
///
/// Source: MPI 5.0, section 11.8.2, "soft".
pub(super) fn largest_of(list: &str, most: Option<usize>) -> Option<usize> {
    let most = most.map_or(i64::MAX, |most| most as i64);
    let mut largest = None;
    for piece in list.split(',') {
        let number = |text: &str| text.trim().parse::<i32>().map(i64::from).ok();
        let numbers: Option<Vec<i64>> = piece.split(':').map(number).collect();
        let found = match numbers?[..] {
            [one] => (one <= most).then_some(one),
            [from, to] => last_below(from, to, 1, most),
            [from, to, step] if step != 0 => last_below(from, to, step, most),
            _ => return None,
        };
        largest = largest.max(found.filter(|&number| number > 0));
    }
    usize::try_from(largest?).ok()
}

/// Returns the largest number of `from`, `from + step`, ... up to `to` that is at most `most`.
fn last_below(from: i64, to: i64, step: i64, most: i64) -> Option<i64> {
    let (low, high, step) = if step > 0 { (from, to, step) } else { (to, from, -step) };
    if low > high {
        return None;
    }
    // The numbers count from `from`, which is the low end or the high one.
    let top = high.min(most);
    let down = (from - top).rem_euclid(step);
    let number = top.checked_sub(if down == 0 { 0 } else { step - down })?;
    (number >= low).then_some(number)
}

/// Refuses an architecture that this host does not have.
pub(super) fn check_architecture(wanted: &str) -> Result<(), Failure> {
    let own = std::env::consts::ARCH;
    let others: &[&str] = match own {
        "x86_64" => &["amd64", "x86-64"],
        "aarch64" => &["arm64"],
        _ => &[],
    };
    let wanted = wanted.to_lowercase();
    match wanted == own || others.contains(&&*wanted) {
        true => Ok(()),
        false => Err(Failure::usage(format!("mpiexec: -arch {wanted}: this host is {own}"))
            .hint("start the program on hosts of that architecture, from one of them")),
    }
}

/// Returns the path of a program that is in one of the folders, which colons separate. A program that is in none of them
/// is searched as usual.
pub(super) fn search(folders: &Path, program: &Path) -> Option<std::path::PathBuf> {
    if program.components().count() != 1 || program.is_absolute() {
        return None;
    }
    std::env::split_paths(folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Variable with the error handler of a rank from the start on, which the library reads.
pub(super) const ERROR_HANDLER_VARIABLE: &str = "CORNERSTONE_MPI_INITIAL_ERRHANDLER";

/// Handlers of errors that a program may have from the start on.
pub(super) const ERROR_HANDLERS: [&str; 3] =
    ["mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_numbers_that_will_do_the_largest_is_taken() {
        for (list, most, expected) in [
            ("4", Some(8), Some(4)),
            ("4", Some(3), None),
            ("1,2,8", Some(5), Some(2)),
            ("2:16:2", Some(9), Some(8)),
            ("2:16:2", None, Some(16)),
            ("3:20:5", None, Some(18)),
            ("2:4", Some(10), Some(4)),
            ("16:2:-4", Some(9), Some(8)),
            ("16:3:-4", Some(3), None),
            ("0", Some(4), None),
            ("4:1", Some(4), None),
            ("many", Some(4), None),
            ("1:2:3:4", Some(4), None),
            ("1:8:0", Some(4), None),
        ] {
            assert_eq!(largest_of(list, most), expected, "{list} {most:?}");
        }
    }

    /// The oracle counts.
    #[test]
    fn steps_end_where_counting_ends() {
        for from in -3..8_i64 {
            for to in -3..12_i64 {
                for step in [-5, -2, -1, 1, 2, 3, 7] {
                    for most in -1..12 {
                        let count = |index: i64| from + index * step;
                        let is_in =
                            |number: &i64| if step > 0 { *number <= to } else { *number >= to };
                        let all = (0..40).map(count).take_while(is_in);
                        let expected = all.filter(|number| *number <= most).max();
                        let found = last_below(from, to, step, most);
                        assert_eq!(found, expected, "{from}:{to}:{step} {most}");
                    }
                }
            }
        }
    }

    #[test]
    fn this_architecture_has_several_names_and_others_are_refused() {
        check_architecture(std::env::consts::ARCH).unwrap();
        check_architecture(&std::env::consts::ARCH.to_uppercase()).unwrap();
        assert!(check_architecture("vax").unwrap_err().message().contains("-arch vax"));
    }
}
