//! How bytes of memory are written: the formats and units of gdb's `x`.

use std::fmt::Write;

use anyhow::bail;

use super::machine::MOST;

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Bytes in hexadecimal, with the characters beside them.
    Dump,
    Hexadecimal,
    Signed,
    Unsigned,
    Octal,
    Binary,
    Address,
    Character,
    Float,
    Text,
    Instructions,
}

/// The size of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Byte,
    Half,
    Word,
    Giant,
}

impl Unit {
    /// The unit of a letter.
    pub fn of(letter: char) -> Option<Unit> {
        Some(match letter {
            'b' => Unit::Byte,
            'h' => Unit::Half,
            'w' => Unit::Word,
            'g' => Unit::Giant,
            _ => return None,
        })
    }

    /// How many bytes it has.
    pub fn bytes(self) -> usize {
        match self {
            Unit::Byte => 1,
            Unit::Half => 2,
            Unit::Word => 4,
            Unit::Giant => 8,
        }
    }
}

/// A format with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The format.
    pub format: Format,
    /// The unit, if one was given.
    pub unit: Option<Unit>,
}

impl Layout {
    /// What is shown without a format.
    pub const DUMP: Layout = Layout {
        format: Format::Dump,
        unit: None,
    };
    /// Words in hexadecimal.
    pub const WORDS: Layout = Layout {
        format: Format::Hexadecimal,
        unit: None,
    };

    /// Parses what gdb has behind the slash of `x/4xw`: a count, a format and a unit. Without letters, it is `last`.
    ///
    /// # Errors
    /// The count is too large, or a letter isn't known.
    pub fn parse(text: &str, last: Layout) -> anyhow::Result<(Option<i64>, Layout)> {
        let digits = text.find(|c: char| !c.is_ascii_digit());
        let (count, letters) = text.split_at(digits.unwrap_or(text.len()));
        let count = match count {
            "" => None,
            count => match count.parse() {
                Ok(count) if (1..=MOST).contains(&count) => Some(count),
                _ => bail!("1 to {MOST} can be shown"),
            },
        };
        if letters.is_empty() {
            return Ok((
                count,
                if last == Layout::DUMP {
                    Layout::WORDS
                } else {
                    last
                },
            ));
        }
        let (mut format, mut unit) = (None, None);
        for letter in letters.chars() {
            if let Some(known) = Unit::of(letter) {
                unit = Some(known);
                continue;
            }
            format = Some(match letter {
                'x' | 'z' => Format::Hexadecimal,
                'd' => Format::Signed,
                'u' => Format::Unsigned,
                'o' => Format::Octal,
                't' => Format::Binary,
                'a' => Format::Address,
                'c' => Format::Character,
                'f' => Format::Float,
                's' => Format::Text,
                'i' => Format::Instructions,
                other => bail!(
                    "`x` has no format `{other}`: formats are x, z, d, u, o, t, a, c, f, s and i, units b, h, w and g"
                ),
            });
        }
        let format = format.unwrap_or(Format::Hexadecimal);
        if format == Format::Float && matches!(unit, Some(Unit::Byte | Unit::Half)) {
            bail!("floating-point numbers have the units w and g");
        }
        Ok((count, Layout { format, unit }))
    }

    /// How many bytes one number has.
    pub fn size(self) -> usize {
        match (self.unit, self.format) {
            (Some(unit), _) => unit.bytes(),
            (None, Format::Address | Format::Float) => 8,
            (None, Format::Character | Format::Text | Format::Dump) => 1,
            (None, _) => 4,
        }
    }

    /// How many bytes are shown on a line.
    fn per_line(self) -> usize {
        match self.format {
            Format::Binary => 8,
            Format::Character => 8 * self.size().min(2),
            _ => 16,
        }
    }
}

/// The lines for bytes, in rows with their addresses.
pub fn rows(start: u64, bytes: &[u8], layout: Layout) -> Vec<String> {
    if layout.format == Format::Dump {
        return dump(start, bytes);
    }
    let per_line = layout.per_line();
    let rows = (start..).step_by(per_line).zip(bytes.chunks(per_line));
    let row = |(at, row): (u64, &[u8])| {
        let mut line = format!("{at:#x}:");
        for number in row.chunks_exact(layout.size()) {
            line.push(' ');
            line += &one(number, layout.format);
        }
        line
    };
    rows.map(row).collect()
}

fn dump(start: u64, bytes: &[u8]) -> Vec<String> {
    let rows = (start..).step_by(16).zip(bytes.chunks(16));
    let row = |(at, row): (u64, &[u8])| {
        let digits: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String = row.iter().map(|byte| printed(*byte)).collect();
        format!("{at:#x}: {:<47}  {text}", digits.join(" "))
    };
    rows.map(row).collect()
}

fn printed(byte: u8) -> char {
    match byte {
        b' '..=b'~' => char::from(byte),
        _ => '.',
    }
}

