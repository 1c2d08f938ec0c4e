//! Warnings about unknown names, with the nearest known name.

/// An unknown name.
pub struct Unknown<'a> {
    /// The object that has the name as a field. `None`: the name is an argument's.
    pub inside: Option<&'a str>,
    /// The unknown name, as it was written.
    pub name: &'a str,
    /// The names that are known in its place.
    pub known: &'a [&'a str],
}

/// The longest name that is compared with known ones.
const LONGEST: usize = 100;

/// The warning about an unknown name.
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

/// The known name that is nearest to `name`; `None` if none is near.
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
