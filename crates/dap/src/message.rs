//! What every typed message shares: the [`Request`] and [`Event`] traits, raw payloads, and decoding them.
//!
//! The generated [`types`](crate::types) implement these traits; you implement them for messages of your own. Not responsible
//! for [framing](crate::codec) or for the [envelope](crate::envelope) around a payload. The trick worth knowing: a payload stays
//! raw text ([`Raw`]) until it is decoded as a type. Only when that fails is it decoded again, by a slower decoder that
//! keeps track of the field at fault.
//!
//! # A request of your own
//!
//! A request is a marker type; server, client and tests take yours like any other. Give it a name that the protocol will not use.
//!
//! ```
//! use dapple_dap::{Client, Connection, Request, Server};
//! use dapple_dap::types::{InitializeRequest, InitializeRequestArguments};
//! use serde::{Deserialize, Serialize};
//!
//! /// The size of the debuggee's heap.
//! struct HeapRequest;
//!
//! #[derive(Debug, Serialize, Deserialize)]
//! struct HeapArguments {
//!     arena: u64,
//! }
//!
//! #[derive(Debug, Serialize, Deserialize)]
//! struct HeapResponse {
//!     bytes: u64,
//! }
//!
//! impl Request for HeapRequest {
//!     const COMMAND: &'static str = "vendor/heap";
//!     type Arguments = HeapArguments;
//!     type Response = HeapResponse;
//! }
//!
//! let server = Server::<()>::builder()
//!     .on::<HeapRequest>(|_, arguments, _| Ok(HeapResponse { bytes: arguments.arena * 4096 }))
//!     .build();
//! let (client, adapter) = Connection::memory();
//! let thread = std::thread::spawn(move || server.start(&adapter).run(&mut ()));
//! let client = Client::new(client);
//! client.request::<InitializeRequest>(InitializeRequestArguments::new("any"))?;
//! assert_eq!(client.request::<HeapRequest>(HeapArguments { arena: 2 })?.bytes, 8192);
//! # drop(client);
//! # thread.join().unwrap();
//! # Ok::<(), dapple_dap::ClientError>(())
//! ```
//!
//! # An event of your own
//!
//! An event is a marker type as well. Clients ignore events that they do not know.
//!
//! ```
//! use std::time::Duration;
//! use dapple_dap::{Client, Connection, Event, Server};
//! use dapple_dap::types::*;
//! use serde::{Deserialize, Serialize};
//!
//! /// The debuggee's heap has grown.
//! struct HeapGrownEvent;
//!
//! #[derive(Debug, Serialize, Deserialize)]
//! struct HeapGrownBody {
//!     bytes: u64,
//! }
//!
//! impl Event for HeapGrownEvent {
//!     const EVENT: &'static str = "vendor/heapGrown";
//!     type Body = HeapGrownBody;
//! }
//!
//! let server = Server::<()>::builder()
//!     .on::<ConfigurationDoneRequest>(|_, _, context| {
//!         context.outbox().event::<HeapGrownEvent>(HeapGrownBody { bytes: 8192 });
//!         Ok(Empty)
//!     })
//!     .build();
//! let (client, adapter) = Connection::memory();
//! let thread = std::thread::spawn(move || server.start(&adapter).run(&mut ()));
//! let client = Client::new(client);
//! client.request::<InitializeRequest>(InitializeRequestArguments::new("any"))?;
//! client.request::<ConfigurationDoneRequest>(ConfigurationDoneArguments::new())?;
//! let grown = client.wait_for::<HeapGrownEvent>(Duration::from_secs(30), |body| body.bytes > 4096)?;
//! assert_eq!(grown.bytes, 8192);
//! # drop(client);
//! # thread.join().unwrap();
//! # Ok::<(), dapple_dap::ClientError>(())
//! ```

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, IgnoredAny};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use std::marker::PhantomData;

#[cfg(feature = "codec")]
use crate::json;

mod data;
pub(crate) mod excerpt;
pub(crate) mod lenient;

pub use data::{WithUnknown, as_data, from_data};
pub use lenient::{Repair, RepairKind, decode_leniently};

/// A request: its name, its arguments and its response. The module shows [one of your own](self#a-request-of-your-own).
pub trait Request: 'static {
    /// The command on the wire.
    const COMMAND: &'static str;
    /// The flag by which the receiver announces this request, e.g. `supportsReadMemoryRequest`: a field of `Capabilities`,
    /// or of `InitializeRequestArguments` where [`DIRECTION`](Self::DIRECTION) is to the client. `None`: always supported.
    const CAPABILITY: Option<&'static str> = None;
    /// Which peer sends the request.
    const DIRECTION: Direction = Direction::ToAdapter;
    /// The `arguments`; [`Empty`] where there are none.
    type Arguments: Serialize + DeserializeOwned + fmt::Debug + Send + 'static;
    /// The `body` of a successful response; [`Empty`] where there is none.
    type Response: Serialize + DeserializeOwned + fmt::Debug + Send + 'static;
}

