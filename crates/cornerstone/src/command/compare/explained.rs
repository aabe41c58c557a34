//! The measurement that `--explain` names.

use analysis::compare::{ComparedRuns, Comparison};

use crate::failure::Failure;
use crate::output::comparison_name;

/// Maximum number of names in a refusal.
const NAMES_MAX: usize = 12;

/// Returns the comparison with this name, or the only one whose name contains all of these words.
pub(super) fn of_words<'a>(
    compared: &'a ComparedRuns,
    words: &str,
) -> Result<&'a Comparison, Failure> {
    let all = || compared.comparisons.iter();
    if let Some(one) = all().find(|one| comparison_name(&one.name) == words) {
        return Ok(one);
    }
    let parts = |text: &str| -> Vec<String> {
        let parts = text.split([' ', ',']).filter(|part| !part.is_empty());
        parts.map(String::from).collect()
    };
    let wanted = parts(words);
    let has_all = |one: &&Comparison| {
        let own = parts(&comparison_name(&one.name));
        wanted.iter().all(|word| own.contains(word))
    };
    let found: Vec<&Comparison> = all().filter(has_all).collect();
    let (what, of) = match &found[..] {
        [one] => return Ok(one),
        [] => ("names no measurement of both runs; there are", all().collect()),
        many => ("names several measurements", many.to_vec()),
    };
    let mut names: Vec<String> =
        of.iter().take(NAMES_MAX).map(|one| format!("'{}'", comparison_name(&one.name))).collect();
    if of.len() > NAMES_MAX {
        names.push(format!("and {} more", of.len() - NAMES_MAX));
    }
    Err(Failure::usage(format!("--explain '{words}' {what}: {}", names.join("; ")))
        .hint("write the name as the table of `cornerstone compare` has it"))
}
