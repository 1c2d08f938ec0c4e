//! A quick way to read JSON, for texts that have nothing unusual in them.
//!
//! [`read`] does what `serde_json::from_str` does, about twice as fast, or gives up without a reason: whoever calls it then
//! asks serde_json, which either knows better or says what is wrong and where. So nothing here has to explain an error, and
//! whatever is rare may be left to the slow way: that is nesting deeper than [`DEPTH`], integers beyond 64 bits, and
//! enumerations with content. What is accepted here is accepted there, with the same value; the tests hold the two against
//! each other.
//!
//! Two things make it quick: a string without escapes is found with one look at eight bytes at a time and borrowed, and a
//! value that nobody wants is passed over without being taken apart.

use serde::de::{
    self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use std::borrow::Cow;
use std::fmt;

/// The deepest nesting read here; serde_json has the same limit.
const DEPTH: u8 = 127;

/// Under this name serde_json's `RawValue` asks a deserializer for a value's text. Should a version of it take another name,
/// reading such a value here fails, and with it goes the speed, but nothing else.
const RAW: &str = "$serde_json::private::RawValue";

/// Reads a value from the whole of `text`; `None` where the slow way has to decide.
pub(crate) fn read<'de, T: de::Deserialize<'de>>(text: &'de str) -> Option<T> {
    let mut reader = Reader::new(text);
    let value = T::deserialize(&mut reader).ok()?;
    reader.space();
    (reader.at == reader.bytes.len()).then_some(value)
}

/// Goes through an object that is the whole of `text`. `each` has to read or skip the value of the key it is given.
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

/// The slow way has to decide.
#[derive(Debug)]
pub(crate) struct GiveUp;

impl fmt::Display for GiveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not read the quick way")
    }
}

impl std::error::Error for GiveUp {}

impl de::Error for GiveUp {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }

    // The defaults would write a sentence first.
    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self
    }

    fn invalid_value(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self
    }

    fn missing_field(_: &'static str) -> Self {
        Self
    }
}

pub(crate) type Result<T> = std::result::Result<T, GiveUp>;

