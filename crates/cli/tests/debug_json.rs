//! `dapple debug --json`: what scripts and other programs read, and the exit codes that they see.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::support::{Run, compile, dapple, line, root, scratch, script, write};

/// `fixtures/tour.c`, compiled.
fn tour() -> String {
    let folder = scratch("json");
    let program = folder.join(format!("tour-{:?}", std::thread::current().id()));
    compile("tour.c", &program);
    program.to_str().expect("a plain path").to_owned()
}

/// The records of a run, each of which keeps to the schema.
fn records(arguments: &[&str], lines: &[&str]) -> (Vec<Value>, Option<i32>) {
    let path = scratch("json").join(format!("lines-{:?}", std::thread::current().id()));
    std::fs::write(&path, lines.join("\n") + "\n").expect("the target directory can be written");
    let lines = std::fs::File::open(&path).expect("the lines");
    let mut command = dapple();
    command
        .args(["debug", "--json"])
        .args(arguments)
        .stdin(lines);
    let output = command.output().expect("dapple can be started");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8(output.stdout).expect("records are UTF-8");
    (text.lines().map(record).collect(), output.status.code())
}

fn record(line: &str) -> Value {
    let record: Value =
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    if let Err(error) = validator().validate(&record) {
        panic!("{error} at {}: {record:#}", error.instance_path);
    }
    record
}

fn validator() -> jsonschema::Validator {
    let text = std::fs::read_to_string(schema_file()).expect("the schema");
    let mut schema: Value = serde_json::from_str(&text).expect("JSON");
    refuse_other_fields(&mut schema);
    jsonschema::validator_for(&schema).expect("a schema")
}

/// Fields that the schema has no description of would be no promise.
fn refuse_other_fields(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let has = |name: &str| object.contains_key(name);
            // A variant's object refers to what it has beside its name; an enumeration has no properties of its own.
            if has("properties") == has("$ref") && has("properties") != has("oneOf") {
                object.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
            }
            object.values_mut().for_each(refuse_other_fields);
        }
        Value::Array(items) => items.iter_mut().for_each(refuse_other_fields),
        _ => {}
    }
}

fn schema_file() -> PathBuf {
    root().join("docs/debug.schema.json")
}

/// The record of a command.
#[track_caller]
fn of<'r>(records: &'r [Value], command: &str) -> &'r Value {
    let found = records.iter().find(|record| record["command"] == command);
    found.unwrap_or_else(|| panic!("no record of `{command}`: {records:#?}"))
}

#[test]
fn the_schema_of_records_is_the_one_in_the_documentation() {
    let output = dapple().args(["debug", "--json-schema"]).output();
    let printed = String::from_utf8(output.expect("dapple starts").stdout).expect("UTF-8");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(schema_file(), &printed).expect("the folder is there");
    }
    let expected = std::fs::read_to_string(schema_file()).unwrap_or_default();
    assert_eq!(
        expected, printed,
        "UPDATE_EXPECT=1 writes it; are programs that read it still right?"
    );
}

#[test]
fn a_stop_says_why_and_where_and_what_is_there() {
    let commands = [
        "b mean",
        "run",
        "bt",
        "info threads",
        "finish",
        "d all",
        "c",
    ];
    let (records, code) = records(&[&tour()], &commands);
    assert_eq!(code, Some(0));
    let set = &of(&records, "b mean")["items"][0];
    assert_eq!(
        (&set["kind"], &set["number"], &set["line"]),
        (&"breakpoint".into(), &1.into(), &20.into())
    );
    let stops: Vec<&Value> = records.iter().filter(|it| it["record"] == "stop").collect();
    let stop = stops[0];
    assert_eq!(stop["cause"]["breakpoints"], Value::from(vec![1]));
    assert_eq!(stop["cause"]["sentence"], "at breakpoint 1");
    assert_eq!(stop["frames"][0]["function"], "mean");
    assert!(
        stop["frames"][0]["call"]
            .as_str()
            .is_some_and(|call| call.contains("count = 3")),
        "{stop:#}"
    );
    assert_eq!(stop["frames"][0]["selected"], true);
    assert_eq!(stop["frames"][1]["function"], "main");
    let local = |name: &str| {
        let mut all = stop["locals"].as_array().into_iter().flatten();
        all.find(|local| local["name"] == name)
            .cloned()
            .unwrap_or_default()
    };
    assert_eq!(
        (&local("count")["value"], &local("count")["type"]),
        (&"3".into(), &"int".into())
    );
    let source = &stop["items"][1];
    assert_eq!(
        (&source["kind"], &source["current"]),
        (&"source".into(), &20.into())
    );
    let stack = &of(&records, "bt")["items"][0];
    assert_eq!(stack["rows"][1]["function"], "main");
    assert_eq!(stack["rest"], "bt all");
    assert_eq!(of(&records, "info threads")["items"][0]["selected"], true);
    let finished = stops[1];
    assert_eq!(finished["cause"]["expected"], true);
    assert_eq!(finished["items"][2]["kind"], "returned");
    let output = records.iter().filter(|it| it["record"] == "output");
    let output: String = output.filter_map(|it| it["text"].as_str()).collect();
    assert!(output.contains("3 of 3 towns visited"), "{output}");
    let last: Vec<&Value> = records.iter().rev().take(2).collect();
    assert_eq!(
        (&last[0]["record"], &last[0]["code"]),
        (&"end".into(), &0.into())
    );
    let exits = records.iter().filter(|it| it["record"] == "exited");
    assert_eq!(exits.map(|it| it["code"].clone()).collect::<Vec<_>>(), [3]);
}

