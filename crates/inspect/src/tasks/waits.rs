//! What futures of popular crates wait for: timers, channels, locks, sockets, other tasks. A table of their types.

use super::awaits::Around;
use super::{Wait, locks, parts};
use crate::values::{Reader, Value, names};
use dapple_symbols::functions::Language;
use dapple_symbols::names::readable_name;
use std::time::Duration;

/// What a future waits for, before numbers of tasks are known.
#[derive(Debug, Clone)]
pub(super) struct Waited {
    /// The description.
    pub wait: Wait,
    /// The awaited task.
    pub task: Option<Awaited>,
    /// The address of the awaited lock.
    pub lock: Option<u64>,
    /// Whether it isn't worth a mention beside what else is awaited at the same time.
    pub is_minor: bool,
}

/// A task that is awaited.
#[derive(Debug, Clone)]
pub(super) enum Awaited {
    /// The header of a task of tokio's.
    Tokio(Value),
    /// The address of the header of a task of async-task's.
    Raw(u64),
}

impl From<Wait> for Waited {
    fn from(wait: Wait) -> Waited {
        Waited {
            wait,
            task: None,
            lock: None,
            is_minor: false,
        }
    }
}

impl Wait {
    pub(super) fn text(text: String) -> Wait {
        Wait {
            text,
            tasks: Vec::new(),
        }
    }
}

