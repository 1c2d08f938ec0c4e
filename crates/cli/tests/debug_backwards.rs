//! Recorded programs in the terminal: running backwards, who wrote a value, bookmarks, and what is said where that isn't possible.

use expect_test::expect;

use crate::support::{Run, batch, dapple, line, typed};

const WHO: &str = "fixtures/who.c";

/// Runs `dapple debug --batch --record` with these commands.
fn recorded(program: &str, commands: &[&str]) -> Run {
    let mut command = dapple();
    command.args(["debug", "--batch", "--record"]);
    for line in commands {
        command.args(["--ex", line]);
    }
    Run::of(command.arg(program))
}

/// Stops a recorded `who.c` at its line `mark`, and types the lines there.
fn typed_at(mark: &str, lines: &[&str]) -> Run {
    let stop = format!("tb {}", line("who.c", mark));
    let mut all = vec![stop.as_str(), "run"];
    all.extend(lines);
    typed(&["--record", WHO], &all)
}

/// Where the program was shown, in order: the marks of its lines; and the values of expressions.
fn way(run: &Run) -> Vec<String> {
    let mut way = Vec::new();
    for line in run.stdout.lines() {
        if let Some((_, mark)) = line.split_once("// stop: ")
            && line.starts_with('→')
        {
            way.push(mark.to_owned());
        } else if line.contains(" = ") && !line.starts_with(['→', ' ']) {
            way.push(line.to_owned());
        } else if line.starts_with("stopped at ") && !line.contains("breakpoint") {
            let reason = line.split(", thread").next().unwrap_or(line);
            way.push(reason.to_owned());
        }
    }
    way
}

/// The lines that name a write.
fn writes(run: &Run) -> Vec<&str> {
    let told = |line: &&str| line.contains("sum: ") || line.contains("nothing has written");
    run.stdout.lines().filter(told).collect()
}

#[test]
fn lines_lead_back_and_forward_again() {
    // The second call of `doubled`, and from there.
    let hit = format!("b {}", line("who.c", "result"));
    let commands = [
        &hit,
        "run",
        "c",
        "p result",
        "rn",
        "p result",
        "reverse-next",
        "p x",
        // The call.
        "rn",
        "p sum",
        "n",
        "p result",
    ];
    let run = recorded(WHO, &commands);
    assert_eq!(run.stderr, "", "{run:#?}");
    let expected = [
        "result",
        "result",
        "result = 4",
        "doubles",
        "result = 2",
        "first",
        "x = 2",
        "sums",
        "sum = 2",
        // The breakpoint in the call, in the present.
        "result",
        "result = 4",
    ];
    assert_eq!(way(&run), expected, "{run:#?}");
}

#[test]
fn running_back_leads_to_breakpoints_and_to_the_beginning() {
    let hit = format!("b {}", line("who.c", "result"));
    let last = format!("b {}", line("who.c", "last"));
    let condition = format!("b {} if i == 5", line("who.c", "adds"));
    let commands = [
        &hit,
        &last,
        &condition,
        "run",
        "d all",
        &hit,
        &last,
        "c",
        "c",
        "c",
        "rc",
        "p result",
        "reverse-continue",
        "p result",
        "d all",
        &condition,
        "rc",
        "p *to",
        "rc",
        "c",
        "p i",
    ];
    let run = recorded(WHO, &commands);
    assert_eq!(run.stderr, "", "{run:#?}");
    let expected = [
        "adds",
        "result",
        "result",
        "result",
        "result",
        "result = 4",
        "result",
        "result = 2",
        "adds",
        "*to = 10",
        "stopped at the beginning of the recording",
        "adds",
        "i = 5",
    ];
    assert_eq!(way(&run), expected, "{run:#?}");
}

