//! On which of its hits a breakpoint acts.
//!
//! A hit counts when the breakpoint's condition holds; the first is 1. The hit condition is parsed once.

/// The hits on which a breakpoint acts: `5`, `= 5`, `== 5`, `>= 5`, `> 5`, `< 5`, `<= 5`, `!= 5`, `% 3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HitCondition {
    /// This one only.
    Equal(u64),
    /// Each but this one.
    NotEqual(u64),
    /// From this one on.
    AtLeast(u64),
    /// After this one.
    Above(u64),
    /// Up to this one.
    AtMost(u64),
    /// Before this one.
    Below(u64),
    /// Each whose number is a multiple of this one, which is never 0.
    Multiple(u64),
}

impl HitCondition {
    /// Parses a hit condition. A bare number is the one hit with that number.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<HitCondition, String> {
        type Make = fn(u64) -> HitCondition;
        /// Longer operators come before their prefixes.
        const OPERATORS: [(&str, Make); 8] = [
            ("==", HitCondition::Equal),
            ("!=", HitCondition::NotEqual),
            (">=", HitCondition::AtLeast),
            ("<=", HitCondition::AtMost),
            (">", HitCondition::Above),
            ("<", HitCondition::Below),
            ("%", HitCondition::Multiple),
            ("=", HitCondition::Equal),
        ];
        let wrong = |what: &str| format!("the hit condition `{text}` {what}");
        let trimmed = text.trim();
        let found = OPERATORS
            .iter()
            .find_map(|(operator, make)| Some((trimmed.strip_prefix(operator)?, *make)));
        let (number, make) = found.unwrap_or((trimmed, HitCondition::Equal));
        let number = number.trim();
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong(
                "is not understood: write a number, or one of == != >= > <= < % and a number",
            ));
        }
        let number: u64 = number
            .parse()
            .map_err(|_| wrong("is more than can be counted"))?;
        match make(number) {
            HitCondition::Multiple(0) => Err(wrong("never holds: nothing is a multiple of 0")),
            HitCondition::Equal(0) | HitCondition::Below(0 | 1) | HitCondition::AtMost(0) => {
                Err(wrong("never holds: the first hit is 1"))
            }
            condition => Ok(condition),
        }
    }

    /// Whether the hit with this number is one of them.
    pub(crate) fn holds(self, hit: u64) -> bool {
        match self {
            HitCondition::Equal(wanted) => hit == wanted,
            HitCondition::NotEqual(other) => hit != other,
            HitCondition::AtLeast(least) => hit >= least,
            HitCondition::Above(most) => hit > most,
            HitCondition::AtMost(most) => hit <= most,
            HitCondition::Below(least) => hit < least,
            HitCondition::Multiple(of) => of != 0 && hit.is_multiple_of(of),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(text: &str) -> Vec<u64> {
        let condition = HitCondition::parse(text).unwrap();
        (1..=8).filter(|hit| condition.holds(*hit)).collect()
    }

    #[test]
    fn each_form_holds_on_its_hits() {
        assert_eq!(hits("5"), [5]);
        assert_eq!(hits(" == 5 "), [5]);
        assert_eq!(hits("=5"), [5]);
        assert_eq!(hits("!=5"), [1, 2, 3, 4, 6, 7, 8]);
        assert_eq!(hits(">= 5"), [5, 6, 7, 8]);
        assert_eq!(hits(">5"), [6, 7, 8]);
        assert_eq!(hits("<= 3"), [1, 2, 3]);
        assert_eq!(hits("<3"), [1, 2]);
        assert_eq!(hits("% 3"), [3, 6]);
    }

    #[test]
    fn what_is_no_hit_condition_says_so() {
        for text in ["", "x", "5x", ">", "-1", ">= x", "% 0", "0", "< 1", "5 6"] {
            let error = HitCondition::parse(text).unwrap_err();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
        assert!(HitCondition::parse("99999999999999999999").is_err());
    }
}
