//! Colours: which colour each part of a line gets, and whether colours are used.
//!
//! The rest of the client names roles (`Role::Function`), never escape codes.

use std::ffi::OsStr;
use std::io::IsTerminal;

use clap::ValueEnum;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Also into a file or a pipe
    Always,
    /// Not at all
    Never,
}

/// The role of a piece of text, which determines its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The program's position: the arrow and the current line.
    Current,
    /// A function's name.
    Function,
    /// A file and line.
    Location,
    /// A variable's name.
    Name,
    /// Line numbers, hints and other secondary text.
    Aside,
    /// Why the program stopped or ended.
    Reason,
    /// An error.
    Error,
    /// A keyword in source text.
    Keyword,
    /// A string or a character in source text.
    Text,
    /// A number in source text.
    Number,
    /// A comment in source text.
    Comment,
}

/// Colours text if colours are enabled.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    enabled: bool,
}

impl Style {
    /// Decides from the user's option, NO_COLOR (<https://no-color.org>) and whether stdout is a terminal.
    pub fn new(color: Color) -> Self {
        Self::of(color, std::io::stdout().is_terminal())
    }

    /// As [`new`](Self::new), for another output than stdout.
    pub fn of(color: Color, terminal: bool) -> Self {
        let unwanted = std::env::var_os("NO_COLOR");
        Self {
            enabled: decide(color, unwanted.as_deref(), terminal),
        }
    }

    /// Whether colours are enabled.
    pub fn is_enabled(self) -> bool {
        self.enabled
    }

    /// A style with colours.
    #[cfg(test)]
    pub fn always() -> Self {
        Self { enabled: true }
    }

    /// A style without colours.
    pub fn plain() -> Self {
        Self { enabled: false }
    }

    /// `text` in the colour of its role.
    pub fn paint(self, role: Role, text: &str) -> String {
        if !self.enabled || text.is_empty() {
            return text.to_owned();
        }
        format!("\x1b[{}m{text}\x1b[0m", code(role))
    }

    /// `text` in bold, and in the colour of its role if it has one.
    pub fn paint_strong(self, role: Option<Role>, text: &str) -> String {
        if !self.enabled || text.trim().is_empty() {
            return text.to_owned();
        }
        match role {
            // Terminals take bold and dim for neither.
            Some(Role::Aside | Role::Comment) => self.paint(Role::Comment, text),
            Some(role) => format!("\x1b[1;{}m{text}\x1b[0m", code(role)),
            None => format!("\x1b[1m{text}\x1b[0m"),
        }
    }
}

/// The parameters of a role's colour (ECMA-48 SGR).
fn code(role: Role) -> &'static str {
    match role {
        Role::Current => "1;33",
        Role::Function => "33",
        Role::Location | Role::Number => "36",
        Role::Name => "1",
        Role::Aside | Role::Comment => "2",
        Role::Keyword => "35",
        Role::Text => "32",
        Role::Reason => "1;32",
        Role::Error => "1;31",
    }
}

fn decide(color: Color, no_color: Option<&OsStr>, terminal: bool) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && no_color.is_none_or(OsStr::is_empty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_wins_over_the_terminal_but_not_over_the_user() {
        let set = Some(OsStr::new("1"));
        assert!(decide(Color::Auto, None, true));
        assert!(
            decide(Color::Auto, Some(OsStr::new("")), true),
            "an empty NO_COLOR says nothing"
        );
        assert!(!decide(Color::Auto, set, true));
        assert!(!decide(Color::Auto, None, false));
        assert!(decide(Color::Always, set, false));
        assert!(!decide(Color::Never, None, true));
    }

    #[test]
    fn painted_text_ends_its_own_colour() {
        let style = Style::always();
        assert_eq!(
            style.paint(Role::Location, "tour.rs:3"),
            "\x1b[36mtour.rs:3\x1b[0m"
        );
        assert_eq!(
            Style::plain().paint(Role::Location, "tour.rs:3"),
            "tour.rs:3"
        );
    }
}
