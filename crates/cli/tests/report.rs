//! `dapple report`.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dapple_engine::launch::LaunchOptions;
use dapple_engine::{Event, Session};
use serde_json::Value;

use crate::support::{self, Run, dapple, line, root, scratch};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);
const FORMATS: [&str; 3] = ["text", "json", "html"];

/// A folder of a test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = scratch("report").join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target directory can be written");
    folder
}

/// `fixtures/NAME`, compiled into a folder.
fn compiled(name: &str, folder: &Path) -> PathBuf {
    let source = root().join("fixtures").join(name);
    let program = folder.join(source.file_stem().expect("a name"));
    let (compiler, flags): (_, &[&str]) = match source.extension().and_then(|it| it.to_str()) {
        Some("rs") => ("rustc", &["-g", "-Cpanic=abort", "--edition=2024"]),
        Some("cpp") => ("c++", &["-g"]),
        _ => ("cc", &["-g", "-pthread"]),
    };
    let mut command = Command::new(compiler);
    command.args(flags).arg(&source).arg("-o").arg(&program);
    assert!(command.status().is_ok_and(|status| status.success()));
    program
}

/// Runs a program until a signal stops it, and writes its core file.
fn crash(program: &Path, arguments: &[&str]) -> PathBuf {
    let options = LaunchOptions {
        program: program.to_owned(),
        args: arguments.iter().map(OsString::from).collect(),
        env: vec![("REPORTED".into(), Some("s3cr3t-variable".into()))],
        ..LaunchOptions::default()
    };
    let (events, told) = crossbeam_channel::unbounded();
    let session = Session::launch(options, events).expect("launched");
    session.resume().expect("it runs");
    while !matches!(
        told.recv_timeout(PATIENCE).expect("a stop"),
        Event::Stopped(_)
    ) {}
    let core = program.with_extension("core");
    let _ = std::fs::remove_file(&core);
    session.write_core(&core).expect("a core file");
    core
}

/// The output of `dapple report --core CORE …`, as it was written.
fn report(core: &Path, arguments: &[&str]) -> String {
    let mut command = dapple();
    written(command.args(["report", "--core"]).arg(core).args(arguments))
}

fn written(command: &mut Command) -> String {
    let output = command.output().expect("dapple starts");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).expect("a report is UTF-8")
}

/// A report as JSON, which keeps to the schema.
fn object(core: &Path, arguments: &[&str]) -> Value {
    valid(&report(core, &[&["--format", "json"], arguments].concat()))
}

