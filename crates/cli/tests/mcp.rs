//! `dapple mcp`: debugging for AI agents, by a client that speaks the Model Context Protocol.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::mcp::{Mcp, text};
use crate::support::running::Running;
use crate::support::{compile, root, scratch};

/// A folder with a program of a fixture and its source.
fn folder(name: &str, fixture: &str) -> PathBuf {
    let folder = scratch(&format!("mcp-{name}"));
    let source = folder.join(format!("{fixture}.c"));
    std::fs::copy(
        root().join("fixtures").join(format!("{fixture}.c")),
        &source,
    )
    .expect("the fixture");
    build(&folder, fixture);
    folder
}

fn build(folder: &Path, name: &str) {
    let status = Command::new("cc")
        .args(["-g", "-pthread", "-o", name, &format!("{name}.c")])
        .current_dir(folder)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "{name}");
}

#[test]
fn a_program_is_debugged_from_its_start_to_its_end() {
    let folder = folder("whole", "tour");
    let mut agent = Mcp::start(&folder, &[]);
    let begun = agent.ok(
        "start",
        &json!({"program": "tour", "breakpoints": [{"function": "classify"}]}),
    );
    assert!(
        begun.starts_with("session `1`\nbreakpoint 1 on classify"),
        "{begun}"
    );
    assert!(begun.contains("stopped at breakpoint 1"), "{begun}");
    assert!(begun.contains("\nstack:\n→ #0 classify("), "{begun}");
    assert!(begun.contains("\nvariables:\n  celsius"), "{begun}");
    assert_eq!(
        agent.ok("evaluate", &json!({"expression": "6 * 7"})),
        "6 * 7 = 42"
    );
    let type_of = agent.ok("inspect", &json!({"what": "type", "of": "celsius"}));
    assert!(type_of.contains("double"), "{type_of}");
    // The frame of a question is only the question's.
    let caller = agent.ok("inspect", &json!({"what": "variables", "frame": 1}));
    assert!(!caller.contains("\ncelsius ="), "{caller}");
    let own = agent.ok("inspect", &json!({"what": "variables"}));
    assert!(own.contains("celsius"), "{own}");
    let stepped = agent.ok("step", &json!({"how": "out"}));
    assert!(stepped.contains("stopped"), "{stepped}");
    let removed = agent.ok("breakpoints", &json!({"remove_all": true}));
    assert!(removed.starts_with("all breakpoints removed"), "{removed}");
    let ended = agent.ok("run", &json!({}));
    assert!(ended.contains("program exited with code 3"), "{ended}");
    assert!(
        ended.contains("output of the program since the last answer:"),
        "{ended}"
    );
    assert_eq!(
        agent.ok("output", &json!({})),
        "the program has written nothing new\nthe program has ended"
    );
    let over = agent.fails("run", &json!({}));
    assert_eq!(over, "the program has ended; `restart` runs it again");
    let ended = agent.ok("end", &json!({}));
    assert_eq!(ended, "session `1` has ended");
    assert_eq!(
        agent.fails("run", &json!({})),
        "there is no session; `start` begins one"
    );
    assert_eq!(agent.leave(), Some(0));
}

const EDITED: &str = "#include <stdio.h>\nint main(void) {\n    int total = 0;\n    for (int i = 0; i < 3; i++)\n        total += i;\n    printf(\"%d\\n\", total);\n}\n";

