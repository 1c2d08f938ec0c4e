//! Registers, memory and instructions in the terminal.

mod support;

use support::{typed, write};

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
        // The one that is next, alone and among those around it.
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