/// A place in a text.
pub(crate) struct Reader<'de> {
    text: &'de str,
    bytes: &'de [u8],
    at: usize,
    /// How many more levels may be opened.
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

    /// Reads a value into an empty place; a field that comes twice is none for here.
    #[inline]
    pub(crate) fn fill<T: de::Deserialize<'de>>(&mut self, place: &mut Option<T>) -> Result<()> {
        if place.is_some() {
            return Err(GiveUp);
        }
        *place = Some(T::deserialize(self)?);
        Ok(())
    }

    /// As [`fill`](Self::fill), for a string.
    #[inline]
    pub(crate) fn fill_string(&mut self, place: &mut Option<Cow<'de, str>>) -> Result<()> {
        if place.is_some() {
            return Err(GiveUp);
        }
        self.space();
        *place = Some(self.string()?);
        Ok(())
    }

    /// The byte here, or 0, which no JSON has outside of a string, nor within.
    #[inline]
    fn here(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn space(&mut self) {
        while matches!(self.here(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    /// The next byte that is no space.
    #[inline]
    fn next(&mut self) -> u8 {
        self.space();
        self.here()
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.next() != byte {
            return Err(GiveUp);
        }
        self.at += 1;
        Ok(())
    }

    #[inline]
    fn word(&mut self, word: &str) -> Result<()> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(GiveUp);
        }
        self.at += word.len();
        Ok(())
    }

    /// Goes behind what needs no second look in a string: to its end, an escape or a control character.
    #[inline]
    fn plain(&mut self) {
        while let Some(eight) = self.bytes[self.at..].first_chunk::<8>() {
            let found = special(u64::from_le_bytes(*eight));
            if found != 0 {
                self.at += (found.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += 8;
        }
        while !matches!(self.here(), b'"' | b'\\' | 0..0x20) {
            self.at += 1;
        }
    }

    /// A string, which begins here.
    #[inline]
    fn string(&mut self) -> Result<Cow<'de, str>> {
        if self.here() != b'"' {
            return Err(GiveUp);
        }
        self.at += 1;
        let start = self.at;
        self.plain();
        if self.here() == b'"' {
            let text = self.text.get(start..self.at).ok_or(GiveUp)?;
            self.at += 1;
            return Ok(Cow::Borrowed(text));
        }
        self.string_with_escapes(start).map(Cow::Owned)
    }

    #[cold]
    fn string_with_escapes(&mut self, start: usize) -> Result<String> {
        let mut string = String::with_capacity(2 * (self.at - start) + 16);
        let mut start = start;
        loop {
            string.push_str(self.text.get(start..self.at).ok_or(GiveUp)?);
            match self.here() {
                b'"' => {
                    self.at += 1;
                    return Ok(string);
                }
                b'\\' => {
                    self.at += 1;
                    string.push(self.escape()?);
                }
                _ => return Err(GiveUp),
            }
            start = self.at;
            self.plain();
        }
    }

    /// The character that an escape stands for, behind its backslash.
    fn escape(&mut self) -> Result<char> {
        let escape = *self.bytes.get(self.at).ok_or(GiveUp)?;
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
                            char::from_u32(code).ok_or(GiveUp)?
                        }
                        _ => return Err(GiveUp),
                    }
                }
                code => char::from_u32(code).ok_or(GiveUp)?,
            },
            _ => return Err(GiveUp),
        })
    }

    fn four_digits(&mut self) -> Result<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = char::from(self.here()).to_digit(16).ok_or(GiveUp)?;
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// Passes over digits; says whether there are any.
    #[inline]
    fn digits(&mut self) -> bool {
        let start = self.at;
        while self.here().is_ascii_digit() {
            self.at += 1;
        }
        self.at > start
    }

    /// Passes over a number. True if it is an integer.
    #[inline]
    fn skip_number(&mut self) -> Result<bool> {
        if self.here() == b'-' {
            self.at += 1;
        }
        let zero = self.here() == b'0';
        let start = self.at;
        if !self.digits() || (zero && self.at > start + 1) {
            return Err(GiveUp);
        }
        let mut integer = true;
        if self.here() == b'.' {
            self.at += 1;
            integer = false;
            if !self.digits() {
                return Err(GiveUp);
            }
        }
        if matches!(self.here(), b'e' | b'E') {
            self.at += 1;
            integer = false;
            if matches!(self.here(), b'+' | b'-') {
                self.at += 1;
            }
            if !self.digits() {
                return Err(GiveUp);
            }
        }
        Ok(integer)
    }

    /// A number, given to the visitor in the form that serde_json would give it.
    #[inline]
    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        let start = self.at;
        let integer = self.skip_number()?;
        let text = self.text.get(start..self.at).ok_or(GiveUp)?;
        if !integer {
            let value: f64 = text.parse().map_err(|_| GiveUp)?;
            return if value.is_finite() {
                visitor.visit_f64(value)
            } else {
                Err(GiveUp)
            };
        }
        match text.strip_prefix('-') {
            None => visitor.visit_u64(text.parse().map_err(|_| GiveUp)?),
            // It is -0.0, the floating-point number.
            Some("0") => Err(GiveUp),
            Some(_) => visitor.visit_i64(text.parse().map_err(|_| GiveUp)?),
        }
    }

    /// Passes over a string, which begins here.
    #[inline]
    fn skip_string(&mut self) -> Result<()> {
        self.at += 1;
        loop {
            self.plain();
            match self.here() {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => {
                    self.at += 1;
                    self.escape()?;
                }
                _ => return Err(GiveUp),
            }
        }
    }

    /// Passes over a value, and returns its text.
    pub(crate) fn skip(&mut self) -> Result<&'de str> {
        self.space();
        let start = self.at;
        // A bit for each open level, set where that is an object; the lowest is the innermost.
        let mut objects = 0_u128;
        let mut levels = 0_u8;
        'value: loop {
            match self.next() {
                b'"' => self.skip_string()?,
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
                            return Err(GiveUp);
                        }
                        levels += 1;
                        objects = objects << 1 | u128::from(object);
                        if object {
                            self.skip_key()?;
                        }
                        continue 'value;
                    }
                }
                _ => return Err(GiveUp),
            }
            // Behind a value: the next one of the same level, or the ends of levels.
            while levels > 0 {
                let object = objects & 1 == 1;
                match self.next() {
                    b',' => {
                        self.at += 1;
                        if object {
                            self.skip_key()?;
                        }
                        continue 'value;
                    }
                    b'}' if object => self.at += 1,
                    b']' if !object => self.at += 1,
                    _ => return Err(GiveUp),
                }
                objects >>= 1;
                levels -= 1;
            }
            return self.text.get(start..self.at).ok_or(GiveUp);
        }
    }

    #[inline]
    fn skip_key(&mut self) -> Result<()> {
        if self.next() != b'"' {
            return Err(GiveUp);
        }
        self.skip_string()?;
        self.expect(b':')
    }

    /// Goes into a level.
    #[inline]
    fn enter(&mut self) -> Result<()> {
        self.at += 1;
        self.depth = self.depth.checked_sub(1).ok_or(GiveUp)?;
        Ok(())
    }
}