#[test]
fn text_and_objects_say_the_same() {
    let commands = ["b mean", "run", "p values", "up", "p order", "bt"];
    let program = tour();
    let ex: Vec<&str> = commands
        .iter()
        .flat_map(|command| ["--ex", *command])
        .collect();
    let text = Run::of(dapple().args(["debug", "--batch"]).args(&ex).arg(&program));
    let (records, _) = records(&[&ex[..], &["--batch", &program]].concat(), &[]);
    let mut values = Vec::new();
    for record in &records {
        for item in record["items"].as_array().into_iter().flatten() {
            collect(item, &mut values);
        }
    }
    assert!(values.len() > 8, "{values:?}");
    for value in values {
        let value = crate::support::normalised(&value);
        assert!(
            text.stdout.contains(value.trim_end()),
            "{value}: {}",
            text.stdout
        );
    }
}

/// Functions, source lines and values that are no headings.
fn collect(item: &Value, into: &mut Vec<String>) {
    let Some(object) = item.as_object() else {
        return item
            .as_array()
            .into_iter()
            .flatten()
            .for_each(|item| collect(item, into));
    };
    let is_leaf = !object.contains_key("parts");
    for (name, value) in object {
        match (&**name, value) {
            ("function" | "text", Value::String(text)) => into.push(text.clone()),
            ("value", Value::String(text)) if is_leaf => into.push(text.clone()),
            (_, Value::Object(_) | Value::Array(_)) => collect(value, into),
            _ => {}
        }
    }
}

#[test]
fn failures_are_of_a_kind() {
    let commands = [
        "p 1",
        "foo",
        "b mean",
        "run",
        "p nothing",
        "frame 99",
        "quit",
    ];
    let (records, code) = records(&[&tour()], &commands);
    assert_eq!(code, Some(0));
    let reason = |command: &str| of(&records, command)["error"]["reason"].clone();
    assert_eq!(reason("p 1"), "command");
    assert_eq!(reason("foo"), "command");
    assert_eq!(reason("p nothing"), "refused");
    assert_eq!(reason("frame 99"), "command");
    assert_eq!(of(&records, "run").get("error"), None);
    assert_eq!(of(&records, "p nothing")["state"], "stopped");
}

#[test]
fn long_values_say_how_the_rest_is_shown() {
    let source = write(
        "long_values.c",
        "#include <string.h>\nint main(void) { static int many[1000]; static char text[5000]; memset(text, 'x', 4999);\n many[0] = 1; return text[0] == many[0]; }\n",
    );
    let source = source.to_str().expect("a plain path");
    let (records, _) = records(&[source], &["b 3", "run", "p many", "p text", "quit"]);
    let many = &of(&records, "p many")["items"][0];
    assert_eq!(many["parts"].as_array().map(Vec::len), Some(64));
    assert_eq!(
        (&many["moreParts"], &many["rest"]),
        (&936.into(), &"p many[64]@936".into())
    );
    let text = &of(&records, "p text")["items"][0];
    assert_eq!(
        (&text["cut"], &text["rest"]),
        (&true.into(), &"p -full text".into()),
        "{text:#}"
    );
}

/// A session whose commands are typed one after the other.
struct Typed {
    child: Child,
    commands: ChildStdin,
    records: BufReader<ChildStdout>,
}