#[test]
fn an_instruction_back_goes_over_a_call() {
    // Behind a call are its result's instruction, and here.
    let at = "p $rip,d";
    let commands = [
        at, "rni", at, "rni", at, "p deep", "ni", at, "ni", at, "p deep",
    ];
    let run = typed_at("fills", &commands);
    let addresses: Vec<u64> = { run.stdout.lines() }
        .filter_map(|line| line.strip_prefix("$rip,d = "))
        .map(|address| address.parse().expect("an address"))
        .collect();
    let [here, store, call, store_again, here_again] = addresses[..] else {
        panic!("{run:#?}");
    };
    assert!(call < store && store < here && here - call < 16, "{run:#?}");
    assert_eq!([store_again, here_again], [store, here], "{run:#?}");
    assert!(run.stdout.contains("call 0x… <depth"), "{run:#?}");
    assert!(
        run.stdout.ends_with("deep = 60\nthe program was ended\n"),
        "{run:#?}"
    );
    assert_eq!(run.stdout.matches("deep = 60").count(), 1, "{run:#?}");
}

#[test]
fn an_empty_line_goes_back_again() {
    let run = typed_at("again", &["rn", "", "", "rni", "", "p sum"]);
    // The third line back has no mark.
    let expected = ["again", "seven", "reads", "sum = 12"];
    assert_eq!(way(&run), expected, "{run:#?}");
    let lines = run.stdout.lines();
    let shown = lines.filter(|line| line.starts_with("main at "));
    let shown: Vec<&str> = shown.collect();
    let line = |less: i64| {
        let line = line("who.c", "reads") - less;
        format!("main at fixtures/who.c:{line}")
    };
    let expected = [line(2), line(4), line(4)];
    assert_eq!(shown[shown.len() - 3..], expected, "{run:#?}");
    assert!(run.stderr.is_empty(), "{run:#?}");
}

#[test]
fn the_same_again_or_an_empty_line_finds_the_write_before() {
    let run = typed_at(
        "last",
        &["who sum", "", "who sum", "", "", "who sum", "p sum"],
    );
    let expected = [
        "sum: 6 → 12",
        "sum: 2 → 6",
        "sum: 0 → 2",
        "sum: 0, its first value",
        "before that, nothing has written it since its function was called",
        // From the last one.
        "sum: 6 → 12",
    ];
    assert_eq!(writes(&run), expected, "{run:#?}");
    assert!(run.stderr.is_empty(), "{run:#?}");
    // It is where it was.
    assert_eq!(way(&run).last().expect("a value"), "sum = 12", "{run:#?}");
}

#[test]
fn a_write_is_shown_with_its_stack_and_statement() {
    let run = typed_at("last", &["who state.text", ""]);
    let (_, shown) = run.stdout.split_once("\nstate.text: ").expect("a write");
    let (fills, reads) = shown.split_once("\nstate.text: ").expect("two writes");
    let has = |shown: &str, mark: &str| {
        let own: Vec<&str> = shown.lines().filter(|line| line.starts_with('→')).collect();
        let frame = format!("  main at fixtures/who.c:{}", line("who.c", mark));
        let statement = format!("// stop: {mark}");
        assert!(
            own[0].ends_with(&frame) && own[1].ends_with(&statement),
            "{shown}"
        );
        assert_eq!(own.len(), 2, "{shown}");
    };
    has(fills, "fills");
    assert!(
        fills.starts_with("\"from a pipe\" → \"xrom a pipe\"\n"),
        "{fills}"
    );
    has(reads, "reads");
    let by = "\"\" → \"from a pipe\" (by the system call read)\n";
    assert!(reads.starts_with(by), "{reads}");
    let leads = " leads there, an empty line to the write before";
    let last = reads.lines().filter(|line| line.starts_with("`goto "));
    assert!(
        last.clone().count() == 1 && last.clone().all(|line| line.ends_with(leads)),
        "{reads}"
    );
}

