//! Code of packages that `cargo vendor` has copied: whose it is, steps that don't enter it, and stops in it.

use crate::support::project::{Project, launch, session};
use crate::support::{Session, Stopped, file_of};
use dapple_dap::types::*;
use serde_json::{Value, json};

const MAIN: &str = r#"
fn main() {
    let plain = talker::greeting(1); // plain
    let applied = talker::apply(2, |x| {
        x + 1 // closure
    });
    let made = talker::made!(3); // made
    println!("{plain} {applied} {made}"); // end
    talker::fails(plain); // fails
}
"#;

const TALKER: &str = r#"
pub fn greeting(n: u32) -> u32 {
    n + 10 // greeting
}

pub fn apply(n: u32, f: impl Fn(u32) -> u32) -> u32 {
    f(n)
}

pub fn expanded(n: u32) -> u32 {
    n * 3 // expanded
}

#[macro_export]
macro_rules! made {
    ($n:expr) => {
        $crate::expanded($n)
    };
}

pub fn fails(n: u32) {
    if n > 0 {
        panic!("of talker");
    }
}
"#;

/// A package with a vendored dependency, as `cargo vendor` leaves it.
fn project(name: &str) -> Project {
    let source =
        "[source.crates-io]\nreplace-with = \"copies\"\n[source.copies]\ndirectory = \"vendor\"\n";
    let manifest = "[package]\nname = \"talker\"\nversion = \"1.0.0\"\nedition = \"2024\"\n";
    Project::package(
        name,
        "[dependencies]\ntalker = \"1\"\n",
        &[
            ("src/main.rs", MAIN),
            (".cargo/config.toml", source),
            ("vendor/talker/Cargo.toml", manifest),
            ("vendor/talker/.cargo-checksum.json", r#"{"files":{}}"#),
            ("vendor/talker/src/lib.rs", TALKER),
        ],
    )
}

/// Launches the project, with a breakpoint on the line of `main.rs` with this text.
fn started(project: &Project, more: &Value, text: &str) -> (Session, Stopped) {
    let session = session(false);
    let mut arguments = project.cargo("run");
    for (name, value) in more.as_object().expect("an object") {
        arguments[name] = value.clone();
    }
    launch(&session, &arguments);
    let line = project.line("src/main.rs", text);
    session.set_lines(&project.path("src/main.rs"), &[line]);
    session.configured();
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    (session, stop)
}

/// Steps into; returns the comment of the line where that ends, and the stop.
fn into(session: &Session, project: &Project, stop: &Stopped) -> (String, Stopped) {
    session.ok::<StepInRequest>(StepInArguments::new(stop.thread));
    let stop = session.stopped(StoppedEventReason::Step);
    let file = file_of(&stop.top).expect("a source");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let line = text.lines().nth(stop.top.line as usize - 1);
    let line = line.expect("a line").to_owned();
    let comment = line.rsplit_once("// ").map_or("", |(_, comment)| comment);
    assert!(file.starts_with(&project.path("")), "{file}");
    (comment.to_owned(), stop)
}

/// Where five steps into end, from the line `plain` on.
fn ends(project: &Project, more: &Value) -> Vec<String> {
    let (session, mut stop) = started(project, more, "// plain");
    let mut ends = Vec::new();
    for _ in 0..12 {
        let (end, next) = into(&session, project, &stop);
        ends.push(end);
        stop = next;
        if ends.last().is_some_and(|end| end == "end") {
            break;
        }
    }
    session.disconnect();
    ends
}

#[test]
fn steps_enter_dependencies_unless_they_are_skipped() {
    let project = project("skipping");
    let all = ends(&project, &json!({}));
    assert!(all.contains(&"greeting".to_owned()), "{all:?}");
    assert!(all.contains(&"expanded".to_owned()), "{all:?}");
    let skips = [
        json!({"skip": ["std", "dependencies"]}),
        json!({"justMyCode": true}),
    ];
    for more in skips {
        let own = ends(&project, &more);
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        assert!(own.contains(&"closure"), "{more}: {own:?}");
        assert!(!own.contains(&"greeting"), "{more}: {own:?}");
        assert!(!own.contains(&"expanded"), "{more}: {own:?}");
        assert_eq!(own.last(), Some(&"end"), "{more}: {own:?}");
    }
}

#[test]
fn a_panic_in_a_dependency_is_shown_in_the_users_code() {
    let project = project("failing");
    let (session, stop) = started(&project, &json!({}), "// end");
    session.resume(stop.thread);
    let stop = session.stopped(StoppedEventReason::Exception);
    let frames = session.stack(stop.thread);
    let is_shown = |frame: &&StackFrame| {
        let hint = frame
            .source
            .as_ref()
            .and_then(|it| it.presentation_hint.clone());
        let subtle = frame.presentation_hint == Some(StackFramePresentationHint::Subtle);
        assert_eq!(
            subtle,
            hint == Some(SourcePresentationHint::Deemphasize) || frame.source.is_none(),
            "{frame:?}"
        );
        !subtle
    };
    // Editors open the first frame that isn't set aside.
    let shown = frames.iter().find(is_shown).expect("a frame of the user");
    assert_eq!(shown.name, "failing::main");
    assert_eq!(shown.line, project.line("src/main.rs", "// fails"));
    let fails = frames.iter().find(|frame| frame.name == "talker::fails");
    let source = fails
        .and_then(|frame| frame.source.clone())
        .expect("a source");
    assert_eq!(source.origin.as_deref(), Some("talker"));
    let info = session.ok::<ExceptionInfoRequest>(ExceptionInfoArguments::new(stop.thread));
    let trace = info
        .details
        .and_then(|details| details.stack_trace)
        .expect("a stack");
    assert!(trace.starts_with("failing::main at "), "{trace}");
    session.disconnect();
}

const APP: &str = "#include \"third_party/dep.h\"

static int twice(int x) {
    return 2 * x; // twice
}

int main(void) {
    int got = dep_call(twice); // call
    return got == 42 ? 0 : 1; // end
}
";

const DEP: &str = "#include \"dep.h\"

int dep_call(int (*f)(int)) {
    int sum = f(21); // dep
    return sum;
}
";

#[test]
fn what_the_configuration_calls_third_party_is_a_dependency() {
    let files = [
        ("main.c", APP),
        ("third_party/dep.c", DEP),
        ("third_party/dep.h", "int dep_call(int (*f)(int));\n"),
    ];
    let project = Project::new("third-party", &files);
    let launched = |more: &Value| {
        let session = session(false);
        let mut arguments = json!({
            "cwd": project.folder(),
            "build": "cc -g -O0 main.c third_party/dep.c -o app",
            "program": project.path("app"),
        });
        for (name, value) in more.as_object().expect("an object") {
            arguments[name] = value.clone();
        }
        launch(&session, &arguments);
        let line = project.line("main.c", "// call");
        session.set_lines(&project.path("main.c"), &[line]);
        session.configured();
        let stop = session.stopped(StoppedEventReason::Breakpoint);
        (session, stop)
    };
    let (session, stop) = launched(&json!({}));
    assert_eq!(into(&session, &project, &stop).0, "dep");
    session.disconnect();

    let third = json!(["*/third_party/*"]);
    let (session, stop) = launched(&json!({"thirdParty": third, "justMyCode": true}));
    let (end, stop) = into(&session, &project, &stop);
    assert_eq!(end, "twice");
    let dep = &session.stack(stop.thread)[1];
    assert_eq!(dep.name, "dep_call");
    assert_eq!(
        dep.presentation_hint,
        Some(StackFramePresentationHint::Subtle)
    );
    let origin = dep.source.as_ref().and_then(|source| source.origin.clone());
    assert_eq!(origin.as_deref(), Some("third-party code"));
    session.ok::<StepOutRequest>(StepOutArguments::new(stop.thread));
    let stop = session.stopped(StoppedEventReason::Step);
    assert_eq!(stop.top.name, "main");
    session.disconnect();
}
