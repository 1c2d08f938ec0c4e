//! Arguments of `launch` and `attach` that no other test file covers, and other debuggers' names for Dapple's arguments.

use crate::support;
use crate::support::fixture::fixtures_folder;
use crate::support::running::{Running, kill};
use crate::support::{Fixture, Session, core_of, file, file_of, initialize_arguments, text};
use dapple_adapter::ServeOptions;
use dapple_dap::testing::launch_arguments;
use dapple_dap::types::*;
use serde_json::{Value, json};
use std::path::PathBuf;

fn attach_arguments(value: &Value) -> AttachRequestArguments {
    serde_json::from_value(value.clone()).expect("an object")
}

/// The standard output of a program that ran with these arguments, and the adapter's messages about the arguments.
fn run(fixture: &Fixture, arguments: Value) -> (String, Vec<String>) {
    let session = Session::started(fixture, arguments, &[]);
    session.exit_code();
    let stdout = session.output(OutputEventCategory::Stdout);
    let console = session.output(OutputEventCategory::Console);
    session.disconnect();
    let said = console.lines().filter(|line| line.starts_with("launch:"));
    (stdout, said.map(str::to_owned).collect())
}

/// A path at which the program is to create a file.
fn output(name: &str) -> PathBuf {
    let path = fixtures_folder().join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn stdio_leads_each_stream_where_it_says() {
    let fixture = Fixture::new("exit.c");
    let (both, input) = (output("both.txt"), file("stdio-in.txt", b"hello", 0o644));
    std::fs::write(
        &both,
        "what was there before, which is longer than what comes",
    )
    .expect("written");
    // The last entry of `stdio` applies to the remaining streams. Neither stream overwrites the other's output.
    let (stdout, said) = run(&fixture, json!({"stdio": [null, both]}));
    assert_eq!((stdout.as_str(), said.len()), ("", 0), "{said:?}");
    let written = std::fs::read_to_string(&both).expect("written");
    let mut lines: Vec<&str> = written.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["farewell", "to stderr", "to stdout"]);

    let reader = Fixture::new("sleepless.c");
    for stdio in [
        json!([input, null, null]),
        json!({"stdin": input, "stdout": null}),
    ] {
        let (stdout, _) = run(&reader, json!({"args": ["read"], "stdio": stdio}));
        assert!(stdout.contains("read 5 bytes: hello"), "{stdout}");
    }
    let (stdout, said) = run(&fixture, json!({"stdio": "/dev/null"}));
    assert_eq!((stdout.as_str(), said.len()), ("", 0));
    let (stdout, said) = run(&fixture, json!({"stdio": [null, null, null, "/dev/null"]}));
    assert_eq!(stdout, "to stdout\nfarewell\n");
    assert_eq!(
        said,
        [
            "launch: `stdio` has 4 streams; only the first three, input, output and errors, are looked at"
        ]
    );
}

#[test]
fn one_file_is_the_input_and_stays_as_it_is() {
    let reader = Fixture::new("sleepless.c");
    let input = file("stdio-alone.txt", b"hello", 0o644);
    let name = input
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let folder = input.parent().map(|folder| folder.display().to_string());
    for arguments in [
        json!({"stdio": [input]}),
        json!({"stdio": input}),
        json!({"stdio": name, "cwd": folder}),
        json!({"stdio": [name], "cwd": folder}),
    ] {
        let mut given = arguments.clone();
        given["args"] = json!(["read"]);
        let (stdout, _) = run(&reader, given);
        assert!(
            stdout.contains("read 5 bytes: hello"),
            "{arguments}: {stdout}"
        );
        let left = std::fs::read_to_string(&input).expect("it is still there");
        assert_eq!(left, "hello", "{arguments}");
    }
}

