//! Values that were printed, and variables of the user's own, in later expressions.

use crate::support::{Run, dapple, typed, write};

const TEXT: &str = r#"struct item { int price; const char *name; };

int main(void)
{
    struct item items[3] = {{3, "nail"}, {50, "saw"}, {7, "glue"}};
    struct item *item = &items[1];
    unsigned long big = 5000000000;
    double half = 0.5;
    char letter = 'x';
    int i = -2;
    return items[0].price + item->price + (int)half + letter + i + (big == 0);
}
"#;

/// The values that were shown, in order.
fn values(run: &Run) -> Vec<(&str, &str)> {
    let lines = run.stdout.lines();
    lines.filter_map(|line| line.split_once(" = ")).collect()
}

#[test]
fn printed_values_are_used_in_later_expressions() {
    let source = write("values.c", TEXT);
    let lines = [
        "show values",
        "p $",
        "b 11",
        "run",
        "p items[0].price",
        "p $ + 1",
        "p $$ * 10",
        "p $1 + $2",
        "p item",
        "p $5->price",
        "p $5[1].price",
        "p big",
        "p $ + 1",
        "p half",
        "p $ * 4",
        "p i",
        "p -$",
        "p letter",
        "p $ == 'x'",
        "p/x $8",
        "p items[1]",
        "p $.price",
        "p $",
        "p $99",
        "set i = $1",
        "p i + 40",
        "display $1 + i",
        "show values",
    ];
    let run = typed(&[source.to_str().expect("a plain path")], &lines);
    let all = values(&run);
    let value = |name: &str| {
        let found = all.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("{name}: {run:#?}")).1
    };
    for (name, expected) in [
        ("$ + 1", "4"),
        ("$$ * 10", "30"),
        ("$1 + $2", "7"),
        ("$5->price", "50"),
        ("$5[1].price", "7"),
        ("$ * 4", "2.0"),
        ("-$", "2"),
        ("$ == 'x'", "true"),
        ("$8", "0x…"),
        ("i", "-2"),
        ("i + 40", "43"),
        ("1: $1 + i", "6"),
    ] {
        assert_eq!(value(name), expected, "{name}: {run:#?}");
    }
    assert!(all.contains(&("$ + 1", "5000000001")), "{run:#?}");
    assert!(run.stdout.contains("$ = {price = 50, name = "), "{run:#?}");
    assert!(
        run.stdout.contains("none has been printed yet")
            || run.stdout.contains("no value has been printed yet\n")
    );
    let errors: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(errors.len(), 3, "{run:#?}");
    assert_eq!(
        errors[0], "dapple: there is no value `$`: none has been printed yet",
        "{run:#?}"
    );
    assert!(
        errors[1].contains("only numbers, texts and pointers"),
        "{run:#?}"
    );
    assert!(
        errors[2].starts_with("dapple: there is no value `$99`"),
        "{run:#?}"
    );
}

#[test]
fn variables_of_ones_own_are_used_in_later_expressions() {
    let source = write("values-own.c", TEXT);
    let lines = [
        "set $n = 1",
        "show convenience",
        "b 11",
        "run",
        "p items[$n].price",
        "p $n = items[0].price",
        "set $n += 2",
        "p $n * 2",
        "set $who = item",
        "p $who->price + 100",
        "set $all = items[0]",
        "p $all.price",
        "set $rax = 77",
        "p $rax + 0",
        "p $unknown",
        "show conv",
        "x/dw $who",
    ];
    let run = typed(&[source.to_str().expect("a plain path")], &lines);
    let all = values(&run);
    for (name, expected) in [
        ("items[$n].price", "50"),
        ("$n * 2", "10"),
        ("$who->price + 100", "150"),
        ("$rax + 0", "77"),
        ("$n", "3"),
    ] {
        assert!(all.contains(&(name, expected)), "{name}: {run:#?}");
    }
    assert!(run.stdout.contains("0x…: 50\n"), "{run:#?}");
    assert!(!run.stdout.contains("$rax = 77\n$who"), "{run:#?}");
    let errors: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(errors.len(), 2, "{run:#?}");
    assert!(errors[0].contains("`$all` is {price = 3"), "{run:#?}");
}

#[test]
fn values_in_rust_are_used_in_later_expressions() {
    let text = "fn main() {\n    let numbers = [3_u64, 4, 5];\n    let first = &numbers[0];\n    let name = \"ada\";\n    let is = true;\n    println!(\"{first} {name} {is}\");\n}\n";
    let source = write("values_rust.rs", text);
    let lines = [
        "b 6",
        "run",
        "p numbers[1]",
        "p $ + numbers[2]",
        "p first",
        "p $ + 1",
        "p name",
        "p $ == \"ada\"",
        "p is",
        "p !$",
        "set $i = 2",
        "p numbers[$i]",
    ];
    let run = typed(&[source.to_str().expect("a plain path")], &lines);
    let all = values(&run);
    for expected in [
        ("$ + numbers[2]", "9"),
        ("$ + 1", "4"),
        ("$ == \"ada\"", "true"),
        ("!$", "false"),
        ("numbers[$i]", "5"),
    ] {
        assert!(all.contains(&expected), "{expected:?}: {run:#?}");
    }
    assert_eq!(run.stderr, "", "{run:#?}");
}

#[test]
fn another_adapters_values_are_used_too() {
    let source = write("values-other.c", TEXT);
    let adapter = crate::support::another_adapter();
    let mut command = dapple();
    command.args(["debug", "--batch", "--adapter", &adapter]);
    for line in [
        "b 11",
        "run",
        "p i",
        "p $ + 1",
        "set $k = 2",
        "p items[$k].price",
        "set i = $k",
        "p i",
    ] {
        command.args(["--ex", line]);
    }
    let run = Run::of(command.arg(&source));
    let all = values(&run);
    for expected in [("$ + 1", "-1"), ("items[$k].price", "7"), ("i", "2")] {
        assert!(all.contains(&expected), "{expected:?}: {run:#?}");
    }
}
