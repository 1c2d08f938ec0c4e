//! Values of the user's own types, shown by a Natvis file.

use crate::support::fixture::{fixtures_folder, workspace};
use crate::support::{Fixture, Session, initialize_arguments, text};
use dapple_adapter::{ReadVisualizersArguments, ReadVisualizersRequest};
use dapple_dap::types::*;
use serde_json::json;

fn natvis() -> String {
    text(&workspace().join("fixtures/shown.natvis"))
}

/// The children of a variable.
fn children(session: &Session, variable: &Variable) -> Vec<(String, String)> {
    let arguments = VariablesArguments::new(variable.variables_reference);
    let children = session.ok::<VariablesRequest>(arguments).variables;
    children
        .into_iter()
        .map(|child| (child.name, child.value))
        .collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    pairs.iter().map(pair).collect()
}

#[test]
fn variables_expressions_hovers_and_log_messages_are_as_the_file_says() {
    let fixture = Fixture::new("shown.cpp");
    let session = Session::new();
    session.launch(&fixture, json!({ "visualizerFile": natvis() }));
    let mut logged = SourceBreakpoint::new(fixture.line("values"));
    logged.log_message = Some("at {point} with {any_text}".to_owned());
    let stop = SourceBreakpoint::new(fixture.line("corrupt"));
    let mut source = Source::default();
    source.path = Some(fixture.path());
    let mut arguments = SetBreakpointsArguments::new(source);
    arguments.breakpoints = Some(vec![logged, stop]);
    session.ok::<SetBreakpointsRequest>(arguments);
    session.configured();
    let stopped = session.stopped_at(&fixture, "corrupt", StoppedEventReason::Breakpoint);
    session.wait_for_written(
        OutputEventCategory::Console,
        "at (3, -4) with text \"hello\"",
    );
    let frame = &stopped.top;
    let variable = |name: &str| session.variable(frame, "Locals", name);
    assert_eq!(variable("point").value, "(3, -4)");
    // An error in a Natvis entry is reported when the entry is first used.
    session.wait_for_written(
        OutputEventCategory::Console,
        "shown.natvis:181: `shop::Renamed` has no member `older`",
    );
    let (ring, squares, owner) = (variable("ring"), variable("squares"), variable("owner"));
    assert_eq!(ring.indexed_variables, Some(3));
    // A page far inside is computed alone.
    assert_eq!(squares.indexed_variables, Some(i32::MAX.into()));
    let mut page = VariablesArguments::new(squares.variables_reference);
    page.filter = Some(VariablesArgumentsFilter::Indexed);
    page.start = Some(1_000_000);
    page.count = Some(2);
    let page = session.ok::<VariablesRequest>(page).variables;
    assert_eq!(
        page.iter()
            .map(|v| (&*v.name, &*v.value))
            .collect::<Vec<_>>(),
        [
            ("[1000000]", "2000000000000"),
            ("[1000001]", "2000004000002")
        ]
    );
    let shown = children(&session, &owner);
    let expected = [
        ("x", "5"),
        ("y", "6"),
        ("[squared]", "61"),
        ("[size]", "8"),
        ("[raw]", "…"),
    ];
    assert_eq!(shown[..4], pairs(&expected)[..4]);
    assert_eq!(shown[4].0, "[raw]");
    // In expressions, an owner acts as a smart pointer, and elements can be indexed.
    for (expression, value) in [
        ("owner", "owner of (5, 6)"),
        ("owner->y + 1", "7"),
        ("*owner", "(5, 6)"),
        ("squares[3]", "18"),
        ("library[1]", "(3, 4)"),
        ("date", "2026-11-22"),
        ("point.x", "3"),
    ] {
        assert_eq!(session.evaluate(frame, expression), value, "{expression}");
    }
    let mut hover = EvaluateArguments::new("account");
    hover.context = Some(EvaluateArgumentsContext::Hover);
    hover.frame_id = Some(frame.id);
    assert_eq!(session.ok::<EvaluateRequest>(hover).result, "Ann: 123.45");
    session.disconnect();
}

#[test]
fn a_file_that_is_wrong_is_told_and_read_anew_at_a_restart() {
    let fixture = Fixture::new("shown.cpp");
    let folder = fixtures_folder().join(format!("natvis-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("own.natvis");
    let write = |inside: &str| {
        let text = format!("<AutoVisualizer>\n{inside}\n</AutoVisualizer>");
        std::fs::write(&file, text).expect("a file");
    };
    write(
        "<Type Name='shop::Plain'><DisplayString>{first +}</DisplayString></Type>
        <Type Name='shop::Point'><DisplayString>at {x}</DisplayString></Type>",
    );
    let missing = folder.join("missing.natvis");
    let client = initialize_arguments().with_supports_invalidated_event(true);
    let session = Session::serving(Default::default(), client);
    let files = json!([text(&missing), text(&file)]);
    session.launch(&fixture, json!({ "visualizerFile": files }));
    let console = OutputEventCategory::Console;
    session.wait_for_written(
        console.clone(),
        &format!(
            "warning: `visualizerFile`: cannot read the Natvis file {}: No such file",
            missing.display()
        ),
    );
    let wrong = format!("{}:2: `first +`: column 8: ", file.display());
    session.wait_for_written(console, &wrong);
    session.set_breakpoints(&fixture, &["values"]);
    session.configured();
    let stopped = session.stopped_at(&fixture, "values", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stopped.top, "point"), "at 3");
    let plain = session.variable(&stopped.top, "Locals", "plain");
    assert!(
        plain.value.contains("the expression ends too early"),
        "{plain:?}"
    );

    // `natvis reload` in the console and a request reload the file during the session.
    write("<Type Name='shop::Point'><DisplayString>then at {y}</DisplayString></Type>");
    let typed = EvaluateArguments::new("natvis reload");
    let typed = typed.with_context(EvaluateArgumentsContext::Repl);
    let said = session.ok::<EvaluateRequest>(typed.clone()).result;
    assert_eq!(said, "2 Natvis files were read again");
    session.wait_for::<InvalidatedEvent>();
    assert_eq!(session.evaluate(&stopped.top, "point"), "then at -4");
    let other = folder.join("other.natvis");
    std::fs::copy(workspace().join("fixtures/shown.natvis"), &other).expect("a copy");
    let files = |files: Option<&[&std::path::PathBuf]>| ReadVisualizersArguments {
        files: files.map(|files| files.iter().copied().cloned().collect()),
    };
    session.ok::<ReadVisualizersRequest>(files(Some(&[&other])));
    assert_eq!(session.evaluate(&stopped.top, "point"), "(3, -4)");
    session.ok::<RestartRequest>(RestartArguments::default());
    let stopped = session.stopped_at(&fixture, "values", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stopped.top, "point"), "(3, -4)");
    let hovered = typed.with_context(EvaluateArgumentsContext::Hover);
    session.refused::<EvaluateRequest>(hovered);
    session.ok::<ReadVisualizersRequest>(files(Some(&[&file])));
    assert_eq!(session.evaluate(&stopped.top, "point"), "then at -4");

    write("<Type Name='shop::Point'><DisplayString>now at {y}</DisplayString></Type>");
    session.ok::<RestartRequest>(RestartArguments::default());
    let stopped = session.stopped_at(&fixture, "values", StoppedEventReason::Breakpoint);
    assert_eq!(session.evaluate(&stopped.top, "point"), "now at -4");
    assert_eq!(
        session.evaluate(&stopped.top, "plain"),
        "{first = 1, second = 2}"
    );
    session.disconnect();
    std::fs::remove_dir_all(&folder).expect("removed");
}