impl Typed {
    fn debug(words: &[&str]) -> Typed {
        let mut child = dapple()
            .args(["debug", "--json"])
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("dapple starts");
        let commands = child.stdin.take().expect("a pipe");
        let records = BufReader::new(child.stdout.take().expect("a pipe"));
        Typed {
            child,
            commands,
            records,
        }
    }

    fn command(&mut self, line: &str) {
        writeln!(self.commands, "{line}").expect("dapple reads commands");
    }

    /// The next record of a kind.
    #[track_caller]
    fn next(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            let count = self.records.read_line(&mut line).expect("records");
            assert_ne!(count, 0, "the records end before `{kind}`");
            let record = record(&line);
            if record["record"] == kind {
                return record;
            }
        }
    }
}

#[test]
fn a_program_that_runs_is_interrupted_and_other_commands_wait_for_the_stop() {
    let loops = "echo ready; while :; do :; done";
    let mut session = Typed::debug(&["--", "/bin/sh", "-c", loops]);
    session.command("run");
    assert_eq!(session.next("output")["text"], "ready\n");
    session.command("bt");
    session.command("interrupt");
    // The record of `run` was before the output.
    assert_eq!(session.next("command")["command"], "interrupt");
    let stop = session.next("stop");
    assert_eq!(
        (&stop["cause"]["reason"], &stop["output"]),
        (&"pause".into(), &"ready\n".into())
    );
    let stack = session.next("command");
    assert_eq!(
        (&stack["command"], &stack["state"]),
        (&"bt".into(), &"stopped".into())
    );
    session.command("c");
    assert_eq!(session.next("command")["state"], "running");
    session.command("interrupt");
    session.next("stop");
    session.command("interrupt");
    let refused = session.next("command");
    assert_eq!(refused["command"], "interrupt");
    let refused = match refused.get("error") {
        Some(error) => error.clone(),
        None => session.next("command")["error"].clone(),
    };
    assert_eq!(refused["message"], "the program does not run");
    session.command("quit");
    assert_eq!(session.next("end")["code"], 0);
    assert!(session.child.wait().is_ok_and(|status| status.success()));
}

#[test]
fn the_exit_code_of_a_batch_tells_how_it_went() {
    let crash = write(
        "crash_at_null.c",
        "int main(void) { return *(volatile int *)0; }\n",
    );
    let crash = crash.to_str().expect("a plain path");
    let exits = write("exits_with_7.c", "int main(void) { return 7; }\n");
    let exits = exits.to_str().expect("a plain path");
    let code = |arguments: &[&str]| {
        let run = Run::of(dapple().args(["debug", "--batch"]).args(arguments));
        (run.code, run.stderr)
    };
    assert_eq!(code(&["--ex", "run", exits]).0, Some(7));
    assert_eq!(code(&["--ex", "b main", "--ex", "run", exits]).0, Some(0));
    assert_eq!(code(&["--ex", "run", crash]).0, Some(123));
    assert_eq!(code(&["--ex", "run", "--ex", "quit", crash]).0, Some(0));
    // Where there is no crash to look at, nothing has failed.
    let looks = ["--ex", "run", "--ex", "bt", "--ex", "info locals"];
    assert_eq!(code(&[&looks[..], &[exits]].concat()).0, Some(7));
    assert_eq!(code(&[&looks[..], &[crash]].concat()).0, Some(123));
    assert_eq!(code(&["--ex", "bt", exits]).0, Some(125));
    assert_eq!(code(&["--ex", "run", "--ex", "kill", crash]).0, Some(0));
    let failed = code(&["--ex", "foo", "--ex", "run", exits]);
    assert_eq!(failed.0, Some(125));
    let both = code(&[
        "--keep-going",
        "--ex",
        "foo",
        "--ex",
        "run",
        "--ex",
        "bar",
        exits,
    ]);
    assert_eq!(both.0, Some(125));
    assert!(
        both.1.contains("`foo`") && both.1.contains("`bar`"),
        "{}",
        both.1
    );
    assert_eq!(code(&["--ex", "run", "no/such/program"]).0, Some(126));
    let hangs = [
        "--timeout",
        "1",
        "--ex",
        "run",
        "--",
        "/bin/sh",
        "-c",
        "while :; do :; done",
    ];
    let (hung, told) = code(&hangs);
    assert_eq!(hung, Some(124));
    assert_eq!(
        told,
        "dapple: the session has taken as long as it may (--timeout)\n"
    );
    for wrong in ["0", "-1", "soon"] {
        assert_eq!(code(&[&format!("--timeout={wrong}"), exits]).0, Some(1));
    }
    let typed = Run::of(dapple().args(["debug", "--timeout", "1", exits]));
    typed.assert_fails("dapple: --timeout is for --batch and --json\n");
}

