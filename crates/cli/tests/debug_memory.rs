//! Memory in the terminal: the formats of `x`, going on from where it ended, and searches.

use crate::support::{Run, dapple, typed, write};

const TEXT: &str = r#"#include <uchar.h>
#include <stdlib.h>
#include <string.h>
static unsigned char bytes[16] = {1, 254, 'A', 0x7f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static short halves[2] = {-2, 300};
static int words[8] = {-1, 70000, 2, 3, 4, 5, 6, 7};
static double reals[2] = {1.5, -2.25};
static float singles[2] = {0.5f, 3};
static const char texts[] = "first\0second\0third";
static const char16_t wide[] = u"wide";
static void leave(void) { exit(0); }
static void (*functions[2])(void) = {leave, 0};
static char *block;

int main(void)
{
    block = calloc(1, 200000);
    strcpy(block + 65533, "needle");
    strcpy(block + 150000, "needle");
    memcpy(block + 1000, words + 1, 8);
    const char *text = texts;
    return text[0] + bytes[0] + halves[0] + reals[0] + singles[0] + wide[0] != 0;
}
"#;

fn run(name: &str, lines: &[&str]) -> Run {
    let source = write(name, TEXT);
    let mut all = vec!["b 22", "run"];
    all.extend(lines);
    typed(&[source.to_str().expect("a plain path")], &all)
}

/// What stands behind the addresses.
fn shown(run: &Run) -> Vec<&str> {
    let lines = run.stdout.lines();
    lines
        .filter_map(|line| line.strip_prefix("0x…: "))
        .collect()
}

#[test]
fn memory_is_shown_in_all_formats() {
    let lines = [
        "x/4db bytes",
        "x/2ub &bytes[1]",
        "x/2dh halves",
        "x/2dw words",
        "x/2ow words",
        "x/tb bytes",
        "x/2fg reals",
        "x/2fw singles",
        "x/f reals",
        "x/3cb bytes",
        "x/2a functions",
        "x/3s texts",
        "x/s text",
        "x/sh wide",
        "memory read -c 2 -s 4 -f d words",
        "x/fb bytes",
        "x/sg bytes",
    ];
    let run = run("memory-formats.c", &lines);
    let expected = [
        "1 -2 65 127",
        "254 65",
        "-2 300",
        "-1 70000",
        "037777777777 0210560",
        "00000001",
        "1.5 -2.25",
        "0.5 3",
        "1.5",
        "1 '\\u{1}' -2 '\\xfe' 65 'A'",
        "0x… <leave>",
        "0x…",
        "\"first\"",
        "\"second\"",
        "\"third\"",
        "\"first\"",
        "\"wide\"",
        "-1 70000",
    ];
    assert_eq!(shown(&run), expected, "{run:#?}");
    let errors: Vec<&str> = run.stderr.lines().collect();
    let expected = [
        "dapple: floating-point numbers have the units w and g",
        "dapple: characters have the units b, h and w",
    ];
    assert_eq!(errors, expected, "{run:#?}");
}

#[test]
fn memory_goes_on_from_where_it_ended() {
    let lines = [
        "x",
        "x/2dw words",
        "",
        "x",
        "x/db",
        "x/2",
        "x/s texts",
        "",
        "x/2i main",
        "",
        "x/i",
    ];
    let run = run("memory-goes-on.c", &lines);
    let shown = shown(&run);
    let expected = [
        "-1 70000",
        "2 3",
        "4 5",
        "6",
        "0 0",
        "\"first\"",
        "\"second\"",
    ];
    assert_eq!(shown, expected, "{run:#?}");
    // The instructions of `main` one after the other, each once.
    let code = run.stdout.lines().filter(|line| line.contains(" <main"));
    let code: Vec<&str> = code.collect();
    assert_eq!(code.len(), 5, "{run:#?}");
    assert!(code[0].contains(" <main>  "), "{run:#?}");
    assert_eq!(
        run.stderr, "dapple: show what memory? `x pointer`, `x $rsp 64`\n",
        "{run:#?}"
    );
}

#[test]
fn memory_is_searched_for_texts_and_numbers() {
    let lines = [
        "find block, +200000, \"needle\"",
        "find block, block + 100000, \"needle\"",
        "find/1 block, +200000, \"needle\"",
        "find &words, +sizeof(words), 70000, 2",
        "find/b bytes, +16, 'A', 0x7f",
        "find block, +2000, words[1], words[2]",
        "find/h block, +2000, 70000",
        "find block, +2000, \"absent\"",
        "find 0x10, +100, 1",
        "find &words",
        "find block + 10, block, 1",
    ];
    let run = run("memory-searched.c", &lines);
    let answers: Vec<&str> = { run.stdout.lines() }
        .filter(|line| {
            line.ends_with(" found") || line.contains(" found; ") || *line == "not found"
        })
        .collect();
    let expected = [
        "2 found",
        "1 found",
        "1 found; there may be more: `find/10`",
        "1 found",
        "1 found",
        "1 found",
        "not found",
        "not found",
    ];
    assert_eq!(answers, expected, "{run:#?}");
    let errors: Vec<&str> = run.stderr.lines().collect();
    let expected = [
        "dapple: 70000 does not fit in 2 bytes",
        "dapple: there is no memory at 0x…; it was searched up to there",
        "dapple: find what? `find START, +LENGTH, VALUE`",
        "dapple: the end of the range is before its start",
    ];
    assert_eq!(errors, expected, "{run:#?}");
}

#[test]
fn another_adapters_memory_is_shown_and_searched() {
    let source = write("memory-other.c", TEXT);
    let adapter = crate::support::another_adapter();
    let mut command = dapple();
    command.args(["debug", "--batch", "--adapter", &adapter]);
    for line in [
        "b 22",
        "run",
        "x/2dw words",
        "x",
        "find block, +200000, \"needle\"",
    ] {
        command.args(["--ex", line]);
    }
    let run = Run::of(command.arg(&source));
    assert_eq!(shown(&run), ["-1 70000", "2 3"], "{run:#?}");
    assert!(run.stdout.contains("2 found\n"), "{run:#?}");
}