/// How to describe a future.
#[derive(Clone, Copy)]
enum Kind {
    Text(&'static str),
    Timer(&'static str),
    /// The handle of a tokio task.
    Join,
    /// The handle of a task of async-task.
    RawTask,
    /// A future that other things are made with: [`AROUND`] has them.
    Inner(&'static str),
    /// The future behind tokio's locks, semaphores and bounded channels.
    Permits,
    /// A future of async-lock's, which refers to the lock.
    Lock(&'static str),
    /// A set of tasks.
    JoinSet,
    Socket,
    /// The future behind tokio's sockets: which one, the activations around it have among their variables.
    Readiness,
    /// A future that never ends. async-std's `sleep` is a timeout of one.
    Never,
    /// A future of async-io's, which refers to the socket.
    Ready,
    /// A future that is ready: nothing is waited for.
    Nothing,
}

const MUTEX: &str = "a lock (Mutex)";
const RW_LOCK: &str = "a lock (RwLock)";
const SEMAPHORE: &str = "permits (Semaphore)";
const TASK_TO_RUN: &str = "a task to run (executor)";
const BARRIER: &str = "other tasks (Barrier)";

/// The types, by their paths.
const KNOWN: &[(&str, Kind)] = &[
    ("tokio::time::sleep::Sleep", Kind::Timer("deadline")),
    // Up to tokio 1.21.
    ("tokio::time::driver::sleep::Sleep", Kind::Timer("deadline")),
    ("tokio::runtime::task::join::JoinHandle", Kind::Join),
    ("tokio::sync::batch_semaphore::Acquire", Kind::Permits),
    (
        "tokio::sync::notify::Notified",
        Kind::Inner("a notification (Notify)"),
    ),
    (
        "tokio::sync::notify::OwnedNotified",
        Kind::Inner("a notification (Notify)"),
    ),
    (
        "tokio::sync::oneshot::Receiver",
        Kind::Text("a value (oneshot channel)"),
    ),
    (
        "tokio::sync::mpsc::bounded::Receiver",
        Kind::Text("a message (mpsc channel)"),
    ),
    (
        "tokio::sync::mpsc::unbounded::UnboundedReceiver",
        Kind::Text("a message (mpsc channel)"),
    ),
    (
        "tokio::sync::broadcast::Recv",
        Kind::Text("a message (broadcast channel)"),
    ),
    ("tokio::task::join_set::JoinSet", Kind::JoinSet),
    (
        "tokio::sync::mpsc::chan::Rx",
        Kind::Text("a message (mpsc channel)"),
    ),
    (
        "tokio::runtime::io::scheduled_io::Readiness",
        Kind::Readiness,
    ),
    ("tokio::net::tcp::stream::TcpStream", Kind::Socket),
    ("tokio::net::tcp::listener::TcpListener", Kind::Socket),
    ("tokio::net::unix::stream::UnixStream", Kind::Socket),
    ("tokio::net::unix::listener::UnixListener", Kind::Socket),
    ("tokio::net::udp::UdpSocket", Kind::Socket),
    (
        "futures_util::future::future::remote_handle::RemoteHandle",
        Kind::Text("the result of a task (RemoteHandle)"),
    ),
    (
        "futures_channel::oneshot::Receiver",
        Kind::Text("a value (oneshot channel)"),
    ),
    (
        "futures_channel::mpsc::Receiver",
        Kind::Text("a message (mpsc channel)"),
    ),
    (
        "futures_channel::mpsc::UnboundedReceiver",
        Kind::Text("a message (mpsc channel)"),
    ),
    ("async_task::task::Task", Kind::RawTask),
    ("async_io::Timer", Kind::Timer("when")),
    ("async_channel::Recv", Kind::Text("a message (channel)")),
    (
        "async_channel::Send",
        Kind::Text("room for a message (channel)"),
    ),
    ("async_io::reactor::Readable", Kind::Ready),
    ("async_io::reactor::Writable", Kind::Ready),
    ("async_io::reactor::ReadableOwned", Kind::Ready),
    ("async_io::reactor::WritableOwned", Kind::Ready),
    ("async_lock::mutex::Lock", Kind::Lock(MUTEX)),
    ("async_lock::mutex::LockArc", Kind::Lock(MUTEX)),
    ("async_lock::rwlock::futures::Read", Kind::Lock(RW_LOCK)),
    ("async_lock::rwlock::futures::ReadArc", Kind::Lock(RW_LOCK)),
    (
        "async_lock::rwlock::futures::UpgradableRead",
        Kind::Lock(RW_LOCK),
    ),
    (
        "async_lock::rwlock::futures::UpgradableReadArc",
        Kind::Lock(RW_LOCK),
    ),
    ("async_lock::rwlock::futures::Upgrade", Kind::Lock(RW_LOCK)),
    (
        "async_lock::rwlock::futures::UpgradeArc",
        Kind::Lock(RW_LOCK),
    ),
    ("async_lock::rwlock::futures::Write", Kind::Lock(RW_LOCK)),
    ("async_lock::rwlock::futures::WriteArc", Kind::Lock(RW_LOCK)),
    ("async_lock::semaphore::Acquire", Kind::Lock(SEMAPHORE)),
    ("async_lock::semaphore::AcquireArc", Kind::Lock(SEMAPHORE)),
    ("async_lock::barrier::BarrierWait", Kind::Text(BARRIER)),
    (
        "event_listener::EventListener",
        Kind::Inner("an event (Event)"),
    ),
    (
        "futures_lite::future::YieldNow",
        Kind::Text("its next turn (yield_now)"),
    ),
    ("core::future::pending::Pending", Kind::Never),
    ("futures_lite::future::Pending", Kind::Never),
    ("async_std::future::pending::Pending", Kind::Never),
    ("core::future::ready::Ready", Kind::Nothing),
];

/// The types of sockets, and what they are.
const SOCKETS: &[(&str, &str)] = &[
    ("tokio::net::tcp::stream::TcpStream", "a TCP connection"),
    ("tokio::net::tcp::listener::TcpListener", "a TCP listener"),
    ("tokio::net::unix::stream::UnixStream", "a Unix socket"),
    (
        "tokio::net::unix::listener::UnixListener",
        "a Unix listener",
    ),
    ("tokio::net::udp::UdpSocket", "a UDP socket"),
    (
        "tokio::net::unix::datagram::socket::UnixDatagram",
        "a Unix socket",
    ),
    ("tokio::io::async_fd::AsyncFd", "a descriptor"),
    ("tokio::io::poll_evented::PollEvented", "a descriptor"),
];

/// How the types of futures begin that read or write, and refer to a socket.
const INPUT: [&str; 3] = [
    "async_std::io::",
    "futures_lite::io::",
    "futures_util::io::",
];

const DESCRIPTOR: &str = "a descriptor";

/// The standard library's types of sockets, and what they are.
const PLAIN_SOCKETS: &[(&str, &str)] = &[
    ("std::net::tcp::TcpStream", "a TCP connection"),
    ("std::net::tcp::TcpListener", "a TCP listener"),
    ("std::net::udp::UdpSocket", "a UDP socket"),
    ("std::os::unix::net::stream::UnixStream", "a Unix socket"),
    (
        "std::os::unix::net::listener::UnixListener",
        "a Unix listener",
    ),
    (
        "std::os::unix::net::datagram::UnixDatagram",
        "a Unix socket",
    ),
];

/// Whose modules say what is waited for where several use the same future underneath.
const AROUND: &[(&str, &str)] = &[
    ("tokio::sync::mutex::", MUTEX),
    ("tokio::sync::rwlock::", RW_LOCK),
    ("tokio::sync::mpsc::", "room for a message (mpsc channel)"),
    ("tokio::sync::semaphore::", SEMAPHORE),
    ("tokio::task::yield_now::", "its next turn (yield_now)"),
    ("tokio::sync::watch::", "a change (watch channel)"),
    ("tokio::sync::barrier::", BARRIER),
    ("tokio::sync::once_cell::", "the initialisation (OnceCell)"),
    ("tokio::signal::", "a signal"),
    ("tokio::process::", "a child process"),
    ("tokio::net::tcp::stream::", "a TCP connection to be made"),
    ("tokio::net::unix::stream::", "a Unix connection to be made"),
    // Up to async-lock 2.8, its futures are those of asynchronous functions.
    ("async_lock::mutex::", MUTEX),
    ("async_lock::rwlock::", RW_LOCK),
    ("async_lock::semaphore::", SEMAPHORE),
    ("async_lock::barrier::", BARRIER),
    ("async_lock::once_cell::", "the initialisation (OnceCell)"),
    ("async_executor::", TASK_TO_RUN),
];

/// What tokio's timers have in a variant of an enum, from 1.49 to 1.53.
const TIMER_ENTRY: &str = "tokio::runtime::time::entry::TimerEntry";

/// The future that calls a function whenever it is polled.
const POLL_FN: &str = "core::future::poll_fn::PollFn";

/// What a value of the type `path` waits for. `around` are the functions of the activations around it, outermost first. `None`: its type is
/// not known; `Some(None)`: it waits for nothing.
pub(super) fn known(
    reader: &Reader<'_>,
    path: &str,
    value: &Value,
    around: &[Around],
    now: Option<Duration>,
) -> Option<Option<Waited>> {
    if INPUT.iter().any(|start| path.starts_with(start))
        && let Some(socket) = async_socket(reader, value)
    {
        return Some(Some(Wait::text(socket).into()));
    }
    let (_, kind) = KNOWN.iter().find(|(known, _)| *known == path)?;
    let inner = around.last().map_or("", |around| &*around.function);
    let wrapped = AROUND.iter().find(|(module, _)| inner.starts_with(module));
    let text = |text: &str| Waited::from(Wait::text(text.to_owned()));
    Some(match kind {
        Kind::Nothing => None,
        Kind::Text(plain) => Some(text(plain)),
        Kind::Inner(plain) => Some(Waited {
            lock: { wrapped }
                .filter(|(_, text)| [MUTEX, RW_LOCK, SEMAPHORE].contains(text))
                .and_then(|_| locks::lock_of(reader, &around.last()?.variables)),
            ..text(wrapped.map_or(plain, |(_, text)| text))
        }),
        Kind::Timer(field) => Some(timer(reader, value, field, now)),
        Kind::Join => Some(Waited {
            task: reader
                .find(value, "raw")
                .and_then(|raw| parts::pointee(reader, &raw))
                .map(Awaited::Tokio),
            ..text("a task")
        }),
        Kind::RawTask => Some(Waited {
            task: parts::pointer_in(reader, value).map(Awaited::Raw),
            ..text("a task")
        }),
        Kind::Permits => Some(Waited {
            lock: reader
                .field(value, "semaphore")
                .and_then(|semaphore| parts::pointer_in(reader, &semaphore)),
            ..text(wrapped.map_or("permits", |(_, text)| text))
        }),
        Kind::Lock(plain) => Some(Waited {
            lock: locks::lock_of(reader, value),
            ..text(plain)
        }),
        Kind::Never => {
            let sleeps = |around: &Around| around.function.starts_with("async_std::task::sleep::");
            Some(Waited {
                is_minor: around.iter().any(sleeps),
                ..text("nothing: it is pending for ever")
            })
        }
        Kind::Ready => {
            let socket = async_socket(reader, value);
            Some(text(socket.as_deref().unwrap_or(DESCRIPTOR)))
        }
        Kind::JoinSet => Some(join_set(reader, value)),
        Kind::Socket => Some(text(&socket(reader, path, value)?)),
        Kind::Readiness => {
            let sockets = around.iter().rev();
            let found = { sockets }.find_map(|around| socket_among(reader, &around.variables));
            Some(text(found.as_deref().unwrap_or(DESCRIPTOR)))
        }
    })
}

/// A future of another type, which the activation `around` awaits.
pub(super) fn unknown(type_name: &str, around: &str) -> Waited {
    let wrapped = AROUND.iter().find(|(module, _)| around.starts_with(module));
    let text = match wrapped {
        Some((_, text)) => (*text).to_owned(),
        None if names::path_name(type_name) == POLL_FN => {
            format!("poll_fn in {}", readable_name(around))
        }
        None => names::shorten(type_name, Language::Rust),
    };
    Waited {
        is_minor: text == TASK_TO_RUN,
        ..Wait::text(text).into()
    }
}

fn timer(reader: &Reader<'_>, value: &Value, field: &str, now: Option<Duration>) -> Waited {
    let deadline = || {
        // It may be in an `Option`.
        let is_time = |path: &str| names::base_name(path) == "Timespec";
        let is_entry = |path: &str| path == TIMER_ENTRY;
        let within = || parts::all(reader, value, &is_entry, &|_| false).pop();
        let found = reader.find(value, field);
        let deadline = found.or_else(|| reader.find(&within()?, field))?;
        let deadline = parts::all(reader, &deadline, &is_time, &|_| false).pop()?;
        let number = |name: &str, size: usize| {
            let part = reader.find_integer(&reader.find(&deadline, name)?)?;
            let bytes = reader.bytes(&part.contents, size as u64).ok()?;
            let mut whole = [0; 8];
            whole.get_mut(..size)?.copy_from_slice(&bytes);
            Some(u64::from_le_bytes(whole))
        };
        let nanoseconds = u32::try_from(number("tv_nsec", 4)?).ok()?;
        let is_valid = nanoseconds < 1_000_000_000;
        is_valid.then(|| Duration::new(number("tv_sec", 8).unwrap_or(0), nanoseconds))
    };
    let left = now
        .zip(deadline())
        .map(|(now, at)| match at.checked_sub(now) {
            Some(left) => format!("a timer, {} left", seconds(left)),
            None => "a timer that has run out".to_owned(),
        });
    Wait::text(left.unwrap_or_else(|| "a timer".to_owned())).into()
}

/// A time that is read by a person: `50 ms`, `1.2 s`, `12 min`, `5 h`.
fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds if seconds < 600 => format!("{:.1} s", time.as_secs_f64()),
        seconds if seconds < 7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

fn join_set(reader: &Reader<'_>, value: &Value) -> Waited {
    let length = reader.find(value, "length");
    let length = length.and_then(|length| reader.word(&length.contents).ok());
    let text = match length {
        Some(1) => "the task of a JoinSet".to_owned(),
        Some(length) => format!("one of {length} tasks (JoinSet)"),
        None => "one of the tasks of a JoinSet".to_owned(),
    };
    Wait::text(text).into()
}

/// The first socket among variables, or that one of them points to.
fn socket_among(reader: &Reader<'_>, variables: &Value) -> Option<String> {
    let type_ = parts::type_of(reader, variables)?;
    let mut fields = parts::fields(reader, variables, &type_).into_iter();
    fields.find_map(|field| {
        let type_ = parts::type_of(reader, &field)?;
        let (field, type_) = match parts::target(reader, &field, &type_) {
            Some(target) => {
                let type_ = parts::type_of(reader, &target)?;
                (target, type_)
            }
            None => (field, type_),
        };
        socket(reader, names::path_name(&type_.name), &field)
    })
}

/// A socket, with its file descriptor. `None`: the value is none.
fn socket(reader: &Reader<'_>, path: &str, value: &Value) -> Option<String> {
    let (_, what) = SOCKETS.iter().find(|(known, _)| *known == path)?;
    Some(with_descriptor(reader, what, value))
}

/// The socket of async-io's that a future refers to.
fn async_socket(reader: &Reader<'_>, value: &Value) -> Option<String> {
    let is_socket = |path: &str| path == "async_io::Async";
    let follows = |name: &str| {
        let starts = ["async_std::net::", "async_std::os::", "async_net::"];
        name.contains("async_io::Async<") || starts.iter().any(|start| name.starts_with(start))
    };
    let socket = parts::all(reader, value, &is_socket, &follows).pop()?;
    let type_ = parts::type_of(reader, &socket)?;
    let inner = names::first_argument(&type_.name).unwrap_or_default();
    let known = { PLAIN_SOCKETS.iter() }.find(|(path, _)| *path == names::path_name(inner));
    let what = known.map_or(DESCRIPTOR, |(_, what)| what);
    Some(with_descriptor(reader, what, &socket))
}

/// What a socket is, with its file descriptor, if that is found.
fn with_descriptor(reader: &Reader<'_>, what: &str, value: &Value) -> String {
    let is_descriptor = |name: &str| name == "std::os::fd::owned::OwnedFd";
    let found = parts::all(reader, value, &is_descriptor, &|_| false).pop();
    let number = found.and_then(|found| {
        let number = reader.find_integer(&found)?;
        let bytes = reader.bytes(&number.contents, 4).ok()?;
        Some(i32::from_le_bytes(bytes.try_into().ok()?))
    });
    match number {
        Some(number) => format!("{what}, descriptor {number}"),
        None => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::seconds;
    use std::time::Duration;

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(Duration::from_millis(50)), "50 ms");
        assert_eq!(seconds(Duration::from_millis(1240)), "1.2 s");
        assert_eq!(seconds(Duration::from_secs(7199)), "119 min");
        assert_eq!(seconds(Duration::from_secs(7200)), "2 h");
    }
}