fn valid(text: &str) -> Value {
    let report: Value = serde_json::from_str(text).expect("JSON");
    let schema = std::fs::read_to_string(schema_file()).expect("the schema");
    let schema = serde_json::from_str(&schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    if let Err(error) = validator.validate(&report) {
        panic!("{error} at {}: {report:#}", error.instance_path);
    }
    report
}

fn schema_file() -> PathBuf {
    root().join("docs/report.schema.json")
}

#[track_caller]
fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[test]
fn the_schema_of_reports_is_the_one_in_the_documentation() {
    let printed = written(dapple().args(["report", "--json-schema"]));
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
fn a_crash_in_c_is_reported_with_its_reason_stack_variables_and_registers() {
    let program = compiled("faults.c", &folder("c"));
    let core = crash(&program, &["read_null"]);
    let at = format!(
        "main at {}:{}",
        root().join("fixtures/faults.c").display(),
        line("faults.c", "read_null")
    );
    let path = program.display().to_string();
    let text = report(&core, &[]);
    assert_contains(
        &text,
        &[
            "Crash     SIGSEGV: read of address 0x0, a null pointer\n",
            &format!("Program   {path}\n"),
            &format!("Command   {path} read_null\n"),
            &format!("  #0  {at}\n"),
            "    argc = 2\n",
            "\"read_null\"\n",
            "Registers\n  rax       0x0\n",
            "\n→ 0x",
            "Modules\n",
            ", debug information loaded",
            "Memory map\n",
            " r-x ",
        ],
    );
    let report = object(&core, &[]);
    assert_eq!(report["cause"]["id"], "SIGSEGV");
    assert_eq!(report["subject"]["program"], *path);
    let thread = &report["thread"]["id"];
    assert_eq!(&report["stacks"][0]["threads"][0]["id"], thread);
    assert_eq!(report["subject"]["process"], *thread);
    let instructions = report["instructions"].as_array().expect("a list");
    let current = instructions.iter().find(|one| one["current"] == true);
    let current = current.expect("the instruction at which it crashed");
    assert_eq!(
        current["address"],
        report["stacks"][0]["frames"][0]["address"]
    );
    let modules = report["modules"].as_array().expect("a list");
    let module = modules
        .iter()
        .find(|one| one["path"] == *path)
        .expect("the program");
    let symbols = dapple()
        .arg("symbols")
        .arg(&program)
        .output()
        .expect("it starts");
    let build_id = module["buildId"].as_str().expect("a build id");
    assert_contains(&String::from_utf8_lossy(&symbols.stdout), &[build_id]);
}

#[test]
fn an_exception_that_nothing_catches_is_reported_with_its_message() {
    let program = compiled("reported.cpp", &folder("cpp"));
    let core = crash(&program, &["throw"]);
    let text = report(&core, &[]);
    let at = format!("reported.cpp:{}\n", line("reported.cpp", "throw"));
    assert_contains(
        &text,
        &[
            "Crash     SIGABRT: the program aborts: std::runtime_error: no order s3cr3t-variable",
            "Exception std::runtime_error\n",
            &at,
            "{note = \"s3cr3t-variable\", id = 2}",
            "markup = \"<script>alert('s3cr3t-variable')</script>\"",
        ],
    );
    let report = object(&core, &[]);
    let variables = report["variables"].as_array().expect("a list");
    // Those of the C library are no frames of the user's own.
    let functions: Vec<_> = variables
        .iter()
        .map(|one| one["function"].as_str())
        .collect();
    assert_eq!(functions, [Some("fail"), Some("main")], "{variables:#?}");
}

#[test]
fn a_panic_is_reported_with_its_message_and_the_frames_that_led_to_it() {
    let program = compiled("reported.rs", &folder("rs"));
    let core = crash(&program, &[]);
    let text = report(&core, &[]);
    assert_contains(
        &text,
        &[
            "no order s3cr3t-variable <b>",
            "reported::fail",
            "Order { note: \"s3cr3t-variable\", id: 7 }",
            "text = \"s3cr3t-variable <b>\"",
        ],
    );
}

#[test]
fn without_values_nothing_of_the_programs_memory_is_in_any_format() {
    let folder = folder("secret");
    let cpp = compiled("reported.cpp", &folder);
    let mut cores = Vec::new();
    for how in ["null", "throw", "jump"] {
        let core = crash(&cpp, &[how, "s3cr3t-argument"]);
        let kept = folder.join(how);
        std::fs::rename(core, &kept).expect("the folder is there");
        cores.push(kept);
    }
    cores.push(crash(
        &compiled("reported.rs", &self::folder("secret-rs")),
        &["s3cr3t-argument"],
    ));
    for (index, core) in cores.iter().enumerate() {
        let is_jump = index == 2;
        for format in FORMATS {
            let whole = report(core, &["--format", format]);
            assert_contains(&whole, &["s3cr3t-variable", "s3cr3t-argument"]);
            assert!(!is_jump || whole.contains("0x5ec2e75ec2e7"), "{whole}");
            let bare = report(core, &["--format", format, "--no-values"]);
            for secret in [
                "s3cr3t",
                "5ec2e75ec2e7",
                "script>",
                "script&",
                "eflags",
                "argc",
            ] {
                assert!(!bare.contains(secret), "{secret} in {core:?}:\n{bare}");
            }
            assert_contains(&bare, &["main", "reported"]);
        }
    }
    assert_contains(
        &report(&cores[0], &["--no-values"]),
        &["Crash     SIGSEGV: write to memory through a null pointer\n"],
    );
    assert_contains(
        &report(&cores[1], &["--no-values"]),
        &["Crash     SIGABRT: the program aborts\nException std::runtime_error\n"],
    );
    assert_contains(
        &report(&cores[2], &["--no-values"]),
        &[
            "Crash     SIGSEGV: jump to memory where nothing is mapped\n",
            "  #0  an unknown function\n",
        ],
    );
}

#[test]
fn html_stands_alone_and_has_no_markup_of_the_programs() {
    let folder = folder("html").join("<b>&\"'");
    std::fs::create_dir(&folder).expect("the folder is there");
    let core = crash(&compiled("reported.cpp", &folder), &["throw"]);
    let page = report(&core, &["--format", "html"]);
    assert_contains(
        &page,
        &[
            "<!DOCTYPE html>",
            "&lt;script&gt;alert(&#39;s3cr3t-variable&#39;)&lt;/script&gt;",
            "/&lt;b&gt;&amp;&quot;&#39;/reported",
            "default-src 'none'",
        ],
    );
    for refused in ["<script", "<b>", "<a ", "<img", "<link", "href", "src="] {
        assert!(!page.contains(refused), "{refused} in:\n{page}");
    }
    // Each element is closed, in order.
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1) {
        let name = tag.split(['>', ' ']).next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{tag}"),
            None if matches!(name, "!DOCTYPE" | "meta") => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn data_that_was_jumped_to_is_not_shown_as_instructions_without_values() {
    let program = compiled("faults.c", &folder("data"));
    let core = crash(&program, &["run_data"]);
    assert_contains(
        &report(&core, &[]),
        &["\nInstructions\n", "jump to address 0x"],
    );
    let bare = object(&core, &["--no-values"]);
    assert_eq!(bare["instructions"], serde_json::json!([]), "{bare:#}");
    assert_eq!(bare["variables"], serde_json::json!([]));
    assert_eq!(bare["withoutValues"], true);
    let core = crash(&program, &["divide"]);
    assert_contains(
        &report(&core, &["--no-values"]),
        &["\nInstructions\n", "idiv"],
    );
}

const HOSTILE: &str = "#include <sys/prctl.h>\n#include <stdlib.h>\n\
    int main(void)\n{\n    prctl(PR_SET_NAME, \"\\033[31m<i>\\302\\233m\");\n    abort();\n}\n";

#[test]
fn nothing_in_a_report_drives_the_terminal() {
    let source = support::write("hostile.c", HOSTILE);
    let program = folder("hostile").join("hostile\u{1b}[2J\u{202e}");
    let status = Command::new("cc")
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .status();
    assert!(status.is_ok_and(|status| status.success()));
    let core = crash(&program, &["\u{1b}]0;title\u{7}"]);
    for format in FORMATS {
        let text = report(&core, &["--format", format]);
        let drives = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(drives), "{text:?}");
        assert!(!text.contains("<i>") || format != "html", "{text}");
        assert!(text.contains("u{1b}[31m"), "{text}");
    }
}

/// `fixtures/server.c`, with so many threads that wait.
struct Server {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Server {
    fn start(folder: &Path, threads: usize) -> Server {
        let mut command = Command::new(compiled("server.c", folder));
        command
            .args(["s3cr3t-argument"])
            .env("REPORTED", "s3cr3t-variable");
        let mut process = { command.stdin(Stdio::piped()).stdout(Stdio::piped()) }
            .spawn()
            .expect("it starts");
        let output = BufReader::new(process.stdout.take().expect("its output"));
        let mut server = Server { process, output };
        assert_eq!(server.line(), "ready\n");
        assert_eq!(server.ask(&format!("spawn {threads}")), "spawned\n");
        let since = Instant::now();
        // `pause`, call 34.
        while server
            .calls()
            .iter()
            .filter(|call| call.starts_with("34 "))
            .count()
            < threads
        {
            assert!(since.elapsed() < PATIENCE, "{:?}", server.calls());
            support::pass(Duration::from_millis(1));
        }
        server
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        line
    }

    fn ask(&mut self, what: &str) -> String {
        let input = self.process.stdin.as_mut().expect("its input");
        writeln!(input, "{what}").expect("it reads");
        self.line()
    }

    /// The system calls in which its threads are.
    fn calls(&self) -> Vec<String> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.process.id()));
        let files = tasks
            .expect("it runs")
            .filter_map(|task| Some(task.ok()?.path().join("syscall")));
        files
            .filter_map(|file| std::fs::read_to_string(file).ok())
            .collect()
    }

    fn report(&self, arguments: &[&str]) -> String {
        let pid = self.process.id().to_string();
        written(dapple().args(["report", "--pid", &pid]).args(arguments))
    }
}

