//! Parses the argument of `break`: a place, `copies`, a thread, a caller, a condition. Looks nothing up.

use anyhow::bail;

use super::number;

/// Extensions of source files.
const SOURCES: &[&str] = &[
    "c", "cc", "cpp", "cxx", "c++", "C", "h", "hh", "hpp", "hxx", "inl", "ipp", "rs", "s", "S",
    "asm",
];

/// The parts of the argument.
#[derive(Debug, PartialEq, Eq)]
pub struct BreakArguments<'a> {
    /// The place; empty means the selected frame's line.
    pub place: &'a str,
    /// Stop in all copies of the file.
    pub copies: bool,
    /// Stop only when this thread hits it.
    pub thread: Option<i64>,
    /// Stop only if this function is no caller.
    pub not_from: Option<&'a str>,
    /// Stop only if this condition holds.
    pub condition: Option<&'a str>,
}

impl<'a> BreakArguments<'a> {
    /// Parses `PLACE [copies] [thread N] [not from FUNCTION] [if CONDITION]`.
    pub fn parse(text: &'a str) -> anyhow::Result<BreakArguments<'a>> {
        let text = text.trim();
        let (rest, condition) = match word(text, "if") {
            Some((_, "")) => bail!("`if` what? `b 12 if n > 3` stops only where that holds"),
            Some((before, condition)) => (before, Some(condition)),
            None => (text, None),
        };
        let (rest, not_from) = match word(rest, "not from") {
            Some((_, "")) => {
                bail!("not from what? `b 12 not from main` passes where that function is a caller")
            }
            Some((before, function)) => (before, Some(function)),
            None => (rest, None),
        };
        let (place, thread) = match word(rest, "thread") {
            Some((_, "")) => bail!("which thread? `info threads` has the numbers"),
            Some((before, thread)) => (before, Some(number(thread, "a thread's number")?)),
            None => (rest, None),
        };
        let (place, copies) = match word(place, "copies") {
            Some((before, "")) if !before.is_empty() => (before, true),
            _ => (place, false),
        };
        Ok(BreakArguments {
            place,
            copies,
            thread,
            not_from,
            condition,
        })
    }
}

/// The text before and after the first occurrence of a whole word.
fn word<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let is_edge = |edge: Option<char>| edge.is_none_or(char::is_whitespace);
    let mut found = text.match_indices(word).filter(|(at, _)| {
        is_edge(text[..*at].chars().next_back()) && is_edge(text[at + word.len()..].chars().next())
    });
    let (at, _) = found.next()?;
    Some((text[..at].trim(), text[at + word.len()..].trim()))
}

/// A parsed place, not looked up yet.
#[derive(Debug, PartialEq, Eq)]
pub enum Position<'a> {
    /// A line of `file`, or of the current file if that is `None`.
    Line {
        file: Option<&'a str>,
        line: i64,
        column: Option<i64>,
    },
    /// This many lines after the current one, or before it if negative.
    Relative(i64),
    /// Anything that may be a function's name.
    Function(&'a str),
}

/// Parses `12`, `12:5`, `+3`, `tour.rs:12`, `tour.rs:12:5`, a function's name, or `/re` with a regular expression for names.
pub fn position(text: &str) -> anyhow::Result<Position<'_>> {
    if text.split_whitespace().next() == Some("/re") {
        return Ok(Position::Function(text));
    }
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (first, rest) = text.split_at(text.len().min(1));
    if matches!(first, "+" | "-") && is_number(rest) {
        return Ok(Position::Relative(number(text, "a number of lines")?));
    }
    // A function's name may contain colons, too: `Order::total`.
    let parts: Vec<&str> = text.rsplitn(3, ':').collect();
    let (file, numbers) = match parts[..] {
        [line] if is_number(line) => (None, vec![line]),
        [column, line] if is_number(column) && is_number(line) => (None, vec![line, column]),
        [column, line, file] if is_number(column) && is_number(line) => {
            (Some(file), vec![line, column])
        }
        [line, ..] if is_number(line) => (Some(&text[..text.len() - line.len() - 1]), vec![line]),
        _ => (None, Vec::new()),
    };
    if let [line, column @ ..] = &numbers[..] {
        let column = column.first();
        return Ok(Position::Line {
            file,
            line: counted(line, "line")?,
            column: column.map(|column| counted(column, "column")).transpose()?,
        });
    }
    let is_source = |name: &str| {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        ending.is_some_and(|ending| SOURCES.contains(&ending)) && !name.contains(['(', '<'])
    };
    if is_source(text.trim_end_matches(':')) {
        let file = text.trim_end_matches(':');
        bail!("`{file}` is a file; which line of it? `b {file}:12`");
    }
    if text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-')) {
        bail!(
            "`{text}` is neither a line nor a function's name; there are `12`, `12:5`, `+2`, `FILE:12`, and behind them `if CONDITION` and `thread N`"
        );
    }
    Ok(Position::Function(text))
}

