//! What `info` says of the program's code.

use crate::support::{Run, dapple, typed, write};

const TEXT: &str = "struct order { int count; };
typedef struct order order_t;
static struct order orders[2];
static const char *const greeting = \"hello\";

static int total(const order_t *order, int factor)
{
    return order->count * factor;
}

int main(void)
{
    orders[1].count = greeting[0];
    return total(&orders[1], 2) & 1;
}
";

fn run(name: &str, lines: &[&str]) -> Run {
    let source = write(name, TEXT);
    typed(&[source.to_str().expect("a plain path")], lines)
}

#[test]
fn functions_variables_and_types_are_found_by_name() {
    let lines = [
        "b 14",
        "run",
        "info functions",
        "info variables ^ord",
        "i var greet",
        "info types order",
        "info functions ^malloc$",
        "info functions nonesuch",
        "info types [",
    ];
    let run = run("symbols.c", &lines);
    let file = "target/tmp/sources/symbols.c";
    for (said, times) in [
        (format!("main() at {file}:11\n"), 1),
        (format!("total(const order_t *, int) at {file}:6\n"), 1),
        (format!("\norders: struct order [2] at {file}:3\n"), 1),
        (format!("\ngreeting: const char *const at {file}:4\n"), 1),
        (format!("\norder_t at {file}:2\n"), 1),
        (format!("order at {file}:1\n"), 1),
        ("malloc".to_owned(), 1),
    ] {
        assert_eq!(run.stdout.matches(&said).count(), times, "{said}: {run:#?}");
    }
    // The vDSO's functions are not the user's.
    assert!(!run.stdout.contains("clock_gettime"), "{run:#?}");
    let errors: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(errors.len(), 2, "{run:#?}");
    assert_eq!(
        errors[0], "dapple: no function matches `nonesuch`",
        "{run:#?}"
    );
    assert!(
        errors[1].contains("regular expression `[` can't be read"),
        "{run:#?}"
    );
}

#[test]
fn names_in_rust_are_the_users_own_first() {
    let text = "struct Item {\n    price: u32,\n}\nstatic ITEMS: [Item; 1] = [Item { price: 3 }];\nmod shop {\n    pub fn price_of(item: &crate::Item) -> u32 {\n        item.price\n    }\n}\nfn main() {\n    println!(\"{}\", shop::price_of(&ITEMS[0]));\n}\n";
    let source = write("symbols_rust.rs", text);
    let source = source.to_str().expect("a plain path");
    let lines = [
        "b 7",
        "run",
        "info functions",
        "info types Item",
        "info variables",
    ];
    let run = typed(&[source], &lines);
    for said in [
        "symbols_rust::shop::price_of at target/tmp/sources/symbols_rust.rs:6\n",
        "symbols_rust::Item\n",
        "symbols_rust::ITEMS: [symbols_rust::Item; 1] at ",
        " of libraries\n",
    ] {
        assert!(run.stdout.contains(said), "{said}: {run:#?}");
    }
    assert!(!run.stdout.contains("core::fmt"), "{run:#?}");
    assert_eq!(run.stderr, "", "{run:#?}");
}

#[test]
fn lines_and_addresses_are_named() {
    let lines = [
        "b 8",
        "run",
        "info line",
        "x",
        "info line 14",
        "info line total",
        "info symbol main",
        "info symbol &orders",
        "info symbol 16",
        "info line 1",
        "info source",
        "info sources symbols-lines",
        "info sources nonesuch",
        "info sharedlibrary libc",
        "info modules nonesuch",
        "info scope total",
        "info registers rip rsp",
        "info proc mappings",
    ];
    let run = run("symbols-lines.c", &lines);
    for said in [
        "symbols-lines.c:8 begins at 0x… <total+0x…>\n",
        "symbols-lines.c:14 begins at 0x… <main+0x…>\n",
        "total begins at 0x… <total>\n",
        "\nmain\norders\n",
        "symbols-lines.c\n15 lines, at line 8\n",
        "libc",
        "\nno module has `nonesuch` in its path\n",
        "rip = 0x…",
        "rsp = 0x…",
        "[stack]\n",
    ] {
        assert!(run.stdout.contains(said), "{said}: {run:#?}");
    }
    let errors: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(errors.len(), 4, "{run:#?}");
    for (said, expected) in errors.iter().zip([
        "no function or variable is at 0x…",
        "symbols-lines.c",
        "no source has `nonesuch` in its path",
        "`info locals` shows the variables where the program is",
    ]) {
        assert!(said.contains(expected), "{expected}: {run:#?}");
    }
}

#[test]
fn the_old_abbreviations_of_info_stay() {
    let run = run(
        "symbols-short.c",
        &["b 8", "run", "i l", "i a", "i b", "i t", "i li", "i mo"],
    );
    for said in [
        "there are no locals here\n",
        "factor = 2\n",
        "begins at 0x…",
        "libc",
    ] {
        assert!(run.stdout.contains(said), "{said}: {run:#?}");
    }
    assert_eq!(run.stderr, "", "{run:#?}");
}

#[test]
fn another_adapter_lists_lines_and_no_names() {
    let source = write("symbols-other.c", TEXT);
    let adapter = crate::support::another_adapter();
    let mut command = dapple();
    command.args(["debug", "--batch", "--adapter", &adapter]);
    for line in [
        "b 8",
        "run",
        "info line 14",
        "info proc mappings",
        "info functions",
    ] {
        command.args(["--ex", line]);
    }
    let run = Run::of(command.arg(&source));
    assert!(
        run.stdout.contains("symbols-other.c:14 begins at 0x…"),
        "{run:#?}"
    );
    assert!(run.stdout.contains("[stack]\n"), "{run:#?}");
    let refused = "dapple: only Dapple's adapter lists names; `break NAME` finds a function\n";
    run.assert_command_fails(refused);
}
