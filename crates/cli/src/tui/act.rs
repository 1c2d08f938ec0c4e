//! What keys and the mouse do.

use std::path::Path;

use ratatui::crossterm::event::{KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use crate::debug::results::State;

use super::app::{App, Effect};
use super::keys::{self, Action};
use super::log::Kind;
use super::model::{Entry, Place};
use super::pane::Pane;
use super::panes::header;
use super::panes::source::gutter;
use super::rows::{self, StackRow, ThreadRow};
use super::tree::{Row, around};
use super::view::View;

/// How many rows a turn of the mouse's wheel moves.
const WHEEL: isize = 3;
/// How many columns text moves to the side.
const SIDEWAYS: usize = 8;
/// How much memory `m` shows.
const MEMORY: &str = "x/128xb";

impl App {
    /// Takes a key.
    pub fn key(&mut self, key: &KeyEvent) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        self.notice = None;
        let name = keys::name(key);
        if self.help.is_some() {
            return self.key_of_help(&name);
        }
        let is_typed = match self.focus {
            Pane::Prompt => self.key_of_prompt(key, &name),
            Pane::Output => self.key_of_output(key, &name),
            _ => false,
        };
        if is_typed {
            self.quits = false;
            return;
        }
        match keys::action(&name, self.focus) {
            Some(action) => self.act(action),
            None => self.quits = false,
        }
    }

    fn key_of_prompt(&mut self, key: &KeyEvent, name: &str) -> bool {
        match name {
            "Enter" => {
                let line = self.prompt.take();
                self.give(&line);
            }
            "C-c" if !self.prompt.text().is_empty() => self.prompt.set(""),
            "Tab" if !self.prompt.text().is_empty() => self.complete(),
            _ => {
                let is_typed = self.prompt.key(key);
                if is_typed {
                    // What is typed is below what was written.
                    self.views.of_mut(Pane::Prompt).top = 0;
                }
                return is_typed;
            }
        }
        true
    }

    /// Completes the name of a command.
    fn complete(&mut self) {
        let typed = self.prompt.text().to_owned();
        let names = crate::debug::commands_starting_with(&typed);
        match &names[..] {
            [] => {}
            [name] => self.prompt.set(&format!("{name} ")),
            names => self.notice = Some(names.join("  ")),
        }
    }

    fn key_of_output(&mut self, key: &KeyEvent, name: &str) -> bool {
        match name {
            "Enter" => {
                let line = self.input.take();
                self.type_for_program(&line);
            }
            "C-d" if self.input.text().is_empty() => self.type_for_program("^D"),
            "C-c" if !self.input.text().is_empty() => self.input.set(""),
            _ => {
                let is_typed = self.input.key(key);
                if is_typed {
                    self.views.of_mut(Pane::Output).top = 0;
                }
                return is_typed;
            }
        }
        true
    }

    fn type_for_program(&mut self, line: &str) {
        let given = format!("input {line}");
        self.model.log.say(Kind::Typed, &format!("‹ {line}"));
        self.dialogue.ask(&given, None, self.model.look);
        self.effects.push(Effect::Give(given));
    }

    /// Takes what is pasted.
    pub fn paste(&mut self, text: &str) {
        match self.focus {
            Pane::Output => self.input.paste(text),
            _ => {
                self.show(Pane::Prompt);
                self.prompt.paste(text);
            }
        }
    }

    fn key_of_help(&mut self, name: &str) {
        let Some(view) = &mut self.help else { return };
        match name {
            "Up" | "k" => view.scroll_by(-1),
            "Down" | "j" => view.scroll_by(1),
            "PageUp" => view.scroll_by(-(view.height as isize)),
            "PageDown" | " " => view.scroll_by(view.height as isize),
            _ => self.help = None,
        }
    }

    /// Does what a key means.
    pub fn act(&mut self, action: Action) {
        let quits = std::mem::take(&mut self.quits);
        let changes_rows = matches!(
            action,
            Action::Show(_)
                | Action::Next
                | Action::Previous
                | Action::NextTab
                | Action::PreviousTab
                | Action::Zoom
                | Action::Layout
                | Action::Enter
                | Action::Right
                | Action::Left
        );
        match action {
            Action::Command(command) => self.command(command),
            Action::Continue => match self.model.state {
                State::NotStarted | State::Ended => self.give("run"),
                State::Stopped => self.give("continue"),
                State::Running => self.say("the program runs; F6 stops it"),
            },
            Action::Interrupt => self.interrupt(),
            Action::Breakpoint => self.toggle_breakpoint(),
            Action::Until => {
                if let Some(place) = self.place_of_cursor() {
                    self.give(&format!("until {place}"));
                }
            }
            Action::Show(pane) => self.show(pane),
            Action::Next => self.move_focus(1),
            Action::Previous => self.move_focus(-1),
            Action::NextTab => self.move_tab(1),
            Action::PreviousTab => self.move_tab(-1),
            Action::Escape => match self.focus.takes_text() {
                true => self.show(self.last_pane()),
                false => self.show(Pane::Prompt),
            },
            Action::Help => self.help = Some(View::default()),
            Action::Zoom => self.is_zoomed = !self.is_zoomed,
            Action::Layout => {
                self.purpose = self.purpose.next();
                self.say(&format!("layout: {}", self.purpose.title()));
            }
            Action::Mouse => {
                self.takes_mouse = !self.takes_mouse;
                self.effects.push(Effect::Mouse(self.takes_mouse));
                self.say(match self.takes_mouse {
                    true => "the mouse is for the panes; with Shift, the terminal has it",
                    false => "the mouse is the terminal's",
                });
            }
            Action::Redraw => self.effects.push(Effect::Redraw),
            Action::Suspend if self.is_from_prompt => {
                // The shell waits for the debugger, which is another process.
                self.say("`q` leads back to the prompt");
            }
            Action::Suspend => self.effects.push(Effect::Suspend),
            Action::Quit => self.quit(quits),
            Action::Rows(by) => self.views.of_mut(self.focus).move_by(by),
            Action::Pages(by) => self.page(by),
            Action::First => self.views.of_mut(self.focus).move_by(isize::MIN / 2),
            Action::Last => self.views.of_mut(self.focus).move_by(isize::MAX / 2),
            Action::Enter => self.enter(),
            Action::Right => self.right(),
            Action::Left => self.left(),
            Action::Change | Action::Watch | Action::Memory => self.act_on_value(action),
            Action::Switch => self.switch(),
            Action::Delete => self.delete(),
        }
        if changes_rows {
            self.arrange();
        }
    }

    fn say(&mut self, text: &str) {
        self.notice = Some(text.to_owned());
    }

    /// A step before the program is started begins it.
    fn command(&mut self, command: &str) {
        match (command, self.model.state) {
            ("next" | "step", State::NotStarted) => self.give("start"),
            (_, State::Running) if command != "kill" => {
                self.say("the program runs; F6 stops it");
            }
            ("kill", State::Running) => {
                self.give("interrupt");
                self.give("kill");
            }
            _ => self.give(command),
        }
    }

    fn interrupt(&mut self) {
        if self.is_running() {
            self.give("interrupt");
        } else if self.waiting() > 0 || !self.dialogue.is_quiet() {
            self.say("the wait for the adapter is ended");
            self.effects.push(Effect::EndWait);
        } else {
            self.say("the program does not run");
        }
    }

    fn quit(&mut self, is_sure: bool) {
        if self.is_from_prompt {
            // The session goes on there.
            return self.effects.push(Effect::Quit);
        }
        let how = match self.model.state {
            State::Running => "runs",
            State::Stopped => "is stopped",
            State::NotStarted | State::Ended => return self.effects.push(Effect::Quit),
        };
        if is_sure {
            return self.effects.push(Effect::Quit);
        }
        self.quits = true;
        self.say(&format!(
            "the program {how}; the same key again ends the session"
        ));
    }

    /// `FILE:LINE` of the cursor in the source.
    fn place_of_cursor(&mut self) -> Option<String> {
        let Some(path) = &self.source.path else {
            self.say("there is no source");
            return None;
        };
        let line = self.views.of(Pane::Source).cursor + 1;
        Some(format!("{}:{line}", short(path)))
    }

    fn toggle_breakpoint(&mut self) {
        let line = self.views.of(Pane::Source).cursor + 1;
        let path = self.source.path.clone();
        let known = path.and_then(|path| Some(self.model.breakpoint_at(&path, line)?.number));
        if let Some(number) = known {
            return self.give(&format!("delete {number}"));
        }
        if let Some(place) = self.place_of_cursor() {
            self.give(&format!("b {place}"));
        }
    }

    fn move_focus(&mut self, by: isize) {
        let panes: Vec<Pane> = self.groups.iter().map(|group| group.shown).collect();
        let at = panes.iter().position(|pane| *pane == self.focus);
        if let Some(pane) = beside(&panes, at.unwrap_or(0), by) {
            self.show(pane);
        }
    }

    fn move_tab(&mut self, by: isize) {
        let focus = self.focus;
        let group = self.groups.iter().find(|group| group.shown == focus);
        let panes = group.map_or(&[][..], |group| group.panes);
        let at = panes.iter().position(|pane| *pane == focus);
        if let Some(pane) = beside(panes, at.unwrap_or(0), by) {
            self.show(pane);
        }
    }

    fn page(&mut self, by: isize) {
        let pane = self.focus;
        let view = self.views.of_mut(pane);
        let rows = by * view.height.saturating_sub(1).max(1) as isize;
        if pane.takes_text() {
            // Its `top` counts from below.
            view.top = view.top.saturating_add_signed(-rows);
        } else if pane == Pane::Memory {
            self.page_memory(by);
        } else {
            view.move_by(rows);
        }
    }

    /// Shows the memory behind or before what is shown.
    fn page_memory(&mut self, by: isize) {
        let lines = &self.model.memory.lines;
        let address = |line: &String| {
            let text = line.split(':').next()?.trim().strip_prefix("0x")?;
            u64::from_str_radix(text, 16).ok()
        };
        let addresses: Vec<u64> = lines.iter().filter_map(address).collect();
        let ([first, .., last], Some(command)) = (&addresses[..], &self.model.memory_command)
        else {
            return;
        };
        let step = addresses[1].wrapping_sub(*first);
        let next = match by > 0 {
            true => last.wrapping_add(step),
            false => first.wrapping_sub(step.wrapping_mul(addresses.len() as u64)),
        };
        let head = command.split_whitespace().next().unwrap_or(MEMORY);
        self.model.show_memory(format!("{head} {next:#x}"));
    }

    /// Selects, opens or shows what is under the cursor.
    fn enter(&mut self) {
        let cursor = self.views.of(self.focus).cursor;
        match self.focus {
            Pane::Source => self.toggle_breakpoint(),
            Pane::Stack => match self.stack_rows.get(cursor) {
                Some(StackRow::Entry(at)) => {
                    if let Some(Entry::Frame(_)) = self.model.stack.known.get(*at) {
                        self.give(&format!("frame {at}"));
                    }
                }
                Some(StackRow::Folded(first, _)) => self.opened_frames.push(*first),
                None => {}
            },
            Pane::Threads => self.enter_thread(cursor),
            Pane::Locals | Pane::Watches | Pane::Registers => self.toggle_value(),
            Pane::Breakpoints => {
                let breakpoint = self.model.breakpoints.get(cursor);
                let place = breakpoint.and_then(|it| {
                    let path = it.path.as_ref()?.into();
                    let line = usize::try_from(it.line?).ok()?;
                    Some(Place { path, line })
                });
                if let Some(place) = place {
                    self.show_place(&place);
                }
            }
            Pane::Disassembly => {
                let line = self.model.disassembly.lines.get(cursor);
                let mut words = line.map_or("", |line| line).split_whitespace();
                let address = words.find(|word| word.starts_with("0x"));
                if let Some(address) = address.map(str::to_owned) {
                    self.give(&format!("b *{address}"));
                }
            }
            Pane::Exceptions => self.switch(),
            Pane::Memory | Pane::Prompt | Pane::Output => {}
        }
    }

    fn enter_thread(&mut self, cursor: usize) {
        match self.thread_rows.get(cursor) {
            Some(ThreadRow::Thread(at, _)) => {
                if let Some(line) = self.model.threads.known.get(*at) {
                    self.give(&format!("thread {}", line.thread.id));
                }
            }
            Some(ThreadRow::Together(at, _)) => {
                let Some(line) = self.model.threads.known.get(*at) else {
                    return;
                };
                let spot = rows::spot(line.frame.as_ref());
                match self.opened_spots.iter().position(|one| *one == spot) {
                    Some(at) => drop(self.opened_spots.remove(at)),
                    None => self.opened_spots.push(spot),
                }
            }
            None => {}
        }
    }

    fn toggle_value(&mut self) {
        let cursor = self.views.of(self.focus).cursor;
        let Some(tree) = self.model.tree_mut(self.focus) else {
            return;
        };
        let (path, is_open) = match tree.rows().get(cursor) {
            Some(Row::Value(node, _)) if node.value.has_parts => {
                (node.path.clone(), tree.is_open(node))
            }
            Some(Row::More(path, _)) => ((*path).to_owned(), false),
            _ => return,
        };
        match is_open {
            true => tree.close(&path),
            false => tree.open(&path),
        }
    }

    fn right(&mut self) {
        let pane = self.focus;
        let cursor = self.views.of(pane).cursor;
        if let Some(tree) = self.model.tree_mut(pane) {
            let path = match tree.rows().get(cursor) {
                Some(Row::Value(node, _)) if node.value.has_parts && !tree.is_open(node) => {
                    Some(node.path.clone())
                }
                Some(Row::More(path, _)) => Some((*path).to_owned()),
                _ => None,
            };
            if let Some(path) = path {
                return tree.open(&path);
            }
        }
        self.views.of_mut(pane).left += SIDEWAYS;
    }

    fn left(&mut self) {
        let pane = self.focus;
        let view = self.views.of_mut(pane);
        if view.left > 0 {
            view.left = view.left.saturating_sub(SIDEWAYS);
            return;
        }
        let cursor = view.cursor;
        let Some(tree) = self.model.tree_mut(pane) else {
            return;
        };
        let rows = tree.rows();
        let (path, is_open) = match rows.get(cursor) {
            Some(Row::Value(node, _)) => (node.path.clone(), tree.is_open(node)),
            Some(Row::More(path, _)) => ((*path).to_owned(), true),
            None => return,
        };
        if is_open {
            return tree.close(&path);
        }
        let outer = around(&path).and_then(|outer| {
            rows.iter()
                .position(|row| matches!(row, Row::Value(node, _) if node.path == outer))
        });
        if let Some(outer) = outer {
            self.views.of_mut(pane).go_to(outer);
        }
    }

    fn act_on_value(&mut self, action: Action) {
        let cursor = self.views.of(self.focus).cursor;
        let rows = self.model.tree(self.focus).map(|tree| tree.rows());
        let value = rows.as_ref().and_then(|rows| match rows.get(cursor)? {
            Row::Value(node, depth) => Some((node, *depth)),
            Row::More(..) => None,
        });
        let Some((node, depth)) = value else { return };
        let expression = match (&node.value.expression, self.focus) {
            (Some(expression), _) => expression.clone(),
            (None, Pane::Registers) => format!("${}", node.value.name),
            (None, _) if depth == 0 => node.value.name.clone(),
            (None, _) => return self.say("the adapter has no expression for this value"),
        };
        match action {
            Action::Change => {
                self.prompt.set(&format!("set {expression} = "));
                self.show(Pane::Prompt);
            }
            Action::Watch => self.give(&format!("display {expression}")),
            _ => {
                self.give(&format!("{MEMORY} {expression}"));
                let focus = self.focus;
                self.show(Pane::Memory);
                if !self.groups.iter().any(|group| {
                    group.panes.contains(&focus) && group.panes.contains(&Pane::Memory)
                }) {
                    self.show(focus);
                }
            }
        }
    }

    fn switch(&mut self) {
        let cursor = self.views.of(self.focus).cursor;
        match self.focus {
            Pane::Breakpoints => {
                if let Some(breakpoint) = self.model.breakpoints.get(cursor) {
                    let number = breakpoint.number;
                    let word = if breakpoint.disabled {
                        "enable"
                    } else {
                        "disable"
                    };
                    self.give(&format!("{word} {number}"));
                }
            }
            Pane::Exceptions => {
                let line = self.model.exceptions.lines.get(cursor);
                let mut words = line.map_or("", |line| line).split_whitespace();
                // `NAME: on (LABEL)`
                let (name, state) = (words.next(), words.next());
                if let (Some(name), Some(state)) = (name.and_then(|it| it.strip_suffix(':')), state)
                {
                    let command = match state {
                        "on" => format!("catch {name} off"),
                        _ => format!("catch {name}"),
                    };
                    self.give(&command);
                }
            }
            _ => {}
        }
    }

    fn delete(&mut self) {
        let cursor = self.views.of(self.focus).cursor;
        if self.focus == Pane::Breakpoints {
            if let Some(breakpoint) = self.model.breakpoints.get(cursor) {
                let number = breakpoint.number;
                self.give(&format!("delete {number}"));
            }
            return;
        }
        let rows = self.model.watches.rows();
        let display = rows.get(cursor).and_then(|row| match row {
            Row::Value(node, _) => node.display,
            Row::More(..) => None,
        });
        match display {
            Some(number) => self.give(&format!("undisplay {number}")),
            None => self.say("only a whole watch can be deleted"),
        }
    }

    /// Takes the mouse.
    pub fn mouse(&mut self, mouse: &MouseEvent) {
        let position = Position::new(mouse.column, mouse.row);
        let wheel = match mouse.kind {
            MouseEventKind::ScrollUp => -WHEEL,
            MouseEventKind::ScrollDown => WHEEL,
            MouseEventKind::Down(MouseButton::Left) => 0,
            _ => return,
        };
        if let Some(view) = &mut self.help {
            match wheel {
                0 => self.help = None,
                wheel => view.scroll_by(wheel),
            }
            return;
        }
        let group = { self.groups.iter() }.find(|group| group.area.contains(position));
        let Some(group) = group.cloned() else { return };
        let pane = group.shown;
        let view = self.views.of_mut(pane);
        match wheel {
            0 => {}
            wheel if pane.takes_text() => {
                view.top = view.top.saturating_add_signed(-wheel);
                return;
            }
            wheel => return view.scroll_by(wheel),
        }
        self.notice = None;
        if mouse.row == group.area.y {
            if let Some(tab) = header::tab_at(&group, mouse.column) {
                self.show(tab);
            }
            return;
        }
        self.show(pane);
        if pane.takes_text() {
            return;
        }
        let view = self.views.of_mut(pane);
        let row = view.top + usize::from(mouse.row - group.inner().y);
        if row >= view.rows {
            return;
        }
        let was_there = std::mem::replace(&mut view.cursor, row) == row;
        let column = mouse.column - group.area.x;
        match pane {
            Pane::Source if usize::from(column) < gutter(self.source.lines.len()) => {
                self.toggle_breakpoint();
            }
            Pane::Stack | Pane::Threads => self.enter(),
            Pane::Locals | Pane::Watches | Pane::Registers if was_there => self.enter(),
            _ => {}
        }
    }
}

/// The one that is `by` places from another, in a circle.
fn beside(panes: &[Pane], at: usize, by: isize) -> Option<Pane> {
    let count = panes.len();
    let step = by.rem_euclid(isize::try_from(count.max(1)).ok()?);
    panes
        .get((at + step.unsigned_abs()) % count.max(1))
        .copied()
}

/// A path for a command: relative, if it is below the working directory.
fn short(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    below
        .unwrap_or_else(|| path.to_owned())
        .display()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panes_are_in_a_circle() {
        let panes = [Pane::Source, Pane::Stack, Pane::Prompt];
        assert_eq!(beside(&panes, 2, 1), Some(Pane::Source));
        assert_eq!(beside(&panes, 0, -1), Some(Pane::Prompt));
        assert_eq!(beside(&[], 0, 1), None);
    }
}
