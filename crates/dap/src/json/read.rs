//! The fast path for reading JSON.
//!
//! [`read`] does what `serde_json::from_str` does or gives up. Strings without escapes are borrowed, and ignored values are checked
//! and skipped without being deserialized. Left to serde_json are, among others, nesting deeper than [`DEPTH`], integers beyond 64
//! bits, and enumerations with content.

use serde::de::{
    self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use std::borrow::Cow;

use super::{RAW, Result, Unsupported, first_special};

/// The deepest nesting of values that are deserialized here; serde_json has the same limit.
const DEPTH: u8 = 127;

/// Reads a value that is the whole of `text`. `None` if the fast path gives up: serde_json then reads the text or finds the error.
pub(crate) fn read<'de, T: de::Deserialize<'de>>(text: &'de str) -> Option<T> {
    let mut reader = Reader::new(text);
    let value = T::deserialize(&mut reader).ok()?;
    reader.space();
    (reader.at == reader.bytes.len()).then_some(value)
}

/// Visits the entries of an object that is the whole of `text`. `each` gets a key and has to read or skip its value. `None` if the
/// fast path or `each` gives up.
pub(crate) fn read_object<'de>(
    text: &'de str,
    mut each: impl FnMut(&mut Reader<'de>, &str) -> Result<()>,
) -> Option<()> {
    let mut reader = Reader::new(text);
    reader.expect(b'{').ok()?;
    reader.depth -= 1;
    if reader.next() == b'}' {
        reader.at += 1;
    } else {
        loop {
            reader.space();
            let key = reader.string().ok()?;
            reader.expect(b':').ok()?;
            each(&mut reader, &key).ok()?;
            match reader.next() {
                b',' => reader.at += 1,
                b'}' => break reader.at += 1,
                _ => return None,
            }
        }
    }
    reader.space();
    (reader.at == reader.bytes.len()).then_some(())
}

/// A position in a JSON text.
pub(crate) struct Reader<'de> {
    text: &'de str,
    bytes: &'de [u8],
    at: usize,
    /// How many more levels of objects and arrays may be opened.
    depth: u8,
}