#[test]
fn a_program_may_be_named_from_its_working_directory() {
    let fixture = Fixture::new("exit.c");
    let folder = fixture.binary.parent().expect("a folder");
    let name = fixture
        .binary
        .file_name()
        .expect("a name")
        .to_string_lossy();
    for program in [name.to_string(), format!("./{name}")] {
        let session = Session::new();
        let arguments = json!({"program": program, "cwd": folder});
        session.ok::<LaunchRequest>(serde_json::from_value(arguments).expect("an object"));
        session.wait_for::<InitializedEvent>();
        session.configured();
        session.wait_for_output("to stdout");
        session.exit_code();
        session.disconnect();
    }
}

#[test]
fn an_environment_may_be_a_list_of_names_and_values() {
    let fixture = Fixture::new("environment.c");
    let environment = json!([{"name": "FIRST", "value": "one"}, {"name": "SECOND", "value": ""}]);
    let arguments = json!({"args": ["FIRST", "SECOND"], "environment": environment});
    assert_eq!(
        run(&fixture, arguments),
        ("FIRST=one\nSECOND=\n".to_owned(), Vec::new())
    );
    // `env` wins over `environment`, and the adapter says so.
    let arguments =
        json!({"args": ["FIRST"], "environment": environment, "env": {"FIRST": "ours"}});
    let (stdout, said) = run(&fixture, arguments);
    assert_eq!(stdout, "FIRST=ours\n");
    assert_eq!(
        said,
        ["launch: `environment` is ignored beside `env`, which says the same"]
    );
}

#[test]
fn a_stop_at_entry_is_at_the_beginning_of_main() {
    for (source, name) in [("exit.c", "main"), ("threads.rs", "threads::main")] {
        let fixture = Fixture::new(source);
        for argument in ["stopAtEntry", "stopAtBeginningOfMainSubprogram"] {
            let session = Session::started(&fixture, json!({argument: true}), &[]);
            let entry = session.stopped(StoppedEventReason::Entry);
            assert_eq!(entry.top.name, name, "{argument} of {source}");
            assert_eq!(file_of(&entry.top), Some(fixture.path()));
            assert_eq!(
                entry.event.description.as_deref(),
                Some("Stopped at the beginning of main")
            );
            // Stops at the entry only once, and without a breakpoint that the client could see.
            assert_eq!(entry.event.hit_breakpoint_ids, None);
            session.resume(entry.thread);
            assert_eq!(session.exit_code(), 0, "{argument} of {source}");
        }
    }
}

#[test]
fn a_stop_at_entry_is_beside_one_on_entry_and_breakpoints_on_main() {
    let fixture = Fixture::new("exit.c");
    let arguments = json!({"stopAtEntry": true, "stopOnEntry": true});
    let session = Session::started(&fixture, arguments, &["main"]);
    let first = session.stopped(StoppedEventReason::Entry);
    assert_eq!(first.event.description.as_deref(), Some("Stopped at entry"));
    session.resume(first.thread);
    let main = session.stopped_at(&fixture, "main", StoppedEventReason::Breakpoint);
    assert_eq!(main.event.hit_breakpoint_ids.map(|ids| ids.len()), Some(1));
    session.disconnect();
}

#[test]
fn a_stop_at_entry_of_a_program_without_main_is_before_its_first_instruction() {
    let fixture = Fixture::new("exit.c");
    let stripped = fixtures_folder().join("stripped_without_main");
    let strip = std::process::Command::new("strip")
        .arg("-o")
        .args([&stripped, &fixture.binary])
        .status();
    assert!(strip.expect("binutils").success());
    let session = Session::new();
    let arguments = json!({"program": stripped, "stopAtEntry": true});
    session.ok::<LaunchRequest>(launch_arguments(&arguments));
    session.configured();
    let entry = session.stopped(StoppedEventReason::Entry);
    assert_eq!(entry.event.description.as_deref(), Some("Stopped at entry"));
    session.wait_for_written(OutputEventCategory::Console, "`stopAtEntry`: ");
    session.resume(entry.thread);
    assert_eq!(session.exit_code(), 0);
}

