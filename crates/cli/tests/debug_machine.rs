//! Registers, memory and instructions in the terminal.

use crate::support::{batch, line, typed, write};

const PROGRAM: &str = "static char text[16] = \"hello, world\";\nstatic int numbers[4] = {1, -2, 3, 4};\n\nstatic int add(int a, int b)\n{\n    int *p = numbers;\n    int sum = a + b + *p;\n    return sum;\n}\n\nint main(void)\n{\n    return add(1, 2) + text[15];\n}\n";

#[test]
fn memory_registers_and_code_are_shown() {
    let source = write("machine.c", PROGRAM);
    let source = source.to_str().expect("a plain path");
    let lines = [
        "b 8",
        "run",
        "x text 16",
        "x/s text",
        "x/4xw p",
        "x/2g &numbers",
        "x/1i $pc",
        "disas",
        "disassemble add 3",
        "registers",
        "info registers",
        "registers eflags",
        "registers xmm0",
        "register read rip",
        "x 0x10",
        "x nothing",
        "registers r99",
        "x/0x p",
    ];
    let run = typed(&[source], &lines);
    for (said, times) in [
        (
            "68 65 6c 6c 6f 2c 20 77 6f 72 6c 64 00 00 00 00  hello, world....\n",
            1,
        ),
        (": \"hello, world\"\n", 1),
        (": 0x… 0x… 0x… 0x…\n", 1),
        (": 0x… 0x…\n", 1),
        // The next instruction, alone and among its neighbours.
        ("→ 0x", 2),
        ("\nmachine.c:8\n", 2),
        (" <add>  ", 1),
        ("rip = 0x", 3),
        ("also: Segment, SSE", 2),
        ("\n  f32 = [", 1),
    ] {
        assert_eq!(run.stdout.matches(said).count(), times, "{said}: {run:#?}");
    }
    for said in [
        "dapple: there is no memory at 0x…\n",
        "no variable `nothing` here\n",
        "dapple: there is no register `r99`\n",
        "dapple: 1 to 4096 can be shown\n",
    ] {
        assert!(run.stderr.contains(said), "{said}: {run:#?}");
    }
}

#[test]
fn a_step_by_instructions_shows_the_instruction() {
    let run = batch("fixtures/tour.c", &["b mean", "run", "ni", "si", "n"]);
    let shown = run
        .stdout
        .split_once("(dapple) ni\n")
        .expect("it stopped")
        .1;
    let (first, rest) = shown.split_once("(dapple) si\n").expect("it stepped");
    let (second, _) = rest.split_once("(dapple) n\n").expect("it stepped");
    for text in [first, second] {
        let [place, instruction] = text.lines().collect::<Vec<_>>()[..] else {
            panic!("a place and an instruction: {text}");
        };
        assert!(place.starts_with("mean at fixtures/tour.c:"), "{text}");
        assert!(instruction.starts_with("→ 0x… <mean+0x…>  "), "{text}");
    }
    assert!(
        rest.contains("→   22 "),
        "a step by lines shows lines again: {rest}"
    );
}

#[test]
fn a_watch_says_what_changed_and_where() {
    let commands = ["b mean", "run", "watch visits", "d 1", "c"];
    let run = batch("fixtures/tour.c", &commands);
    let line = line("tour.c", "print") + 1;
    let told = format!(
        "stopped because `visits` changed from 0 to 1, by the statement at tour.c:{line}, thread"
    );
    assert!(run.stdout.contains(&told), "{}", run.stdout);
}

#[test]
fn a_step_out_of_main_ends_the_program() {
    let run = batch(
        "fixtures/tour.c",
        &[&format!("b {}", line("tour.c", "end")), "run", "d 1", "fin"],
    );
    let end = "3 of 3 towns visited\nprogram exited with code 3\n";
    assert!(run.stdout.ends_with(end), "{run:#?}");
}
