//! Conditions, hit counts and log messages in `dapple debug`.

use crate::support::batch;
use expect_test::expect;

#[test]
fn a_breakpoint_is_given_a_condition_hits_and_a_message() {
    let run = batch(
        "fixtures/conditions.c",
        &[
            "b visit if i == 2",
            "log 51 i is {i}, {point.x:#x}",
            "info breakpoints",
            "run",
            "condition 1 i > 2",
            "hits 1 % 8",
            "log 2",
            "condition 2 i == 11",
            "c",
            "c",
            "condition 1",
            "hits 1",
            "d 2",
            "c",
            "d all",
            "c",
        ],
    );
    expect![[r#"
        (dapple) b visit if i == 2
        breakpoint 1 on visit at fixtures/conditions.c:35 if i == 2
        (dapple) log 51 i is {i}, {point.x:#x}
        breakpoint 2 at fixtures/conditions.c:51, logs "i is {i}, {point.x:#x}"
        (dapple) info breakpoints
        breakpoint 1 on visit at fixtures/conditions.c:35 if i == 2
        breakpoint 2 at fixtures/conditions.c:51, logs "i is {i}, {point.x:#x}"
        (dapple) run
        i is 0, 0x…
        i is 1, 0x…
        i is 2, 0x…
        stopped at breakpoint 1, thread N "conditions"
        visit at fixtures/conditions.c:35
            32  }
            33
            34  static void visit(struct point *point, int i) {
        →   35      seen += point->x == i; // stop: visit
            36  }
            37
            38  int main(int argc, char **argv) {
        (dapple) condition 1 i > 2
        breakpoint 1 on visit at fixtures/conditions.c:35 if i > 2
        (dapple) hits 1 % 8
        breakpoint 1 on visit at fixtures/conditions.c:35 if i > 2 on hit % 8
        (dapple) log 2
        breakpoint 2 at fixtures/conditions.c:51
        (dapple) condition 2 i == 11
        breakpoint 2 at fixtures/conditions.c:51 if i == 11
        (dapple) c
        stopped at breakpoint 1, thread N "conditions"
        visit at fixtures/conditions.c:35
            32  }
            33
            34  static void visit(struct point *point, int i) {
        →   35      seen += point->x == i; // stop: visit
            36  }
            37
            38  int main(int argc, char **argv) {
        (dapple) c
        stopped at breakpoint 2, thread N "conditions"
        main at fixtures/conditions.c:51
            48          point.small = (unsigned)i & 7;
            49          point.minus = (i & 7) - 4;
            50          point.color = i % 2 ? GREEN : BLUE;
        →   51          point.inner.low = (short)(i - 10);
            52          point.inner.ratio = i / 4.0;
            53          point.many[i % 4] = i * i;
            54          letter = (char)('a' + i % 26);
        (dapple) condition 1
        breakpoint 1 on visit at fixtures/conditions.c:35 on hit % 8
        (dapple) hits 1
        breakpoint 1 on visit at fixtures/conditions.c:35
        (dapple) d 2
        breakpoint 2 deleted
        (dapple) c
        stopped at breakpoint 1, thread N "conditions"
        visit at fixtures/conditions.c:35
            32  }
            33
            34  static void visit(struct point *point, int i) {
        →   35      seen += point->x == i; // stop: visit
            36  }
            37
            38  int main(int argc, char **argv) {
        (dapple) d all
        breakpoint 1 deleted
        (dapple) c
        total 190 t 0.25 (nil) 6
        program exited with code 0
    "#]]
    .assert_eq(&run.stdout);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:#?}");
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let refused = |commands: &[&str], message: &str| {
        batch("fixtures/conditions.c", commands).assert_command_fails(message);
    };
    refused(
        &["b visit", "condition 1 i >"],
        "dapple: breakpoint 1 stays as it was: the condition `i >` can't be read: column 4: the expression ends too early\n",
    );
    refused(
        &["b visit", "hits 1 often"],
        "dapple: breakpoint 1 stays as it was: the hit condition `often` is not understood: write a number, or one of == != >= > <= < % and a number\n",
    );
    refused(
        &["b visit if i >"],
        "dapple: no breakpoint set: the condition `i >` can't be read: column 4: the expression ends too early\n",
    );
    refused(
        &["log 51 {i"],
        "dapple: no breakpoint set: column 1 of the log message has a `{` without its `}`; write `{{` for a brace\n",
    );
    refused(&["condition 7 i > 1"], "dapple: there is no breakpoint 7\n");
    refused(
        &["b visit", "log 1 {i}"],
        "dapple: breakpoint 1 is on a function; messages are written on lines only\n",
    );
    refused(&["log 51"], "dapple: log what? `log 51 i is {i}`\n");
}

#[test]
fn breakpoints_say_how_they_are_decided() {
    let run = batch(
        "fixtures/counted_turns.c",
        &[
            "b 37 if i == 990",
            "b 38 if (long)outer->ratio == -1",
            "b 39",
            "hits 3 > 5000",
            "b 41",
            "run",
            "info breakpoints",
            "d all",
            "c",
        ],
    );
    expect![[r#"
        (dapple) b 37 if i == 990
        breakpoint 1 at fixtures/counted_turns.c:37 if i == 990
        (dapple) b 38 if (long)outer->ratio == -1
        breakpoint 2 at fixtures/counted_turns.c:38 if (long)outer->ratio == -1
        (dapple) b 39
        breakpoint 3 at fixtures/counted_turns.c:39
        (dapple) hits 3 > 5000
        breakpoint 3 at fixtures/counted_turns.c:39 on hit > 5000
        (dapple) b 41
        breakpoint 4 at fixtures/counted_turns.c:41
        (dapple) run
        stopped at breakpoint 1, thread N "counted_turns"
        turns at fixtures/counted_turns.c:37
            34          long twice = 2 * i;
            35          own = i;
            36          outer->ratio = i * 0.5;
        →   37          sum += twice; // stop: turn
            38          if (outer->inner) // stop: behind
            39              outer->inner->weight = sum;
            40      }
        (dapple) info breakpoints
        breakpoint 1 at fixtures/counted_turns.c:37 if i == 990, hit once, decided in the program; 1 hit has counted
        breakpoint 2 at fixtures/counted_turns.c:38 if (long)outer->ratio == -1, decided by a stop at each hit: it converts a number with a fraction to an integer
        breakpoint 3 at fixtures/counted_turns.c:39 on hit > 5000, decided in the program; 990 hits have counted
        breakpoint 4 at fixtures/counted_turns.c:41
        what is decided in the program takes 128 KB of its memory
        (dapple) d all
        breakpoint 1 deleted
        breakpoint 2 deleted
        breakpoint 3 deleted
        breakpoint 4 deleted
        (dapple) c
        program exited with code 0
    "#]].assert_eq(&run.stdout);
}