#[test]
fn a_function_that_does_not_return_is_left_when_the_time_is_over() {
    let source = write(
        "loops_when_called.c",
        "int stays = 1;\nint loops(void) { while (stays); return 0; }\nint main(void) { return stays ? 0 : loops(); }\n",
    );
    let source = source.to_str().expect("a plain path");
    // Each call is given up after five seconds.
    let mut arguments = vec![
        "--batch",
        "--keep-going",
        "--timeout",
        "15",
        "--ex",
        "b main",
        "--ex",
        "run",
    ];
    arguments.extend(["--ex", "p loops()"].repeat(8));
    arguments.push(source);
    let began = std::time::Instant::now();
    let (records, code) = records(&arguments, &[]);
    assert_eq!(code, Some(124), "{records:#?}");
    let end = records.last().expect("records");
    assert_eq!(
        (&end["record"], &end["error"]["reason"]),
        (&"end".into(), &"timeOver".into())
    );
    assert!(
        began.elapsed() < std::time::Duration::from_secs(40),
        "it was not left"
    );
}

#[test]
fn what_runs_before_a_launch_writes_no_records_and_reads_no_commands() {
    let folder = scratch("json").join("task");
    std::fs::create_dir_all(folder.join(".vscode")).expect("the target directory can be written");
    let launch = serde_json::json!({"configurations": [{
        "name": "it", "type": "cppdbg", "request": "launch", "program": tour(), "preLaunchTask": "says"
    }]});
    let tasks = serde_json::json!({"tasks": [{
        "label": "says", "type": "shell", "command": "echo built; cat"
    }]});
    for (name, text) in [("launch.json", launch), ("tasks.json", tasks)] {
        std::fs::write(folder.join(".vscode").join(name), text.to_string()).expect("a file");
    }
    let mut command = dapple();
    command
        .args(["debug", "--json", "--launch", "launch.json:it"])
        .current_dir(&folder);
    let lines = folder.join("lines");
    std::fs::write(&lines, "b mean\nrun\nquit\n").expect("a file");
    let output = command
        .stdin(std::fs::File::open(&lines).expect("the lines"))
        .output();
    let output = output.expect("dapple can be started");
    let text = String::from_utf8(output.stdout).expect("records are UTF-8");
    let records: Vec<Value> = text.lines().map(record).collect();
    assert!(
        records.iter().any(|it| it["record"] == "stop"),
        "{records:#?}"
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("built"));
}

#[test]
fn a_line_that_fails_elsewhere_does_not_end_a_script() {
    let file = write("after_init.dapple", "b mean\nrun\np count\n");
    let file = file.to_str().expect("a plain path");
    let arguments = ["--ex", "foo", "--script", file, &tour()];
    let (records, code) = records(&arguments, &["quit"]);
    assert_eq!(code, Some(0));
    assert_eq!(of(&records, "p count")["items"][0]["value"], "3");
}

#[test]
fn an_adapter_that_hangs_does_not_outlast_the_timeout() {
    let silent = scratch("json").join("silent-adapter");
    script(&silent, "#!/bin/sh\nwhile read -r line; do :; done\n");
    let silent = silent.to_str().expect("a plain path");
    let arguments = [
        "--timeout",
        "1",
        "--adapter",
        silent,
        "--batch",
        "--ex",
        "run",
    ];
    let (records, code) = records(&[&arguments[..], &[&tour()]].concat(), &[]);
    assert_eq!(code, Some(124), "{records:#?}");
    assert_eq!(
        records.last().map(|it| it["code"].clone()),
        Some(124.into())
    );
}

#[test]
fn a_script_file_says_where_it_has_failed() {
    let file = write(
        "json.dapple",
        "# to the loop\nb mean\nrun\np count\nfoo\np 1\n",
    );
    let file = file.to_str().expect("a plain path");
    let (records, code) = records(&["--batch", "--script", file, &tour()], &[]);
    assert_eq!(code, Some(125));
    assert_eq!(of(&records, "p count")["items"][0]["value"], "3");
    let message = of(&records, "foo")["error"]["message"]
        .as_str()
        .unwrap_or_default();
    assert!(message.contains("json.dapple:5"), "{message}");
    assert!(!records.iter().any(|it| it["command"] == "p 1"));
    let (all, code) = self::records(&["--batch", "--keep-going", "--script", file, &tour()], &[]);
    assert_eq!(code, Some(125));
    assert_eq!(of(&all, "p 1")["items"][0]["value"], "1");
}

