//! Suggestions for names that are unknown.

/// Returns the known name that is most like an unknown one, if its similarity (Jaro and Winkler's, 0 to 1) is at least
/// `least`.
pub fn most_similar<'a>(
    unknown: &str,
    names: impl Iterator<Item = &'a str>,
    least: f64,
) -> Option<&'a str> {
    let rated = names.map(|name| (strsim::jaro_winkler(name, unknown), name));
    let similar = rated.filter(|(similarity, _)| *similarity >= least);
    similar.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}
