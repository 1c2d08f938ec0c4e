//! Decoding of payloads that do not quite have the shape that the protocol requires: for those who have to get along with any peer.
//!
//! [`decode_leniently`] decodes strictly first. Only if that fails, the payload is read once more by a [`Deserializer`] of this module,
//! which splits the text into its values before it reads any of them. So a value that cannot be read is left out, and reading goes
//! on behind it. The generated types ask [`drop_part`] whether that is wanted, in the places that may be left out: optional fields
//! and items of lists. What is being read, and what was mended, is kept by thread for as long as the decoding lasts, since serde
//! passes nothing of the kind to the types.

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, StrDeserializer};
use serde::de::{
    self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use super::{DecodeError, decode_or_default, excerpt};

/// What [`decode_leniently`] changed about a payload to make it readable.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// The value that was changed, such as `variables[3]`. A long path lacks its middle.
    pub path: String,
    /// What was done about it.
    pub kind: RepairKind,
    /// What was wrong: with the value, or with one within it.
    pub error: DecodeError,
}

/// What was done about a value that does not have the shape that the protocol requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RepairKind {
    /// It was left out: an optional field or an item of a list.
    Dropped,
    /// A number such as `3.0` was taken as the integer.
    Integer,
    /// A string that is not one of those that the protocol allows was kept, as the enumeration's `Other`.
    Kept,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = match self.kind {
            RepairKind::Dropped => "was left out",
            RepairKind::Integer => "was taken as an integer",
            RepairKind::Kept => "was kept as an unknown value",
        };
        write!(f, "`{}` {done}: {}", self.path, self.error)
    }
}

/// At most so many repairs of one payload are reported.
const REPORTED: usize = 1000;

/// The deepest nesting that is read. Each level splits its whole text once more, and no message of the protocol needs so many.
const DEPTH: usize = 32;

/// Decodes a payload as well as it can be. Absent and `null` are the same as `{}`, as in [`decode_or_default`].
///
/// If the payload does not have `T`'s shape, then optional fields and items of lists that cannot be read are left out, numbers such
/// as `3.0` are taken as integers, and strings that a closed enumeration does not list become its `Other`. The second value tells
/// what was changed; it is empty for a payload that has the right shape. At most 1000 changes are reported. Types of your own that
/// use serde's derived code are read as they are: a part of them that cannot be read makes the whole value unreadable.
///
/// ```
/// use dapple_dap::message::{Raw, RepairKind, decode_leniently};
/// use dapple_dap::types::ThreadsResponse;
///
/// let body = Raw::from_text(r#"{"threads":[{"id":1,"name":"main"},{"id":2.0,"name":"worker"},{"id":3}]}"#)?;
/// let (threads, repairs) = decode_leniently::<ThreadsResponse>(Some(body.as_raw_value()))?;
/// assert_eq!(threads.threads.len(), 2);
/// assert_eq!(repairs[0].kind, RepairKind::Integer);
/// assert_eq!(repairs[1].to_string(), "`threads[2]` was left out: `threads[2]`: missing field `name`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// What is wrong cannot be left out, such as a required field of the payload itself.
pub fn decode_leniently<T: DeserializeOwned>(
    raw: Option<&RawValue>,
) -> Result<(T, Vec<Repair>), DecodeError> {
    let Repaired { value, repairs, .. } = repaired(raw, decode_or_default(raw), T::deserialize)?;
    Ok((value, repairs))
}

/// A value that was read leniently.
pub(crate) struct Repaired<T> {
    pub(crate) value: T,
    /// What was changed; the first 1000 changes.
    pub(crate) repairs: Vec<Repair>,
    /// The indices of all items that were left out of the last list that is a field of the payload itself, in ascending order. Only for
    /// payloads with one list.
    #[cfg_attr(not(feature = "client"), expect(dead_code, reason = "for clients"))]
    pub(crate) dropped: Vec<usize>,
}

/// As [`decode_leniently`], for what was decoded strictly already, and is read by a function.
pub(crate) fn repaired<'de, T>(
    raw: Option<&'de RawValue>,
    strict: Result<T, DecodeError>,
    read: impl FnOnce(Lenient<'de>) -> Result<T, Error>,
) -> Result<Repaired<T>, DecodeError> {
    let error = match strict {
        Ok(value) => {
            return Ok(Repaired {
                value,
                repairs: Vec::new(),
                dropped: Vec::new(),
            });
        }
        Err(error) => error,
    };
    let Some(raw) = raw.filter(|raw| raw.get() != "null") else {
        return Err(error);
    };
    let active = Active::start(Some(Reading::default()));
    let value = read(Lenient(raw.get()));
    match (value, active.end()) {
        (Ok(value), Some(reading)) => Ok(Repaired {
            value,
            repairs: reading.repairs,
            dropped: reading.dropped,
        }),
        _ => Err(error),
    }
}

