//! Regular expressions on full names: `/re ^orders::.*_test$` selects all functions whose full names match.

use regex::{Regex, RegexBuilder};

/// The prefix that marks a text as a regular expression.
const MARK: &str = "/re";

/// The size limit of a compiled expression, in bytes.
const LARGEST: usize = 1 << 20;

/// A regular expression that a user has written.
#[derive(Debug, Clone)]
pub struct NameExpression {
    text: String,
    regex: Regex,
    /// Whether the expression contains `\(`: then names are matched with their parameters.
    of_parameters: bool,
}

impl NameExpression {
    /// Reads `/re EXPRESSION`; `None` for a text without this prefix.
    ///
    /// # Errors
    /// A message that says what is wrong with the expression and, for a mistake in its syntax, where.
    pub fn read(text: &str) -> Option<Result<NameExpression, String>> {
        let rest = text.trim().strip_prefix(MARK)?;
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            return None;
        }
        Some(NameExpression::new(rest.trim()))
    }

    /// Reads an expression without the prefix.
    ///
    /// # Errors
    /// A message that says what is wrong with the expression and, for a mistake in its syntax, where.
    pub fn new(text: &str) -> Result<NameExpression, String> {
        if text.is_empty() {
            return Err(format!(
                "`{MARK}` needs a regular expression behind it: `{MARK} ^parse_`"
            ));
        }
        regex_syntax::parse(text).map_err(|error| problem(text, &error))?;
        let regex = RegexBuilder::new(text).size_limit(LARGEST).build();
        let regex = regex.map_err(|_| {
            format!("the regular expression `{text}` is too large: repeat less, or by `*`")
        })?;
        Ok(NameExpression {
            text: text.to_owned(),
            regex,
            of_parameters: text.contains("\\("),
        })
    }

    /// The expression as written, without its prefix.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the expression matches the function with this full name. `parameters` is called only if the expression
    /// contains `\(`: then the parameters that it returns, in parentheses, are part of the matched text.
    pub fn matches(&self, name: &str, parameters: impl FnOnce() -> Option<String>) -> bool {
        match self.of_parameters.then(parameters).flatten() {
            Some(parameters) => self.regex.is_match(&format!("{name}({parameters})")),
            None => self.regex.is_match(name),
        }
    }
}

/// A message that says what is wrong with an expression, and where.
fn problem(text: &str, error: &regex_syntax::Error) -> String {
    let (what, span) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span()),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), error.span()),
        _ => return format!("the regular expression `{text}` can't be read"),
    };
    let at = span.start.column;
    format!("the regular expression `{text}` can't be read: {what}, at character {at}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<NameExpression, String> {
        NameExpression::read(text).expect("it is marked")
    }

    #[test]
    fn expressions_are_about_any_part_of_the_full_name() {
        let matches = |text: &str, name: &str| {
            let expression = read(text).expect("it is one");
            expression.matches(name, || Some("int, char".to_owned()))
        };
        assert!(matches("/re area", "shop::area_of"));
        assert!(matches("/re  ^shop::.*_of$ ", "shop::area_of"));
        assert!(!matches("/re ^area", "shop::area_of"));
        assert!(matches("/re _of\\(int", "shop::area_of"));
        assert!(!matches("/re char", "shop::area_of"));
    }

    #[test]
    fn what_is_no_expression_is_told_with_its_place() {
        assert!(NameExpression::read("/regular").is_none());
        assert!(NameExpression::read("re x").is_none());
        let refused = |text| read(text).expect_err("it is none");
        assert_eq!(
            refused("/re add(x"),
            "the regular expression `add(x` can't be read: unclosed group, at character 4"
        );
        assert_eq!(
            refused("/re é[z-a]"),
            "the regular expression `é[z-a]` can't be read: invalid character class range, the start must be <= the end, at character 3"
        );
        assert!(refused("/re").starts_with("`/re` needs a regular expression"));
        assert!(refused("/re (a{1000}){1000}").contains("is too large"));
    }
}
