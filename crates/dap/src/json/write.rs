//! The fast path for writing JSON.
//!
//! [`write`] writes the same bytes as `serde_json::to_writer`, or gives up, removes what it wrote and calls serde_json. It is fast
//! because most strings need no escape, which is checked up to 16 bytes at a time. Left to serde_json are, among others, maps whose
//! keys are not strings, and enumerations with content.

use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde::ser::{self, Impossible, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt::{self, Write as _};

use super::{RAW, Result, Unsupported, first_special, special};

/// Appends a value to `out`, by the fast path or, where that gives up, by serde_json. After an error `out` is unchanged.
pub(crate) fn write<T: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    value: &T,
) -> std::result::Result<(), serde_json::Error> {
    if quick(out, value) {
        return Ok(());
    }
    let start = out.len();
    serde_json::to_writer(&mut *out, value).inspect_err(|_| out.truncate(start))
}

/// As [`write`], but only by the fast path. If the fast path gives up, returns `false` and leaves `out` unchanged.
pub(super) fn quick<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> bool {
    let start = out.len();
    let written = value.serialize(Writer::<false> { out }).is_ok();
    if !written {
        out.truncate(start);
    }
    written
}

/// Serializes a value to its JSON text.
pub(crate) fn raw<T: Serialize + ?Sized>(
    value: &T,
) -> std::result::Result<Box<RawValue>, serde_json::Error> {
    let mut text = Vec::new();
    write(&mut text, value)?;
    let Ok(text) = String::from_utf8(text) else {
        return serde_json::value::to_raw_value(value);
    };
    // `RawValue::from_string` would parse the whole text again to validate it.
    let read = RawValueDeserializer::new([(RAW, text)].into_iter());
    Box::<RawValue>::deserialize(read).or_else(|_| serde_json::value::to_raw_value(value))
}

/// Passes a text on in the form that `RawValue` deserializes from: a map with one entry.
type RawValueDeserializer =
    MapDeserializer<'static, std::array::IntoIter<(&'static str, String), 1>, Unsupported>;

/// Writes a string with its quotes.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    if is_plain(text.as_bytes()) {
        out.extend_from_slice(text.as_bytes());
    } else {
        write_escaped(out, text.as_bytes());
    }
    out.push(b'"');
}

/// Writes an integer.
pub(crate) fn write_integer(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Whether a string needs no escape. The last block may overlap the one before: that is faster than checking the rest byte by byte.
#[inline(always)]
fn is_plain(bytes: &[u8]) -> bool {
    if let Some(last) = bytes.last_chunk() {
        let (blocks, _) = bytes.as_chunks();
        return blocks.iter().all(|block| first_special(block).is_none())
            && first_special(last).is_none();
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return special(u64::from_le_bytes(*first)) | special(u64::from_le_bytes(*last)) == 0;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let word = |half: &[u8; 4]| u64::from(u32::from_le_bytes(*half));
        return special(word(first) | word(last) << 32) == 0;
    }
    !bytes.iter().any(is_special)
}

fn is_special(byte: &u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..0x20)
}

fn write_escaped(out: &mut Vec<u8>, mut rest: &[u8]) {
    while let Some(at) = rest.iter().position(is_special) {
        out.extend_from_slice(&rest[..at]);
        escape(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 0xf)];
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Writes one value. With `TEXT`, a string is written as it is, since it is JSON already.
struct Writer<'o, const TEXT: bool> {
    out: &'o mut Vec<u8>,
}

impl<'o, const TEXT: bool> Writer<'o, TEXT> {
    #[inline]
    fn integer(self, value: impl itoa::Integer) -> Result<()> {
        write_integer(self.out, value);
        Ok(())
    }

    #[inline]
    fn word(self, word: &str) -> Result<()> {
        self.out.extend_from_slice(word.as_bytes());
        Ok(())
    }

    /// Writes a value by serde_json.
    fn slowly(self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(self.out, value).map_err(|_| Unsupported)
    }

    #[inline]
    fn open(self, open: u8, close: u8) -> Result<Items<'o>> {
        self.out.push(open);
        Ok(Items {
            out: self.out,
            first: true,
            close,
        })
    }
}

macro_rules! integers {
    ($($name:ident $type:ty,)*) => {
        $(#[inline]
        fn $name(self, value: $type) -> Result<()> {
            self.integer(value)
        })*
    };
}