/// An event: its name and its body. The module shows [one of your own](self#an-event-of-your-own).
pub trait Event: 'static {
    /// The event's name on the wire.
    const EVENT: &'static str;
    /// The `body`; [`Empty`] where there is none.
    type Body: Serialize + DeserializeOwned + fmt::Debug + Send + 'static;
}

/// The way a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the client to the adapter: the usual one.
    ToAdapter,
    /// From the adapter to the client: a reverse request.
    ToClient,
}

/// No payload. It is written as `null`, which [`encode`] leaves out. Any JSON value can be read as `Empty`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Empty;

impl Serialize for Empty {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Empty {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Empty)
    }
}

/// Any JSON value, kept as its text. Two values are equal when their texts are.
#[derive(Clone)]
pub struct Raw(Box<RawValue>);

impl Raw {
    /// The JSON text of `value`.
    ///
    /// # Errors
    /// `value` cannot be written as JSON, such as a map with keys that are not strings.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> Result<Raw, serde_json::Error> {
        #[cfg(feature = "codec")]
        return json::raw(value).map(Raw);
        #[cfg(not(feature = "codec"))]
        serde_json::value::to_raw_value(value).map(Raw)
    }

    /// Checks that `text` is one JSON value and keeps it.
    ///
    /// # Errors
    /// `text` is not one JSON value.
    pub fn from_text(text: impl Into<String>) -> Result<Raw, serde_json::Error> {
        RawValue::from_string(text.into()).map(Raw)
    }

    /// The JSON text.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// The value as serde_json's type.
    pub fn as_raw_value(&self) -> &RawValue {
        &self.0
    }

    /// Decodes the value as a `T`.
    ///
    /// # Errors
    /// The value does not have `T`'s shape.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode(&self.0)
    }
}

impl From<Box<RawValue>> for Raw {
    fn from(raw: Box<RawValue>) -> Raw {
        Raw(raw)
    }
}

impl From<&RawValue> for Raw {
    fn from(raw: &RawValue) -> Raw {
        Raw(raw.to_owned())
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Raw) -> bool {
        self.text() == other.text()
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raw({})", self.text())
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Raw)
    }
}

/// A value that the protocol lets be an integer or a string, such as a module's id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum IntegerOrString {
    /// An integer.
    Integer(i64),
    /// A string.
    String(String),
}

impl fmt::Display for IntegerOrString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntegerOrString::Integer(value) => value.fmt(f),
            IntegerOrString::String(value) => value.fmt(f),
        }
    }
}

impl From<i64> for IntegerOrString {
    fn from(value: i64) -> Self {
        IntegerOrString::Integer(value)
    }
}

impl From<String> for IntegerOrString {
    fn from(value: String) -> Self {
        IntegerOrString::String(value)
    }
}

impl From<&str> for IntegerOrString {
    fn from(value: &str) -> Self {
        IntegerOrString::String(value.to_owned())
    }
}

impl Serialize for IntegerOrString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            IntegerOrString::Integer(value) => serializer.serialize_i64(*value),
            IntegerOrString::String(value) => serializer.serialize_str(value),
        }
    }
}

impl<'de> Deserialize<'de> for IntegerOrString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl de::Visitor<'_> for Either {
            type Value = IntegerOrString;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer or a string")
            }

            fn visit_i64<E>(self, value: i64) -> Result<IntegerOrString, E> {
                Ok(IntegerOrString::Integer(value))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<IntegerOrString, E> {
                i64::try_from(value)
                    .map(IntegerOrString::Integer)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(value), &self))
            }

            fn visit_str<E>(self, value: &str) -> Result<IntegerOrString, E> {
                Ok(IntegerOrString::String(value.to_owned()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Writes a number as JavaScript does: `100`, not `100.0`. Most peers send that form, and some expect it.
pub(crate) fn number<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    let whole = *value as i64;
    // Comparing the bits leaves fractions, large numbers and -0 alone.
    if (whole as f64).to_bits() == value.to_bits()
        && whole.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS
    {
        serializer.serialize_i64(whole)
    } else {
        serializer.serialize_f64(*value)
    }
}

/// As [`number`], for a field that may be absent.
pub(crate) fn optional_number<S: Serializer>(
    value: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => number(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// Why a payload does not have the shape that its message requires. Long values and paths are shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeError {
    /// The field at fault, such as `breakpoints[0].line`; empty for the payload as a whole, and without the feature `codec`. A long path
    /// lacks its middle.
    pub path: String,
    /// What was found and what was expected. A long value is cut after its start.
    pub message: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "`{}`: {}", self.path, self.message)
        }
    }
}

