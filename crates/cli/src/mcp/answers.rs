//! Answers of a bounded length. What doesn't fit is kept for a time, and is asked for by a cursor.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many long answers are kept.
const MOST_KEPT: usize = 32;
/// The most bytes of an answer that are kept.
const LONGEST: usize = 1 << 20;
/// What says that there is more.
const ROOM: usize = 120;

/// The answers that were cut.
pub struct Answers {
    /// The most bytes of an answer.
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    last: u64,
    texts: VecDeque<(u64, String)>,
}

impl Answers {
    /// Answers of at most that many bytes.
    pub fn new(most: usize) -> Answers {
        Answers {
            most: most.max(4 * ROOM),
            kept: Mutex::default(),
        }
    }

    /// The beginning of an answer, with a cursor for the rest.
    pub fn bounded(&self, text: String) -> String {
        if text.len() <= self.most {
            return text;
        }
        let mut text = text;
        if text.len() > LONGEST {
            text.truncate(boundary(&text, LONGEST));
            text += "\n… what follows is not kept";
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.last += 1;
        let number = kept.last;
        let shown = self.piece(number, &text, 0);
        kept.texts.push_back((number, text));
        if kept.texts.len() > MOST_KEPT {
            kept.texts.pop_front();
        }
        shown
    }

    /// What a cursor stands for.
    pub fn more(&self, cursor: &str) -> Option<String> {
        let (number, at) = cursor.trim().split_once(':')?;
        let (number, at) = (number.parse::<u64>().ok()?, at.parse::<usize>().ok()?);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, text) = kept.texts.iter().find(|(it, _)| *it == number)?;
        (at < text.len() && text.is_char_boundary(at)).then(|| self.piece(number, text, at))
    }

    fn piece(&self, number: u64, text: &str, at: usize) -> String {
        let rest = &text[at..];
        if rest.len() <= self.most {
            return rest.to_owned();
        }
        let end = boundary(rest, self.most - ROOM);
        // At the end of a line, if that isn't far.
        let end = match rest[..end].rfind('\n') {
            Some(line) if line > end / 2 => line + 1,
            _ => end,
        };
        let left = rest.len() - end;
        format!(
            "{}\n… {left} more bytes: `more` with cursor \"{number}:{}\"",
            rest[..end].trim_end_matches('\n'),
            at + end
        )
    }
}

/// The last boundary of characters at or before a position.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rfind(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(text: &str) -> Option<&str> {
        let (_, rest) = text.rsplit_once("cursor \"")?;
        rest.strip_suffix('"')
    }

    #[test]
    fn the_pieces_of_an_answer_are_bounded_and_make_the_whole() {
        let answers = Answers::new(1000);
        assert_eq!(answers.bounded("short".to_owned()), "short");
        let lines: Vec<String> = (0..500).map(|it| format!("line {it} – ünïcödé")).collect();
        let whole = lines.join("\n");
        let mut seen = Vec::new();
        let mut piece = answers.bounded(whole.clone());
        loop {
            assert!(piece.len() <= 1000, "{}", piece.len());
            let next = cursor(&piece).map(str::to_owned);
            let text = piece.split("\n… ").next().unwrap_or_default();
            seen.push(text.trim_start_matches('\n').to_owned());
            match next {
                Some(next) => piece = answers.more(&next).expect("it is kept"),
                None => break,
            }
        }
        assert_eq!(seen.join("\n"), whole);
        for wrong in ["", "1", "1:x", "9:0", "1:99999999", "-1:0"] {
            assert_eq!(answers.more(wrong), None, "{wrong}");
        }
    }
}