#[test]
fn nothing_but_records_comes_at_a_terminal_either() {
    let program = tour();
    let mut command = Command::new("script");
    let dapple = env!("CARGO_BIN_EXE_dapple");
    let line = format!("{dapple} debug --json --batch --ex 'b mean' --ex run '{program}'");
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(root());
    let output = command.output().expect("script(1) is installed");
    let text = String::from_utf8_lossy(&output.stdout);
    let all: Vec<Value> = text.lines().map(|line| record(line.trim_end())).collect();
    assert_eq!(
        all.last().map(|it| it["record"].clone()),
        Some("end".into())
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_lists_and_machine_code_and_the_past_have_are_objects() {
    let tour = tour();
    let place = format!("b {}", line("tour.c", "print"));
    let arguments = [
        "--record",
        "--batch",
        "--ex",
        &place,
        "--ex",
        "run",
        "--ex",
        "c",
        "--ex",
        "who visits",
        "--ex",
        "who -all visits",
        "--ex",
        "when",
        "--ex",
        "watch visits",
        "--ex",
        "info breakpoints",
        "--ex",
        "disassemble $pc 3",
        "--ex",
        "x/2xb &visits",
        "--ex",
        "x/1s words[0]",
        "--ex",
        "nexti",
        "--ex",
        "info modules tour",
        "--ex",
        "info processes",
        "--ex",
        "catch",
        "--ex",
        "info locks",
        "--ex",
        "info tasks",
        &tour,
    ];
    let (records, code) = records(&arguments, &[]);
    assert_eq!(code, Some(0), "{records:#?}");
    let items = |command: &str| {
        of(&records, command)["items"]
            .as_array()
            .expect("items")
            .clone()
    };
    let first = |command: &str| items(command)[0].clone();
    let write = first("who visits");
    assert_eq!(
        [&write["kind"], &write["before"], &write["after"]],
        ["write", "0", "1"]
    );
    let written = line("tour.c", "print") + 1;
    assert_eq!(write["frame"]["line"], written);
    let number = &write["bookmark"];
    assert!(number.is_u64(), "{write}");
    let writes = items("who -all visits");
    assert_eq!(
        [&writes[0]["kind"], &writes[0]["after"]],
        ["writeLine", "1"]
    );
    let history = first("when");
    assert_eq!(history["kind"], "history");
    assert_eq!(&history["bookmarks"][0]["number"], number);
    let listed = items("info breakpoints");
    let kinds: Vec<&Value> = listed.iter().map(|item| &item["kind"]).collect();
    assert_eq!(kinds, ["breakpoint", "watchpoint"]);
    assert_eq!(
        [&listed[1]["expression"], &listed[1]["access"]],
        ["visits", "write"]
    );
    let code = first("disassemble $pc 3");
    let instructions = code["instructions"].as_array().expect("instructions");
    assert_eq!(instructions.len(), 3);
    assert_eq!(instructions[0]["next"], true);
    assert_eq!(instructions[0]["line"], line("tour.c", "print"));
    let memory = first("x/2xb &visits");
    assert_eq!([&memory["kind"], &memory["data"]], ["memory", "0100"]);
    let text = first("x/1s words[0]");
    let shown = text["lines"][0].as_str().expect("a line");
    assert!(shown.ends_with("\"cold\""), "{text}");
    let stepped = records.iter().rfind(|it| it["record"] == "stop");
    let shown = &stepped.expect("a stop")["items"];
    let kinds: Vec<&str> = { shown.as_array().into_iter().flatten() }
        .filter_map(|item| item["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["frame", "instruction"], "{shown}");
    let module = first("info modules tour");
    assert_eq!(
        [&module["kind"], &module["path"]],
        ["module", tour.as_str()]
    );
    let process = first("info processes");
    assert_eq!(
        [&process["kind"], &process["state"]],
        ["processLine", "stopped"]
    );
    assert_eq!(process["selected"], true);
    let filters = items("catch");
    let faults = filters.iter().find(|it| it["filter"] == "faults");
    assert_eq!(faults.expect("faults")["enabled"], true, "{filters:#?}");
    assert_eq!(
        first("info locks")["threads"].as_array().map(Vec::len),
        Some(0)
    );
    assert_eq!(
        first("info tasks")["tasks"].as_array().map(Vec::len),
        Some(0)
    );
}
