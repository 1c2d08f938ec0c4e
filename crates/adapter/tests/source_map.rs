//! Programs whose sources are no longer where they were compiled.

use crate::support::fixture::fixtures_folder;
use crate::support::{Session, file_of, text};
use dapple_dap::types::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

const MAIN: &str = r#"#include <stdio.h>
#include "part.h"

int main(void)
{
    int sum = part(4);
    printf("%d\n", sum);
    return 0;
}
"#;
const PART: &str = "static inline int part(int n)\n{\n    return n + 1;\n}\n";

/// A program whose source folder was renamed after compilation.
struct Moved {
    built: PathBuf,
    now: PathBuf,
    program: PathBuf,
}

impl Moved {
    fn new(name: &str) -> Moved {
        Moved::compiled(name, |_| Vec::new())
    }

    /// With additional flags, which may contain the path of the build folder.
    fn compiled(name: &str, flags: impl Fn(&Path) -> Vec<String>) -> Moved {
        let root = fixtures_folder().join(format!("moved-{name}-{}", std::process::id()));
        // An earlier run of the tests may have had the same process id.
        let _ = std::fs::remove_dir_all(&root);
        let (built, now) = (root.join("built/code"), root.join("now"));
        let program = root.join("program");
        std::fs::create_dir_all(built.join("include")).expect("a folder");
        std::fs::write(built.join("main.c"), MAIN).expect("a source");
        std::fs::write(built.join("include/part.h"), PART).expect("a source");
        let compiled = Command::new("gcc")
            .args(flags(&built))
            .args(["-g", "-Iinclude", "main.c", "-o"])
            .arg(&program)
            .current_dir(&built)
            .status();
        assert!(compiled.expect("the compiler runs").success());
        std::fs::rename(&built, &now).expect("the folder can be moved");
        Moved {
            built,
            now,
            program,
        }
    }

    fn launch(&self, session: &Session, map: &[(&Path, &Path)]) {
        let map = map.iter().map(|(from, to)| (text(from), json!(text(to))));
        let map = map.collect::<serde_json::Map<_, _>>();
        let arguments = json!({ "program": text(&self.program), "sourceMap": map });
        let arguments = dapple_dap::testing::launch_arguments(&arguments);
        session.ok::<LaunchRequest>(arguments);
        session.wait_for::<InitializedEvent>();
    }
}

impl Drop for Moved {
    fn drop(&mut self) {
        if let Some(root) = self.program.parent() {
            let _ = std::fs::remove_dir_all(root);
        }
    }
}

