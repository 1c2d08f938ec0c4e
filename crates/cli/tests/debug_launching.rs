//! What a program is started with, as it is set at the prompt: arguments, files, directory and environment.

use crate::support::{Run, batch, dapple, scratch, typed, write};

/// Writes its arguments, directory and a variable, and how many lines it reads.
const TEXT: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char folder[4096], line[256];
    for (int i = 1; i < argc; i++)
        printf("[%s]", argv[i]);
    const char *colour = getenv("DAPPLE_COLOUR");
    printf(" in %s, colour %s\n", getcwd(folder, sizeof folder), colour ? colour : "none");
    if (argc > 1 && argv[1][0] == '<')
        while (fgets(line, sizeof line, stdin))
            printf("read %s", line);
    fprintf(stderr, "an error\n");
    return argc - 1;
}
"#;

fn run(name: &str, lines: &[&str]) -> Run {
    let source = write(name, TEXT);
    typed(&[source.to_str().expect("a plain path"), "first"], lines)
}

/// The lines that the program wrote.
fn written(run: &Run) -> Vec<&str> {
    let lines = run.stdout.lines();
    lines.filter(|line| line.contains(" in /")).collect()
}

#[test]
fn arguments_are_replaced_and_stay_until_they_are_replaced_again() {
    let lines = [
        "show args",
        "r",
        "run 'a b' c\\ d \"e\"",
        "run",
        "set args --port 80",
        "show args",
        "r",
        "settings set target.run-args x",
        "r",
        "process launch -- y z",
        "set args",
        "show args",
        "r",
        "run a | b",
        "run 'a",
    ];
    let run = run("launching-args.c", &lines);
    let arguments: Vec<&str> = { written(&run).into_iter() }
        .filter_map(|line| line.split(" in ").next())
        .collect();
    let expected = [
        "[first]",
        "[a b][c d][e]",
        "[a b][c d][e]",
        "[--port][80]",
        "[x]",
        "[y][z]",
        "",
    ];
    assert_eq!(arguments, expected, "{run:#?}");
    for said in ["first\n", "--port 80\n", "none\n"] {
        assert!(run.stdout.contains(said), "{said}: {run:#?}");
    }
    let errors: Vec<&str> = run.stderr.lines().filter(|it| *it != "an error").collect();
    let expected = [
        "dapple: `|` needs a shell, and there is none here; quote it if it is meant",
        "dapple: the quotation mark ' at position 1 has no second one",
    ];
    assert_eq!(errors, expected, "{run:#?}");
}

#[test]
fn arguments_that_come_before_the_first_run_find_the_breakpoints_in_place() {
    let source = write("launching-break.c", TEXT);
    let source = source.to_str().expect("a plain path");
    let lines = [
        "b 8",
        "run one two",
        "p argc + 40",
        "start three",
        "p argc + 40",
        "c",
    ];
    let run = batch(source, &lines);
    assert!(run.stdout.contains("argc + 40 = 43\n"), "{run:#?}");
    assert!(run.stdout.contains("argc + 40 = 42\n"), "{run:#?}");
}

#[test]
fn the_directory_and_the_environment_are_those_that_were_set() {
    let folder = scratch("launching").canonicalize().expect("a folder");
    let cwd = format!("cwd {}", folder.display());
    std::fs::create_dir_all(folder.join("in a")).expect("a folder");
    let lines = [
        "pwd",
        &cwd,
        "set env DAPPLE_COLOUR = red",
        "run",
        "cd 'in a'",
        "env DAPPLE_COLOUR=\"dark blue\"",
        "env",
        "env DAPPLE_COLOUR",
        "run",
        "unset env DAPPLE_COLOUR",
        "set environment DAPPLE_OTHER green",
        "show environment",
        "run",
        "cwd nowhere",
        "env DAPPLE_COLOUR",
        "unset env",
        "unset cwd",
        "run",
    ];
    let run = run("launching-env.c", &lines);
    let folder = folder.display();
    let lines = written(&run);
    assert_eq!(lines[0], format!("[first] in {folder}, colour red"));
    assert_eq!(
        lines[1],
        format!("[first] in {folder}/in a, colour dark blue")
    );
    assert_eq!(lines[2], format!("[first] in {folder}/in a, colour none"));
    assert!(lines[3].ends_with(", colour none") && !lines[3].contains("launching"));
    assert_eq!(run.stdout.matches("DAPPLE_COLOUR=dark blue\n").count(), 2);
    assert!(
        run.stdout
            .contains("except for\nDAPPLE_COLOUR is unset\nDAPPLE_OTHER=green\n"),
        "{run:#?}"
    );
    let errors: Vec<&str> = run.stderr.lines().filter(|it| *it != "an error").collect();
    let nowhere = format!("dapple: there is no directory {folder}/in a/nowhere");
    let expected = [
        &*nowhere,
        "dapple: `DAPPLE_COLOUR` is not set",
        "dapple: unset which variable? `unset env NAME`",
    ];
    assert_eq!(errors, expected, "{run:#?}");
}

