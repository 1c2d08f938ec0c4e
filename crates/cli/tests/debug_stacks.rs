//! Stacks in the terminal: from either end, with the variables and arguments of each frame.

use crate::support::{Run, dapple, typed, write};

/// `down` calls itself four times, down to 0.
const TEXT: &str = "static int down(int n)
{
    int twice = n * 2;
    if (n == 0)
        return twice;
    return down(n - 1) + twice;
}

int main(void)
{
    int start = 3;
    return down(start);
}
";

fn run(name: &str, lines: &[&str]) -> Run {
    let source = write(name, TEXT);
    typed(&[source.to_str().expect("a plain path")], lines)
}

/// The text that one command printed; each is followed by an `echo` of its number.
fn printed(run: &Run, number: usize) -> Vec<&str> {
    let text = run.stdout.split_once(&format!("begin{number}\n"));
    let (_, text) = text.unwrap_or_else(|| panic!("{run:#?}"));
    let text = text.split(&format!("begin{}\n", number + 1)).next();
    text.expect("a part").lines().map(str::trim).collect()
}

#[test]
fn frames_are_shown_from_either_end() {
    let lines = [
        "b 5",
        "run",
        "echo begin1",
        "bt -2",
        "echo begin2",
        "bt 2",
        "echo begin3",
        "thread backtrace -c 1",
        "echo begin4",
        "bt -1 -2",
        "bt -x",
    ];
    let run = run("stacks-ends.c", &lines);
    let outer = printed(&run, 1);
    // `main` is called by the C library.
    assert_eq!(outer.len(), 3, "{run:#?}");
    assert!(
        outer[0].starts_with("… ") && outer[0].ends_with(" further in"),
        "{run:#?}"
    );
    let inner = printed(&run, 2);
    assert!(inner[0].starts_with("→ #0  down at "), "{run:#?}");
    assert_eq!(inner[2], "… `bt 4` shows more", "{run:#?}");
    assert_eq!(printed(&run, 3).len(), 2, "{run:#?}");
    let errors: Vec<&str> = run.stderr.lines().collect();
    let expected = [
        "dapple: one number of frames is enough",
        "dapple: `x` is not a number of frames",
    ];
    assert_eq!(errors, expected, "{run:#?}");
}

#[test]
fn the_variables_of_each_frame_are_shown() {
    let lines = [
        "b 5",
        "run",
        "echo begin1",
        "bt full 2",
        "echo begin2",
        "bt -full",
        "echo begin3",
        "thread apply all bt full 1",
        "echo begin4",
    ];
    let run = run("stacks-full.c", &lines);
    let two = printed(&run, 1);
    assert_eq!(two[1..3], ["n = 0", "twice = 0"], "{run:#?}");
    assert_eq!(two[4..6], ["n = 1", "twice = 2"], "{run:#?}");
    assert_eq!(two[6], "… `bt 4` shows more", "{run:#?}");
    let all = printed(&run, 2);
    assert!(all.contains(&"start = 3"), "{run:#?}");
    assert_eq!(
        all.iter().filter(|it| it.starts_with("twice = ")).count(),
        4
    );
    assert!(printed(&run, 3).contains(&"twice = 0"), "{run:#?}");
    assert_eq!(run.stderr, "", "{run:#?}");
}

#[test]
fn arguments_are_shown_in_the_line_of_a_frame() {
    let run = run("stacks-args.c", &["b 5", "run", "bt -args 2", "bt -args"]);
    for said in ["→ #0  down(n = 0) at ", "  #1  down(n = 1) at "] {
        assert_eq!(run.stdout.matches(said).count(), 2, "{said}: {run:#?}");
    }
    assert!(run.stdout.contains("down(n = 3) at "), "{run:#?}");
    assert_eq!(run.stderr, "", "{run:#?}");
}

#[test]
fn a_frame_with_many_variables_shows_some() {
    let declared: String = (0..40)
        .map(|it| format!("    int v{it} = {it};\n"))
        .collect();
    let text = format!("int main(void)\n{{\n{declared}    return v3;\n}}\n");
    let source = write("stacks-many.c", &text);
    let source = source.to_str().expect("a plain path");
    let run = typed(&[source], &["b 43", "run", "bt full 1"]);
    assert!(run.stdout.contains("      v29 = 29\n"), "{run:#?}");
    assert!(!run.stdout.contains("v30 = "), "{run:#?}");
    let more = "… 10 more: `frame 0`, `info locals`\n";
    assert!(run.stdout.contains(more), "{run:#?}");
}

#[test]
fn another_adapter_is_asked_for_variables_in_the_same_way() {
    let source = write("stacks-other.c", TEXT);
    let adapter = crate::support::another_adapter();
    let mut command = dapple();
    command.args(["debug", "--batch", "--adapter", &adapter]);
    for line in ["b 5", "run", "bt full 1", "bt -args 1"] {
        command.args(["--ex", line]);
    }
    let run = Run::of(command.arg(&source));
    assert!(run.stdout.contains("\n      twice = 0\n"), "{run:#?}");
    assert!(run.stdout.contains("→ #0  down(n = 0) at "), "{run:#?}");
}