#[test]
fn breakpoints_and_frames_are_in_the_folder_where_the_sources_are_now() {
    let moved = Moved::new("mapped");
    let session = Session::new();
    let main = text(&moved.now.join("main.c"));
    let part = text(&moved.now.join("include/part.h"));
    let before = session.set_lines(&main, &[6]).remove(0);
    moved.launch(&session, &[(&moved.built, &moved.now)]);
    let told = session.wait_for::<BreakpointEvent>().breakpoint;
    assert_eq!((told.id, told.verified), (before.id, true), "{told:?}");
    assert_eq!(
        told.source.and_then(|source| source.path),
        Some(main.clone())
    );
    let inside = session.set_lines(&part, &[3]).remove(0);
    assert!(inside.verified, "{inside:?}");
    let named = SetFunctionBreakpointsArguments::new(vec![FunctionBreakpoint::new("part")]);
    let named = session
        .ok::<SetFunctionBreakpointsRequest>(named)
        .breakpoints;
    let source = named[0].source.clone().expect("a source");
    assert_eq!(
        (source.path, source.presentation_hint),
        (Some(part.clone()), None)
    );
    let places = BreakpointLocationsArguments::new(Source::new().with_path(&*main), 6);
    let places = session.ok::<BreakpointLocationsRequest>(places);
    assert!(!places.breakpoints.is_empty());
    session.configured();
    for (file, line) in [(&main, 6), (&part, 3)] {
        let stop = session.stopped(StoppedEventReason::Breakpoint);
        assert_eq!(
            (file_of(&stop.top).as_ref(), stop.top.line),
            (Some(file), line)
        );
        assert_eq!(stop.top.presentation_hint, None);
        session.resume(stop.thread);
    }
    session.wait_for_output("5\n");
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn the_list_of_sources_and_log_messages_name_what_is_here() {
    let moved = Moved::new("listed");
    let session = Session::new();
    moved.launch(&session, &[(&moved.built, &moved.now)]);
    let listed = session.ok::<LoadedSourcesRequest>(LoadedSourcesArguments::new());
    let paths: Vec<String> = listed.sources.into_iter().filter_map(|s| s.path).collect();
    for name in ["main.c", "include/part.h"] {
        assert!(paths.contains(&text(&moved.now.join(name))), "{paths:?}");
        assert!(!paths.contains(&text(&moved.built.join(name))), "{paths:?}");
    }
    let main = text(&moved.now.join("main.c"));
    let wanted = SourceBreakpoint::new(7).with_log_message("sum is {sum}");
    let arguments = SetBreakpointsArguments::new(Source::new().with_path(&*main));
    session.ok::<SetBreakpointsRequest>(arguments.with_breakpoints(vec![wanted]));
    session.configured();
    let logged = loop {
        let output = session.wait_for::<OutputEvent>();
        if output.output == "sum is 5\n" {
            break output;
        }
    };
    assert_eq!(logged.source.and_then(|source| source.path), Some(main));
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn a_file_that_is_elsewhere_in_the_debug_information_is_told_with_what_maps_it() {
    let moved = Moved::new("told");
    let session = Session::new();
    moved.launch(&session, &[]);
    let main = moved.now.join("main.c");
    let wanted = [
        text(&main),
        text(&moved.now.join("MAIN.cpp")),
        "/no/such.c".into(),
    ];
    let [there, nearly, nowhere] = wanted.map(|path| {
        let breakpoint = session.set_lines(&path, &[6]).remove(0);
        assert!(!breakpoint.verified);
        assert_eq!(breakpoint.reason, Some(BreakpointReason::Pending));
        breakpoint.message.unwrap_or_default()
    });
    let (built, now) = (moved.built.display(), moved.now.display());
    let no_module = |path: &str| format!("no module that is loaded names a source file {path}");
    assert_eq!(
        there,
        format!(
            "{}; there is {built}/main.c; if that is the same file, \"sourceMap\": {{\"{built}\": \"{now}\"}} says so",
            no_module(&text(&main))
        )
    );
    let upper = no_module(&format!("{now}/MAIN.cpp"));
    assert_eq!(nearly, format!("{upper}; there is {built}/main.c"));
    assert_eq!(nowhere, no_module("/no/such.c"));
    session.disconnect();
}

/// Checks that a breakpoint in `main.c`, by its path in the new folder, is hit.
fn is_found(moved: &Moved, arguments: serde_json::Value) {
    let mut arguments = arguments;
    arguments["program"] = json!(text(&moved.program));
    let session = Session::new();
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&arguments));
    session.wait_for::<InitializedEvent>();
    let main = text(&moved.now.join("main.c"));
    let set = session.set_lines(&main, &[6]).remove(0);
    assert!(set.verified, "{arguments}: {set:?}");
    session.configured();
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    assert_eq!(
        (file_of(&stop.top), stop.top.line),
        (Some(main), 6),
        "{arguments}"
    );
    session.disconnect();
}

#[test]
fn other_debuggers_arguments_say_where_sources_are_too() {
    let moved = Moved::new("named");
    let (built, now) = (text(&moved.built), text(&moved.now));
    is_found(&moved, json!({"sourceFileMap": {&*built: now}}));
    is_found(
        &moved,
        json!({"sourceFileMap": {&*built: {"editorPath": now, "useForBreakpoints": true}}}),
    );
    is_found(&moved, json!({"sourceMap": [[built, now]]}));
}

