//! The commands of the terminal that stand for what a tool was asked for.

use std::path::Path;

use anyhow::bail;

use super::arguments::{Breakpoint, How, Inspect, Place, Step, What};
use super::permissions::Permissions;
use super::places::line_with;

/// What commands may be made from.
pub struct Limits<'a> {
    /// What the user has allowed.
    pub permissions: &'a Permissions,
    /// The session's folder.
    pub folder: &'a Path,
    /// Whether the adapter is Dapple's.
    pub is_own_adapter: bool,
}

/// A text that is a part of a command: in one line.
///
/// # Errors
/// It is empty, or has several lines.
pub fn word<'t>(what: &str, text: &'t str) -> anyhow::Result<&'t str> {
    let text = text.trim();
    if text.is_empty() {
        bail!("{what} is empty");
    }
    if text.chars().any(char::is_control) {
        bail!("{what} must be one line, without control characters");
    }
    Ok(text)
}

impl Limits<'_> {
    /// An expression.
    ///
    /// # Errors
    /// It is no line, or not allowed.
    pub fn expression<'t>(&self, what: &str, text: &'t str) -> anyhow::Result<&'t str> {
        let text = word(what, text)?;
        self.permissions.expression(text, self.is_own_adapter)?;
        Ok(text)
    }

    /// A place, as commands take it: `FILE:LINE` or a function.
    ///
    /// # Errors
    /// It isn't complete, or there is no such line.
    pub fn place(&self, place: &Place) -> anyhow::Result<String> {
        match (&place.file, &place.function) {
            (Some(file), None) => {
                let line = self.line(file, place.text.as_deref(), place.line)?;
                Ok(format!("{}:{line}", word("`file`", file)?))
            }
            (None, Some(function)) => Ok(word("`function`", function)?.to_owned()),
            _ => bail!("a place is a `file` with a `text` or a `line`, or a `function`"),
        }
    }

    /// The line that is meant.
    fn line(&self, file: &str, text: Option<&str>, line: Option<u32>) -> anyhow::Result<u32> {
        match (text, line) {
            (Some(text), near) => {
                let path = self.permissions.existing("the source", file, self.folder)?;
                line_with(&path, text, near)
            }
            (None, Some(line)) => Ok(line),
            (None, None) => bail!("`file` needs a `text` or a `line`"),
        }
    }

    /// The commands that set a breakpoint, and the line that its text was found on.
    ///
    /// # Errors
    /// It isn't complete, there is no such line, or an expression isn't allowed.
    pub fn breakpoint(&self, wanted: &Breakpoint) -> anyhow::Result<(Vec<String>, Option<u32>)> {
        if let Some(filter) = &wanted.exception {
            let filter = word("`exception`", filter)?;
            let condition = match &wanted.condition {
                Some(condition) => format!(" {}", word("`condition`", condition)?),
                None => String::new(),
            };
            return Ok((vec![format!("catch {filter}{condition}")], None));
        }
        if let Some(expression) = &wanted.written {
            let expression = self.expression("`written`", expression)?;
            return Ok((vec![format!("watch {expression}")], None));
        }
        let place = Place {
            file: wanted.file.clone(),
            text: wanted.text.clone(),
            line: wanted.line,
            function: wanted.function.clone(),
        };
        let place = self.place(&place)?;
        let line = { wanted.text.as_ref() }.and_then(|_| place.rsplit_once(':')?.1.parse().ok());
        let mut command = match (&wanted.log, wanted.once) {
            (Some(message), _) => {
                let message = word("`log`", message)?;
                self.message(message)?;
                format!("log {place} {message}")
            }
            (None, true) => format!("tbreak {place}"),
            (None, false) => format!("break {place}"),
        };
        let mut more = Vec::new();
        if let Some(condition) = &wanted.condition {
            let condition = self.expression("`condition`", condition)?;
            match wanted.log {
                Some(_) => more.push(format!("condition $bpnum {condition}")),
                None => command += &format!(" if {condition}"),
            }
        }
        if let Some(hits) = &wanted.hits {
            more.push(format!("hits $bpnum {}", word("`hits`", hits)?));
        }
        more.insert(0, command);
        Ok((more, line))
    }

    /// The expressions in a message.
    fn message(&self, message: &str) -> anyhow::Result<()> {
        let inner = message.split('{').skip(1);
        let expressions = inner.filter_map(|it| it.split_once('}'));
        for (expression, _) in expressions {
            self.permissions
                .expression(expression, self.is_own_adapter)?;
        }
        Ok(())
    }

    /// The commands for what is to be inspected.
    ///
    /// # Errors
    /// What it needs is missing, or isn't allowed.
    pub fn inspect(&self, asked: &Inspect) -> anyhow::Result<Vec<String>> {
        let of = asked.of.as_deref().map(|of| word("`of`", of)).transpose()?;
        let with = |command: &str| match of {
            Some(of) => format!("{command} {of}"),
            None => command.to_owned(),
        };
        let needed = || match of {
            Some(of) => self.expression("`of`", of),
            None => bail!("`of` is missing: of what?"),
        };
        let command = match asked.what {
            What::Variables => return Ok(["info args", "info locals"].map(str::to_owned).to_vec()),
            What::Stack => match asked.count {
                Some(count) => format!("backtrace -args {count}"),
                None => "backtrace -args".to_owned(),
            },
            What::Threads => "info threads".to_owned(),
            What::AllStacks => "thread apply all backtrace".to_owned(),
            What::Source => {
                of.map_or(Ok(()), |of| self.permissions.source(of, self.folder))?;
                with("list")
            }
            What::Breakpoints => "info breakpoints".to_owned(),
            What::Registers => with("registers"),
            What::Disassembly => match (of, asked.count) {
                (Some(_), Some(count)) => format!("disassemble {} {count}", needed()?),
                (Some(_), None) => format!("disassemble {}", needed()?),
                (None, _) => "disassemble".to_owned(),
            },
            What::Memory => format!("x/{}xb {}", asked.count.unwrap_or(64), needed()?),
            What::Mappings => match of {
                Some(_) => format!("info mappings {}", needed()?),
                None => "info proc mappings".to_owned(),
            },
            What::Modules => with("info modules"),
            What::Functions => with("info functions"),
            What::Types => with("info types"),
            What::Globals => with("info variables"),
            What::Type => format!("ptype {}", needed()?),
            What::Locks => "info locks".to_owned(),
            What::Tasks => "tasks tree".to_owned(),
            What::History => "when".to_owned(),
            What::Sessions => bail!("this isn't asked of a session"),
        };
        Ok(vec![command])
    }
}