#[test]
fn without_a_terminal_of_the_clients_output_is_shown_unless_one_is_insisted_on() {
    let fixture = Fixture::new("exit.c");
    for arguments in [
        json!({"externalConsole": false}),
        json!({"runInTerminal": false}),
        json!({"terminal": "console"}),
        json!({"console": "internalConsole"}),
    ] {
        let (stdout, said) = run(&fixture, arguments);
        assert_eq!((stdout.as_str(), said.len()), ("to stdout\nfarewell\n", 0));
    }
    for mut arguments in [
        json!({"externalConsole": true}),
        json!({"runInTerminal": true}),
        json!({"terminal": "integrated"}),
        json!({"terminal": "external"}),
        json!({"console": "externalTerminal"}),
    ] {
        let session = Session::new();
        arguments["program"] = json!(fixture.program());
        let refused = session.refused::<LaunchRequest>(launch_arguments(&arguments));
        assert!(
            refused.sentence.contains("this client has no terminal"),
            "{}",
            refused.sentence
        );
        session.disconnect();
    }
    // When the streams are redirected, cpptools' default doesn't ask for a terminal.
    let client = initialize_arguments().with_supports_run_in_terminal_request(true);
    let session = Session::serving(ServeOptions::default(), client);
    session.launch(
        &fixture,
        json!({"externalConsole": false, "stdout": "/dev/null"}),
    );
    session.configured();
    assert_eq!(session.exit_code(), 0);
    session.disconnect();
}

#[test]
fn other_threads_run_during_a_call_where_that_is_said() {
    let fixture = Fixture::new("begins.c");
    for (threads, expected) in [
        (json!(null), "`begin` has not returned within 0.3 seconds"),
        (json!("one"), "`begin` has not returned within 0.3 seconds"),
        (json!("all"), "7"),
    ] {
        let arguments = json!({"callThreads": threads, "callTimeout": if threads == "all" { 60.0 } else { 0.3 }});
        let session = Session::started(&fixture, arguments, &["here"]);
        let stop = session.stopped_at(&fixture, "here", StoppedEventReason::Breakpoint);
        let call = EvaluateArguments::new("begin(7)").with_frame_id(stop.top.id);
        let call = call.with_context(EvaluateArgumentsContext::Repl);
        let result = session.request::<EvaluateRequest>(call);
        let told = result.map_or_else(|error| error.to_string(), |value| value.result);
        assert!(told.starts_with(expected), "{threads}: {told}");
        session.disconnect();
    }
}

#[test]
fn a_process_is_named_by_other_debuggers_argument_too() {
    let fixture = Fixture::new("server.c");
    let mut running = Running::start(&fixture.binary, &[]);
    let session = Session::new();
    let arguments = json!({"processId": running.pid().to_string()});
    session.ok::<AttachRequest>(attach_arguments(&arguments));
    session.wait_for::<InitializedEvent>();
    session.configured();
    let process = session.wait_for::<ProcessEvent>();
    assert_eq!(process.system_process_id, Some(i64::from(running.pid())));
    session.disconnect();
    assert_eq!(running.ask("work"), "worked 1");
}

#[test]
fn a_core_file_is_named_by_other_debuggers_arguments_too() {
    let fixture = Fixture::new("faults.c");
    let core = core_of(&fixture, "wild");
    for arguments in [
        json!({"coreDumpPath": core}),
        json!({"core": core, "program": fixture.program()}),
    ] {
        let session = Session::new();
        session.ok::<AttachRequest>(attach_arguments(&arguments));
        session.wait_for::<InitializedEvent>();
        session.configured();
        session.stopped_at(&fixture, "wild", StoppedEventReason::Exception);
        session.disconnect();
    }
    // `launch` with a core file is refused: running the crashed program again is not what the user meant.
    for name in ["coreFile", "coreDumpPath", "core"] {
        let session = Session::new();
        let arguments = json!({"program": fixture.program(), name: core});
        let refused = session.refused::<LaunchRequest>(launch_arguments(&arguments));
        assert_eq!(
            refused.sentence,
            format!(
                "launch: `{name}` is of a process that has ended: to look at it, \"request\": \"attach\" with `coreFile`"
            )
        );
        session.wait_for::<TerminatedEvent>();
        session.disconnect();
    }
}