#[test]
fn relative_names_of_sources_are_found_from_the_folder_that_is_said() {
    let relative = |built: &Path| vec![format!("-ffile-prefix-map={}=.", built.display())];
    let moved = Moved::compiled("relative", relative);
    let now = text(&moved.now);
    is_found(&moved, json!({"sourceMap": {".": now}}));
    is_found(&moved, json!({"sourcePath": now}));
    is_found(&moved, json!({"relativePathBase": now}));
}

/// CodeLLDB's behaviour: sources of a folder that maps to `null` count as missing.
#[test]
fn sources_of_a_folder_that_is_null_are_not_looked_for() {
    let moved = Moved::new("hidden");
    let (built, now) = (text(&moved.built), text(&moved.now));
    let include = format!("{built}/include");
    let session = Session::new();
    let arguments = json!({
        "program": text(&moved.program),
        "sourceMap": {&*built: now, &*include: null},
    });
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&arguments));
    let part = FunctionBreakpoint::new("part");
    let part = SetFunctionBreakpointsArguments::new(vec![part]);
    session.ok::<SetFunctionBreakpointsRequest>(part);
    session.configured();
    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    let frames = session.stack(stop.thread);
    let told = |frame: &StackFrame| {
        let source = frame.source.clone().expect("a source");
        (source.path, source.presentation_hint)
    };
    assert_eq!(
        told(&frames[0]),
        (None, Some(SourcePresentationHint::Deemphasize))
    );
    assert_eq!(told(&frames[1]), (Some(format!("{now}/main.c")), None));
    session.disconnect();
}

/// Stops at `main` of a program whose source was moved. Returns the session, the thread, the frame and its source.
fn at_main(moved: &Moved, arguments: serde_json::Value) -> (Session, i64, StackFrame, Source) {
    let session = Session::new();
    let mut arguments = arguments;
    arguments["program"] = json!(text(&moved.program));
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&arguments));
    let main = SetFunctionBreakpointsArguments::new(vec![FunctionBreakpoint::new("main")]);
    session.ok::<SetFunctionBreakpointsRequest>(main);
    session.configured();
    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    let top = session.stack(stop.thread).remove(0);
    let source = top.source.clone().expect("a source");
    (session, stop.thread, top, source)
}

