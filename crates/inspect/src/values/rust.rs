//! Views of Rust's enums, and of the types of the standard library and of widely used crates: they show what a user of the type knows,
//! such as a `Vec`'s elements.
//!
//! The library's layout is undocumented and changes. So members are found by their role (the first pointer inside `buf`, the integer
//! called `len`). If one is missing, the plain fields are shown. If the members' values make no sense, a reason is shown.

use super::view::{Field, Limit, Reason, Record, Style, View};
use super::{Contents, Reader, Value, contents, names};
use dapple_symbols::functions::Language;
use dapple_symbols::location::Unavailable;
use dapple_symbols::types::{Aggregate, Type, TypeId, TypeKind, Variant};

pub(crate) mod captures;
mod cells;
mod channels;
mod crates;
mod erased_errors;
pub mod glue;
mod iterators;
mod network;
mod objects;
mod owners;
mod persistent;
mod ranges;
mod sequences;
mod tables;
mod tails;
mod tasks;
mod text;
mod threads;
mod times;
mod trees;

pub(crate) use captures::closure_name;
pub(crate) use cells::is_poisoned;
pub(crate) use objects::{concrete_object, concrete_type, function_item};
pub(crate) use owners::{counts, extras, is_hidden_in_summaries, is_seen_through};
pub(crate) use sequences::is_readable;
pub(crate) use tails::hand_on as hand_on_tail;
pub(crate) use times::date_and_time;

/// The size of the largest possible object in Rust, in bytes.
const MAX_OBJECT: u64 = i64::MAX as u64;

/// How deep types are searched for uninhabited parts.
const NESTING: usize = 4;

/// Why a library's type has no view of its own.
enum Flaw {
    /// The type's layout is unknown: the value's plain fields are shown.
    Layout,
    /// The value is in a state that no live object has. The text says which, and is shown instead of the fields.
    Contents(String),
    /// The value can't be read, for this reason.
    Unreadable(Unavailable),
}

impl From<Unavailable> for Flaw {
    fn from(reason: Unavailable) -> Flaw {
        Flaw::Unreadable(reason)
    }
}

/// Turns a missing part into [`Flaw::Layout`].
trait OrUnknownLayout<T> {
    fn known(self) -> Result<T, Flaw>;
}

impl<T> OrUnknownLayout<T> for Option<T> {
    fn known(self) -> Result<T, Flaw> {
        self.ok_or(Flaw::Layout)
    }
}

fn broken<T>(why: impl Into<String>) -> Result<T, Flaw> {
    Err(Flaw::Contents(why.into()))
}

/// Whether a pointer whose type has this name is shown as its target: a reference, a `Box`.
pub(crate) fn is_transparent_pointer(name: &str) -> bool {
    name.starts_with('&') || name.starts_with("alloc::boxed::Box<")
}

/// The position of a tuple's field: `__0` → `0`. `None`: the name isn't that of a tuple's field.
pub(crate) fn tuple_index(name: &str) -> Option<&str> {
    let index = name.strip_prefix("__")?;
    let is_number = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(index)
}

/// Whether a field is a `PhantomData`.
pub(crate) fn is_phantom(reader: &Reader<'_>, field: &Value) -> bool {
    reader.resolve(field).is_some_and(|resolved| {
        resolved.type_.size == Some(0)
            && names::path_name(&resolved.type_.name) == "core::marker::PhantomData"
    })
}

/// The name before a struct's fields; empty for tuples. A reference such as `&[T]` is a struct in the debug information; its name is
/// the whole type's, shortened.
pub(crate) fn record_name(name: &str) -> String {
    match name.chars().next() {
        Some('(') => String::new(),
        Some('&' | '*') => names::shorten(name, Language::Rust),
        _ => names::base_name(name).to_owned(),
    }
}

/// The view of an enum: its active variant. A future is an enum, too; its view has the variables that it stores, unless the value is
/// shown raw.
pub(crate) fn enum_view(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    aggregate: &Aggregate,
) -> Result<View, Reason> {
    if !value.raw && captures::is_future(&type_.name) {
        return captures::future(reader, value, type_, aggregate);
    }
    let variant = active_variant(reader, value, aggregate)?;
    let payload = reader.member(value, &variant.member);
    let mut record = match reader.resolve(&payload).map(|resolved| resolved.type_) {
        Some(inner) => match &inner.kind {
            TypeKind::Aggregate(fields) => reader.record(&payload, &inner, fields),
            _ => empty(),
        },
        None => empty(),
    };
    record.name = Some(if names::is_rust_std(&type_.name) {
        variant.name.to_string()
    } else {
        format!("{}::{}", names::base_name(&type_.name), variant.name)
    });
    record.reachable = false;
    Ok(View::Record(record))
}

