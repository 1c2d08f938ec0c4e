//! Checks that the engine's `Owner` has few fields, and that few modules touch each: the others use its methods.

use super::source::Source;
use super::{Finding, Rule};
use std::collections::BTreeSet;

/// The file with the struct, and the folder of the modules that see its fields.
const FILE: &str = "crates/engine/src/owner.rs";
const FOLDER: &str = "crates/engine/src/owner/";

/// The most fields, and the most files that may touch one.
const MOST_FIELDS: usize = 20;
const MOST_FILES: usize = 8;

/// Finds too many fields, and fields that too many files touch.
pub(super) fn check(sources: &[Source], findings: &mut Vec<Finding>) {
    let rule = Rule {
        name: "fields of the owner",
        remedy: "reach the state by a method of the room that it belongs to",
    };
    let Some(owner) = sources.iter().find(|source| source.path == FILE) else {
        return;
    };
    let fields = fields(&owner.code);
    if fields.is_empty() || fields.len() > MOST_FIELDS {
        let what = format!("{} fields, at most {MOST_FIELDS} may be", fields.len());
        findings.push(Finding::new(FILE, 0, rule, what));
    }
    let rooms: Vec<&Source> = sources
        .iter()
        .filter(|source| source.path == FILE || source.is_in(FOLDER))
        .collect();
    for field in fields {
        let users = rooms.iter().filter(|room| touches(&room.code, field));
        let users: BTreeSet<&str> = users.map(|room| room.path.as_str()).collect();
        if users.len() > MOST_FILES {
            let files: Vec<&str> = users.into_iter().collect();
            let what = format!(
                "`{field}` is touched in {} files, at most {MOST_FILES} may: {}",
                files.len(),
                files.join(", ")
            );
            findings.push(Finding::new(FILE, 0, rule, what));
        }
    }
}

/// The names of the struct's fields.
fn fields(code: &str) -> Vec<&str> {
    code.lines()
        .skip_while(|line| !line.contains("struct Owner {"))
        .skip(1)
        .take_while(|line| !line.starts_with('}'))
        .filter_map(|line| line.trim_start().split_once(": "))
        .map(|(name, _)| name.rsplit(' ').next().unwrap_or(name))
        .collect()
}

/// Whether the code has `self.FIELD` or `owner.FIELD`, perhaps over two lines, but not as a method.
fn touches(code: &str, field: &str) -> bool {
    ["self", "owner"].iter().any(|owner| {
        code.match_indices(owner).any(|(at, _)| {
            let is_word = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let after = code[at + owner.len()..].trim_start().strip_prefix('.');
            let after = after.and_then(|after| after.trim_start().strip_prefix(field));
            is_word
                && after.is_some_and(|after| {
                    !after.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '(')
                })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rooms: &[String]) -> Vec<String> {
        let owner = "pub(crate) struct Owner {\n    stops: Stops,\n    pub(super) link: Link,\n}\n";
        let mut sources = vec![Source::new(FILE, owner)];
        for (number, text) in rooms.iter().enumerate() {
            sources.push(Source::new(&format!("{FOLDER}room_{number}.rs"), text));
        }
        let mut findings = Vec::new();
        check(&sources, &mut findings);
        findings.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_field_that_too_many_rooms_touch_is_found() {
        let touching = "fn f() {\n    self\n        .stops\n        .go();\n}\n";
        let rooms = vec![touching.to_owned(); MOST_FILES];
        assert_eq!(found(&rooms), [""; 0]);
        let rooms = vec![touching.to_owned(); MOST_FILES + 1];
        assert_eq!(found(&rooms).len(), 1);
        assert!(found(&rooms)[0].starts_with("`stops` is touched in 9 files"));
    }

    #[test]
    fn methods_longer_names_and_comments_are_no_touch() {
        let other = "// self.stops\nfn f() {\n    self.stops();\n    self.stops_all;\n    itself.stops;\n}\n";
        assert_eq!(found(&vec![other.to_owned(); 20]), [""; 0]);
    }
}
