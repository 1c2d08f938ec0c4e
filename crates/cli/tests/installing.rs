//! The parts of an installation besides the binary: completions that the shells accept, and manual pages of all commands.

use crate::support::{Run, dapple, scratch};
use std::process::{Command, Stdio};

/// The commands that `--help` lists.
fn commands() -> Vec<String> {
    let help = Run::of(dapple().arg("--help")).stdout;
    let (_, rest) = help.split_once("Commands:\n").expect("a list of commands");
    let (list, _) = rest
        .split_once("\n\n")
        .expect("the options are behind them");
    let names = list
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn each_command_has_a_manual_page() {
    let folder = scratch("man/man1");
    std::fs::remove_dir_all(&folder).expect("it was made");
    let run = Run::of(dapple().arg("man").arg(&folder));
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:#?}");
    let page = |name: &str| {
        let path = folder.join(format!("{name}.1"));
        std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("there is no {}", path.display()))
    };
    let names = commands();
    assert!(names.contains(&"debug".to_owned()), "{names:?}");
    for name in &names {
        let (first, own) = (page("dapple"), page(&format!("dapple-{name}")));
        assert!(first.contains(&format!("dapple\\-{name}(1)")), "{first}");
        assert!(own.starts_with(".ie"), "{own}");
    }
    assert!(page("dapple-debug").contains("\\-\\-follow\\-forks"));
    assert!(!folder.join("dapple-in-terminal.1").exists());
    let first = Run::of(dapple().arg("man"));
    assert_eq!(first.stdout.trim_end(), page("dapple").trim_end());
}

#[test]
fn a_folder_for_manual_pages_that_cannot_be_made_is_named() {
    let run = Run::of(dapple().args(["man", "/proc/none"]));
    run.assert_fails(
        "dapple: /proc/none can't be written to: No such file or directory (os error 2)\n",
    );
}

#[test]
fn bash_completes_commands_and_options() {
    let script = Run::of(dapple().args(["completions", "bash"])).stdout;
    let file = scratch("completions").join("dapple.bash");
    std::fs::write(&file, script).expect("the folder is there");
    let completed = |words: &[&str]| {
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let last = words.len() - 1;
        let ask = format!(
            "source {}; COMP_WORDS=({}); COMP_CWORD={last}; _dapple dapple '{}' '{}'; echo \"${{COMPREPLY[@]}}\"",
            file.display(),
            quoted.join(" "),
            words[last],
            words[last - 1],
        );
        let mut bash = Command::new("bash");
        Run::of(bash.args(["--norc", "-c", &ask]).stdin(Stdio::null()))
    };
    assert_eq!(completed(&["dapple", "deb"]).stdout, "debug\n");
    assert_eq!(
        completed(&["dapple", "debug", "--follow"]).stdout,
        "--follow-forks\n"
    );
    let which = completed(&["dapple", "debug", "--follow-forks", ""]);
    assert_eq!(which.stdout, "parent child both\n", "{which:#?}");
}

#[test]
fn completions_are_there_for_each_shell() {
    for shell in ["bash", "zsh", "fish"] {
        let run = Run::of(dapple().args(["completions", shell]));
        assert_eq!(run.code, Some(0), "{run:#?}");
        for name in commands() {
            assert!(run.stdout.contains(&name), "{shell}: {name}");
        }
    }
}