fn empty() -> Record {
    Record {
        name: None,
        style: Style::Named,
        fields: Vec::new(),
        raw: false,
        statics: Vec::new(),
        reachable: false,
        whole: None,
    }
}

/// A record that is shown instead of the library type's own fields.
fn shown(name: &str, fields: Vec<(&str, Value)>) -> View {
    let field = |(name, value): (&str, Value)| Field {
        name: name.to_owned(),
        value,
        base: false,
        artificial: false,
    };
    View::Record(Record {
        name: Some(name.to_owned()),
        fields: fields.into_iter().map(field).collect(),
        raw: true,
        ..empty()
    })
}

/// Whether a type has no values: `!`, an enum without variants, and types with a member of such a type, up to `nesting` levels down.
fn is_uninhabited(reader: &Reader<'_>, value: &Value, nesting: usize) -> bool {
    let Some(type_) = reader.resolve(value).map(|resolved| resolved.type_) else {
        return false;
    };
    match &type_.kind {
        TypeKind::Aggregate(aggregate) => {
            let no_variant = aggregate.variants.as_ref();
            no_variant.is_some_and(|part| part.variants.is_empty())
                || nesting > 0
                    && aggregate.members.iter().any(|member| {
                        is_uninhabited(reader, &reader.member(value, member), nesting - 1)
                    })
        }
        _ => &*type_.name == "!",
    }
}

pub(crate) fn active_variant<'a>(
    reader: &Reader<'_>,
    value: &Value,
    aggregate: &'a Aggregate,
) -> Result<&'a Variant, Reason> {
    let unsupported = |what: &str| Unavailable::Unsupported(what.to_owned());
    let part = aggregate
        .variants
        .as_ref()
        .ok_or_else(|| unsupported("no variants"))?;
    let Some(member) = &part.discriminant else {
        // Only one variant is possible, so no discriminant is stored.
        let mut variants = part.variants.iter();
        let possible = variants.find(|variant| {
            let payload = reader.member(value, &variant.member);
            !is_uninhabited(reader, &payload, NESTING)
        });
        return possible
            .or(part.variants.first())
            .ok_or_else(|| unsupported("an enum without variants"));
    };
    let discriminant = reader.member(value, member);
    let size = reader.size_of(&discriminant).unwrap_or(0).clamp(1, 16);
    let bytes = reader.bytes(&discriminant.contents, size)?;
    let number = contents::extract_bits(&bytes, 0, 128);
    let covers = |variant: &&Variant| {
        variant
            .discriminants
            .iter()
            .any(|(low, high)| (*low..=*high).contains(&number))
    };
    part.variants
        .iter()
        .find(covers)
        .or_else(|| part.variants.iter().find(|v| v.discriminants.is_empty()))
        .ok_or_else(|| unsupported(&format!("no variant has the discriminant {number}")))
}

/// The view of a type of the standard library or of a known crate, or of a fat pointer; `None`: another type, or an unknown layout.
pub(crate) fn view(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    aggregate: &Aggregate,
    limit: Limit,
) -> Option<View> {
    let reason = match of_library(reader, value, type_, aggregate, limit) {
        Ok(view) => return Some(view),
        Err(Flaw::Layout) => return None,
        Err(Flaw::Contents(why)) => format!("<not initialised or corrupt: {why}>"),
        Err(Flaw::Unreadable(reason)) => reader.reason(&reason),
    };
    Some(View::Broken(reason))
}

/// Types that consist of a file descriptor.
const DESCRIPTORS: [&str; 9] = [
    "std::fs::File",
    "std::net::tcp::TcpStream",
    "std::net::tcp::TcpListener",
    "std::net::udp::UdpSocket",
    "std::os::unix::net::stream::UnixStream",
    "std::os::unix::net::listener::UnixListener",
    "std::os::unix::net::datagram::UnixDatagram",
    "std::os::fd::owned::OwnedFd",
    "std::os::fd::owned::BorrowedFd",
];