/// The bytes of a word that are a quote, a backslash or below 0x20: their highest bits. Those above the first found may be
/// wrong, those below may not.
#[inline]
fn special(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let zeroes = |word: u64| word.wrapping_sub(ONES) & !word;
    let quotes = zeroes(word ^ (ONES * b'"' as u64));
    let backslashes = zeroes(word ^ (ONES * b'\\' as u64));
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (quotes | backslashes | controls) & (ONES << 7)
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = GiveUp;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.next() {
            b'"' => match self.string()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            b'{' => {
                self.enter()?;
                let value = visitor.visit_map(Entries::new(self))?;
                self.expect(b'}')?;
                self.depth += 1;
                Ok(value)
            }
            b'[' => {
                self.enter()?;
                let value = visitor.visit_seq(Entries::new(self))?;
                self.expect(b']')?;
                self.depth += 1;
                Ok(value)
            }
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
            return Err(GiveUp);
        }
        match self.string()? {
            Cow::Borrowed(text) => {
                visitor.visit_enum(de::value::BorrowedStrDeserializer::new(text))
            }
            Cow::Owned(text) => visitor.visit_enum(text.into_deserializer()),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(GiveUp)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(GiveUp)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(GiveUp)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(GiveUp)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

/// The items of an array or the entries of an object.
struct Entries<'r, 'de> {
    reader: &'r mut Reader<'de>,
    first: bool,
}

impl<'r, 'de> Entries<'r, 'de> {
    fn new(reader: &'r mut Reader<'de>) -> Self {
        Self {
            reader,
            first: true,
        }
    }

    /// Goes to the next one; false before the `end`.
    #[inline]
    fn another(&mut self, end: u8) -> Result<bool> {
        if self.reader.next() == end {
            return Ok(false);
        }
        // Behind a comma something has to come: neither a key nor a value begins with the end.
        if !std::mem::replace(&mut self.first, false) {
            self.reader.expect(b',')?;
        }
        Ok(true)
    }
}

impl<'de> SeqAccess<'de> for Entries<'_, 'de> {
    type Error = GiveUp;

    /// A guess, so that a list of large items is not moved each time it has doubled: an item of the protocol's long lists has
    /// about this many bytes. Lists of small items are small, and a wrong guess costs no more than what the text has.
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
    type Error = GiveUp;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if !self.another(b'}')? {
            return Ok(None);
        }
        self.reader.space();
        let key = self.reader.string()?;
        seed.deserialize(Key(key)).map(Some)
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        self.reader.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

/// An object's key. Maps by number or anything else are left to the slow way.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = GiveUp;

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

/// A value's text, in the form in which `RawValue` takes it.
struct RawText<'de>(Option<&'de str>);

impl<'de> MapAccess<'de> for RawText<'de> {
    type Error = GiveUp;

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
        let text = self.0.take().ok_or(GiveUp)?;
        seed.deserialize(de::value::BorrowedStrDeserializer::new(text))
    }
}

#[cfg(test)]
mod tests;
