//! On which of its hits a breakpoint acts.
//!
//! A hit counts only if the breakpoint's condition holds. Hits are counted from 1. The hit condition is parsed once.

/// The hits on which a breakpoint acts: `5`, `= 5`, `== 5`, `>= 5`, `> 5`, `< 5`, `<= 5`, `!= 5`, `% 3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HitCondition {
    /// Only the hit with this number.
    Equal(u64),
    /// Each hit but the one with this number.
    NotEqual(u64),
    /// The hit with this number and all later ones.
    AtLeast(u64),
    /// All hits after the one with this number.
    Above(u64),
    /// All hits up to and including the one with this number.
    AtMost(u64),
    /// All hits before the one with this number.
    Below(u64),
    /// Each hit whose number is a multiple of this number. [`HitCondition::parse`] refuses 0.
    Multiple(u64),
}

impl HitCondition {
    /// Parses a hit condition. A number without an operator is the one hit with that number.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the text.
    pub(crate) fn parse(text: &str) -> Result<HitCondition, String> {
        type Make = fn(u64) -> HitCondition;
        /// The first that the text begins with is taken, so `>=` comes before `>`.
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

    /// How many hits after the first `count` there are before the next on which the breakpoint acts. [`u64::MAX`]: it acts on none.
    pub(crate) fn skips_after(self, count: u64) -> u64 {
        let next = count.saturating_add(1);
        match self {
            HitCondition::Equal(wanted) => wanted.checked_sub(next).unwrap_or(u64::MAX),
            HitCondition::NotEqual(other) => u64::from(next == other),
            HitCondition::AtLeast(least) => least.saturating_sub(next),
            HitCondition::Above(most) => most.saturating_add(1).saturating_sub(next),
            HitCondition::AtMost(most) if next <= most => 0,
            HitCondition::Below(least) if next < least => 0,
            HitCondition::AtMost(_) | HitCondition::Below(_) => u64::MAX,
            HitCondition::Multiple(of) => match count.checked_rem(of) {
                Some(rest) => of - 1 - rest,
                None => u64::MAX,
            },
        }
    }

    /// Whether the breakpoint acts on the hit with the number `hit`.
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
    fn the_hits_before_the_next_that_acts_are_as_many_as_are_said() {
        for text in ["5", "!= 5", ">= 5", "> 5", "<= 3", "< 3", "% 3", "% 1"] {
            let condition = HitCondition::parse(text).unwrap();
            for count in 0..12 {
                let next = (count + 1..100).find(|hit| condition.holds(*hit));
                let skipped = next.map_or(u64::MAX, |next| next - count - 1);
                assert_eq!(condition.skips_after(count), skipped, "{text} {count}");
            }
        }
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