fn of_library(
    reader: &Reader<'_>,
    value: &Value,
    type_: &Type,
    aggregate: &Aggregate,
    limit: Limit,
) -> Result<View, Flaw> {
    let field = |name: &str| reader.field(value, name).known();
    let alias = |name: &str| field(name).map(View::Alias);
    let path = names::path_name(&type_.name);
    match path {
        "alloc::string::String" => text::string(reader, &field("vec")?, limit),
        "std::path::PathBuf" | "std::ffi::os_str::OsString" => {
            let is_vec =
                |_: Option<&str>, type_: &Type| names::path_name(&type_.name) == "alloc::vec::Vec";
            let vec = reader.search(value, 8, &is_vec).known()?;
            text::string(reader, &vec, limit)
        }
        "alloc::ffi::c_str::CString" => text::c_string(reader, value, limit),
        "alloc::vec::Vec" => sequences::vec(reader, value, aggregate),
        "alloc::collections::vec_deque::VecDeque" => sequences::deque(reader, value, aggregate),
        "alloc::collections::binary_heap::BinaryHeap" => alias("data"),
        "alloc::collections::linked_list::LinkedList" => tables::list(reader, value, false, limit),
        "std::collections::hash::map::HashMap" => tables::hash(reader, value, false, limit),
        "std::collections::hash::set::HashSet" => tables::hash(reader, value, true, limit),
        "alloc::collections::btree::map::BTreeMap" => trees::tree(reader, value, false, limit),
        "alloc::collections::btree::set::BTreeSet" => trees::tree(reader, value, true, limit),
        "alloc::rc::Rc" | "alloc::sync::Arc" => owners::counted(reader, value, type_, limit),
        "alloc::rc::Weak" | "alloc::sync::Weak" => owners::weak(reader, value, type_, limit),
        "core::cell::UnsafeCell"
        | "core::mem::manually_drop::ManuallyDrop"
        | "core::mem::maybe_uninit::MaybeUninit" => alias("value"),
        "core::mem::maybe_dangling::MaybeDangling"
        | "core::num::wrapping::Wrapping"
        | "core::num::saturating::Saturating" => alias("__0"),
        "core::cell::Cell" => cells::cell(reader, value),
        "core::cell::RefCell" => cells::ref_cell(reader, value),
        "core::cell::once::OnceCell" => cells::once_cell(reader, value),
        "core::cell::lazy::LazyCell" => cells::lazy_cell(reader, value),
        "core::cell::Ref" | "core::cell::RefMut" => cells::behind(reader, &field("value")?),
        "std::sys::thread_local::native::lazy::Storage" => {
            cells::thread_storage(reader, value, &field("value")?)
        }
        "std::sys::thread_local::native::eager::Storage" => {
            cells::thread_storage(reader, value, &field("val")?)
        }
        "std::sync::once_lock::OnceLock" => cells::once_lock(reader, value),
        "std::sync::lazy_lock::LazyLock" => cells::lazy_lock(reader, value),
        "std::sync::poison::mutex::Mutex" | "std::sync::poison::rwlock::RwLock" => {
            cells::lock(reader, value, path)
        }
        "std::sync::poison::mutex::MutexGuard" | "std::sync::poison::rwlock::RwLockWriteGuard" => {
            cells::guard(reader, &field("lock")?)
        }
        "std::sync::poison::rwlock::RwLockReadGuard" => cells::behind(reader, &field("data")?),
        "core::pin::Pin" => {
            let pinned = field("pointer").or_else(|_| field("__pointer"))?;
            Ok(View::Alias(pinned))
        }
        "core::ptr::non_null::NonNull"
        | "core::ptr::unique::Unique"
        | "core::sync::atomic::AtomicPtr" => {
            let mut pointer = reader.find_pointer(value).known()?;
            pointer.raw = true;
            Ok(reader.view(&pointer, limit))
        }
        "core::num::nonzero::NonZero" => Ok(View::Alias(reader.find_integer(value).known()?)),
        "core::sync::atomic::AtomicBool" => cells::atomic_bool(reader, &field("v")?),
        _ if path.starts_with("core::sync::atomic::Atomic") => alias("v"),
        "core::time::Duration" => times::duration(reader, value),
        "std::time::SystemTime" => times::date(reader, value),
        "std::time::Instant" => times::instant(reader, value),
        "core::net::ip_addr::Ipv4Addr" | "core::net::ip_addr::Ipv6Addr" => {
            network::address(reader, value)
        }
        "core::net::socket_addr::SocketAddrV4" | "core::net::socket_addr::SocketAddrV6" => {
            network::socket(reader, value)
        }
        "core::net::ip_addr::IpAddr" | "core::net::socket_addr::SocketAddr" => {
            Ok(View::Alias(payload(reader, value).known()?))
        }
        "std::io::error::Error" => objects::io_error(reader, value),
        _ if path.starts_with("core::ops::range::Range") => ranges::range(reader, value, path),
        "std::sync::mpsc::Sender" | "std::sync::mpsc::SyncSender" | "std::sync::mpsc::Receiver" => {
            channels::end(reader, value, type_)
        }
        "std::sync::mpmc::list::Channel" => channels::list(reader, value, limit),
        "std::sync::mpmc::array::Channel" => channels::ring(reader, value),
        "core::task::wake::Waker" => tasks::waker(reader, value),
        "core::task::wake::Context" => tasks::context(reader, value),
        _ if path.starts_with("std::thread::") => match names::base_name(path) {
            "Thread" => threads::thread(reader, value),
            name @ ("JoinHandle" | "ScopedJoinHandle") => threads::handle(reader, value, name),
            _ => Err(Flaw::Layout),
        },
        _ if path.starts_with("std::sync::") => match names::base_name(path) {
            "Barrier" => threads::barrier(reader, value),
            "Once" => threads::once(reader, value),
            "Condvar" => Ok(shown("Condvar", Vec::new())),
            _ => Err(Flaw::Layout),
        },
        _ if DESCRIPTORS.contains(&path) => {
            let number = reader.find(value, "fd").known()?;
            let number = reader.find_integer(&number).known()?;
            Ok(shown(names::base_name(path), vec![("fd", number)]))
        }
        _ => match iterators::view(reader, value, aggregate, path, limit) {
            Err(Flaw::Layout) if aggregate.members.len() == 2 && !crates::is_known(path) => {
                objects::fat_pointer(reader, value, type_, limit)
            }
            Err(Flaw::Layout) => match crates::view(reader, value, aggregate, path, limit) {
                Err(Flaw::Layout) => crates::flags(reader, value, aggregate, path),
                shown => shown,
            },
            shown => shown,
        },
    }
}