/// What is being read, and what was mended.
#[derive(Default)]
struct Reading {
    path: Vec<Segment>,
    /// The current failure. Cleared when a caller drops the value that failed.
    failed: Option<Failed>,
    repairs: Vec<Repair>,
    /// The indices of the items left out of the payload's own list.
    dropped: Vec<usize>,
}

/// A failure to read a value.
struct Failed {
    /// What was wrong.
    error: DecodeError,
    /// The path of the outermost value so far that failed because of it.
    path: String,
    /// That value's index, if it is an item of a list that is a field of the payload itself.
    index: Option<usize>,
}

/// A step from a value to one within it.
enum Segment {
    Field(String),
    Item(usize),
}

thread_local! {
    static READING: RefCell<Option<Reading>> = const { RefCell::new(None) };
}

/// Sets [`READING`] for as long as it lives.
struct Active(Option<Reading>);

impl Active {
    fn start(reading: Option<Reading>) -> Self {
        Self(READING.replace(reading))
    }

    /// A strict decoding within a lenient one.
    fn strict() -> Self {
        Self::start(None)
    }

    fn end(self) -> Option<Reading> {
        READING.take()
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        READING.replace(self.0.take());
    }
}

fn with<T>(act: impl FnOnce(&mut Reading) -> T) -> Option<T> {
    READING.with_borrow_mut(|reading| reading.as_mut().map(act))
}

impl Reading {
    fn path(&self) -> String {
        let mut path = String::new();
        for segment in &self.path {
            match segment {
                Segment::Field(name) if path.is_empty() => path.push_str(name),
                Segment::Field(name) => path.extend([".", name]),
                Segment::Item(index) => path.push_str(&format!("[{index}]")),
            }
        }
        excerpt::of_path(&path)
    }

    fn repair(&mut self, path: String, kind: RepairKind, error: DecodeError) {
        if self.repairs.len() < REPORTED {
            self.repairs.push(Repair { path, kind, error });
        }
    }

    /// Notes a change to the value that is being read.
    fn changed(&mut self, kind: RepairKind, problem: &str) {
        let path = self.path();
        let error = DecodeError {
            path: path.clone(),
            message: excerpt::of_message(problem),
        };
        self.repair(path, kind, error);
    }
}

/// Whether the value within the current one whose reading has just failed is to be left out. Called by types whose reading can go on.
#[cold]
pub(crate) fn drop_part() -> bool {
    with(|reading| {
        let Some(Failed { error, path, index }) = reading.failed.take() else {
            return false;
        };
        reading.dropped.extend(index);
        reading.repair(path, RepairKind::Dropped, error);
        true
    })
    .unwrap_or(false)
}

/// An optional field's value; absent if it cannot be read and that is tolerated.
#[inline]
pub(crate) fn or_dropped<T, E>(read: Result<Option<T>, E>) -> Result<Option<T>, E> {
    match read {
        Err(error) if !drop_part() => Err(error),
        read => Ok(read.unwrap_or(None)),
    }
}

/// Whether a string that an enumeration does not list is to be kept.
#[cold]
pub(crate) fn keep_unknown(problem: &super::UnknownValue) -> bool {
    with(|reading| reading.changed(RepairKind::Kept, &problem.to_string())).is_some()
}

/// Reads the value at a step from the current one.
fn step<T>(segment: Segment, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let depth = with(|reading| {
        reading.path.push(segment);
        if let [Segment::Field(_), Segment::Item(0)] = reading.path[..] {
            // A field that comes twice has its last value.
            reading.dropped.clear();
        }
        reading.path.len()
    });
    let result = match depth {
        Some(depth) if depth > DEPTH => Err(de::Error::custom("nested too deeply")),
        _ => read(),
    };
    with(|reading| {
        let path = result.is_err().then(|| reading.path());
        let index = match &reading.path[..] {
            [Segment::Field(_), Segment::Item(index)] => Some(*index),
            _ => None,
        };
        reading.path.pop();
        let earlier = reading.failed.take();
        if let (Some(path), Err(Error(message))) = (path, &result) {
            let error = earlier.map(|failed| failed.error);
            let error = error.unwrap_or_else(|| DecodeError {
                path: path.clone(),
                message: excerpt::of_message(message),
            });
            reading.failed = Some(Failed { error, path, index });
        }
    });
    result
}

/// What is wrong with a value.
#[derive(Debug)]
pub(crate) struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self(super::without_position(&error.to_string()).to_owned())
    }
}