#[test]
fn input_and_output_are_redirected_to_files() {
    let folder = scratch("redirected").join(std::process::id().to_string());
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("input"), "one\ntwo\n").expect("a file");
    let cwd = format!("cwd {}", folder.display());
    let lines = [
        &*cwd,
        "run '<' < input > out 2> err",
        "show args",
        "run '<' x <input >> out 2>&1",
        "run",
        "run >",
    ];
    let run = run("launching-files.c", &lines);
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file");
    let out = text("out");
    assert_eq!(out.matches("read one\nread two\n").count(), 3, "{out}");
    assert_eq!(out.matches("an error\n").count(), 2, "{out}");
    assert_eq!(text("err"), "an error\n");
    assert!(
        run.stdout.contains("'<' < input > out 2> err\n"),
        "{run:#?}"
    );
    assert_eq!(
        run.stderr, "dapple: `>` is followed by a file\n",
        "{run:#?}"
    );
}

#[test]
fn another_adapter_starts_the_program_with_what_was_set() {
    let source = write("launching-other.c", TEXT);
    let adapter = crate::support::another_adapter();
    let debug = |lines: &[&str]| {
        let mut command = dapple();
        command.env("DAPPLE_COLOUR", "yellow");
        command.args(["debug", "--batch", "--adapter", &adapter]);
        for line in lines {
            command.args(["--ex", line]);
        }
        Run::of(command.arg(&source))
    };
    let run = debug(&[
        "run",
        "env DAPPLE_COLOUR=red",
        "run a",
        "cwd /",
        "unset env DAPPLE_COLOUR",
        "run b c",
    ]);
    let lines = written(&run);
    assert!(lines[0].ends_with(", colour yellow"), "{run:#?}");
    assert!(lines[1].ends_with(", colour red"), "{run:#?}");
    assert_eq!(lines[2], "[b][c] in /, colour none", "{run:#?}");
    assert_eq!(run.code, Some(2), "{run:#?}");
    let refused = debug(&["run > out"]);
    let message = "dapple: only Dapple's adapter can redirect the program's input and output\n";
    assert!(refused.stderr.ends_with(message), "{refused:#?}");
}

#[test]
fn a_variable_of_the_program_may_be_called_args() {
    let text = "int main(void)\n{\n    int args = 1, env = 2;\n    return args + env;\n}\n";
    let source = write("launching-names.c", text);
    let source = source.to_str().expect("a plain path");
    let run = batch(
        source,
        &["b 4", "run", "set args = 40", "set env += 1", "c"],
    );
    assert_eq!(run.code, Some(43), "{run:#?}");
}

#[test]
fn what_is_set_at_the_prompt_comes_before_what_the_adapter_was_given() {
    let program = scratch("launching").join("given");
    let compiled = std::process::Command::new("cc")
        .arg(write("launching-given.c", TEXT))
        .arg("-o")
        .arg(&program)
        .status();
    assert!(compiled.is_ok_and(|status| status.success()));
    let given = serde_json::json!({
        "program": program, "args": ["one", "two words"], "cwd": "/", "env": ["DAPPLE_COLOUR=green"],
    });
    let adapter = crate::support::another_adapter();
    for other in [None, Some(&*adapter)] {
        let mut command = dapple();
        command.args(["debug", "--batch", "--launch", &given.to_string()]);
        command.args(other.iter().flat_map(|adapter| ["--adapter", adapter]));
        for line in [
            "show args",
            "pwd",
            "env DAPPLE_COLOUR",
            "run",
            "set args three",
            "cd tmp",
            "env DAPPLE_OTHER=1",
            "env",
            "run",
            "unset args",
            "show args",
            "unset cwd",
            "env DAPPLE_COLOUR=red",
            "run",
        ] {
            command.args(["--ex", line]);
        }
        let run = Run::of(&mut command);
        let expected = [
            "[one][two words] in /, colour green",
            "[three] in /tmp, colour green",
            " in /, colour red",
        ];
        assert_eq!(written(&run), expected, "{run:#?}");
        for said in [
            "one 'two words'\n",
            "\n/\n",
            "DAPPLE_COLOUR=green\n(",
            "except for\nDAPPLE_COLOUR=green\nDAPPLE_OTHER=1\n",
            "none\n",
        ] {
            assert!(run.stdout.contains(said), "{said}: {run:#?}");
        }
    }
}