#[test]
fn a_breakpoint_by_text_survives_edits() {
    let folder = scratch("mcp-edited");
    std::fs::write(folder.join("edited.c"), EDITED).expect("a file");
    build(&folder, "edited");
    let mut agent = Mcp::start(&folder, &[]);
    let breakpoint = json!({"file": "edited.c", "text": "total+=i", "condition": "i == 2"});
    let begun = agent.ok(
        "start",
        &json!({"program": "edited", "breakpoints": [breakpoint]}),
    );
    assert!(begun.contains("edited.c:5"), "{begun}");
    std::fs::write(folder.join("edited.c"), format!("// A line.\n\n{EDITED}")).expect("a file");
    build(&folder, "edited");
    let again = agent.ok("run", &json!({"restart": true}));
    assert!(
        again.contains("has moved with its text from line 5 to line 7"),
        "{again}"
    );
    assert!(again.contains("edited.c:7"), "{again}");
    assert_eq!(agent.ok("evaluate", &json!({"expression": "i"})), "i = 2");
    let missing = json!({"add": [{"file": "edited.c", "text": "totall += i"}]});
    let missing = agent.fails("breakpoints", &missing);
    assert!(
        missing.ends_with("no line has “totall += i”; the most similar is line 7: total += i;"),
        "{missing}"
    );
}

#[test]
fn nothing_outside_of_the_folders_is_started_or_read() {
    let folder = folder("confined", "tour");
    let mut agent = Mcp::start(&folder, &[]);
    let mut refused = |tool: &str, arguments: Value| {
        let told = agent.fails(tool, &arguments);
        assert!(
            told.contains("is outside of what this server may use"),
            "{arguments}: {told}"
        );
    };
    refused(
        "start",
        json!({"program": "/bin/sh", "args": ["-c", "true"]}),
    );
    refused(
        "start",
        json!({"program": "../../../../../../../../../../bin/sh"}),
    );
    refused("start", json!({"program": "tour", "cwd": "/"}));
    refused("start", json!({"attach": std::process::id()}));
    refused("start", json!({"core": "/etc/hostname"}));
    refused("why_did_it_crash", json!({"core": "/etc/hostname"}));
    let link = folder.join("link");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink("/bin/sh", &link).expect("a link");
    refused("start", json!({"program": "link"}));
    refused(
        "start",
        json!({"program": "tour", "breakpoints": [{"file": "/etc/passwd", "text": "root"}]}),
    );
    let preloaded = json!({"program": "tour", "env": {"LD_PRELOAD": "/tmp/x.so"}});
    let preloaded = agent.fails("start", &preloaded);
    assert!(
        preloaded.contains("has the program load other code"),
        "{preloaded}"
    );
    let adapter = agent.fails(
        "start",
        &json!({"program": "tour", "adapter": "sh -c true"}),
    );
    assert!(
        adapter.starts_with("there is no adapter `sh -c true`"),
        "{adapter}"
    );
    agent.ok(
        "start",
        &json!({"program": "tour", "breakpoints": [{"function": "classify"}]}),
    );
    let source = agent.fails("inspect", &json!({"what": "source", "of": "/etc/passwd:1"}));
    assert!(source.contains("is outside of"), "{source}");
    for called in ["classify(3)", "celsius = classify(3)"] {
        let called = agent.fails("evaluate", &json!({"expression": called}));
        assert!(
            called.contains("this session calls no functions"),
            "{called}"
        );
    }
    let lines = agent.fails("evaluate", &json!({"expression": "celsius\nquit"}));
    assert_eq!(
        lines,
        "`expression` must be one line, without control characters"
    );
    drop(agent);
    let mut agent = Mcp::start(&folder, &["--allow-calls"]);
    agent.ok(
        "start",
        &json!({"program": "tour", "breakpoints": [{"function": "classify"}]}),
    );
    agent.ok("evaluate", &json!({"expression": "classify(3)"}));
}

#[test]
fn a_long_answer_is_cut_and_goes_on_by_its_cursor() {
    let folder = folder("long", "tour");
    let mut agent = Mcp::start(&folder, &["--longest-answer", "1000"]);
    agent.ok("start", &json!({"program": "tour", "stop_in_main": true}));
    let mut piece = agent.ok("inspect", &json!({"what": "mappings"}));
    let mut pieces = 1;
    while let Some((_, cursor)) = piece.rsplit_once("`more` with cursor \"") {
        assert!(piece.len() <= 1000, "{}", piece.len());
        let cursor = cursor.trim_end_matches('"').to_owned();
        piece = agent.ok("more", &json!({"cursor": cursor}));
        pieces += 1;
    }
    assert!(pieces > 1);
    let unknown = agent.fails("more", &json!({"cursor": "99:0"}));
    assert!(
        unknown.starts_with("nothing is kept for this cursor"),
        "{unknown}"
    );
}