#[test]
fn a_core_files_program_may_be_elsewhere_than_it_was() {
    let fixture = Fixture::new("faults.c").renamed("moved-away");
    let core = core_of(&fixture, "read_null");
    let now = fixtures_folder().join(format!("moved-there-{}", std::process::id()));
    std::fs::rename(&fixture.binary, &now).expect("moved");
    let session = Session::new();
    let arguments = json!({"coreFile": core, "program": now});
    session.ok::<AttachRequest>(attach_arguments(&arguments));
    session.wait_for::<InitializedEvent>();
    session.configured();
    let process = session.wait_for::<ProcessEvent>();
    assert_eq!(process.name, text(&now));
    session.stopped_at(&fixture, "read_null", StoppedEventReason::Exception);
    session.disconnect();
    std::fs::remove_file(&now).expect("removed");
}

#[test]
fn what_is_said_for_a_process_that_was_attached_to_holds() {
    let fixture = Fixture::new("attended.c");
    let folder = fixture.source.parent().expect("a folder");
    let natvis = file(
        "attended.natvis",
        b"<AutoVisualizer><Type Name='point'><DisplayString>at {x}</DisplayString></Type></AutoVisualizer>",
        0o644,
    );
    // The sources are now in another folder.
    let copies = fixtures_folder().join(format!("copied-{}", std::process::id()));
    std::fs::create_dir_all(&copies).expect("a folder");
    let copy = copies.join("attended.c");
    std::fs::copy(&fixture.source, &copy).expect("copied");

    let mut running = Running::start(&fixture.binary, &[]);
    let session = Session::new();
    let mut arguments = json!({"pid": running.pid(), "skip": ["square"], "visualizerFile": natvis});
    arguments["signals"] = json!({"SIGUSR1": "stop nopass"});
    arguments["sourceMap"] = json!({text(folder): copies});
    arguments["pointees"] = json!(false);
    session.ok::<AttachRequest>(attach_arguments(&arguments));
    session.wait_for::<InitializedEvent>();
    let set = session
        .set_lines(&text(&copy), &[fixture.line("call")])
        .remove(0);
    assert!(set.verified, "{set:?}");
    session.configured();

    running.tell("7");
    let stop = session.stopped(StoppedEventReason::Breakpoint);
    assert_eq!(support::file_of(&stop.top), Some(text(&copy)));
    session.ok::<StepInRequest>(StepInArguments::new(stop.thread));
    let stepped = session.stopped(StoppedEventReason::Step);
    assert_eq!(
        stepped.top.line,
        fixture.line("print"),
        "`square` is skipped"
    );
    assert_eq!(session.evaluate(&stepped.top, "here"), "at 7");
    let pointer = session.evaluate(&stepped.top, "&here.x");
    assert!(!pointer.contains(' '), "{pointer} is an address alone");
    session.resume(stepped.thread);
    assert_eq!(running.line(), "49");

    kill("-USR1", running.pid());
    let stop = session.stopped(StoppedEventReason::Exception);
    let text_of_stop = stop.event.text.unwrap_or_default();
    assert!(text_of_stop.starts_with("SIGUSR1"), "{text_of_stop}");
    session.resume(stop.thread);
    session.set_lines(&text(&copy), &[]);
    assert_eq!(running.ask("3"), "9", "it was not told of the signal");
    session.disconnect();
    std::fs::remove_dir_all(&copies).expect("removed");
}

fn named_pipe(name: &str) -> PathBuf {
    let path = output(name);
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo runs");
    path
}

