//! Names that are not known: the nearest that is.

/// A name that is not known.
pub struct Unknown<'a> {
    /// Of which object it is a field, if it is no argument itself.
    pub inside: Option<&'a str>,
    /// As it was written.
    pub name: &'a str,
    /// Those that are known there.
    pub known: &'a [&'a str],
}

/// Longer names are near to none.
const LONGEST: usize = 100;

/// What is said of it.
pub fn warning(unknown: &Unknown<'_>) -> String {
    let whole = |name: &str| match unknown.inside {
        Some(object) => format!("{object}.{name}"),
        None => name.to_owned(),
    };
    let name = whole(unknown.name);
    match nearest(unknown.name, unknown.known) {
        Some(known) => format!(
            "the argument `{name}` is not known and ignored; did you mean `{}`?",
            whole(known)
        ),
        None => format!("the argument `{name}` is not known and ignored"),
    }
}

/// The known name that `name` is most likely meant to be.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let (known, distance) = known
        .iter()
        .map(|known| {
            (
                *known,
                strsim::levenshtein(&name.to_lowercase(), &known.to_lowercase()),
            )
        })
        .min_by_key(|(_, distance)| *distance)?;
    (distance <= known.len().max(name.len()) / 4).then_some(known)
}