impl std::error::Error for DecodeError {}

/// Decodes a payload.
///
/// # Errors
/// The payload does not have `T`'s shape; the error names the field.
pub fn decode<T: DeserializeOwned>(raw: &RawValue) -> Result<T, DecodeError> {
    let text = raw.get();
    #[cfg(feature = "codec")]
    if let Some(value) = json::read(text) {
        return Ok(value);
    }
    serde_json::from_str(text).map_err(|error| explain::<T>(text, &error))
}

/// Decodes a payload that may be absent. Absent and `null` are the same as `{}`: a type without required fields gets its defaults,
/// and for any other type the error names the missing field.
///
/// # Errors
/// The payload does not have `T`'s shape; the error names the field.
pub fn decode_or_default<T: DeserializeOwned>(raw: Option<&RawValue>) -> Result<T, DecodeError> {
    match raw {
        Some(raw) if raw.get() != "null" => decode(raw),
        // `null` is tried for users' own types that are not objects, such as `()` and `Option<T>`.
        _ => serde_json::from_str("{}")
            .or_else(|error| serde_json::from_str("null").map_err(|_| explain::<T>("{}", &error))),
    }
}

/// Writes a payload as JSON. `None` if the JSON is `null`: the message then has no payload.
///
/// # Errors
/// `value` cannot be written as JSON, such as a map with keys that are not strings.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Option<Raw>, serde_json::Error> {
    Ok(Some(Raw::new(value)?).filter(|raw| raw.text() != "null"))
}

/// Decodes a payload again that is known to be wrong, with a deserializer that keeps track of the path to the field at fault.
#[cfg_attr(
    not(feature = "codec"),
    expect(
        unused_variables,
        clippy::extra_unused_type_parameters,
        reason = "no decoder keeps track of the path"
    )
)]
fn explain<T: DeserializeOwned>(text: &str, first: &serde_json::Error) -> DecodeError {
    #[cfg(feature = "codec")]
    if let Err(error) =
        serde_path_to_error::deserialize::<_, T>(&mut serde_json::Deserializer::from_str(text))
    {
        return shown(&error.path().to_string(), &error.inner().to_string());
    }
    shown("", &first.to_string())
}

/// Makes the error from the path and the message that the deserializers give.
fn shown(path: &str, message: &str) -> DecodeError {
    DecodeError {
        path: if path == "." {
            String::new()
        } else {
            excerpt::of_path(path)
        },
        message: excerpt::of_message(without_position(message)),
    }
}

/// serde_json's error text without the position. The position counts from the payload's start, so it would mislead a reader of the
/// whole message.
fn without_position(message: &str) -> &str {
    message
        .rfind(" at line ")
        .map_or(message, |at| &message[..at])
}

/// Implements `Deserialize` for a struct, from an object only (derived code also takes an array of the fields in order).
///
/// Each field has its number, its name in Rust, its name on the wire, and what absence and `null` mean: `required` (`null` only
/// where its type takes it), `optional` (`null` is absent), `any` (may be absent; `null` is a value). `list` and `optional_list`
/// are `required` and `optional` for lists, which are filled in place.
macro_rules! read_object {
    ($name:ident { $($index:literal $field:ident $wire:literal $presence:ident,)* }) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields;
                impl<'de> serde::de::Visitor<'de> for Fields {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        $(let mut $field = None;)*
                        while let Some(key) = map.next_key_seed($crate::message::Key(|name| match name { $($wire => $index,)* _ => usize::MAX }))? {
                            match key {
                                $($index => $field = $crate::message::read_object!(@next $presence map),)*
                                _ => drop(map.next_value::<serde::de::IgnoredAny>()?),
                            }
                        }
                        Ok($name { $($field: $crate::message::read_object!(@done $presence $field $wire),)* })
                    }
                }
                deserializer.deserialize_map(Fields)
            }
        }
    };
    (@next optional $map:ident) => { $crate::message::lenient::or_dropped($map.next_value())? };
    (@next list $map:ident) => { Some($map.next_value_seed($crate::message::List(std::marker::PhantomData))?) };
    (@next optional_list $map:ident) => { $crate::message::optional_list(&mut $map)? };
    (@next $presence:ident $map:ident) => { Some($map.next_value()?) };
    (@done required $field:ident $wire:literal) => {
        $field.ok_or_else(|| <A::Error as serde::de::Error>::missing_field($wire))?
    };
    (@done list $field:ident $wire:literal) => { $crate::message::read_object!(@done required $field $wire) };
    (@done $presence:ident $field:ident $wire:literal) => { $field };
}
pub(crate) use read_object;

/// Reads a field's name without a copy and maps it to the field's number.
pub(crate) struct Key<F: FnOnce(&str) -> usize>(pub F);

