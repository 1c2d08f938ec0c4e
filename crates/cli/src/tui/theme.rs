//! The look of each part of the screen: the colours of [`Role`]s as at the prompt, and no colour where the user wants none. Then bold, dim and
//! reverse text tell the parts from each other.

use ratatui::style::{Color, Modifier, Style};

use crate::debug::style::Role;

/// Whether colours are used.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
    /// They are.
    pub colours: bool,
}

impl Theme {
    fn colour(self, colour: Color) -> Style {
        match self.colours {
            true => Style::new().fg(colour),
            false => Style::new(),
        }
    }

    /// Text of a role.
    pub fn role(self, role: Role) -> Style {
        match role {
            Role::Current => self.colour(Color::Yellow).add_modifier(Modifier::BOLD),
            Role::Function => self.colour(Color::Yellow),
            Role::Location | Role::Number => self.colour(Color::Cyan),
            Role::Name => Style::new().add_modifier(Modifier::BOLD),
            Role::Aside | Role::Comment => Style::new().add_modifier(Modifier::DIM),
            Role::Keyword => self.colour(Color::Magenta),
            Role::Text => self.colour(Color::Green),
            Role::Reason => self.colour(Color::Green).add_modifier(Modifier::BOLD),
            Role::Error => self.colour(Color::Red).add_modifier(Modifier::BOLD),
        }
    }

    /// A value that has changed since the last stop.
    pub fn changed(self) -> Style {
        self.colour(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// A breakpoint's mark.
    pub fn breakpoint(self) -> Style {
        self.colour(Color::Red)
    }

    /// The line above a group of panes.
    pub fn rule(self, is_focused: bool) -> Style {
        match is_focused {
            true => self.colour(Color::Cyan).add_modifier(Modifier::BOLD),
            false => Style::new().add_modifier(Modifier::DIM),
        }
    }

    /// The name of a pane that is shown.
    pub fn title(self, is_focused: bool) -> Style {
        match is_focused {
            true => self.rule(true),
            false => Style::new(),
        }
    }

    /// The row under the cursor.
    pub fn cursor(self, is_focused: bool) -> Style {
        match is_focused {
            true => Style::new().add_modifier(Modifier::REVERSED),
            false => Style::new().add_modifier(Modifier::UNDERLINED),
        }
    }

    /// The topmost and the lowest row.
    pub fn bar(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// What the program has written on its standard error.
    pub fn stderr(self) -> Style {
        self.colour(Color::Red)
    }
}