#[test]
fn a_process_is_reported_with_equal_stacks_once_and_goes_on() {
    let mut server = Server::start(&folder("pid"), 5);
    let text = server.report(&[]);
    let pid = server.process.id().to_string();
    assert_contains(
        &text,
        &[
            "Crash     none: a running process\n",
            &format!("Process   {pid}\n"),
            "server s3cr3t-argument\n",
            "\n5 threads: ",
            "idle at ",
            "main at ",
            "line = \"spawn 5\"",
            "[stack]",
        ],
    );
    assert_eq!(text.matches("idle at ").count(), 1, "{text}");
    assert_eq!(server.ask("work"), "worked 1\n");
    let report = valid(&server.report(&["--format", "json"]));
    assert_eq!(report.get("cause"), None);
    let stacks = report["stacks"].as_array().expect("a list");
    let threads = |stack: &Value| stack["threads"].as_array().map_or(0, Vec::len);
    assert_eq!(stacks.iter().map(threads).collect::<Vec<_>>(), [1, 5]);
    for format in FORMATS {
        let bare = server.report(&["--no-values", "--format", format]);
        for secret in ["s3cr3t", "spawn", "eflags"] {
            assert!(!bare.contains(secret), "{secret} in:\n{bare}");
        }
        assert_contains(&bare, &["idle"]);
    }
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    assert_contains(&status, &["TracerPid:\t0\n"]);
    assert_eq!(server.ask("work"), "worked 2\n");
    assert_eq!(server.calls().len(), 6);
    drop(server.process.stdin.take());
    assert_eq!(server.process.wait().expect("its end").code(), Some(0));
}