/// A number of up to eight bytes, the least significant first.
fn one(bytes: &[u8], format: Format) -> String {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    let number = u64::from_le_bytes(all);
    let bits = bytes.len() * 8;
    let signed = (number as i64) << (64 - bits) >> (64 - bits);
    match format {
        Format::Signed => signed.to_string(),
        Format::Unsigned => number.to_string(),
        Format::Octal => format!("0{number:o}"),
        Format::Binary => format!("{number:0bits$b}"),
        Format::Float if bytes.len() == 4 => f32::from_bits(number as u32).to_string(),
        Format::Float => f64::from_bits(number).to_string(),
        Format::Character => {
            let character = u32::try_from(number).ok().and_then(char::from_u32);
            // A byte above 127 is a part of a character.
            let character = character.filter(|_| bytes.len() > 1 || number < 0x80);
            match character {
                Some(character) => format!("{signed} {character:?}"),
                None => format!("{signed} '\\x{number:x}'"),
            }
        }
        _ => format!("0x{number:0width$x}", width = bytes.len() * 2),
    }
}

/// The text at the start of bytes, up to a zero, of characters that have `size` bytes (UTF-8, UTF-16, UTF-32), and how many bytes it takes with
/// the zero.
///
/// # Errors
/// There are no characters of that size.
pub fn text(bytes: &[u8], size: usize) -> anyhow::Result<(String, usize)> {
    let all = bytes.chunks_exact(size);
    let length = all
        .clone()
        .position(|one| one.iter().all(|byte| *byte == 0));
    let is_whole = length.is_some();
    let length = length.unwrap_or(all.len());
    let characters = &bytes[..length * size];
    let number = |one: &[u8]| {
        let mut bytes = [0; 4];
        bytes[..size].copy_from_slice(one);
        u32::from_le_bytes(bytes)
    };
    let text: String = match size {
        1 => String::from_utf8_lossy(characters).into_owned(),
        2 => {
            let units = characters.chunks_exact(2).map(|one| number(one) as u16);
            char::decode_utf16(units)
                .map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect()
        }
        4 => { characters.chunks_exact(4) }
            .map(|one| char::from_u32(number(one)).unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect(),
        _ => bail!("characters have the units b, h and w"),
    };
    let mut shown = format!("{text:?}");
    if !is_whole {
        // Writing to a string can't fail.
        let _ = write!(shown, "…");
    }
    Ok((shown, (length + usize::from(is_whole)) * size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_counts_and_letters() {
        let parse = |text: &str| {
            let parsed = Layout::parse(text, Layout::WORDS).map_err(|error| error.to_string());
            parsed.map(|(count, layout)| (count, layout.format, layout.size()))
        };
        assert_eq!(parse("4xw"), Ok((Some(4), Format::Hexadecimal, 4)));
        assert_eq!(parse("2gx"), Ok((Some(2), Format::Hexadecimal, 8)));
        assert_eq!(parse("i"), Ok((None, Format::Instructions, 4)));
        assert_eq!(parse("s"), Ok((None, Format::Text, 1)));
        assert_eq!(parse("3db"), Ok((Some(3), Format::Signed, 1)));
        assert_eq!(parse("f"), Ok((None, Format::Float, 8)));
        assert!(parse("0x").is_err() && parse("99999999999999999999x").is_err());
        assert!(parse("4q").is_err_and(|error| error.contains("no format `q`")));
        assert!(parse("fh").is_err_and(|error| error.contains("units w and g")));
    }

    #[test]
    fn memory_is_shown_in_rows_from_its_address() {
        let bytes: Vec<u8> = (0x3e..0x50).collect();
        assert_eq!(
            rows(0x1000, &bytes, Layout::DUMP),
            [
                "0x1000: 3e 3f 40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d  >?@ABCDEFGHIJKLM",
                "0x1010: 4e 4f                                            NO",
            ]
        );
        let words = rows(0x1000, &bytes[..8], Layout::WORDS);
        assert_eq!(words, ["0x1000: 0x41403f3e 0x45444342"]);
    }

    #[test]
    fn numbers_are_written_in_their_format() {
        let minus = [0xfe, 0xff];
        assert_eq!(one(&minus, Format::Signed), "-2");
        assert_eq!(one(&minus, Format::Unsigned), "65534");
        assert_eq!(one(&minus, Format::Octal), "0177776");
        assert_eq!(one(&[5], Format::Binary), "00000101");
        assert_eq!(one(&1.5_f32.to_le_bytes(), Format::Float), "1.5");
        assert_eq!(one(&(-2.25_f64).to_le_bytes(), Format::Float), "-2.25");
        assert_eq!(one(b"A", Format::Character), "65 'A'");
        assert_eq!(one(&[0xc3], Format::Character), "-61 '\\xc3'");
        assert_eq!(one(&[7], Format::Hexadecimal), "0x07");
    }

    #[test]
    fn texts_end_at_a_zero_of_their_characters_size() {
        assert_eq!(text(b"a\"b\0c", 1).unwrap(), ("\"a\\\"b\"".to_owned(), 4));
        assert_eq!(text(b"ab", 1).unwrap(), ("\"ab\"…".to_owned(), 2));
        let wide: Vec<u8> = "ü𝄞\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(text(&wide, 2).unwrap(), ("\"ü𝄞\"".to_owned(), 8));
        assert!(text(&wide, 8).is_err());
    }
}