/// The command for a step.
///
/// # Errors
/// A function is named for another step than `into`.
pub fn step(asked: &Step) -> anyhow::Result<String> {
    let name = match (asked.how, asked.backwards) {
        (How::Over, false) => "next",
        (How::Over, true) => "reverse-next",
        (How::Into, false) => "step",
        (How::Into, true) => "reverse-step",
        (How::Out, false) => "finish",
        (How::Out, true) => "reverse-finish",
        (How::Instruction, false) => "stepi",
        (How::Instruction, true) => "reverse-nexti",
    };
    let is_into = matches!(asked.how, How::Into) && !asked.backwards;
    Ok(match (&asked.function, asked.count) {
        (Some(function), None) if is_into => format!("{name} {}", word("`function`", function)?),
        (Some(_), _) => bail!("`function` is for one step `into`, forwards"),
        (None, Some(0)) => bail!("`count` is at least 1"),
        (None, Some(_)) if matches!(asked.how, How::Out) => {
            bail!("a step `out` has no `count`: `run` with `until` leads further")
        }
        (None, Some(count)) if count > 1 => format!("{name} {count}"),
        (None, _) => name.to_owned(),
    })
}

/// An expression as the argument of `print`, for which a leading sign would be an option.
pub fn operand(expression: &str) -> String {
    match expression.starts_with(['-', '/']) {
        true => format!("({expression})"),
        false => expression.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(permissions: &Permissions) -> Limits<'_> {
        Limits {
            permissions,
            folder: permissions.first(),
            is_own_adapter: true,
        }
    }

    #[test]
    fn no_argument_becomes_a_second_command() {
        let here = std::env::current_dir().expect("a folder");
        let permissions = Permissions::new(&[here], false, false).expect("it is there");
        let limits = limits(&permissions);
        let function = |name: &str| Breakpoint {
            function: Some(name.to_owned()),
            ..Breakpoint::default()
        };
        let error = limits.breakpoint(&function("f\nquit")).unwrap_err();
        assert!(error.to_string().contains("must be one line"), "{error}");
        let (commands, line) = limits.breakpoint(&function("Library::lend")).expect("it");
        assert_eq!(
            (commands, line),
            (vec!["break Library::lend".to_owned()], None)
        );
        let conditional = Breakpoint {
            condition: Some("n > 3".to_owned()),
            hits: Some("% 10".to_owned()),
            ..function("f")
        };
        let (commands, _) = limits.breakpoint(&conditional).expect("it");
        assert_eq!(commands, ["break f if n > 3", "hits $bpnum % 10"]);
        let neither = limits.breakpoint(&Breakpoint::default()).unwrap_err();
        assert!(neither.to_string().starts_with("a place is"), "{neither}");
    }

    #[test]
    fn what_begins_with_a_sign_is_no_option() {
        assert_eq!(operand("-x"), "(-x)");
        assert_eq!(operand("x - 1"), "x - 1");
    }
}