impl<'o, const TEXT: bool> Serializer for Writer<'o, TEXT> {
    type Ok = ();
    type Error = Unsupported;
    type SerializeSeq = Items<'o>;
    type SerializeTuple = Items<'o>;
    type SerializeTupleStruct = Items<'o>;
    type SerializeTupleVariant = Impossible<(), Unsupported>;
    type SerializeMap = Items<'o>;
    type SerializeStruct = Fields<'o>;
    type SerializeStructVariant = Impossible<(), Unsupported>;

    integers! {
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64,
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<()> {
        self.word(if value { "true" } else { "false" })
    }

    fn serialize_f32(self, value: f32) -> Result<()> {
        self.slowly(&value)
    }

    fn serialize_f64(self, value: f64) -> Result<()> {
        self.slowly(&value)
    }

    fn serialize_i128(self, value: i128) -> Result<()> {
        self.slowly(&value)
    }

    fn serialize_u128(self, value: u128) -> Result<()> {
        self.slowly(&value)
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, text: &str) -> Result<()> {
        if TEXT {
            return self.word(text);
        }
        write_string(self.out, text);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<()> {
        Err(Unsupported)
    }

    #[inline]
    fn serialize_none(self) -> Result<()> {
        self.word("null")
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<()> {
        self.word("null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.word("null")
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<()> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<()> {
        Err(Unsupported)
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'o>> {
        self.open(b'[', b']')
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'o>> {
        self.open(b'[', b']')
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'o>> {
        self.open(b'[', b']')
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant> {
        Err(Unsupported)
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<Items<'o>> {
        self.open(b'{', b'}')
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'o>> {
        if name.starts_with('$') {
            // Other names with `$` are serde_json's internal ones, such as that of numbers of arbitrary precision.
            return (name == RAW)
                .then_some(Fields::Raw(self.out))
                .ok_or(Unsupported);
        }
        self.open(b'{', b'}').map(Fields::Object)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant> {
        Err(Unsupported)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<()> {
        let mut text = String::new();
        write!(text, "{value}").map_err(|_| Unsupported)?;
        self.serialize_str(&text)
    }
}

/// The items of an array, or the entries of an object.
struct Items<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
    close: u8,
}

impl Items<'_> {
    #[inline]
    fn next(&mut self) {
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(b',');
        }
    }

    #[inline]
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.next();
        value.serialize(Writer::<false> { out: self.out })
    }

    #[inline]
    fn entry<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<()> {
        self.next();
        write_string(self.out, key);
        self.out.push(b':');
        value.serialize(Writer::<false> { out: self.out })
    }

    #[inline]
    fn close(self) -> Result<()> {
        self.out.push(self.close);
        Ok(())
    }
}

impl ser::SerializeSeq for Items<'_> {
    type Ok = ();
    type Error = Unsupported;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.item(value)
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.close()
    }
}

impl ser::SerializeTuple for Items<'_> {
    type Ok = ();
    type Error = Unsupported;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.item(value)
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}

impl ser::SerializeTupleStruct for Items<'_> {
    type Ok = ();
    type Error = Unsupported;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.item(value)
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}

impl ser::SerializeMap for Items<'_> {
    type Ok = ();
    type Error = Unsupported;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.next();
        let start = self.out.len();
        key.serialize(Writer::<false> { out: self.out })?;
        // Only a string begins with a quote. Other keys are left to serde_json, which writes numbers and booleans as strings.
        if self.out.get(start) != Some(&b'"') {
            return Err(Unsupported);
        }
        self.out.push(b':');
        Ok(())
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        value.serialize(Writer::<false> { out: self.out })
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.close()
    }
}

/// How a struct is written.
enum Fields<'o> {
    Object(Items<'o>),
    /// As the text of a `RawValue`.
    Raw(&'o mut Vec<u8>),
}

impl ser::SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = Unsupported;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<()> {
        match self {
            Self::Object(items) => items.entry(key, value),
            Self::Raw(out) => value.serialize(Writer::<true> { out }),
        }
    }

    #[inline]
    fn end(self) -> Result<()> {
        match self {
            Self::Object(items) => items.close(),
            Self::Raw(_) => Ok(()),
        }
    }
}