#[test]
fn endless_recursion_is_cut_and_the_report_says_so() {
    let program = compiled("faults.c", &folder("deep"));
    let core = crash(&program, &["overflow"]);
    let report = object(&core, &[]);
    let stack = &report["stacks"][0];
    assert_eq!(stack["frames"].as_array().map(Vec::len), Some(64));
    assert_eq!(stack["moreFrames"], true);
    assert_eq!(report["variables"].as_array().map(Vec::len), Some(4));
    assert_eq!(report["moreVariables"], true);
    let text = self::report(&core, &[]);
    assert_contains(
        &text,
        &[
            "SIGSEGV: stack overflow: ",
            "  #63 deeper at ",
            "  … more frames further out are left out\n",
            "  … those of further frames are left out\n",
        ],
    );
    assert!(!text.contains("  #64 "), "{text}");
}

#[test]
fn a_program_that_is_missing_stripped_or_elsewhere_is_reported_as_far_as_it_goes() {
    let program = compiled("faults.c", &folder("missing"));
    let core = crash(&program, &["read_null"]);
    let path = program.display().to_string();
    let moved = program.with_extension("moved");
    std::fs::rename(&program, &moved).expect("the folder is there");
    let text = report(&core, &[]);
    assert_contains(
        &text,
        &[
            &format!("Notes\n  {path}: no such file; say where the program is\n"),
            &format!("  #0  an unknown function in {path}+0x"),
            ", not found\n",
        ],
    );
    let whole = object(&core, &[moved.to_str().expect("a plain path")]);
    let bare = object(&core, &[]);
    let build_id = |report: &Value, path: &Path| {
        let modules = report["modules"].as_array().expect("a list");
        let module = modules
            .iter()
            .find(|one| one["path"].as_str().map(Path::new) == Some(path))
            .cloned();
        module.expect("the program")["buildId"].clone()
    };
    assert_eq!(build_id(&bare, &program), build_id(&whole, &moved));
    assert_eq!(whole["variables"][0]["function"], "main");

    let other = program.with_extension("other");
    let mut strip = Command::new("objcopy");
    strip.arg("--strip-all").args([&moved, &other]);
    let status = strip.status();
    assert!(status.is_ok_and(|status| status.success()));
    let stripped = report(&core, &[other.to_str().expect("a plain path")]);
    assert_contains(
        &stripped,
        &[
            &format!(
                "  {} has no debug information: its lines and variables are not known\n",
                other.display()
            ),
            "  #0  an unknown function in ",
            "Registers\n",
            "→ 0x",
        ],
    );
    assert!(!stripped.contains("Variables"), "{stripped}");
}

