//! Suggests the name that a user probably meant.

/// The longest candidate that is considered, in bytes. A longer `name` is cut to this many characters for the comparison.
const LONGEST: usize = 128;

/// The candidate nearest to `name` by edit distance in lower case, if `name` is near enough to be a likely misspelling of it. A candidate
/// equal to `name` doesn't count.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = name.chars().count() / 3 + 1;
    let lower: String = name.chars().take(LONGEST).collect();
    let lower = lower.to_lowercase();
    candidates
        .take(2000)
        .filter(|candidate| {
            candidate.len() <= LONGEST && !candidate.is_empty() && *candidate != name
        })
        .map(|candidate| {
            let distance = strsim::osa_distance(&lower, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|(distance, candidate)| {
            *distance <= allowed && *distance < candidate.chars().count()
        })
        // Among equally near candidates, one with the same first letter wins.
        .min_by_key(|(distance, candidate)| {
            let first = |text: &str| text.chars().next().map(|c| c.to_ascii_lowercase());
            (*distance, first(candidate) != first(name))
        })
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised() {
        let names = ["count", "total", "x"];
        let meant = |name| nearest(name, names.into_iter());
        assert_eq!(meant("cout"), Some("count"));
        assert_eq!(meant("cuont"), Some("count"));
        assert_eq!(meant("Total"), Some("total"));
        assert_eq!(meant("zebra"), None);
        assert_eq!(meant("y"), None);
    }
}
