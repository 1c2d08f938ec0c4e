//! `dapple debug --attach`.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use support::Run;

#[test]
fn a_process_is_looked_at_and_goes_on() {
    let program = support::scratch("attach").join(format!("server-{}", std::process::id()));
    let source = support::root().join("fixtures/server.c");
    let status = Command::new("cc")
        .arg("-g")
        .arg(source)
        .arg("-o")
        .arg(&program)
        .status();
    assert!(status.is_ok_and(|status| status.success()));
    let mut server = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut output = BufReader::new(server.stdout.take().expect("its output"));
    let mut line = || {
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        line
    };
    assert_eq!(line(), "ready\n");
    for target in [server.id().to_string(), program.display().to_string()] {
        let mut command = support::dapple();
        command.args(["debug", "--batch", "--ex", "bt", "--attach", &target]);
        let run = Run::of(&mut command);
        assert!(run.stdout.contains("main at fixtures/server.c"), "{run:#?}");
    }
    let mut input = server.stdin.take().expect("its input");
    writeln!(input, "work").expect("it reads");
    assert_eq!(line(), "worked 1\n");
    drop(input);
    assert_eq!(server.wait().expect("its end").code(), Some(0));

    let mut command = support::dapple();
    let run = Run::of(command.args(["debug", "--batch", "--attach", "no-such-name"]));
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr.contains("no process is called `no-such-name`"),
        "{run:#?}"
    );
}