/// Parses a line or column, counted from 1.
fn counted(text: &str, what: &str) -> anyhow::Result<i64> {
    let count = number::<i64>(text, &format!("a {what} number"))?;
    if count == 0 {
        bail!("{what}s are counted from 1");
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(file: Option<&str>, line: i64, column: Option<i64>) -> Position<'_> {
        Position::Line { file, line, column }
    }

    fn refused(text: &str) -> String {
        position(text).map_or_else(|error| error.to_string(), |read| format!("{read:?}"))
    }

    #[test]
    fn places_are_read_as_they_are_meant() {
        let read = |text| position(text).expect("a place");
        assert_eq!(read("12"), line(None, 12, None));
        assert_eq!(read("43:5"), line(None, 43, Some(5)));
        assert_eq!(read("tour.rs:12"), line(Some("tour.rs"), 12, None));
        assert_eq!(read("a/tour.rs:12:7"), line(Some("a/tour.rs"), 12, Some(7)));
        assert_eq!(read("+1"), Position::Relative(1));
        assert_eq!(read("-3"), Position::Relative(-3));
        for name in [
            "main",
            "Order::total",
            "operator+",
            "operator new",
            "std::map<int, long>::at",
            "*0x1234",
            "f(int, char)",
            "/re ^parse.c:3",
        ] {
            assert_eq!(read(name), Position::Function(name));
        }
    }

    #[test]
    fn what_is_no_place_is_told_as_the_mistake_it_is() {
        assert_eq!(
            refused("fork.c"),
            "`fork.c` is a file; which line of it? `b fork.c:12`"
        );
        assert_eq!(refused("fork.c:"), refused("fork.c"));
        assert!(refused("105 often").starts_with("`105 often` is neither a line nor"));
        assert!(refused("+x").starts_with("`+x` is neither a line nor"));
        assert_eq!(refused("0"), "lines are counted from 1");
        assert_eq!(refused("4:0"), "columns are counted from 1");
    }

    #[test]
    fn a_thread_and_a_condition_are_told_from_the_place() {
        let written = |place, thread, condition| BreakArguments {
            place,
            copies: false,
            thread,
            not_from: None,
            condition,
        };
        let read = |text| BreakArguments::parse(text).expect("it is well formed");
        assert_eq!(read("105 thread 1"), written("105", Some(1), None));
        assert_eq!(
            read("f thread 7 if n > 3"),
            written("f", Some(7), Some("n > 3"))
        );
        assert_eq!(
            read("if thread == 2"),
            written("", None, Some("thread == 2"))
        );
        assert_eq!(read("notify"), written("notify", None, None));
        assert_eq!(read("copies"), written("copies", None, None));
        let copies = BreakArguments {
            copies: true,
            ..written("a.h:3", Some(7), Some("x"))
        };
        assert_eq!(read("a.h:3 copies thread 7 if x"), copies);
        let not_from = BreakArguments {
            not_from: Some("f(int, char)"),
            ..written("9", Some(7), Some("x"))
        };
        assert_eq!(read("9 thread 7 not from f(int, char) if x"), not_from);
        let refused = |text| {
            BreakArguments::parse(text)
                .expect_err("it isn't")
                .to_string()
        };
        assert!(refused("23 if").starts_with("`if` what?"));
        assert!(refused("23 thread").starts_with("which thread?"));
        assert!(refused("23 not from").starts_with("not from what?"));
        assert_eq!(refused("23 thread x"), "`x` is not a thread's number");
    }
}