impl<'de> Reader<'de> {
    fn new(text: &'de str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            depth: DEPTH,
        }
    }

    /// Reads a value into an empty `place`. Duplicate fields are left to serde_json.
    #[inline]
    pub(crate) fn fill<T: de::Deserialize<'de>>(&mut self, place: &mut Option<T>) -> Result<()> {
        if place.is_some() {
            return Err(Unsupported);
        }
        *place = Some(T::deserialize(self)?);
        Ok(())
    }

    /// As [`fill`](Self::fill), for a string.
    #[inline]
    pub(crate) fn fill_string(&mut self, place: &mut Option<Cow<'de, str>>) -> Result<()> {
        if place.is_some() {
            return Err(Unsupported);
        }
        self.space();
        *place = Some(self.string()?);
        Ok(())
    }

    /// Reads `null` if that is the next value, and returns whether it was.
    pub(crate) fn null(&mut self) -> Result<bool> {
        let null = self.next() == b'n';
        if null {
            self.word("null")?;
        }
        Ok(null)
    }

    /// The current byte, or 0 at the end of the text: a 0 byte is valid nowhere in JSON, not even within a string.
    #[inline(always)]
    fn here(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn space(&mut self) {
        while matches!(self.here(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    /// Skips white space and returns the current byte.
    #[inline(always)]
    fn next(&mut self) -> u8 {
        self.space();
        self.here()
    }

    #[inline(always)]
    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.next() != byte {
            return Err(Unsupported);
        }
        self.at += 1;
        Ok(())
    }

    #[inline(always)]
    fn word(&mut self, word: &str) -> Result<()> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(Unsupported);
        }
        self.at += word.len();
        Ok(())
    }

    /// Within a string, goes to the next quote, backslash or control character, or to the end of the text.
    #[inline(always)]
    fn plain(&mut self) {
        // A local variable, so that the position stays in a processor register.
        let mut at = self.at;
        self.at = loop {
            match self.bytes[at..].first_chunk() {
                Some(block) => match first_special(block) {
                    Some(offset) => break at + offset,
                    None => at += block.len(),
                },
                None => {
                    let rest = &self.bytes[at..];
                    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
                    break at + rest.iter().position(special).unwrap_or(rest.len());
                }
            }
        };
    }

    /// Reads a string that begins at the current byte.
    #[inline]
    fn string(&mut self) -> Result<Cow<'de, str>> {
        match self.borrowed_string() {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => self.string_with_escapes().map(Cow::Owned),
        }
    }

    /// Reads a string without escapes that begins at the current byte. `None` if there is no such string; nothing is consumed then.
    #[inline]
    fn borrowed_string(&mut self) -> Option<&'de str> {
        let start = self.at;
        if self.here() == b'"' {
            self.at += 1;
            self.plain();
            if self.here() == b'"' {
                self.at += 1;
                return self.text.get(start + 1..self.at - 1);
            }
            self.at = start;
        }
        None
    }

    /// Reads a string that begins at the current byte.
    #[cold]
    fn string_with_escapes(&mut self) -> Result<String> {
        self.expect(b'"')?;
        let mut string = String::new();
        let mut start = self.at;
        self.plain();
        loop {
            string.push_str(self.text.get(start..self.at).ok_or(Unsupported)?);
            match self.here() {
                b'"' => {
                    self.at += 1;
                    return Ok(string);
                }
                b'\\' => {
                    self.at += 1;
                    string.push(self.escape()?);
                }
                _ => return Err(Unsupported),
            }
            start = self.at;
            self.plain();
        }
    }

    /// Reads an escape, from after its backslash, and returns its character.
    fn escape(&mut self) -> Result<char> {
        let escape = *self.bytes.get(self.at).ok_or(Unsupported)?;
        self.at += 1;
        Ok(match escape {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => match self.four_digits()? {
                high @ 0xd800..0xdc00 => {
                    self.word("\\u")?;
                    match self.four_digits()? {
                        low @ 0xdc00..0xe000 => {
                            let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                            char::from_u32(code).ok_or(Unsupported)?
                        }
                        _ => return Err(Unsupported),
                    }
                }
                code => char::from_u32(code).ok_or(Unsupported)?,
            },
            _ => return Err(Unsupported),
        })
    }

    fn four_digits(&mut self) -> Result<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = char::from(self.here()).to_digit(16).ok_or(Unsupported)?;
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// Skips digits. Returns whether there were any.
    #[inline(always)]
    fn digits(&mut self) -> bool {
        let start = self.at;
        while self.here().is_ascii_digit() {
            self.at += 1;
        }
        self.at > start
    }

    /// Skips a number. Returns whether it is an integer.
    #[inline(always)]
    fn skip_number(&mut self) -> Result<bool> {
        if self.here() == b'-' {
            self.at += 1;
        }
        let zero = self.here() == b'0';
        let start = self.at;
        if !self.digits() || (zero && self.at > start + 1) {
            return Err(Unsupported);
        }
        let mut integer = true;
        if self.here() == b'.' {
            self.at += 1;
            integer = false;
            if !self.digits() {
                return Err(Unsupported);
            }
        }
        if matches!(self.here(), b'e' | b'E') {
            self.at += 1;
            integer = false;
            if matches!(self.here(), b'+' | b'-') {
                self.at += 1;
            }
            if !self.digits() {
                return Err(Unsupported);
            }
        }
        Ok(integer)
    }

    /// Reads a number and passes it to the visitor as the type that serde_json would pass.
    #[inline]
    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        let start = self.at;
        let integer = self.skip_number()?;
        let text = self.text.get(start..self.at).ok_or(Unsupported)?;
        if integer && text.len() < 19 && self.bytes[start] != b'-' {
            let digits = text.bytes().map(|digit| u64::from(digit - b'0'));
            return visitor.visit_u64(digits.fold(0, |value, digit| value * 10 + digit));
        }
        if !integer {
            let value: f64 = text.parse().map_err(|_| Unsupported)?;
            return if value.is_finite() {
                visitor.visit_f64(value)
            } else {
                Err(Unsupported)
            };
        }
        match text.strip_prefix('-') {
            None => visitor.visit_u64(text.parse().map_err(|_| Unsupported)?),
            // serde_json reads `-0` as the floating-point number -0.0.
            Some("0") => Err(Unsupported),
            Some(_) => visitor.visit_i64(text.parse().map_err(|_| Unsupported)?),
        }
    }

    /// Skips a string that begins at the current byte.
    #[inline(always)]
    fn skip_string(&mut self) -> Result<()> {
        self.at += 1;
        self.plain();
        if self.here() != b'"' {
            self.at = Self { ..*self }.end_of_string_with_escapes()?;
        }
        self.at += 1;
        Ok(())
    }

    #[cold]
    fn end_of_string_with_escapes(mut self) -> Result<usize> {
        loop {
            match self.here() {
                b'"' => return Ok(self.at),
                b'\\' => {
                    self.at += 1;
                    self.escape()?;
                }
                _ => return Err(Unsupported),
            }
            self.plain();
        }
    }

    /// Skips a value and returns its text.
    pub(crate) fn skip(&mut self) -> Result<&'de str> {
        self.space();
        let start = self.at;
        // A local copy that no reference escapes to, so that the compiler keeps it in registers.
        let mut reader = Self { ..*self };
        reader.skip_value()?;
        self.at = reader.at;
        self.text.get(start..self.at).ok_or(Unsupported)
    }

    /// Skips a value that begins at the current byte.
    #[inline(always)]
    fn skip_value(&mut self) -> Result<()> {
        // One bit for each open level, set for objects and clear for arrays. The lowest bit is the innermost level.
        let mut objects = 0_u128;
        let mut levels = 0_u8;
        // Whether a key is expected next.
        let mut key = false;
        loop {
            let byte = self.next();
            if byte == b'"' {
                self.skip_string()?;
                if key {
                    self.expect(b':')?;
                    key = false;
                    continue;
                }
            } else if key {
                return Err(Unsupported);
            } else {
                match byte {
                    b'-' | b'0'..=b'9' => drop(self.skip_number()?),
                    b't' => self.word("true")?,
                    b'f' => self.word("false")?,
                    b'n' => self.word("null")?,
                    open @ (b'{' | b'[') => {
                        self.at += 1;
                        let object = open == b'{';
                        if self.next() == if object { b'}' } else { b']' } {
                            self.at += 1;
                        } else {
                            if levels == self.depth {
                                return Err(Unsupported);
                            }
                            levels += 1;
                            objects = objects << 1 | u128::from(object);
                            key = object;
                            continue;
                        }
                    }
                    _ => return Err(Unsupported),
                }
            }
            // After a value: the next value of the same level, or the ends of levels.
            loop {
                if levels == 0 {
                    return Ok(());
                }
                let object = objects & 1 == 1;
                match self.next() {
                    b',' => {
                        self.at += 1;
                        key = object;
                        break;
                    }
                    b'}' if object => self.at += 1,
                    b']' if !object => self.at += 1,
                    _ => return Err(Unsupported),
                }
                objects >>= 1;
                levels -= 1;
            }
        }
    }

    /// Enters an object or array and calls `read`, which consumes all of it or all but the closing byte `end`. Returns the result of
    /// `read` without matching on it, since a match would move a large value.
    #[inline]
    fn inside<T>(&mut self, end: u8, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let depth = self.depth;
        self.at += 1;
        self.depth = depth.checked_sub(1).ok_or(Unsupported)?;
        let mut result = read(self);
        if self.depth != depth && self.leave(end, depth).is_err() {
            result = Err(Unsupported);
        }
        result
    }

    /// Consumes the closing byte `end` and leaves the level. Gives up unless the reader is then at `depth` again.
    fn leave(&mut self, end: u8, depth: u8) -> Result<()> {
        self.expect(end)?;
        self.depth += 1;
        if self.depth == depth {
            Ok(())
        } else {
            Err(Unsupported)
        }
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Unsupported;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.next() {
            b'"' => match self.string()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            b'{' => self.inside(b'}', |reader| visitor.visit_map(Entries::new(reader))),
            b'[' => self.inside(b']', |reader| visitor.visit_seq(Entries::new(reader))),
            b't' => {
                self.word("true")?;
                visitor.visit_bool(true)
            }
            b'f' => {
                self.word("false")?;
                visitor.visit_bool(false)
            }
            b'n' => {
                self.word("null")?;
                visitor.visit_unit()
            }
            _ => self.number(visitor),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.next() == b'n' {
            self.word("null")?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        if name == RAW {
            return visitor.visit_map(RawText(Some(self.skip()?)));
        }
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.skip()?;
        visitor.visit_unit()
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if self.next() != b'"' {
            return Err(Unsupported);
        }
        match self.string()? {
            Cow::Borrowed(text) => {
                visitor.visit_enum(de::value::BorrowedStrDeserializer::new(text))
            }
            Cow::Owned(text) => visitor.visit_enum(text.into_deserializer()),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(Unsupported)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(Unsupported)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(Unsupported)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(Unsupported)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.space();
        match self.borrowed_string() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => visitor.visit_string(self.string_with_escapes()?),
        }
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.next() {
            b'{' => self.inside(b'}', |reader| visitor.visit_map(Entries::new(reader))),
            _ => Err(Unsupported),
        }
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.next() {
            b'[' => self.inside(b']', |reader| visitor.visit_seq(Entries::new(reader))),
            _ => Err(Unsupported),
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let value = self.next() == b't';
        self.word(if value { "true" } else { "false" })?;
        visitor.visit_bool(value)
    }

    #[inline]
    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.space();
        self.number(visitor)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 u8 u16 u32 u64 f32 f64 char unit unit_struct tuple tuple_struct struct identifier
    }
}

/// The items of an array or the entries of an object.
struct Entries<'r, 'de> {
    reader: &'r mut Reader<'de>,
    place: Place,
}

/// Where the reader is among the entries.
#[derive(PartialEq)]
enum Place {
    Start,
    Middle,
    End,
}

impl<'r, 'de> Entries<'r, 'de> {
    fn new(reader: &'r mut Reader<'de>) -> Self {
        Self {
            reader,
            place: Place::Start,
        }
    }

    /// Goes to the next item or entry. `false` if there is none: the closing byte `end` is consumed.
    #[inline]
    fn another(&mut self, end: u8) -> Result<bool> {
        if self.place == Place::End {
            return Ok(false);
        }
        let next = self.reader.next();
        if next == end {
            self.reader.at += 1;
            self.reader.depth += 1;
            self.place = Place::End;
            return Ok(false);
        }
        // This refuses a trailing comma too: the key or value read next cannot begin with the closing byte.
        if self.place == Place::Middle {
            if next != b',' {
                return Err(Unsupported);
            }
            self.reader.at += 1;
        }
        self.place = Place::Middle;
        Ok(true)
    }
}

impl<'de> SeqAccess<'de> for Entries<'_, 'de> {
    type Error = Unsupported;

    /// A guess at the number of items, so that a growing list of large items is not moved at each doubling. An item of the protocol's
    /// long lists has about 128 bytes of text. Lists of small items are small, and the length of the text bounds a wrong guess.
    #[inline]
    fn size_hint(&self) -> Option<usize> {
        Some(((self.reader.bytes.len() - self.reader.at) / 128).min(64))
    }

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        match self.another(b']')? {
            true => seed.deserialize(&mut *self.reader).map(Some),
            false => Ok(None),
        }
    }
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = Unsupported;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if !self.another(b'}')? {
            return Ok(None);
        }
        self.reader.space();
        match self.reader.borrowed_string() {
            Some(key) => seed.deserialize(Key(Cow::Borrowed(key))),
            None => seed.deserialize(Key(Cow::Owned(self.reader.string_with_escapes()?))),
        }
        .map(Some)
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        self.reader.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

/// An object's key. Maps with keys other than strings are left to serde_json.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Unsupported;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    serde::forward_to_deserialize_any! {
        str string identifier ignored_any
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct enum
    }
}

/// A value's text in the form that `RawValue` deserializes from: a map with one entry.
struct RawText<'de>(Option<&'de str>);

impl<'de> MapAccess<'de> for RawText<'de> {
    type Error = Unsupported;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        match self.0 {
            Some(_) => seed
                .deserialize(de::value::BorrowedStrDeserializer::new(RAW))
                .map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let text = self.0.take().ok_or(Unsupported)?;
        seed.deserialize(de::value::BorrowedStrDeserializer::new(text))
    }
}
