//! The keys: what each does, where, and what help says of it. The lowest row of the screen and the help are made of this table.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::pane::Pane;

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Gives a command.
    Command(&'static str),
    /// Starts the program, or lets it go on.
    Continue,
    /// Stops the program.
    Interrupt,
    /// Sets or deletes a breakpoint at the line under the cursor.
    Breakpoint,
    /// Lets the program run to the line under the cursor.
    Until,
    /// Shows a pane, and gives it the keys.
    Show(Pane),
    /// The next pane.
    Next,
    /// The previous pane.
    Previous,
    /// The next pane of the group.
    NextTab,
    /// The previous pane of the group.
    PreviousTab,
    /// Back from the prompt, or to it.
    Escape,
    /// All keys.
    Help,
    /// Only this pane, or all again.
    Zoom,
    /// Another layout.
    Layout,
    /// Takes the mouse, or leaves it to the terminal.
    Mouse,
    /// Draws everything anew.
    Redraw,
    /// Suspends the debugger.
    Suspend,
    /// Ends the session.
    Quit,
    /// Moves the cursor by rows.
    Rows(isize),
    /// Moves the cursor by pages.
    Pages(isize),
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// Selects, opens or shows what is under the cursor.
    Enter,
    /// Opens what is under the cursor, or moves the text.
    Right,
    /// Closes what is under the cursor, or moves the text.
    Left,
    /// Begins a command to change the value.
    Change,
    /// Shows the value at each stop.
    Watch,
    /// Shows the memory of the value.
    Memory,
    /// Switches what is under the cursor on or off.
    Switch,
    /// Deletes what is under the cursor.
    Delete,
}

/// Where a key works.
#[derive(Debug, Clone, Copy)]
pub enum Where {
    /// Everywhere.
    Everywhere,
    /// Where no text is typed.
    Panes,
    /// In these panes.
    In(&'static [Pane]),
}

/// A key.
pub struct Binding {
    /// Its names: `F5`, `S-F11`, `C-c`, `n`.
    pub keys: &'static [&'static str],
    /// Where it works.
    pub place: Where,
    /// What it does.
    pub action: Action,
    /// What it does, in a word, for the lowest row. Empty: not shown there.
    pub label: &'static str,
    /// What it does, for the help.
    pub help: &'static str,
}

const VALUES: &[Pane] = &[Pane::Locals, Pane::Watches, Pane::Registers];
const CODE: &[Pane] = &[Pane::Source];
macro_rules! key {
    ($keys:expr, $place:expr, $action:expr, $label:expr, $help:expr) => {
        Binding {
            keys: &$keys,
            place: $place,
            action: $action,
            label: $label,
            help: $help,
        }
    };
}

use Action::*;
use Where::{Everywhere, In, Panes};