#[test]
fn a_program_that_runs_is_waited_for_left_and_stopped() {
    let folder = scratch("mcp-runs");
    compile("bugs/search.c", &folder.join("search"));
    let mut agent = Mcp::start(&folder, &[]);
    let begun = agent.ok("start", &json!({"program": "search", "within": 1}));
    assert!(
        begun.contains("the program runs: `run` waits on"),
        "{begun}"
    );
    let refused = agent.fails("evaluate", &json!({"expression": "1"}));
    assert!(refused.starts_with("the program runs"), "{refused}");
    // A call that waits is cancelled, and another one answered meanwhile.
    let waiting = agent.begin("run", &json!({"within": 3000}));
    let cancel = json!({"requestId": waiting, "reason": "enough"});
    agent.notify("notifications/cancelled", &cancel);
    let stuck = agent.ok("where_is_it_stuck", &json!({}));
    assert!(stuck.contains("all stacks:"), "{stuck}");
    assert!(stuck.contains(" at "), "{stuck}");
    let stopped = agent.ok("inspect", &json!({"what": "threads"}));
    assert!(stopped.contains("thread"), "{stopped}");
    let sessions = agent.ok("inspect", &json!({"what": "sessions"}));
    assert!(sessions.ends_with(", stopped"), "{sessions}");
}

#[test]
fn hostile_input_is_refused_and_leaves_the_session_as_it_is() {
    let folder = folder("hostile", "tour");
    let mut agent = Mcp::start(&folder, &[]);
    agent.ok(
        "start",
        &json!({"program": "tour", "breakpoints": [{"function": "classify"}]}),
    );
    for line in [
        "",
        "{",
        "[]",
        "null",
        "{\"jsonrpc\":\"2.0\"}",
        "\u{fffd}\u{0}",
        "{\"id\":{}}",
    ] {
        agent.send(line);
    }
    let wrong = [
        ("nothing", json!({})),
        ("run", json!({"within": "soon"})),
        ("run", json!({"wihtin": 3})),
        ("run", json!([])),
        ("step", json!({"how": "sideways"})),
        ("inspect", json!({})),
        ("evaluate", json!({"expression": 3})),
        ("step", json!({"count": -1})),
    ];
    for (tool, arguments) in wrong {
        let number = agent.begin(tool, &arguments);
        let (told, failed) = text(&agent.response(number));
        assert!(failed, "{tool} {arguments}: {told}");
        assert!(told.len() > 10, "{tool} {arguments}: {told}");
    }
    let long = "x".repeat(1 << 20);
    for (tool, arguments) in [
        ("evaluate", json!({"expression": ""})),
        ("evaluate", json!({"expression": "\u{1b}[2J"})),
        ("evaluate", json!({"expression": long})),
        ("evaluate", json!({"expression": "-full 1"})),
        ("evaluate", json!({"expression": "1", "format": "x -full"})),
        ("breakpoints", json!({"add": [{}]})),
        (
            "breakpoints",
            json!({"add": [{"function": "no_such_function\u{7f}"}]}),
        ),
        ("breakpoints", json!({"remove": [4_000_000_000_u32]})),
        ("step", json!({"count": 0})),
        (
            "inspect",
            json!({"what": "variables", "frame": 4_000_000_000_u32}),
        ),
        ("inspect", json!({"what": "variables", "thread": -7})),
        ("run", json!({"session": "another"})),
        ("who_wrote", json!({"expression": "celsius"})),
        ("start", json!({"program": "tour", "session": "1"})),
        ("start", json!({"program": "nothing"})),
        ("start", json!({"program": "tour.c\u{0}"})),
        ("start", json!({"program": "."})),
        ("start", json!({})),
    ] {
        let told = agent.fails(tool, &arguments);
        assert!(told.len() < 8200, "{tool}: {} bytes", told.len());
        assert!(!told.contains('\u{1b}'), "{tool}: {told}");
    }
    let here = agent.ok("inspect", &json!({"what": "stack", "session": "1"}));
    assert!(here.contains("#0  classify"), "{here}");
}

