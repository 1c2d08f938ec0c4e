//! The name that was meant.

/// The candidate nearest to `name`, when it is near enough to have been meant.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let allowed = name.chars().count() / 3 + 1;
    candidates
        .take(2000)
        .filter(|candidate| candidate.len() <= 128 && !candidate.is_empty() && *candidate != name)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| {
            *distance <= allowed && *distance < candidate.chars().count()
        })
        // Of equals, one that begins alike.
        .min_by_key(|(distance, candidate)| {
            let first = |text: &str| text.chars().next().map(|c| c.to_ascii_lowercase());
            (*distance, first(candidate) != first(name))
        })
        .map(|(_, candidate)| candidate)
}

/// How many insertions, deletions, replacements and swaps of neighbours lead from one to the other.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from
        .chars()
        .take(128)
        .flat_map(char::to_lowercase)
        .collect();
    let to: Vec<char> = to.chars().flat_map(char::to_lowercase).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let replace = last[j] + usize::from(a != b);
            let mut best = replace.min(last[j + 1] + 1).min(row[j] + 1);
            let is_swap = i > 0 && j > 0 && from[i - 1] == *b && to[j - 1] == *a;
            if is_swap {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[to.len()]
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
