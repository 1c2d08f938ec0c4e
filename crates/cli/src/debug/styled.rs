//! Text with the colours that the adapter has given it. The adapter is asked for colours only if this client uses them.
//!
//! Only escape sequences that style text (ECMA-48 SGR) are kept, and each piece resets its style at its end. All other control characters
//! are replaced as [`printable`] does. Tabs and line ends stay.

use super::screen::printable;
use super::style::{Role, Style};

/// Text in pieces, each with its style.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Styled {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    /// The parameters of SGR; empty for plain text.
    codes: String,
    /// Contains no control characters except tabs and line ends.
    text: String,
}

impl Styled {
    /// Text without colours.
    pub fn plain(text: &str) -> Styled {
        let mut styled = Styled::default();
        styled.push("", text);
        styled
    }

    /// Parses text with escape sequences.
    pub fn of(text: &str) -> Styled {
        let mut styled = Styled::default();
        let mut codes = String::new();
        for (index, part) in text.split("\x1b[").enumerate() {
            let end = part.find(|c: char| !c.is_ascii_digit() && c != ';');
            match end.filter(|end| index > 0 && part[*end..].starts_with('m')) {
                Some(end) => {
                    match &part[..end] {
                        "" | "0" => codes.clear(),
                        more if codes.is_empty() => codes.push_str(more),
                        // Bounds the length of the codes when many sequences follow one another and none of them resets the style.
                        more if codes.len() < 64 => codes.extend([";", more]),
                        _ => {}
                    }
                    styled.push(&codes, &part[end + 1..]);
                }
                None if index == 0 => styled.push("", part),
                None => styled.push(&codes, &format!("\x1b[{part}")),
            }
        }
        styled
    }

    fn push(&mut self, codes: &str, text: &str) {
        if !text.is_empty() {
            let cells: Vec<String> = text.split('\t').map(printable).collect();
            let (codes, text) = (codes.to_owned(), cells.join("\t"));
            self.pieces.push(Piece { codes, text });
        }
    }

    /// The text without styles.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|piece| &*piece.text).collect()
    }

    /// The first `count` characters.
    pub fn first(&self, mut count: usize) -> Styled {
        let mut pieces = Vec::new();
        for piece in &self.pieces {
            let text: String = piece.text.chars().take(count).collect();
            count -= text.chars().count();
            let codes = piece.codes.clone();
            pieces.push(Piece { codes, text });
            if count == 0 {
                break;
            }
        }
        Styled { pieces }
    }

    /// The text for the terminal, with colours if `style` enables them. Pieces without colours of their own get that of `role`.
    pub fn painted(&self, style: Style, role: Option<Role>) -> String {
        let paint = |piece: &Piece| match role {
            _ if style.is_enabled() && !piece.codes.is_empty() => {
                format!("\x1b[{}m{}\x1b[0m", piece.codes, piece.text)
            }
            Some(role) => style.paint(role, &piece.text),
            None => piece.text.clone(),
        };
        self.pieces.iter().map(paint).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_kept_and_nothing_else_drives_the_terminal() {
        let text = "x = \x1b[36m4\x1b[1m2\x1b[0m\x1b[2J\x1b]0;t\x07\x1b[m.";
        let styled = Styled::of(text);
        assert_eq!(styled.text(), "x = 42·[2J·]0;t·.");
        let on = Style::always();
        assert_eq!(
            styled.painted(on, None),
            "x = \x1b[36m4\x1b[0m\x1b[36;1m2\x1b[0m·[2J·]0;t·."
        );
        assert_eq!(styled.painted(Style::plain(), None), styled.text());
        let aside = Styled::of("a\x1b[31mb").painted(on, Some(Role::Aside));
        assert_eq!(aside, "\x1b[2ma\x1b[0m\x1b[31mb\x1b[0m");
        assert_eq!(Styled::plain(text).text(), printable(text));
    }

    #[test]
    fn a_part_of_it_keeps_its_colours() {
        let styled = Styled::of("ä\x1b[32mbc\x1b[0md");
        assert_eq!(styled.first(2), Styled::of("ä\x1b[32mb"));
        assert_eq!(styled.first(9), styled);
        assert_eq!(styled.first(0).text(), "");
    }
}
