//! A terminal's screen, as far as a line editor and a program that prints need one: lines that wrap, and a cursor that is moved within them.

/// What was shown, without bound: lines that a real terminal would have scrolled away stay.
#[derive(Debug, Default)]
pub struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// Lines are this long.
    width: usize,
    /// The bytes of an incomplete character or escape sequence.
    pending: Vec<u8>,
}

impl Screen {
    /// An empty screen.
    pub fn new(width: usize) -> Screen {
        Screen {
            width,
            lines: vec![Vec::new()],
            ..Screen::default()
        }
    }

    /// The row of the cursor, from 0 for the first that was ever shown.
    pub fn row(&self) -> usize {
        self.row
    }

    /// The lines from `first` up to, but without, `end`, without blanks at their ends.
    pub fn lines(&self, first: usize, end: usize) -> Vec<String> {
        let end = end.min(self.lines.len());
        let lines = self.lines.get(first..end).unwrap_or_default();
        let text = |line: &Vec<char>| line.iter().collect::<String>().trim_end().to_owned();
        lines.iter().map(text).collect()
    }

    /// The line of the cursor.
    pub fn line(&self) -> String {
        self.lines(self.row, self.row + 1).pop().unwrap_or_default()
    }

    /// Shows what was written to the terminal.
    pub fn write(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        let mut at = 0;
        while let Some(length) = complete(&self.pending[at..]) {
            let unit = self.pending[at..at + length].to_vec();
            at += length;
            self.show(&unit);
        }
        self.pending.drain(..at);
    }

    fn show(&mut self, unit: &[u8]) {
        match unit {
            b"\r" => self.column = 0,
            b"\n" => self.go_to(self.row + 1, self.column),
            b"\x08" => self.column = self.column.saturating_sub(1),
            [0x1b, b'[', parameters @ .., last] => self.control(parameters, *last),
            [0..=0x1f, ..] => {}
            text => self.put(String::from_utf8_lossy(text).chars().next()),
        }
    }

    fn put(&mut self, shown: Option<char>) {
        if self.column >= self.width {
            self.go_to(self.row + 1, 0);
        }
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + 1), ' ');
        line[self.column] = shown.unwrap_or('\u{fffd}');
        self.column += 1;
    }

    fn control(&mut self, parameters: &[u8], last: u8) {
        let text = String::from_utf8_lossy(parameters);
        let number: usize = text.parse().unwrap_or(0);
        let count = number.max(1);
        match last {
            b'A' => self.go_to(self.row.saturating_sub(count), self.column),
            b'B' => self.go_to(self.row + count, self.column),
            b'C' => self.column = (self.column + count).min(self.width),
            b'D' => self.column = self.column.saturating_sub(count),
            b'G' => self.column = (count - 1).min(self.width),
            b'J' | b'K' if number == 0 => {
                self.lines[self.row].truncate(self.column);
                if last == b'J' {
                    self.lines.truncate(self.row + 1);
                }
            }
            b'K' => self.lines[self.row].clear(),
            _ => {}
        }
    }

    fn go_to(&mut self, row: usize, column: usize) {
        (self.row, self.column) = (row, column);
        let count = self.lines.len().max(row + 1);
        self.lines.resize(count, Vec::new());
    }
}

/// The length of the character or the escape sequence at the start. `None`: more bytes have to come.
fn complete(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [] | [0x1b] => None,
        [0x1b, b'[', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            Some(end + 3)
        }
        [0x1b, ..] => Some(2),
        [first, ..] => {
            let length = match first {
                0xc0..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xff => 4,
                _ => 1,
            };
            (bytes.len() >= length).then_some(length)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Screen;

    fn shown(parts: &[&[u8]]) -> Vec<String> {
        let mut screen = Screen::new(10);
        for part in parts {
            screen.write(part);
        }
        screen.lines(0, usize::MAX)
    }

    #[test]
    fn a_line_that_is_written_anew_replaces_the_old_one() {
        assert_eq!(
            shown(&[b"> p x\r\x1b[Kdone\r\n> p", b" x"]),
            ["done", "> p x"]
        );
        assert_eq!(shown(&[b"long text\r\x1b[2C", b"\x1b", b"[Jx"]), ["lox"]);
    }

    #[test]
    fn a_full_line_wraps_and_an_empty_one_is_filled_up_in_vain() {
        assert_eq!(shown(&[b"0123456789", b"ab"]), ["0123456789", "ab"]);
        assert_eq!(shown(&[b"         \rnext"]), ["next"]);
        assert_eq!(shown(&[b"ab         \rnext"]), ["ab", "next"]);
    }

    #[test]
    fn characters_may_come_in_parts() {
        assert_eq!(shown(&[b"\xe2\x86", b"\x92 main"]), ["\u{2192} main"]);
    }
}
