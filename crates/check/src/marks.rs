//! Marks in comments of a program to debug, which say what a debugger must find there.
//!
//! A mark is `check: NAME`, and after it any number of `VARIABLE=VALUE`, up to the end of the comment:
//!
//! ```c
//! total = add(3, 4); /* check: call total=6 */
//! ```
//!
//! | name | the line |
//! | --- | --- |
//! | `stop` | is passed once, before all other marks |
//! | `next` | comes after `stop`, in the same function |
//! | `call` | comes after `next`, and calls a function of the program |
//! | `inside` | is the first with code in that function |
//! | `entry` | begins that function; a step into it may end there, too |
//! | `after-call` | comes after `call`; a step out may end there |
//! | `loop` | is passed at least four times, with `i` from 0 on, after `call` |
//! | `none` | has no code, nor does any line after it |
//! | `end` | comes last |
//!
//! Others say something of the whole program: `exit CODE`, `output TEXT`, and `function NAME`, which `call` calls. `condition EXPRESSION` is a
//! condition that holds where `loop` is passed for the third time.

use std::collections::BTreeMap;

/// The marks of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    lines: BTreeMap<String, i64>,
    values: BTreeMap<String, Vec<(String, String)>>,
    /// The exit code, if the program says one.
    pub exit: Option<i64>,
    /// What the program writes.
    pub output: Option<String>,
    /// A condition that holds where `loop` is passed for the third time.
    pub condition: Option<String>,
    /// The name of the function that `call` calls.
    pub function: Option<String>,
}

/// What opens a mark.
const MARK: &str = "check:";

impl Marks {
    /// Reads the marks of a source.
    pub fn of(source: &str) -> Self {
        let mut marks = Self::default();
        for (line, text) in (1..).zip(source.lines()) {
            let Some((_, mark)) = text.split_once(MARK) else {
                continue;
            };
            let mark = mark.trim().trim_end_matches("*/").trim();
            let (name, rest) = mark.split_once(' ').unwrap_or((mark, ""));
            let rest = rest.trim();
            match name {
                "exit" => marks.exit = rest.parse().ok(),
                "output" => marks.output = Some(rest.to_owned()),
                "condition" => marks.condition = Some(rest.to_owned()),
                "function" => marks.function = Some(rest.to_owned()),
                name => {
                    marks.lines.insert(name.to_owned(), line);
                    let pairs = rest.split(' ').filter_map(|pair| pair.split_once('='));
                    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
                    marks.values.insert(name.to_owned(), pairs.collect());
                }
            }
        }
        marks
    }

    /// The line of a mark.
    pub fn line(&self, name: &str) -> Option<i64> {
        self.lines.get(name).copied()
    }

    /// The values of variables before a mark's line is executed.
    pub fn values(&self, name: &str) -> &[(String, String)] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// The mark of a line.
    pub fn at(&self, line: i64) -> Option<&str> {
        let mut all = self.lines.iter();
        all.find(|(_, at)| **at == line).map(|(name, _)| &**name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_from_comments_of_any_language() {
        let source = "int total = 6; /* check: stop */\nadd(); // check: call total=6 point.x=3\n# check: exit 3\n-- check: output total 17\n";
        let marks = Marks::of(source);
        assert_eq!(marks.line("stop"), Some(1));
        assert_eq!(marks.line("call"), Some(2));
        assert_eq!(
            marks.values("call"),
            [
                ("total".to_owned(), "6".to_owned()),
                ("point.x".to_owned(), "3".to_owned())
            ]
        );
        assert_eq!(marks.exit, Some(3));
        assert_eq!(marks.output.as_deref(), Some("total 17"));
        assert_eq!(marks.at(2), Some("call"));
        assert_eq!(marks.line("loop"), None);
    }
}
