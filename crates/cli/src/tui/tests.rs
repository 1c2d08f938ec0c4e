//! Screens drawn of records, without a terminal and a debugger.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use serde_json::{Value, json};

use super::app::{App, Effect};
use super::draw::draw;
use super::theme::Theme;
use super::told;

/// An app that nothing was told to, with the keys for the source.
fn app() -> App {
    let mut app = App::new("tour", Theme { colours: false }, Vec::new());
    app.show(super::pane::Pane::Source);
    app
}

fn tell(app: &mut App, record: Value) {
    let record = told::read(&record.to_string()).expect("a record");
    app.record(record);
}

fn press(app: &mut App, code: KeyCode) {
    app.key(&KeyEvent::new(code, KeyModifiers::NONE));
}

fn frame(index: usize) -> Value {
    json!({
        "index": index, "function": format!("f{index}"), "path": "/src/a.c", "line": index + 1, "selected": index == 0
    })
}

fn stop(frames: usize, are_more: bool) -> Value {
    let frames: Vec<Value> = (0..frames).map(frame).collect();
    json!({
        "record": "stop",
        "cause": {"reason": "breakpoint", "sentence": "at breakpoint 1", "breakpoints": [1]},
        "thread": {"id": 4711, "name": "tour"},
        "frames": frames,
        "moreFrames": are_more,
        "locals": [{"name": "count", "value": "3"}, {"name": "list", "value": "{…}", "hasParts": true, "reference": 7}],
        "items": []
    })
}

/// The commands that the debugger is given.
fn given(app: &mut App) -> Vec<String> {
    let effects = app.take_effects().into_iter();
    let lines = effects.filter_map(|effect| match effect {
        Effect::Give(line) => Some(line),
        _ => None,
    });
    lines.collect()
}

/// Draws the screen, and returns its rows and whether each cell is reversed.
fn screen(app: &mut App, width: u16, height: u16) -> (String, Vec<bool>) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    app.prepare(Rect::new(0, 0, width, height));
    terminal
        .draw(|frame| draw(app, frame))
        .expect("it is drawn");
    let buffer = terminal.backend().buffer();
    let cells = buffer.content().iter();
    let reversed = cells
        .map(|cell| cell.modifier.contains(Modifier::REVERSED))
        .collect();
    let rows = buffer.content().chunks(usize::from(width)).map(|row| {
        let row: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
        row.trim_end().to_owned() + "\n"
    });
    (rows.collect(), reversed)
}

/// Answers what was asked with what a debugger would say of a long stack and of many threads.
fn answer(app: &mut App, frames: usize, threads: usize) -> usize {
    let mut answered = 0;
    loop {
        app.prepare(app.size);
        let lines = given(app);
        if lines.is_empty() {
            return answered;
        }
        for line in lines {
            answered += 1;
            let range = line.rsplit(' ').next().unwrap_or_default();
            let (first, last) = range.split_once('-').unwrap_or(("0", "0"));
            let first: usize = first.parse().unwrap_or(0);
            let last: usize = last.parse().unwrap_or(0);
            let items = if line.starts_with("aside bt ") {
                let rows: Vec<Value> = (first..frames.min(last + 1))
                    .map(|index| {
                        let mut row = frame(index);
                        row["row"] = json!("frame");
                        row
                    })
                    .collect();
                let rest = (last + 1 < frames).then_some("more");
                json!([{"kind": "stack", "threads": [], "rows": rows, "rest": rest}])
            } else if line.starts_with("aside info threads") {
                let line = |id: usize| json!({"kind": "threadLine", "thread": {"id": id}, "selected": id == 3, "frame": frame(id % 2)});
                json!((first..threads.min(last + 1)).map(line).collect::<Vec<_>>())
            } else {
                json!([])
            };
            tell(
                app,
                json!({"record": "command", "command": line, "items": items, "state": "stopped"}),
            );
        }
    }
}

#[test]
fn no_size_and_no_pane_is_a_panic() {
    let mut app = app();
    tell(&mut app, stop(10, false));
    for (width, height) in [
        (1, 1),
        (40, 10),
        (41, 11),
        (80, 24),
        (159, 10),
        (160, 13),
        (300, 100),
    ] {
        for key in "1234567890o:".chars() {
            for layout in 0..3 {
                press(&mut app, KeyCode::Esc);
                if app.focus.takes_text() {
                    press(&mut app, KeyCode::Esc);
                }
                press(&mut app, KeyCode::Char(key));
                screen(&mut app, width, height);
                press(&mut app, KeyCode::F(2));
                press(&mut app, KeyCode::PageDown);
                press(&mut app, KeyCode::End);
                press(&mut app, KeyCode::F(1));
                screen(&mut app, width, height);
                press(&mut app, KeyCode::Esc);
                assert!(app.help.is_none(), "{layout}");
            }
        }
    }
}