/// A value as its JSON text, which is known to be valid.
#[derive(Clone, Copy)]
pub(crate) struct Lenient<'de>(&'de str);

impl<'de> Lenient<'de> {
    fn starts_with(self, byte: u8) -> bool {
        self.0.as_bytes().first() == Some(&byte)
    }

    fn number<V: Visitor<'de>>(self, visitor: V, as_integer: bool) -> Result<V::Value, Error> {
        let number: serde_json::Number = serde_json::from_str(self.0)?;
        let whole = number.as_f64().filter(|_| as_integer && number.is_f64());
        // Beyond this, not every integer has a floating-point number of its own.
        let whole = whole.filter(|value| value.fract() == 0.0 && value.abs() <= EXACT);
        if let Some(whole) = whole {
            let problem = format!("expected an integer, found {}", self.0);
            with(|reading| reading.changed(RepairKind::Integer, &problem));
            return visitor.visit_i64(whole as i64);
        }
        Ok(number.deserialize_any(visitor)?)
    }
}

/// 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Methods that read a value as what it is.
macro_rules! as_it_is {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.deserialize_any(visitor)
        })+
    };
}

impl<'de> Deserializer<'de> for Lenient<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.as_bytes().first() {
            Some(b'{') => visitor.visit_map(Fields::of(self.0)?),
            Some(b'[') => visitor.visit_seq(Items::of(self.0)?),
            Some(b'"') => match serde_json::from_str::<Text<'_>>(self.0)?.0 {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            Some(b't') => visitor.visit_bool(true),
            Some(b'f') => visitor.visit_bool(false),
            Some(b'n') => visitor.visit_unit(),
            _ => self.number(visitor, true),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => self.number(visitor, false),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.starts_with(b'n') {
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == RAW {
            let text = [(RAW, self.0)].into_iter();
            return visitor.visit_map(MapDeserializer::new(text));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let _strict = Active::strict();
        let mut value = serde_json::Deserializer::from_str(self.0);
        Ok(value.deserialize_enum(name, variants, visitor)?)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    as_it_is! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
        deserialize_unit deserialize_seq deserialize_map deserialize_identifier
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }
}

/// The struct name by which serde_json's `RawValue` asks a deserializer for a value's text. Should a version of serde_json use another
/// name, what has to stay text could not be read here; a test would show that.
const RAW: &str = "$serde_json::private::RawValue";

/// A string that borrows if it has no escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// An object's fields, in order.
struct Fields<'de> {
    left: std::vec::IntoIter<(Cow<'de, str>, &'de RawValue)>,
    value: Option<(Cow<'de, str>, &'de RawValue)>,
}

impl<'de> Fields<'de> {
    fn of(text: &'de str) -> Result<Self, Error> {
        struct Pairs<'de>(Vec<(Cow<'de, str>, &'de RawValue)>);
        impl<'de> Deserialize<'de> for Pairs<'de> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Each;
                impl<'de> Visitor<'de> for Each {
                    type Value = Pairs<'de>;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<Pairs<'de>, A::Error> {
                        let mut pairs = Vec::new();
                        while let Some((Text(key), value)) = map.next_entry()? {
                            pairs.push((key, value));
                        }
                        Ok(Pairs(pairs))
                    }
                }
                deserializer.deserialize_map(Each)
            }
        }
        let Pairs(pairs) = serde_json::from_str(text)?;
        Ok(Self {
            left: pairs.into_iter(),
            value: None,
        })
    }
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.value = self.left.next();
        match &self.value {
            None => Ok(None),
            Some((Cow::Borrowed(key), _)) => seed
                .deserialize(BorrowedStrDeserializer::new(key))
                .map(Some),
            Some((Cow::Owned(key), _)) => seed.deserialize(StrDeserializer::new(key)).map(Some),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some((key, value)) = self.value.take() else {
            return Err(de::Error::custom("a value without a key was asked for"));
        };
        step(Segment::Field(key.into_owned()), || {
            seed.deserialize(Lenient(value.get()))
        })
    }
}

/// An array's items.
struct Items<'de> {
    left: std::iter::Enumerate<std::vec::IntoIter<&'de RawValue>>,
}

impl<'de> Items<'de> {
    fn of(text: &'de str) -> Result<Self, Error> {
        let items: Vec<&RawValue> = serde_json::from_str(text)?;
        Ok(Self {
            left: items.into_iter().enumerate(),
        })
    }
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some((index, value)) = self.left.next() else {
            return Ok(None);
        };
        step(Segment::Item(index), || {
            seed.deserialize(Lenient(value.get()))
        })
        .map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}