#[test]
fn a_process_that_runs_is_attached_to_and_goes_on_afterwards() {
    let folder = scratch("mcp-attached");
    let program = folder.join("server");
    compile("server.c", &program);
    let mut running = Running::start(&program, &[]);
    let mut agent = Mcp::start(&folder, &[]);
    let begun = agent.ok("start", &json!({"attach": running.pid()}));
    assert!(begun.contains("\nstopped "), "{begun}");
    let again = agent.fails("run", &json!({"restart": true}));
    assert!(
        again.starts_with("this session has not started its program"),
        "{again}"
    );
    let called = agent.fails("evaluate", &json!({"expression": "work()"}));
    assert!(!called.contains("worked"), "{called}");
    agent.ok("end", &json!({}));
    assert_eq!(running.ask("work"), "worked 1");
}

/// The processes that a process has started.
fn children(process: u32) -> Vec<u32> {
    let path = format!("/proc/{process}/task/{process}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace()
        .filter_map(|it| it.parse().ok())
        .collect()
}

#[test]
fn a_session_whose_debugger_is_killed_says_so() {
    let folder = folder("killed", "tour");
    let mut agent = Mcp::start(&folder, &[]);
    agent.ok("start", &json!({"program": "tour", "stop_in_main": true}));
    let of_threads = std::fs::read_dir(format!("/proc/{}/task", agent.process()));
    let threads = of_threads.expect("it lives").filter_map(|it| {
        let name = it.ok()?.file_name();
        let path = format!("/proc/{}/task/{}/children", agent.process(), name.display());
        std::fs::read_to_string(path).ok()
    });
    let all: Vec<String> = threads.collect();
    let debugger = all.iter().flat_map(|it| it.split_whitespace()).next();
    let debugger: u32 = debugger.expect("a debugger").parse().expect("a number");
    assert!(!children(debugger).is_empty() || debugger > 0);
    let status = Command::new("kill")
        .args(["-KILL", &debugger.to_string()])
        .status();
    assert!(status.is_ok_and(|it| it.success()));
    let told = agent.fails("run", &json!({}));
    assert!(
        told.contains("is over") || told.contains("has ended"),
        "{told}"
    );
    let begun = agent.ok("start", &json!({"program": "tour"}));
    assert!(begun.contains("program exited with code 3"), "{begun}");
}

#[test]
fn there_are_prompts_and_tools_with_descriptions() {
    let mut agent = Mcp::start(&root(), &[]);
    let tools = agent.request("tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().expect("a list").clone();
    let names: Vec<&str> = tools.iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names.len(), 12, "{names:?}");
    for tool in &tools {
        assert!(
            tool["description"].as_str().is_some_and(|it| it.len() > 20),
            "{tool}"
        );
        let properties = tool["inputSchema"]["properties"]
            .as_object()
            .expect("properties");
        for (name, property) in properties {
            let has_text = property["description"].as_str().is_some();
            assert!(has_text, "{} {name}: {property}", tool["name"]);
        }
    }
    let prompts = agent.request("prompts/list", &json!({}));
    let prompts = prompts["result"]["prompts"]
        .as_array()
        .expect("a list")
        .clone();
    assert_eq!(prompts.len(), 5);
    // What prompts speak of is there.
    for prompt in prompts {
        let arguments = json!({"name": prompt["name"], "arguments": {"what": "./app 1 2 crashes"}});
        let text = agent.request("prompts/get", &arguments);
        let text = text["result"]["messages"][0]["content"]["text"]
            .as_str()
            .expect("a text")
            .to_owned();
        assert!(text.contains("./app 1 2 crashes"), "{text}");
        let mut words = text.split('`').skip(1).step_by(2);
        assert!(words.any(|word| names.contains(&word)), "{text}");
    }
}
