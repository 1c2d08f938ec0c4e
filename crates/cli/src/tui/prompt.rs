//! A line that is typed, and those that were typed before.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_input::{Input, InputRequest};

/// How many lines are remembered.
const HISTORY: usize = 2000;

/// A line that is typed.
#[derive(Debug, Default)]
pub struct Prompt {
    input: Input,
    history: Vec<String>,
    /// How many of these were typed now.
    new: usize,
    /// Which of the history is shown, and what was typed before.
    recalled: Option<(usize, String)>,
}

impl Prompt {
    /// With lines of earlier sessions, the oldest first.
    pub fn with_history(history: Vec<String>) -> Prompt {
        Prompt {
            history,
            ..Prompt::default()
        }
    }

    /// The lines that were typed since the start.
    pub fn new_lines(&self) -> &[String] {
        &self.history[self.history.len().saturating_sub(self.new)..]
    }

    /// What is typed.
    pub fn text(&self) -> &str {
        self.input.value()
    }

    /// How many characters are before the cursor.
    pub fn cursor(&self) -> usize {
        self.input.cursor()
    }

    /// Puts a text there, with the cursor behind it.
    pub fn set(&mut self, text: &str) {
        self.input = Input::new(text.to_owned());
    }

    /// Adds what is pasted, up to its first line's end.
    pub fn paste(&mut self, text: &str) {
        for c in text.lines().next().unwrap_or_default().chars() {
            self.input.handle(InputRequest::InsertChar(c));
        }
    }

    /// Takes the line, and remembers it.
    pub fn take(&mut self) -> String {
        let line = self.input.value().to_owned();
        self.input = Input::default();
        self.recalled = None;
        let is_new = self.history.last() != Some(&line);
        if !line.trim().is_empty() && is_new {
            if self.history.len() == HISTORY {
                self.history.remove(0);
            }
            self.history.push(line.clone());
            self.new += 1;
        }
        line
    }

    /// Takes a key. Returns whether it means something here.
    pub fn key(&mut self, key: &KeyEvent) -> bool {
        use InputRequest::*;
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let request = match key.code {
            KeyCode::Char(c) if control => match c {
                'a' => GoToStart,
                'e' => GoToEnd,
                'b' => GoToPrevChar,
                'f' => GoToNextChar,
                'h' => DeletePrevChar,
                'k' => DeleteTillEnd,
                'u' => DeleteFromStart,
                'w' => DeletePrevWord,
                'y' => Yank,
                'p' => return self.recall(-1),
                'n' => return self.recall(1),
                'd' if !self.text().is_empty() => DeleteNextChar,
                _ => return false,
            },
            KeyCode::Char('b') if alt => GoToPrevWord,
            KeyCode::Char('f') if alt => GoToNextWord,
            KeyCode::Char(_) if alt => return false,
            KeyCode::Char(c) => InsertChar(c),
            KeyCode::Backspace if alt => DeletePrevWord,
            KeyCode::Backspace => DeletePrevChar,
            KeyCode::Delete => DeleteNextChar,
            KeyCode::Left if control => GoToPrevWord,
            KeyCode::Right if control => GoToNextWord,
            KeyCode::Left => GoToPrevChar,
            KeyCode::Right => GoToNextChar,
            KeyCode::Home => GoToStart,
            KeyCode::End => GoToEnd,
            KeyCode::Up => return self.recall(-1),
            KeyCode::Down => return self.recall(1),
            _ => return false,
        };
        self.input.handle(request);
        true
    }

    /// Shows the line before or after the one of the history that is shown.
    fn recall(&mut self, by: isize) -> bool {
        let (at, typed) = match self.recalled.take() {
            Some(recalled) => recalled,
            None => (self.history.len(), self.text().to_owned()),
        };
        let at = at.saturating_add_signed(by).min(self.history.len());
        match self.history.get(at) {
            Some(line) => {
                self.input = Input::new(line.clone());
                self.recalled = Some((at, typed));
            }
            None => self.input = Input::new(typed),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(prompt: &mut Prompt, code: KeyCode) {
        assert!(prompt.key(&KeyEvent::new(code, KeyModifiers::NONE)));
    }

    #[test]
    fn lines_come_back_and_what_was_typed_as_well() {
        let mut prompt = Prompt::with_history(vec!["b 3".to_owned()]);
        prompt.paste("run\nnot this");
        assert_eq!(prompt.take(), "run");
        press(&mut prompt, KeyCode::Char('x'));
        press(&mut prompt, KeyCode::Up);
        assert_eq!(prompt.text(), "run");
        press(&mut prompt, KeyCode::Up);
        press(&mut prompt, KeyCode::Up);
        assert_eq!(prompt.text(), "b 3");
        press(&mut prompt, KeyCode::Down);
        press(&mut prompt, KeyCode::Down);
        assert_eq!(prompt.text(), "x");
        press(&mut prompt, KeyCode::Backspace);
        assert_eq!(prompt.take(), "");
    }
}
