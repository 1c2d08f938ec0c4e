//! `dapple check`, of our own adapter, of one that isn't there, and with wrong options.

use std::process::Command;

use crate::support::{Run, dapple, scratch};

fn check(arguments: &[&str]) -> Command {
    let mut command = dapple();
    command.arg("check").args(arguments);
    command
}

#[test]
fn our_own_adapter_keeps_the_rules() {
    let adapter = env!("CARGO_BIN_EXE_dapple");
    for language in ["c", "rust"] {
        let run = Run::of(&mut check(&["--language", language, "--", adapter, "dap"]));
        assert_eq!(run.code, Some(0), "{run:#?}");
        assert!(
            run.stdout.ends_with("\n0 violations, 0 advice\n"),
            "{run:#?}"
        );
        assert!(run.stdout.contains("a client that goes away  "), "{run:#?}");
    }
}

#[test]
fn a_report_is_for_programs_too() {
    let adapter = env!("CARGO_BIN_EXE_dapple");
    let junit = scratch("check").join("report.xml");
    let path = junit.to_str().expect("a path of text");
    let run = Run::of(&mut check(&[
        "--json", "--junit", path, "--", adapter, "dap",
    ]));
    let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(report["findings"], serde_json::json!([]));
    assert_eq!(report["scenarios"].as_array().map(Vec::len), Some(12));
    let xml = std::fs::read_to_string(junit).expect("it was written");
    assert!(
        xml.contains("tests=\"12\" failures=\"0\" errors=\"0\""),
        "{xml}"
    );
}

#[test]
fn an_adapter_that_is_none_is_found_out() {
    // It says nothing, and ends when its input does.
    let silent = "cat > /dev/null";
    let run = Run::of(&mut check(&["--timeout", "0.3", "--", "sh", "-c", silent]));
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(
        run.stdout
            .contains("violation [unanswered] `initialize` got no response"),
        "{run:#?}"
    );
    let run = Run::of(&mut check(&["--", "/no/such/adapter"]));
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(
        run.stdout
            .contains("not run: the adapter can't be started: No such file"),
        "{run:#?}"
    );
}

#[test]
fn wrong_options_are_told() {
    for (arguments, sentence) in [
        (
            &[][..],
            "dapple: no adapter: give its command behind `--`, or --connect\n",
        ),
        (
            &["--launch", "[]", "--", "cat"],
            "dapple: --launch is not a JSON object\n",
        ),
        (
            &["--launch", "{", "--", "cat"],
            "dapple: --launch is not JSON: EOF while parsing an object at line 1 column 1\n",
        ),
        (
            &["--launch", "@/no/such", "--", "cat"],
            "dapple: --launch: can't read /no/such: No such file or directory (os error 2)\n",
        ),
        (
            &["--timeout", "0", "--", "cat"],
            "dapple: --timeout must be a number of seconds above 0\n",
        ),
        (
            &["--source", "/dev/null", "--launch", "{}", "--", "cat"],
            "dapple: /dev/null has no line with the mark `check: stop`\n",
        ),
    ] {
        let run = Run::of(&mut check(arguments));
        assert_eq!(
            (run.code, &*run.stderr),
            (Some(2), sentence),
            "{arguments:?}"
        );
    }
}

#[test]
fn the_rules_can_be_listed() {
    let run = Run::of(&mut check(&["--list-rules"]));
    assert!(run.stdout.contains("\nstep-line "), "{run:#?}");
    assert_eq!(run.stdout.lines().count(), dapple_check::rules::ALL.len());
}