#[test]
fn hostile_text_stays_in_its_place() {
    let mut app = app();
    let evil =
        "\u{1b}[2J\u{1b}]0;x\u{7}\u{202e}日本\u{200d}e\u{301}\u{301}\u{301}\u{301}\r\n\t\u{0}";
    let mut record = stop(3, false);
    for frame in record["frames"].as_array_mut().expect("frames") {
        frame["function"] = json!(evil);
        frame["path"] = json!(evil);
    }
    record["locals"] = json!([{"name": evil, "value": evil, "type": evil}]);
    record["cause"]["sentence"] = json!(evil);
    record["thread"]["name"] = json!(evil);
    tell(&mut app, record);
    tell(
        &mut app,
        json!({"record": "output", "stream": "stdout", "text": evil.repeat(50)}),
    );
    for (width, height) in [(80, 24), (40, 10), (300, 100)] {
        let (text, _) = screen(&mut app, width, height);
        let is_bad = |c: char| c.is_control() && c != '\n' || c == '\u{202e}' || c == '\u{200d}';
        assert!(!text.contains(is_bad), "{text:?}");
        assert!(text.contains("[Source]"), "{text}");
    }
}

#[test]
fn a_list_of_many_is_asked_for_as_far_as_it_is_seen() {
    let mut app = app();
    screen(&mut app, 80, 24);
    tell(&mut app, stop(10, true));
    let first = answer(&mut app, 10_000, 5000);
    assert!(first <= 4, "{first} commands for one screen");
    assert_eq!(app.model.stack.known.len(), 110);
    press(&mut app, KeyCode::Char('2'));
    for _ in 0..150 {
        press(&mut app, KeyCode::End);
        answer(&mut app, 10_000, 5000);
    }
    assert_eq!(app.model.stack.known.len(), 10_000);
    assert!(app.model.stack.is_whole);
    let (text, _) = screen(&mut app, 80, 24);
    assert!(text.contains("9999 f9999"), "{text}");
    // Threads at the same place are one row; all of them are counted.
    press(&mut app, KeyCode::Char('5'));
    answer(&mut app, 10_000, 5000);
    let (text, _) = screen(&mut app, 80, 24);
    assert!(text.contains("▸2500 threads f0"), "{text}");
    assert!(text.contains("▸2499 threads f1"), "{text}");
    press(&mut app, KeyCode::Down);
    press(&mut app, KeyCode::Enter);
    press(&mut app, KeyCode::End);
    let (text, reversed) = screen(&mut app, 80, 24);
    assert!(text.contains("▸2499 threads f1"), "{text}");
    assert!(
        reversed.iter().any(|cell| *cell),
        "the cursor is seen without colours"
    );
}

#[test]
fn an_answer_that_comes_late_is_not_shown() {
    let mut app = app();
    screen(&mut app, 80, 24);
    tell(&mut app, stop(2, false));
    answer(&mut app, 2, 1);
    app.model.refill(super::pane::Pane::Locals);
    app.prepare(app.size);
    assert_eq!(given(&mut app), ["aside info locals all"]);
    // Before it is answered, the program goes on and stops elsewhere.
    tell(&mut app, stop(3, false));
    let late =
        json!([{"kind": "values", "what": "locals", "values": [{"name": "late", "value": "1"}]}]);
    let command = "aside info locals all";
    tell(
        &mut app,
        json!({"record": "command", "command": command, "items": late, "state": "stopped"}),
    );
    let (text, _) = screen(&mut app, 80, 24);
    assert!(!text.contains("late"), "{text}");
    assert!(text.contains("count = 3"), "{text}");
}

#[test]
fn typed_commands_are_given_in_order_and_queries_wait_for_them() {
    let mut app = app();
    screen(&mut app, 80, 24);
    tell(&mut app, stop(2, false));
    answer(&mut app, 2, 1);
    press(&mut app, KeyCode::Char('n'));
    press(&mut app, KeyCode::Char('n'));
    app.prepare(app.size);
    assert_eq!(given(&mut app), ["next", "next"]);
    // A breakpoint is set while the program runs.
    tell(
        &mut app,
        json!({"record": "command", "command": "next", "items": [], "state": "running"}),
    );
    app.give("b 12");
    app.give("p x");
    assert_eq!(given(&mut app), ["aside b 12", "p x"]);
    assert_eq!(app.waiting(), 3);
    // An empty line repeats a step, and what shows a value isn't repeated.
    app.give("next");
    app.give("");
    assert_eq!(given(&mut app), ["next", "next"]);
    app.give("p x");
    app.give("");
    assert_eq!(given(&mut app), ["p x"]);
}

#[test]
fn a_million_lines_leave_what_was_looked_at_in_its_place() {
    let mut app = app();
    screen(&mut app, 80, 24);
    press(&mut app, KeyCode::Char(':'));
    let lines = |from: usize| {
        let lines: Vec<String> = (from..from + 1000)
            .map(|line| format!("line {line}\n"))
            .collect();
        json!({"record": "output", "stream": "stdout", "text": lines.concat()})
    };
    tell(&mut app, lines(0));
    screen(&mut app, 80, 24);
    press(&mut app, KeyCode::PageUp);
    let (before, _) = screen(&mut app, 80, 24);
    assert!(before.contains("lines below"), "{before}");
    tell(&mut app, lines(1000));
    let (after, _) = screen(&mut app, 80, 24);
    let shown = |text: &str| {
        let lines = text.lines().filter(|line| line.starts_with("line "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(shown(&before), shown(&after));
    for from in (2000..1_000_000).step_by(1000) {
        tell(&mut app, lines(from));
    }
    for _ in 0..3000 {
        press(&mut app, KeyCode::PageDown);
    }
    let (text, _) = screen(&mut app, 80, 24);
    assert!(text.contains("line 999999"), "{text}");
    assert_eq!(app.model.log.lines().len(), super::log::LINES);
}