/// The lines of a source that has a reference instead of a path.
fn lines_of(session: &Session, reference: i64) -> Vec<String> {
    let asked = SourceArguments::new(reference);
    let text = session.ok::<SourceRequest>(asked).content;
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_frame_whose_source_is_nowhere_opens_as_disassembly_and_steps_by_instructions() {
    let moved = Moved::new("nowhere");
    let (session, thread, top, source) = at_main(&moved, json!({}));
    let origin = text(&moved.built.join("main.c:6"));
    assert_eq!((source.path, source.origin), (None, Some(origin)));
    assert_eq!(source.name.as_deref(), Some("main (disassembly)"));
    let reference = source.source_reference.expect("there is a text");
    let lines = lines_of(&session, reference);
    let shown = |frame: &StackFrame| {
        let line = &lines[usize::try_from(frame.line - 1).expect("a line")];
        let at = frame.instruction_pointer_reference.as_deref();
        assert_eq!(line.split(' ').next(), at, "{line}");
        line.clone()
    };
    let mut line = top.line;
    let mut over_calls = 0;
    let mut here = shown(&top);
    // Without granularity, steps go by instructions and over calls: the line calls `part`.
    while over_calls == 0 {
        session.ok::<NextRequest>(NextArguments::new(thread));
        let stop = session.stopped(StoppedEventReason::Step);
        let top = session.stack(stop.thread).remove(0);
        assert_eq!(top.name, "main", "stepped over `{here}`");
        assert_eq!(top.line, line + 1, "stepped over `{here}`");
        over_calls += usize::from(here.contains(" call"));
        (line, here) = (top.line, shown(&top));
    }
    // Steps by line go to the end of this line, and then to the next one.
    for _ in 0..2 {
        let by_line = NextArguments::new(thread).with_granularity(SteppingGranularity::Line);
        session.ok::<NextRequest>(by_line);
        session.stopped(StoppedEventReason::Step);
    }
    let top = session.stack(thread).remove(0);
    assert!(top.line > line + 2, "{top:?}");
    session.disconnect();
}

#[test]
fn nothing_else_is_told_with_a_path_that_leads_nowhere_either() {
    let moved = Moved::new("dead");
    let session = Session::new();
    let arguments = json!({"program": text(&moved.program)});
    session.ok::<LaunchRequest>(dapple_dap::testing::launch_arguments(&arguments));
    let main = SetFunctionBreakpointsArguments::new(vec![FunctionBreakpoint::new("main")]);
    let set = session
        .ok::<SetFunctionBreakpointsRequest>(main)
        .breakpoints
        .remove(0);
    session.configured();
    let stop = session.stopped(StoppedEventReason::FunctionBreakpoint);
    let top = session.stack(stop.thread).remove(0);
    // The breakpoint is in the same source as the frame.
    let source = set.source.expect("a source");
    let frames = top.source.clone().expect("a source");
    assert_eq!((source.path, &source.origin), (None, &frames.origin));
    assert_eq!(source.source_reference, frames.source_reference);
    assert_eq!(set.line, Some(top.line));

    let here = top.instruction_pointer_reference.clone().expect("code");
    let answer = session.ok::<DisassembleRequest>(DisassembleArguments::new(here, 4));
    let location = answer.instructions[0].location.clone().expect("a source");
    assert_eq!((location.path, location.origin), (None, frames.origin));

    let sum = session.variable(&top, "Locals", "sum");
    let declared = sum.declaration_location_reference.expect("a declaration");
    let refused = session.refused::<LocationsRequest>(LocationsArguments::new(declared));
    let file = moved.built.join("main.c");
    assert_eq!(
        refused.to_string(),
        format!(
            "this is line 6 of {}, which is not on this machine",
            file.display()
        )
    );
    session.disconnect();
}

/// The program runs here. The editor and its folders are on another machine.
#[test]
fn a_source_in_a_folder_that_only_the_client_has_keeps_its_path() {
    let moved = Moved::new("elsewhere");
    let theirs = "/Users/ada/project";
    let map = json!({"sourceMap": {text(&moved.built): theirs}});
    let (session, _, top, source) = at_main(&moved, map);
    assert_eq!(source.path, Some(format!("{theirs}/main.c")));
    assert_eq!((source.source_reference, top.line), (None, 6));
    session.disconnect();
}

#[test]
fn a_disassembly_is_shown_never_or_always_where_that_is_wanted() {
    let moved = Moved::new("shown");
    let never = json!({"showDisassembly": "never"});
    let (session, thread, top, source) = at_main(&moved, never);
    let origin = text(&moved.built.join("main.c:6"));
    assert_eq!(
        (source.path, source.origin, source.source_reference),
        (None, Some(origin), None)
    );
    assert_eq!((source.name.as_deref(), top.line), (Some("main.c"), 6));
    // Steps go by lines.
    session.ok::<NextRequest>(NextArguments::new(thread));
    let stop = session.stopped(StoppedEventReason::Step);
    assert_eq!(session.stack(stop.thread)[0].line, 7);
    session.disconnect();

    let (built, now) = (text(&moved.built), text(&moved.now));
    for (shows, is_disassembly) in [("always", true), ("auto", false)] {
        let arguments = json!({"showDisassembly": shows, "sourceMap": {&*built: now}});
        let (session, _, _, source) = at_main(&moved, arguments);
        assert_eq!(source.source_reference.is_some(), is_disassembly, "{shows}");
        assert_eq!(source.path.is_some(), !is_disassembly, "{shows}");
        assert_eq!(source.presentation_hint, None, "{shows}");
        session.disconnect();
    }
}