/// The note after a value: an unusual state, or where a future is suspended. If `alone`, so if the value isn't inside another value's
/// text, also how many owners share it, how many ends a channel has, or the concrete type of a trait object.
pub(crate) fn note(reader: &Reader<'_>, value: &Value, view: &View, alone: bool) -> Option<String> {
    if let View::Leaf(_) | View::Missing(_) | View::Pointer { .. } | View::Entries(_) = view {
        return None;
    }
    let note = match (kind(reader, value)?, view) {
        (Kind::Owner, _) if alone => owners::note(reader, value),
        (Kind::Cell(path), _) => cells::note(reader, value, path),
        (Kind::Channel, _) if alone => channels::note(reader, value),
        (Kind::Range, _) => ranges::note(reader, value),
        (Kind::Future, _) => {
            let type_ = reader.resolve(value)?.type_;
            match &type_.kind {
                TypeKind::Aggregate(aggregate) => captures::note(reader, value, aggregate),
                _ => None,
            }
        }
        (Kind::Object, View::Alias(target)) if alone => return objects::note(reader, target),
        _ => None,
    };
    note.map(|note| format!("({note})"))
}

/// Types that have a note or additional children.
enum Kind {
    /// `Rc`, `Arc`, `Weak`.
    Owner,
    /// A cell or lock, with the path of its type.
    Cell(&'static str),
    /// The guard of a cell or lock.
    Guard,
    /// An end of a channel.
    Channel,
    /// `RangeInclusive`.
    Range,
    /// A pointer to a trait object.
    Object,
    /// A future made by `async`, or a `gen` block.
    Future,
}

/// Cells and locks with a state.
const CELLS: [&str; 3] = [
    "core::cell::RefCell",
    "std::sync::poison::mutex::Mutex",
    "std::sync::poison::rwlock::RwLock",
];

fn is_cell(path: &str) -> bool {
    CELLS.contains(&path)
}

fn kind(reader: &Reader<'_>, value: &Value) -> Option<Kind> {
    if value.raw || value.language != Language::Rust {
        return None;
    }
    let type_ = reader.resolve(value)?.type_;
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return None;
    };
    match names::path_name(&type_.name) {
        "alloc::rc::Rc" | "alloc::sync::Arc" | "alloc::rc::Weak" | "alloc::sync::Weak" => {
            Some(Kind::Owner)
        }
        "std::sync::poison::mutex::MutexGuard"
        | "std::sync::poison::rwlock::RwLockWriteGuard"
        | "std::sync::poison::rwlock::RwLockReadGuard"
        | "core::cell::Ref"
        | "core::cell::RefMut" => Some(Kind::Guard),
        "std::sync::mpsc::Sender" | "std::sync::mpsc::SyncSender" | "std::sync::mpsc::Receiver" => {
            Some(Kind::Channel)
        }
        "core::ops::range::RangeInclusive" => Some(Kind::Range),
        _ if aggregate.variants.is_some() => {
            captures::is_future(&type_.name).then_some(Kind::Future)
        }
        path => {
            if let Some(cell) = CELLS.iter().find(|cell| **cell == path) {
                return Some(Kind::Cell(cell));
            }
            let members = &aggregate.members;
            let has = |name: &str| members.iter().any(|m| m.name.as_deref() == Some(name));
            let is_object = members.len() == 2 && has("pointer") && has("vtable");
            is_object.then_some(Kind::Object)
        }
    }
}