#[test]
fn all_writes_are_listed_and_lead_to_their_moments() {
    // Which numbers the writes get is known once they are listed.
    let list = typed_at("last", &["who -all sum"]);
    let numbered = |line: &str| {
        let (number, rest) = line.trim_start().split_once("  ")?;
        Some((number.parse::<u32>().ok()?, rest.to_owned()))
    };
    let (numbers, told): (Vec<u32>, Vec<String>) =
        writes(&list).into_iter().filter_map(numbered).unzip();
    let place = |mark: &str| format!("main at fixtures/who.c:{}", line("who.c", mark));
    let expected = [
        format!("sum: 6 → 12  {}", place("sums")),
        format!("sum: 2 → 6  {}", place("sums")),
        format!("sum: 0 → 2  {}", place("sums")),
        format!("sum: 0, its first value  {}", place("sum")),
    ];
    assert_eq!(told, expected, "{list:#?}");
    assert!(numbers.is_sorted_by(|one, next| one < next), "{list:#?}");
    let end = "before that, nothing has written it since its function was called";
    assert_eq!(writes(&list).last(), Some(&end), "{list:#?}");
    // One behind the other: the number of a write is that of the bookmark that it gets.
    let run = typed_at(
        "last",
        &[
            "who sum",
            "goto 1",
            "p sum",
            "rn",
            "p sum",
            "goto present",
            "p sum",
        ],
    );
    let expected = [
        "stopped at bookmark 1",
        "sum = 12",
        "sums",
        "sum = 6",
        "stopped at the present",
        "last",
        "sum = 12",
    ];
    let way = way(&run);
    assert_eq!(way[way.len() - expected.len()..], expected, "{run:#?}");
}

