//! `dapple debug --core`.

use crate::support;
use crate::support::Run;
use dapple_engine::launch::LaunchOptions;
use dapple_engine::{Event, Session};
use std::time::Duration;

#[test]
fn a_core_file_is_looked_at_and_nothing_else_can_be_done_with_it() {
    let folder = support::scratch("core");
    let program = folder.join(format!("faults-{}", std::process::id()));
    support::compile("faults.c", &program);
    let core = folder.join(format!("core-{}", std::process::id()));
    let options = LaunchOptions {
        program: program.clone(),
        args: vec!["read_null".into()],
        ..LaunchOptions::default()
    };
    let (events, told) = crossbeam_channel::unbounded();
    let session = Session::launch(options, events).expect("launched");
    session.resume().expect("it runs");
    while !matches!(
        told.recv_timeout(Duration::from_secs(60)).expect("a stop"),
        Event::Stopped(_)
    ) {}
    session.write_core(&core).expect("a core file");
    drop(session);

    // The program is now at another path.
    let moved = program.with_extension("moved");
    std::fs::rename(&program, &moved).expect("renamed");
    let commands = ["bt", "p constant[1] + 40", "quit"];
    let commands = commands.iter().flat_map(|command| ["--ex", command]);
    let mut command = support::dapple();
    command.args(["debug", "--batch", "--core"]).arg(&core);
    let run = Run::of(command.args(commands).arg(&moved));
    assert_eq!(run.code, Some(0), "{run:#?}");
    for part in [
        "stopped by SIGSEGV: read of address 0x…, a null pointer",
        "main at fixtures/faults.c",
        "constant[1] + 40 = 42",
    ] {
        assert!(run.stdout.contains(part), "{part}: {run:#?}");
    }
    assert!(!run.stdout.contains("the program was"), "{run:#?}");
    for (refused, why) in [
        (
            "next",
            "this needs a live process; a core file can only be looked at",
        ),
        (
            "set sink = 3",
            "this needs a live process; a core file can only be looked at",
        ),
        ("run", "`dapple debug PROGRAM` runs the program"),
        (
            "p main(1, 0)",
            "`main` can't be called: there is no process to run it, only a core file",
        ),
    ] {
        let mut command = support::dapple();
        command.args(["debug", "--batch", "--ex", refused, "--core"]);
        let run = Run::of(command.arg(&core).arg(&moved));
        assert_eq!(run.code, Some(125), "{run:#?}");
        assert!(run.stderr.contains(why), "{run:#?}");
    }
    let mut command = support::dapple();
    let run = Run::of(command.args(["debug", "--batch", "--core"]).arg(&core));
    let text = format!("{}{}", run.stdout, run.stderr);
    assert!(text.contains("say where the program is"), "{text}");
}

const COUNTER: &str =
    "static int count = 41;\n\nint main(void)\n{\n    count++;\n    return count;\n}\n";

#[test]
fn a_core_file_is_written_and_the_program_goes_on() {
    let source = support::write("core-written.c", COUNTER);
    let source = source.to_str().expect("a plain path");
    let core = support::scratch("core").join(format!("written core {}", std::process::id()));
    let write = format!("gcore '{}'", core.display());
    let lines = [
        "gcore",
        "b 6",
        "run",
        &write,
        &write,
        "p count + 8",
        "gcore a b",
        "c",
    ];
    let run = support::typed(&[source], &lines);
    assert!(run.stdout.contains(" written\n"), "{run:#?}");
    assert!(run.stdout.contains("count + 8 = 50\n"), "{run:#?}");
    assert!(run.stdout.contains("exited with code 42\n"), "{run:#?}");
    let errors: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(errors.len(), 3, "{run:#?}");
    assert!(errors[0].contains("`run` starts it"), "{run:#?}");
    assert!(errors[1].contains("exists"), "{run:#?}");
    assert!(errors[2].contains("one file is enough"), "{run:#?}");

    let mut command = support::dapple();
    command.args([
        "debug",
        "--batch",
        "--ex",
        "p count + 8",
        "--ex",
        "gcore x",
        "--core",
    ]);
    let looked = Run::of(command.arg(&core));
    assert!(looked.stdout.contains("count + 8 = 50\n"), "{looked:#?}");
    let refused = "this needs a live process; a core file can only be looked at";
    assert!(looked.stderr.contains(refused), "{looked:#?}");
    std::fs::remove_file(&core).expect("the core file");
}
