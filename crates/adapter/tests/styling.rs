//! ANSI colours for clients that support them, and none for others.

use crate::support;
use crate::support::fixture::workspace;
use crate::support::{Fixture, Session, Stopped, initialize_arguments, text};
use dapple_adapter::{ServeOptions, styling};
use dapple_dap::types::*;
use serde_json::json;

/// A session that is stopped at `values`. A log point there has written a message.
fn stopped(fixture: &Fixture, client: InitializeRequestArguments) -> (Session, Stopped) {
    let session = Session::serving(ServeOptions::default(), client);
    let natvis = text(&workspace().join("fixtures/styled.natvis"));
    session.launch(fixture, json!({ "visualizerFile": natvis }));
    let mut logged = SourceBreakpoint::new(fixture.line("values"));
    logged.log_message = Some("{count} {sly} {name}".to_owned());
    let source = Source::new().with_path(fixture.path());
    let stop = SourceBreakpoint::new(fixture.line("later"));
    let arguments = SetBreakpointsArguments::new(source).with_breakpoints(vec![logged, stop]);
    session.ok::<SetBreakpointsRequest>(arguments);
    session.configured();
    let stopped = session.stopped_at(fixture, "later", StoppedEventReason::Breakpoint);
    (session, stopped)
}

#[test]
fn values_and_sentences_are_coloured_for_a_client_that_takes_colours() {
    let fixture = Fixture::new("styled.cpp");
    let client = initialize_arguments().with_supports_ansi_styling(true);
    let (session, stop) = stopped(&fixture, client);
    assert_eq!(session.capabilities().supports_ansi_styling, Some(true));

    let locals = session.scope(&stop.top, "Locals").variables_reference;
    for variable in session.variables(locals) {
        let expected = match variable.name.as_str() {
            "count" => "\x1b[36m42\x1b[0m",
            "name" => "\x1b[32m\"Ada\"\x1b[0m",
            "point" => "{x = \x1b[36m3\x1b[0m, y = \x1b[36m-1.5\x1b[0m}",
            "level" => "\x1b[35mHigh\x1b[0m",
            "lost" => "\x1b[2m<cannot read memory at 0x10>\x1b[0m",
            "nowhere" => "\x1b[36m0x10\x1b[0m \x1b[2m<cannot be read>\x1b[0m",
            // Escape sequences in the program's data are escaped.
            "sly" => "\\x1b[\x1b[36m31mred\x1b[0m\\x1b[\x1b[36m0m\x1b[0m",
            other => panic!("what is `{other}`?"),
        };
        assert_eq!(variable.value, expected, "{}", variable.name);
        assert!(!format!("{:?}", variable.r#type).contains('\x1b'));
    }
    let registers = session.scope(&stop.top, "Registers").variables_reference;
    let general = session.variables(registers).remove(0).variables_reference;
    let rip = support::named(&session.variables(general), "rip").clone();
    assert!(rip.value.starts_with("\x1b[36m0x"), "{rip:?}");

    // The protocol allows colours only in variables' values and in output.
    for (expression, plain) in [("count", "42"), ("point", "{x = 3, y = -1.5}")] {
        assert_eq!(session.evaluate(&stop.top, expression), plain);
    }
    session.wait_for_written(
        OutputEventCategory::Console,
        "42 \\x1b[31mred\\x1b[0m \"Ada\"\n",
    );
    let said = session.output(OutputEventCategory::Console);
    assert!(said.contains("\x1b[33mwarning:\x1b[0m "), "{said}");
    // The program's own output is passed on unchanged.
    session.wait_for_written(OutputEventCategory::Stdout, "\x1b[1mready\x1b[0m\n");

    // Editors offer the coloured value for editing, so `setVariable` ignores escape sequences.
    let arguments = SetVariableArguments::new(locals, "count", "\x1b[36m43\x1b[0m");
    let set = session.ok::<SetVariableRequest>(arguments);
    assert_eq!(set.value, "43");
    session.resume(stop.thread);
    session.exit_code();
    session.disconnect();
}

#[test]
fn a_client_that_takes_no_colours_gets_none() {
    let fixture = Fixture::new("styled.cpp");
    let (session, stop) = stopped(&fixture, initialize_arguments());
    let locals = session.scope(&stop.top, "Locals").variables_reference;
    for variable in session.variables(locals) {
        let plain = session.evaluate(&stop.top, &variable.name);
        assert_eq!(variable.value, plain);
        let is_coloured = styling::without(&plain) != plain;
        assert_eq!(is_coloured, variable.name == "sly", "{plain}");
    }
    session.wait_for_written(
        OutputEventCategory::Console,
        "42 \x1b[31mred\x1b[0m \"Ada\"\n",
    );
    let said = session.output(OutputEventCategory::Console);
    assert!(said.contains("warning: "), "{said}");
    session.disconnect();
}

#[test]
fn vs_code_has_colours_in_sentences_and_none_in_values() {
    let fixture = Fixture::new("styled.cpp");
    let client = initialize_arguments()
        .with_client_id("vscode")
        .with_supports_ansi_styling(true);
    let (session, stop) = stopped(&fixture, client);
    let locals = session.scope(&stop.top, "Locals").variables_reference;
    let name = support::named(&session.variables(locals), "name").clone();
    assert_eq!(name.value, "\"Ada\"");
    let said = session.output(OutputEventCategory::Console);
    assert!(said.contains("\x1b[33mwarning:\x1b[0m "), "{said}");
    session.disconnect();
}