/// All keys, in the order of the help. Those of a pane come first, in the lowest row.
pub static BINDINGS: &[Binding] = &[
    key!(
        ["Enter"],
        In(&[Pane::Stack, Pane::Threads]),
        Enter,
        "select",
        "select the frame or thread; open what is folded"
    ),
    key!(
        ["Enter"],
        In(VALUES),
        Enter,
        "open/close",
        "open or close a value; show more of many parts"
    ),
    key!(
        ["Enter"],
        In(&[Pane::Breakpoints]),
        Enter,
        "go to",
        "show the source of a breakpoint"
    ),
    key!(
        ["Enter"],
        In(&[Pane::Source, Pane::Exceptions, Pane::Disassembly]),
        Enter,
        "",
        "the same as Space"
    ),
    key!(
        [" ", "b"],
        In(CODE),
        Breakpoint,
        "",
        "set or delete a breakpoint at the line of the cursor"
    ),
    key!(
        ["U"],
        In(CODE),
        Until,
        "until here",
        "let the program run to the line of the cursor"
    ),
    key!(
        ["=", "e"],
        In(VALUES),
        Change,
        "change",
        "change a value: begins the command at the prompt"
    ),
    key!(
        ["w"],
        In(VALUES),
        Watch,
        "watch",
        "show the value at each stop, in Watches"
    ),
    key!(
        ["m"],
        In(VALUES),
        Memory,
        "memory",
        "show the memory of the value"
    ),
    key!(
        [" ", "e"],
        In(&[Pane::Breakpoints, Pane::Exceptions]),
        Switch,
        "on/off",
        "switch a breakpoint, or the stop at an exception, on or off"
    ),
    key!(
        ["Delete", "d"],
        In(&[Pane::Breakpoints, Pane::Watches]),
        Delete,
        "delete",
        "delete a breakpoint or a watch"
    ),
    key!(
        ["F5", "c"],
        Everywhere,
        Continue,
        "go",
        "start the program, or let it go on"
    ),
    key!(
        ["F10", "n"],
        Everywhere,
        Command("next"),
        "next",
        "to the next line, over calls"
    ),
    key!(
        ["F11", "s"],
        Everywhere,
        Command("step"),
        "step",
        "to the next line, into calls"
    ),
    key!(
        ["S-F11", "f"],
        Everywhere,
        Command("finish"),
        "finish",
        "until the selected frame returns"
    ),
    key!(
        ["F9"],
        Everywhere,
        Breakpoint,
        "break",
        "set or delete a breakpoint at the line of the cursor in Source"
    ),
    key!(
        ["F6", "C-c", "i"],
        Everywhere,
        Interrupt,
        "",
        "stop the program; at the prompt, C-c clears the line first"
    ),
    key!(
        ["N"],
        Panes,
        Command("nexti"),
        "",
        "one instruction, over calls"
    ),
    key!(
        ["S"],
        Panes,
        Command("stepi"),
        "",
        "one instruction, into calls"
    ),
    key!(["r"], Panes, Command("run"), "", "start the program anew"),
    key!(
        ["S-F5"],
        Everywhere,
        Command("kill"),
        "",
        "end the program, and stay"
    ),
    key!(
        ["u"],
        Panes,
        Command("up"),
        "",
        "select the frame that called this one"
    ),
    key!(
        ["D"],
        Panes,
        Command("down"),
        "",
        "select the frame that this one called"
    ),
    key!(["Tab"], Everywhere, Next, "pane", "to the next pane"),
    key!(["S-Tab"], Everywhere, Previous, "", "to the previous pane"),
    key!(["]"], Panes, NextTab, "", "the next pane of the group"),
    key!(
        ["["],
        Panes,
        PreviousTab,
        "",
        "the previous pane of the group"
    ),
    key!([":"], Panes, Show(Pane::Prompt), "prompt", "to the prompt"),
    key!(
        ["Esc"],
        Everywhere,
        Escape,
        "",
        "to the prompt, or back to the source"
    ),
    key!(["1"], Panes, Show(Pane::Source), "", "Source"),
    key!(["2"], Panes, Show(Pane::Stack), "", "Stack"),
    key!(["3"], Panes, Show(Pane::Locals), "", "Locals"),
    key!(["4"], Panes, Show(Pane::Watches), "", "Watches"),
    key!(["5"], Panes, Show(Pane::Threads), "", "Threads"),
    key!(["6"], Panes, Show(Pane::Breakpoints), "", "Breakpoints"),
    key!(
        ["7"],
        Panes,
        Show(Pane::Disassembly),
        "",
        "Code: instructions"
    ),
    key!(["8"], Panes, Show(Pane::Registers), "", "Regs: registers"),
    key!(["9"], Panes, Show(Pane::Memory), "", "Memory"),
    key!(["0"], Panes, Show(Pane::Exceptions), "", "Exceptions"),
    key!(
        ["o"],
        Panes,
        Show(Pane::Output),
        "",
        "Output of the program, and its input"
    ),
    key!(["z"], Panes, Zoom, "", "this pane alone, or all again"),
    key!(
        ["F2", "L"],
        Everywhere,
        Layout,
        "",
        "the next layout: source, machine, threads"
    ),
    key!(["?", "F1"], Everywhere, Help, "help", "all keys"),
    key!(["Up", "k"], Panes, Rows(-1), "", "up"),
    key!(["Down", "j"], Panes, Rows(1), "", "down"),
    key!(
        ["PageUp"],
        Everywhere,
        Pages(-1),
        "",
        "a page up; what was written, at the prompt"
    ),
    key!(["PageDown"], Everywhere, Pages(1), "", "a page down"),
    key!(["Home", "g"], Panes, First, "", "to the first row"),
    key!(["End", "G"], Panes, Last, "", "to the last row"),
    key!(
        ["Right", "l"],
        Panes,
        Right,
        "",
        "open a value; move the text to the left"
    ),
    key!(
        ["Left", "h"],
        Panes,
        Left,
        "",
        "close a value; move the text back"
    ),
    key!(
        ["M"],
        Panes,
        Mouse,
        "",
        "leave the mouse to the terminal, or take it again"
    ),
    key!(["C-l"], Everywhere, Redraw, "", "draw everything anew"),
    key!(
        ["C-z"],
        Everywhere,
        Suspend,
        "",
        "suspend the debugger; `fg` brings it back"
    ),
    key!(
        ["q", "C-d"],
        Everywhere,
        Quit,
        "quit",
        "end the session; after `tui` at the prompt, back to that"
    ),
];