impl<'de, F: FnOnce(&str) -> usize> de::DeserializeSeed<'de> for Key<F> {
    type Value = usize;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<F: FnOnce(&str) -> usize> de::Visitor<'_> for Key<F> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    #[inline]
    fn visit_str<E>(self, name: &str) -> Result<usize, E> {
        Ok((self.0)(name))
    }
}

/// Reads a list. `Vec`'s own implementation moves each item twice more, and the protocol's items are large.
pub(crate) struct List<T>(pub PhantomData<T>);

impl<'de, T: Deserialize<'de>> de::DeserializeSeed<'de> for List<T> {
    type Value = Vec<T>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<T>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for List<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        // Allocates at most 64 KB before the first item, whatever the hint is.
        let most = (64 << 10) / size_of::<T>().max(1);
        let mut list = Vec::with_capacity(items.size_hint().unwrap_or(0).min(most));
        loop {
            match items.next_element_seed(Item(&mut list)) {
                Ok(Some(())) => {}
                Ok(None) => return Ok(list),
                Err(error) if !lenient::drop_part() => return Err(error),
                Err(_) => {}
            }
        }
    }
}

/// As [`List`]; `null` is `None`.
pub(crate) struct OptionalList<T>(pub PhantomData<T>);

impl<'de, T: Deserialize<'de>> de::DeserializeSeed<'de> for OptionalList<T> {
    type Value = Option<Vec<T>>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for OptionalList<T> {
    type Value = Option<Vec<T>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("option")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(List(PhantomData)).map(Some)
    }
}

/// Reads the list in an optional field.
#[inline]
pub(crate) fn optional_list<'de, T: Deserialize<'de>, A: de::MapAccess<'de>>(
    map: &mut A,
) -> Result<Option<Vec<T>>, A::Error> {
    lenient::or_dropped(map.next_value_seed(OptionalList(PhantomData)))
}

/// Reads an item and appends it to the list.
struct Item<'l, T>(&'l mut Vec<T>);

impl<'de, T: Deserialize<'de>> de::DeserializeSeed<'de> for Item<'_, T> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.push(T::deserialize(deserializer)?);
        Ok(())
    }
}

/// Defines an enumeration of strings. An `open` one keeps an unknown value in `Other`. A `closed` one refuses it unless it is decoded
/// leniently, and its `Other` cannot be sent.
macro_rules! string_enum {
    ($(#[$meta:meta])* closed $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
            /// A value that the protocol does not allow, as it was received by
            /// [`decode_leniently`](crate::message::decode_leniently). It cannot be sent.
            Other(Box<str>),
        }

        impl $name {
            /// All values that the protocol allows, in the definition's order.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The value on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::message::UnknownValue;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::message::UnknownValue { value: text.into(), known: &[$($text,)+] }),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Self::Other(text) => Err(serde::ser::Error::custom($crate::message::UnknownValue {
                        value: text.clone(),
                        known: &[$($text,)+],
                    })),
                    known => serializer.serialize_str(known.as_str()),
                }
            }
        }

        $crate::message::string_enum!(@serde $name, |text| match text.parse() {
            Err(unknown) if $crate::message::lenient::keep_unknown(&unknown) => Ok(Self::Other(unknown.value)),
            read => read.map_err(E::custom),
        });
    };
    ($(#[$meta:meta])* open $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
            /// A value that the protocol does not list, as it was received.
            Other(Box<str>),
        }

        impl $name {
            /// The value on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)+
                    _ => Self::Other(text.into()),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        $crate::message::string_enum!(@serde $name, |text| Ok(text.into()));
    };
    (@serde $name:ident, |$text:ident| $read:expr) => {
        impl $crate::message::FromText for $name {
            fn from_text<E: serde::de::Error>($text: &str) -> Result<Self, E> {
                $read
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::message::deserialize_text(deserializer)
            }
        }
    };
}
pub(crate) use string_enum;

/// An enumeration of strings, for [`deserialize_text`].
pub(crate) trait FromText: Sized {
    /// The value for which `text` stands on the wire.
    fn from_text<E: de::Error>(text: &str) -> Result<Self, E>;
}

/// Reads a string in place, without a copy of it.
pub(crate) fn deserialize_text<'de, T: FromText, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    struct Text<T>(std::marker::PhantomData<T>);
    impl<T: FromText> de::Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            T::from_text(text)
        }
    }
    deserializer.deserialize_str(Text(std::marker::PhantomData))
}

/// A string that is not one of a closed enumeration's values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownValue {
    /// The value found.
    pub value: Box<str>,
    /// The allowed values.
    pub known: &'static [&'static str],
}

impl fmt::Display for UnknownValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\"{}\" is not one of {}",
            self.value,
            self.known.join(", ")
        )
    }
}

impl std::error::Error for UnknownValue {}
