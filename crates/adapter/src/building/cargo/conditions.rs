//! Conditions on a target: `cfg(all(unix, target_env = "gnu"))` (The Rust Reference, "Conditional compilation").

/// The deepest nesting.
const DEEPEST: usize = 32;

/// Whether a condition holds. `known` has the lines of `rustc --print cfg`. `None`: the condition is invalid.
pub fn holds(condition: &str, known: &[String]) -> Option<bool> {
    let inside = condition.trim().strip_prefix("cfg(")?.strip_suffix(')')?;
    let mut reader = Reader { rest: inside };
    let found = reader.predicate(known, DEEPEST)?;
    reader.rest.trim().is_empty().then_some(found)
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn predicate(&mut self, known: &[String], depth: usize) -> Option<bool> {
        let name = self.word()?;
        if self.eats("(") {
            let mut all = Vec::new();
            while !self.eats(")") {
                all.push(self.predicate(known, depth.checked_sub(1)?)?);
                if !self.eats(",") && !self.rest.trim_start().starts_with(')') {
                    return None;
                }
            }
            return match (name, all.as_slice()) {
                ("all", all) => Some(all.iter().all(|holds| *holds)),
                ("any", all) => Some(all.iter().any(|holds| *holds)),
                ("not", [one]) => Some(!one),
                _ => None,
            };
        }
        if self.eats("=") {
            let value = self.quoted()?;
            let line = format!("{name}=\"{value}\"");
            return Some(known.contains(&line));
        }
        Some(match name {
            "true" => true,
            "false" => false,
            name => known.iter().any(|known| known == name),
        })
    }

    fn eats(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn word(&mut self) -> Option<&'t str> {
        let text = self.rest.trim_start();
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn quoted(&mut self) -> Option<&'t str> {
        let text = self.rest.trim_start().strip_prefix('"')?;
        let (value, rest) = text.split_once('"')?;
        self.rest = rest;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn conditions_are_read_as_the_compiler_reads_them() {
        let known = ["unix", "target_os=\"linux\"", "target_env=\"\""].map(str::to_owned);
        for (condition, expected) in [
            ("cfg(unix)", Some(true)),
            ("cfg(windows)", Some(false)),
            ("cfg(target_os = \"linux\")", Some(true)),
            ("cfg(target_env=\"gnu\")", Some(false)),
            ("cfg(all())", Some(true)),
            ("cfg(any())", Some(false)),
            (
                "cfg(all(unix, not(any(windows, target_os = \"macos\")),))",
                Some(true),
            ),
            ("cfg(not(true))", Some(false)),
            ("cfg(not(unix, windows))", None),
            ("cfg(none(unix))", None),
            ("cfg(unix windows)", None),
            ("cfg(all(unix windows))", None),
            ("cfg(all(unix)", None),
            ("cfg()", None),
            ("unix", None),
        ] {
            assert_eq!(holds(condition, &known), expected, "{condition}");
        }
        let deep = format!("cfg({}unix{})", "not(".repeat(1000), ")".repeat(1000));
        assert_eq!(holds(&deep, &known), None);
    }
}