#[test]
fn what_is_no_core_file_and_no_process_has_its_own_exit_code() {
    let folder = folder("refused");
    let garbage = folder.join("garbage\u{1b}[2J");
    std::fs::write(&garbage, "not a core file").expect("the folder is there");
    let program = compiled("faults.c", &folder);
    let core = crash(&program, &["read_null"]);
    let bytes = std::fs::read(&core).expect("the core file");
    let cut = folder.join("cut");
    std::fs::write(&cut, &bytes[..200]).expect("the folder is there");
    let gone = {
        let mut child = Command::new("true").spawn().expect("it starts");
        let _ = child.wait();
        child.id().to_string()
    };
    let text = |path: &Path| path.to_str().expect("a plain path").to_owned();
    let sleep = Command::new("sh")
        .args(["-c", "command -v sleep"])
        .output()
        .expect("it runs");
    let sleep = String::from_utf8(sleep.stdout).expect("a path");
    for (arguments, code, why) in [
        (
            vec!["--core".into(), text(&garbage)],
            126,
            "garbage\\u{1b}[2J: this is no ELF file",
        ),
        (
            vec!["--core".into(), text(&program)],
            126,
            "this is an ELF file, but no core file",
        ),
        (
            vec!["--core".into(), text(&cut)],
            126,
            "its parts can't be read",
        ),
        (
            vec!["--core".into(), text(&folder.join("none"))],
            126,
            "No such file or directory",
        ),
        (
            vec!["--core".into(), text(&core), sleep.trim().into()],
            126,
            "is another build than the one that ran",
        ),
        (
            vec!["--pid".into(), gone.clone()],
            126,
            "there is no such process",
        ),
        (vec![], 1, "`--core FILE` or `--pid PID`"),
        (vec![text(&program)], 1, "`--core FILE` is missing"),
        (vec!["--pid".into(), "0".into()], 1, "'0'"),
        (
            vec!["--pid".into(), gone, "--core".into(), text(&core)],
            1,
            "cannot be used with",
        ),
        (
            vec!["--core".into(), text(&core), "--output".into(), text(&core)],
            1,
            "--output would overwrite",
        ),
        (
            vec![
                "--core".into(),
                text(&core),
                "--output".into(),
                text(&folder),
            ],
            1,
            "the report can't be written to",
        ),
    ] {
        let run = Run::of(dapple().arg("report").args(&arguments));
        assert_eq!(run.code, Some(code), "{arguments:?}: {run:#?}");
        assert_eq!(run.stdout, "", "{arguments:?}");
        let stderr = { dapple().arg("report").args(&arguments).output() }
            .expect("it starts")
            .stderr;
        let stderr = String::from_utf8_lossy(&stderr);
        assert!(
            stderr.contains(why) && stderr.starts_with("dapple: "),
            "{arguments:?}: {stderr}"
        );
        assert!(!stderr.contains('\u{1b}'), "{stderr:?}");
    }
    assert_eq!(std::fs::read(&core).expect("the core file"), bytes);
}

#[test]
fn a_file_is_written_as_its_ending_says_for_the_user_alone() {
    let folder = folder("output");
    let core = crash(&compiled("faults.c", &folder), &["divide"]);
    for (name, begins) in [
        ("page.html", "<!DOCTYPE html>"),
        ("page.JSON", "{"),
        ("page", "Crash     SIGFPE"),
    ] {
        let file = folder.join(name);
        let path = file.to_str().expect("a plain path");
        assert_eq!(report(&core, &["--output", path]), "");
        let text = std::fs::read_to_string(&file).expect("the report");
        assert!(text.starts_with(begins), "{text}");
        let mode = std::fs::metadata(&file)
            .expect("the report")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let file = folder.join("other.html");
    let path = file.to_str().expect("a plain path");
    report(&core, &["-o", path, "--format", "json"]);
    valid(&std::fs::read_to_string(&file).expect("the report"));
}

#[test]
fn a_core_file_of_a_process_that_ran_is_no_crash() {
    let mut server = Server::start(&folder("ran"), 1);
    let core = folder("ran-core").join("core");
    let commands = format!("gcore {}", core.display());
    let pid = server.process.id().to_string();
    let run = Run::of(dapple().args([
        "debug",
        "--batch",
        "--no-init",
        "--ex",
        &commands,
        "--attach",
        &pid,
    ]));
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_contains(
        &report(&core, &[]),
        &[
            "Crash     none: the core file was written while the program ran\n",
            "idle at ",
        ],
    );
    assert_eq!(server.ask("work"), "worked 1\n");
}