/// The value in `slot`, without wrappers such as `UnsafeCell` and `MaybeUninit`.
fn held(reader: &Reader<'_>, slot: Value) -> Value {
    let mut value = slot;
    for _ in 0..4 {
        let wrapper = reader.resolve(&value).is_some_and(|resolved| {
            let name = names::base_name(&resolved.type_.name);
            matches!(
                name,
                "UnsafeCell" | "MaybeUninit" | "ManuallyDrop" | "MaybeDangling"
            )
        });
        let inner = reader
            .field(&value, "value")
            .or_else(|| reader.field(&value, "__0"));
        match inner {
            Some(inner) if wrapper => value = inner,
            _ => break,
        }
    }
    value
}

/// A `RawVec`'s address and capacity.
pub(crate) fn raw_vec_parts(reader: &Reader<'_>, buffer: &Value) -> Option<(u64, u64)> {
    sequences::raw_vec_parts(reader, buffer).ok()
}

/// The first generic argument of a type.
fn argument(aggregate: &Aggregate) -> Option<TypeId> {
    aggregate.type_arguments.first()?.1
}

/// The first generic argument of a value's type.
fn argument_of(reader: &Reader<'_>, value: &Value) -> Option<TypeId> {
    match &reader.resolve(value)?.type_.kind {
        TypeKind::Aggregate(aggregate) => argument(aggregate),
        _ => None,
    }
}

/// The first field of an enum's active variant.
fn payload(reader: &Reader<'_>, value: &Value) -> Option<Value> {
    let type_ = reader.resolve(value)?.type_;
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return None;
    };
    match enum_view(reader, value, &type_, aggregate) {
        Ok(View::Record(record)) => record.fields.into_iter().next().map(|field| field.value),
        _ => None,
    }
}

/// The target of the first pointer in a value.
fn pointed_to(reader: &Reader<'_>, value: &Value) -> Result<Value, Flaw> {
    let pointer = reader.find_pointer(value).known()?;
    let TypeKind::Pointer(_, target) = reader.resolve(&pointer).known()?.type_.kind else {
        return Err(Flaw::Layout);
    };
    let address = reader.word(&pointer.contents)?;
    Ok(pointer.sibling(target, Contents::Memory(crate::Address(address))))
}

/// The name of an enum's active variant, whether it has variants with fields or not. `None`: the value is no enum, or can't be read.
pub(crate) fn active_variant_name(reader: &Reader<'_>, value: &Value) -> Option<String> {
    let type_ = reader.resolve(value)?.type_;
    let TypeKind::Enumeration { values, .. } = &type_.kind else {
        return variant_name(reader, value).ok();
    };
    let bytes = reader
        .bytes(&value.contents, type_.size?.clamp(1, 16))
        .ok()?;
    let bits = bytes.len() as u32 * 8;
    let number = contents::extract_bits(&bytes, 0, 128);
    let mask = u128::MAX >> (128 - bits);
    let mut values = values.iter();
    let found = values.find(|(_, value)| *value as u128 & mask == number);
    found.map(|(name, _)| name.to_string())
}

/// The name of an enum's active variant.
fn variant_name(reader: &Reader<'_>, value: &Value) -> Result<String, Flaw> {
    let type_ = reader.resolve(value).known()?.type_;
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return Err(Flaw::Layout);
    };
    Ok(active_variant(reader, value, aggregate)?.name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_tuples_are_numbered() {
        assert_eq!(tuple_index("__0"), Some("0"));
        assert_eq!(tuple_index("__name"), None);
        assert_eq!(tuple_index("__"), None);
    }
}