#[test]
fn bookmarks_are_listed_gone_to_and_deleted() {
    let commands = [
        "bookmark the end",
        "rn",
        "bookmark",
        "when",
        "goto beginning",
        "goto 1",
        "goto 2",
        "bookmark -delete 2",
        "when",
    ];
    let run = typed_at("last", &commands);
    assert_eq!(run.stderr, "", "{run:#?}");
    let expected = [
        "last",
        "fills",
        "stopped at the beginning of the recording",
        "stopped at bookmark 1",
        "last",
        "stopped at bookmark 2",
        "fills",
    ];
    assert_eq!(way(&run), expected, "{run:#?}");
    let told = ["bookmark ", "the past: ", "the present: "];
    let lines = run.stdout.lines();
    let lines = lines.filter(|line| told.iter().any(|start| line.starts_with(start)));
    let lines: Vec<String> = lines.map(without_counts).collect();
    expect![[r#"
        bookmark 1; `goto 1` leads back here
        bookmark 2; `goto 2` leads back here
        the past: N of N events from outside have come
        bookmark 2: after N events
        bookmark 1: after N events  the end
        the past: N of N events from outside have come
        bookmark 1: after N events  the end
    "#]]
    .assert_eq(&(lines.join("\n") + "\n"));
}

/// The line without the numbers of events, which differ from one C library to another.
fn without_counts(line: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    for at in 1..words.len() {
        let counts = ["after", "past:", "of"].contains(&words[at - 1]);
        if counts && words[at].parse::<u32>().is_ok() {
            words[at] = "N";
        }
    }
    words.join(" ")
}

#[test]
fn mistakes_are_told_and_nothing_moves() {
    let commands = [
        "goto",
        "goto there",
        "goto 99",
        "goto -1",
        "goto present",
        "who",
        "who nowhere",
        "who sum + 1",
        "who $rip",
        "who state",
        "bookmark -delete",
        "bookmark -delete first",
        "bookmark -delete 99",
        "when now",
        "rc 2",
        "goto beginning",
        "rc",
        "rn",
        "rni",
    ];
    let run = typed_at("last", &commands);
    expect![[r#"
        dapple: where to? `goto NUMBER`, `goto beginning`, `goto present`; `when` lists the bookmarks
        dapple: `there` is no moment: a bookmark's number, `beginning` or `present`; `jump` moves a thread to a line
        dapple: there is no bookmark 99
        dapple: `-1` is no moment: a bookmark's number, `beginning` or `present`; `jump` moves a thread to a line
        dapple: this is the present
        dapple: who wrote what? `who order.items[0]`
        dapple: no variable `nowhere` here
        dapple: `sum + 1` can't be watched: it is computed, or a bit-field, and has no bytes of its own in memory
        dapple: `$rip` can't be watched: it is computed, or a bit-field, and has no bytes of its own in memory
        dapple: `state` can't be watched: it has 40 bytes, and the processor can watch 32; watch a part of it
        dapple: `` is no number of a bookmark; `when` lists them
        dapple: `first` is no number of a bookmark; `when` lists them
        dapple: there is no bookmark 99
        dapple: `when` takes no argument
        dapple: `reverse-continue` takes no argument
        dapple: this is the beginning of the recording
        dapple: there is no line before in this function
        dapple: there is no line before in this function
    "#]].assert_eq(&run.stderr);
    let expected = ["last", "stopped at the beginning of the recording"];
    assert_eq!(way(&run), expected, "{run:#?}");
}

#[test]
fn a_program_is_recorded_from_a_stop_on() {
    let stop = format!("tb {}", line("who.c", "last"));
    let commands = [
        "start",
        "record",
        "record on",
        "record on",
        &stop,
        "c",
        "rc",
        "rn",
        "c",
    ];
    let run = typed(&[WHO], &commands);
    expect![[r#"
        dapple: `record on` records the program from here on; the recording ends with the program
        dapple: the program is recorded already
        dapple: this is the beginning of the recording
    "#]]
    .assert_eq(&run.stderr);
    let said = "recorded from here on: `rc`, `rn` and `who` go back, up to here";
    assert!(run.stdout.contains(said), "{run:#?}");
    let beginning = "stopped at the beginning of the recording";
    let expected = ["sum", "last", beginning, "sum"];
    assert_eq!(way(&run), expected, "{run:#?}");
}

#[test]
fn a_program_that_is_not_recorded_says_how_to_record_it() {
    let commands = [
        "rc",
        "rn",
        "rni",
        "who sum",
        "when",
        "bookmark here",
        "goto 1",
        "goto beginning",
    ];
    let mut all = vec!["start"];
    all.extend(commands);
    all.push("c");
    let run = typed(&[WHO], &all);
    let said: Vec<&str> = run.stderr.lines().collect();
    let expected = "dapple: the program is not recorded; `record on` does that from here on, `dapple debug --record` from the beginning";
    assert_eq!(said, [expected; 8], "{run:#?}");
    assert!(
        run.stdout.contains("program exited with code 0"),
        "{run:#?}"
    );
    // Before it runs, there is nothing to go back from.
    let run = typed(&["--record", WHO], &["rc", "who sum", "goto present"]);
    let said: Vec<&str> = run.stderr.lines().collect();
    let expected = "dapple: the program has not been started yet; `run` starts it";
    assert_eq!(said, [expected; 3], "{run:#?}");
}

#[test]
fn where_a_recorded_program_fails_the_commands_that_find_the_cause_are_named() {
    const HINT: &str = "\n`who EXPRESSION` finds what wrote a value, `rc` and `rn` go back\n";
    let program = "fixtures/overrun.c";
    let run = recorded(program, &["run", "who settings.limit"]);
    assert!(
        run.stdout
            .contains("Assertion `settings.limit == 10' failed."),
        "{run:#?}"
    );
    assert_eq!(run.stdout.matches(HINT).count(), 1, "{run:#?}");
    let (_, found) = run.stdout.split_once("(dapple) who").expect("an answer");
    assert!(found.contains("settings.limit: 10 → 0\n"), "{found}");
    assert!(
        found.contains("→ #1  rename_to at fixtures/overrun.c:14\n"),
        "{found}"
    );
    assert!(
        found.contains("→   14      strcpy(settings.name, name);\n"),
        "{found}"
    );
    // At a breakpoint, nothing has failed; without a recording, there is no way back.
    for run in [
        recorded(program, &["b used", "run"]),
        batch(program, &["run"]),
    ] {
        assert!(run.stdout.contains("stopped"), "{run:#?}");
        assert!(!run.stdout.contains("finds what wrote"), "{run:#?}");
    }
}