#[test]
fn streams_may_be_named_pipes_and_nobody_is_waited_for() {
    let pipe = named_pipe("pipe");
    let fixture = Fixture::new("exit.c");
    let session = Session::new();
    let arguments = json!({"program": fixture.program(), "stdout": pipe});
    let refused = session.refused::<LaunchRequest>(launch_arguments(&arguments));
    assert_eq!(
        refused.sentence,
        format!(
            "launch: `stdout` {}: no process reads this named pipe",
            pipe.display()
        )
    );
    session.disconnect();
    // A named pipe without a writer reads as the end of the input.
    let reader = Fixture::new("sleepless.c");
    let (stdout, _) = run(&reader, json!({"args": ["read"], "stdin": pipe}));
    assert!(stdout.contains("read 0 bytes"), "{stdout}");
    // A pipe that the test holds open for writing delivers what the test writes.
    let ends = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&pipe);
    let mut ends = ends.expect("both ends");
    let session = Session::started(&reader, json!({"args": ["read"], "stdin": pipe}), &[]);
    std::io::Write::write_all(&mut ends, b"hello\n").expect("written");
    session.exit_code();
    let stdout = session.output(OutputEventCategory::Stdout);
    assert!(stdout.contains("read 6 bytes: hello"), "{stdout}");
    session.disconnect();
    let session = Session::new();
    let attach = attach_arguments(&json!({"coreFile": pipe}));
    let refused = session.refused::<AttachRequest>(attach);
    assert_eq!(
        refused.sentence,
        format!("attach: `coreFile` {}: this is no file", pipe.display())
    );
    session.disconnect();
    std::fs::remove_file(&pipe).expect("removed");
}

#[test]
fn configurations_for_other_debuggers_work_as_they_are() {
    let fixture = Fixture::new("environment.c");
    let folder = fixture.source.parent().expect("a folder");
    let cpptools = json!({
        "type": "cppdbg", "name": "(gdb) Launch", "preLaunchTask": "build",
        "args": ["A", "HOME"], "cwd": folder, "stopAtEntry": false, "externalConsole": false,
        "environment": [{"name": "A", "value": "1"}, {"name": "HOME", "value": "/"}],
        "MIMode": "gdb", "miDebuggerPath": "/usr/bin/gdb", "launchCompleteCommand": "exec-run",
        "setupCommands": [{"text": "-enable-pretty-printing", "ignoreFailures": true}],
        "sourceFileMap": {"/build": folder}, "additionalSOLibSearchPath": "", "logging": {}, "coreDumpPath": "",
    });
    let codelldb = json!({
        "type": "lldb", "name": "Debug", "args": "A HOME", "cwd": folder, "terminal": "console", "stdio": null,
        "env": {"A": "1", "HOME": "/"}, "sourceLanguages": ["c"], "initCommands": [], "relativePathBase": folder,
        "expressions": "native", "preRunCommands": ["settings set target.x86-disassembly-flavor intel"],
    });
    let lldb_dap = json!({
        "type": "lldb-dap", "name": "Launch", "args": ["A", "HOME"], "cwd": folder, "env": ["A=1", "HOME=/"],
        "console": "internalConsole", "stdio": [], "sourceMap": [["/build", folder]], "disableASLR": true,
        "initCommands": [], "stopCommands": [], "timeout": 30,
    });
    for (arguments, told) in [
        (
            cpptools,
            &[
                "MIMode",
                "launchCompleteCommand",
                "miDebuggerPath",
                "setupCommands",
            ][..],
        ),
        (
            codelldb,
            &["expressions", "preRunCommands", "sourceLanguages"],
        ),
        (lldb_dap, &["timeout"]),
    ] {
        let (stdout, said) = run(&fixture, arguments);
        assert_eq!(stdout, "A=1\nHOME=/\n");
        assert_eq!(said.len(), told.len(), "{said:?}");
        for (said, name) in said.iter().zip(told) {
            assert!(
                said.starts_with(&format!("launch: `{name}` is ignored: ")),
                "{said}"
            );
        }
    }
}
