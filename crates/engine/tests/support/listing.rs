//! A frame's values as text, for comparisons with recorded values.

use super::behind_qemu;
use dapple_engine::frame::FrameId;
use dapple_engine::postmortem::CoreOptions;
use dapple_engine::values::{NamedValue, Rendered};
use dapple_engine::{Event, Session, ThreadId};
use std::fmt::{Debug, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most children shown of one value.
const MOST: u64 = 12;

/// Locals of the fixtures that are assigned on the very line of the stop.
const UNSET: [&str; 2] = ["sum", "size"];

/// The innermost frame of a thread.
pub fn innermost(session: &Session, thread: dapple_engine::ThreadId) -> FrameId {
    let stack = session.stack(thread, 0..1).expect("a stack");
    stack.frames[0].id
}

/// The names of a thread's functions, innermost first.
pub fn functions(session: &Session, thread: ThreadId) -> Vec<String> {
    let stack = session.stack(thread, 0..50).expect("a stack");
    let frames = stack.frames.into_iter();
    frames
        .map(|frame| frame.function.unwrap_or_default())
        .collect()
}

/// All locals, with children `depth` levels deep. Varying addresses are masked.
pub fn locals(session: &Session, frame: FrameId, depth: usize) -> String {
    let mut text = String::new();
    for (named, rendered) in session.variables(frame).expect("variables") {
        // Not assigned yet at the fixtures' stops.
        if UNSET.contains(&named.name.as_str()) {
            continue;
        }
        write((session, frame), &named, &rendered, 0, depth, &mut text);
    }
    text
}

/// Like [`locals`] of a thread's innermost frame. Checks that a core file shows the same.
pub fn locals_live_and_post_mortem(session: &Session, thread: ThreadId, depth: usize) -> String {
    live_and_post_mortem(session, thread, |session, frame| {
        locals(session, frame, depth)
    })
}

/// What `look` returns for a thread's innermost frame. Checks that it is the same in a core file of this stop.
pub fn live_and_post_mortem<T: PartialEq + Debug>(
    session: &Session,
    thread: ThreadId,
    look: impl Fn(&Session, FrameId) -> T,
) -> T {
    let live = look(session, innermost(session, thread));
    if behind_qemu::machine().is_some() {
        // Core files are written of x86-64's processes.
        return live;
    }
    let core = core_of(session);
    let (remains, _) = post_mortem(&core, None);
    // An open file stays readable after it is removed.
    std::fs::remove_file(&core).expect("removed");
    let left = look(&remains, same_frame(&remains, session, thread));
    assert_eq!(left, live, "post mortem, and live");
    live
}

/// The frame in a core file that corresponds to a live thread's innermost frame. A thread at a breakpoint is shown in front of inlined
/// calls that begin at its address. A core file has no breakpoints, so it shows the thread inside them.
fn same_frame(remains: &Session, live: &Session, thread: ThreadId) -> FrameId {
    let frames = |session: &Session| session.stack(thread, 0..1000).expect("a stack").frames;
    let (left, was) = (frames(remains), frames(live));
    let further = left.len() - was.len();
    assert_eq!(left[further].physical.pc, left[0].physical.pc);
    assert_eq!(left[further].function, was[0].function);
    left[further].id
}

/// Writes a core file of the stopped process.
pub fn core_of(session: &Session) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("core-{}-{count}", std::process::id());
    let core = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&core);
    session.write_core(&core).expect("a core file");
    core
}

/// Opens a core file. Returns the session, and the events of opening.
pub fn post_mortem(core: &Path, program: Option<&Path>) -> (Session, Vec<Event>) {
    let (events, told) = crossbeam_channel::unbounded();
    let options = CoreOptions {
        core: core.to_owned(),
        program: program.map(Path::to_owned),
        ..CoreOptions::default()
    };
    let remains = Session::open_core(&options, events).expect("a core file");
    remains.tell_end();
    (remains, told.try_iter().collect())
}

/// An expression's value and its children.
pub fn value(session: &Session, frame: FrameId, expression: &str, depth: usize) -> String {
    let mut text = String::new();
    match session.evaluate(expression, Some(frame)) {
        Ok((named, rendered)) => write((session, frame), &named, &rendered, 0, depth, &mut text),
        Err(error) => {
            let _ = writeln!(text, "{expression}: error: {error}");
        }
    }
    text
}

fn write(
    (session, frame): (&Session, FrameId),
    named: &NamedValue,
    rendered: &Rendered,
    level: usize,
    depth: usize,
    text: &mut String,
) {
    let indent = "  ".repeat(level);
    let _ = writeln!(
        text,
        "{indent}{}: {} = {}",
        named.name,
        rendered.type_name,
        mask(&rendered.text)
    );
    let count = rendered.named.saturating_add(rendered.indexed);
    if level >= depth || count == 0 {
        return;
    }
    let range = 0..count.min(MOST);
    let expression = named.expression.as_deref();
    let children = session
        .children(&named.value, expression, range.clone())
        .expect("children");
    assert_eq!(
        children.len() as u64,
        range.end,
        "children of {}",
        named.name
    );
    for (child, rendered) in &children {
        // The raw view differs between libraries.
        if child.name == "[raw]" {
            continue;
        }
        // Thread-local variables have a value only in a frame.
        let is_known = !rendered.text.starts_with("<each thread");
        if let Some(expression) = child.expression.as_ref().filter(|_| is_known) {
            let again = session.evaluate(expression, Some(frame));
            let again = again.unwrap_or_else(|e| panic!("{expression}: {e}")).1;
            // The value of a base class says which object the base is a part of, so it differs from the child's value.
            let is_part = expression.starts_with("static_cast<") && again.text.starts_with('<');
            if !is_part {
                assert_eq!(again.text, rendered.text, "{expression}");
            }
        }
        write((session, frame), child, rendered, level + 1, depth, text);
    }
    if count > MOST {
        let _ = writeln!(text, "{indent}  … {count} in all");
    }
}

/// Replaces addresses on the stack, on the heap and in the program with `0x…`.
pub fn mask(text: &str) -> String {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("0x") {
        let digits = rest[at + 2..]
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(rest.len() - at - 2);
        masked.push_str(&rest[..at]);
        // Short addresses are constants of the fixture.
        if digits >= 6 {
            masked.push_str("0x…");
        } else {
            masked.push_str(&rest[at..at + 2 + digits]);
        }
        rest = &rest[at + 2 + digits..];
    }
    masked + rest
}