/// The name of a key.
pub fn name(key: &KeyEvent) -> String {
    let mut out = String::new();
    let is_char = matches!(key.code, KeyCode::Char(_));
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        out += "C-";
    }
    if key.modifiers.contains(KeyModifiers::ALT) {
        out += "A-";
    }
    if key.modifiers.contains(KeyModifiers::SHIFT) && !is_char && key.code != KeyCode::BackTab {
        out += "S-";
    }
    match key.code {
        KeyCode::Char(c) => out.push(c),
        KeyCode::F(number) => out += &format!("F{number}"),
        KeyCode::Enter => out += "Enter",
        KeyCode::Esc => out += "Esc",
        KeyCode::Tab => out += "Tab",
        KeyCode::BackTab => out += "S-Tab",
        KeyCode::Up => out += "Up",
        KeyCode::Down => out += "Down",
        KeyCode::Left => out += "Left",
        KeyCode::Right => out += "Right",
        KeyCode::PageUp => out += "PageUp",
        KeyCode::PageDown => out += "PageDown",
        KeyCode::Home => out += "Home",
        KeyCode::End => out += "End",
        KeyCode::Delete => out += "Delete",
        KeyCode::Backspace => out += "Backspace",
        _ => {}
    }
    out
}

impl Binding {
    /// Whether a key means this in a pane. Where text is typed, letters are text.
    pub fn is_for(&self, key: &str, pane: Pane) -> bool {
        if !self.keys.contains(&key) || pane.takes_text() && is_typed(key) {
            return false;
        }
        match self.place {
            Everywhere => true,
            Panes => !pane.takes_text(),
            In(panes) => panes.contains(&pane),
        }
    }

    /// The name of the key for people, in a pane: one that works there.
    pub fn shown(&self, pane: Pane) -> &'static str {
        let key = self
            .keys
            .iter()
            .find(|key| !(pane.takes_text() && is_typed(key)));
        match key.copied().unwrap_or_default() {
            " " => "Space",
            key => key,
        }
    }
}

/// Whether a key is a character that is typed.
fn is_typed(key: &str) -> bool {
    key.chars().count() == 1
}

/// What a key does in a pane.
pub fn action(key: &str, pane: Pane) -> Option<Action> {
    let bound = BINDINGS.iter().find(|binding| binding.is_for(key, pane));
    bound.map(|binding| binding.action)
}

/// The keys for the lowest row: their names and what they do, those of the pane first.
pub fn hints(pane: Pane) -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_own =
        move |binding: &&Binding| matches!(binding.place, In(panes) if panes.contains(&pane));
    let own = BINDINGS.iter().filter(is_own);
    let others = BINDINGS.iter().filter(move |binding| match binding.place {
        Everywhere => true,
        Panes => !pane.takes_text(),
        In(_) => false,
    });
    let all = own
        .chain(others)
        .filter(|binding| !binding.label.is_empty());
    all.map(move |binding| (binding.shown(pane), binding.label))
        .filter(|(key, _)| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things_in_a_pane() {
        for pane in Pane::ALL {
            for key in BINDINGS.iter().flat_map(|binding| binding.keys) {
                let all = BINDINGS.iter().filter(|binding| binding.is_for(key, pane));
                let own = all.filter(|binding| matches!(binding.place, In(_))).count();
                assert!(own <= 1, "{key} in {pane:?}");
                let others = BINDINGS
                    .iter()
                    .filter(|binding| binding.is_for(key, pane) && !matches!(binding.place, In(_)));
                assert!(others.count() <= 1, "{key} in {pane:?}");
            }
        }
    }

    #[test]
    fn letters_are_text_at_the_prompt_and_keys_elsewhere() {
        assert_eq!(action("n", Pane::Prompt), None);
        assert_eq!(action("n", Pane::Stack), Some(Command("next")));
        assert_eq!(action("F10", Pane::Prompt), Some(Command("next")));
        assert_eq!(action("e", Pane::Locals), Some(Change));
        assert_eq!(action("e", Pane::Breakpoints), Some(Switch));
        let hints: Vec<_> = hints(Pane::Prompt).collect();
        assert!(hints.contains(&("F10", "next")) && !hints.iter().any(|(key, _)| *key == "q"));
    }
}
