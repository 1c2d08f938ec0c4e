//! How long a key takes to the screen while the program writes as fast as it can. It measures, and decides nothing:
//!
//! `DAPPLE_MEASURE=1 cargo test --release -p dapple-cli --test it -- --nocapture tui_latency`

use std::time::Instant;

use crate::support::full_screen::FullScreen;
use crate::support::write;

/// How many keys are typed.
const KEYS: usize = 200;

#[test]
fn a_key_is_seen_while_a_million_lines_come() {
    if std::env::var_os("DAPPLE_MEASURE").is_none() {
        eprintln!("skipped: it measures, where DAPPLE_MEASURE is set");
        return;
    }
    let source = write(
        "tui_million.c",
        "#include <stdio.h>\nint main(void) {\n    for (int i = 1; i <= 1000000; i++)\n        printf(\"line %d of a million, and some text behind it\\n\", i);\n    for (volatile int i = 0;; i++) ;\n}\n",
    );
    let source = source.to_str().expect("a plain path");
    let mut screen = FullScreen::start((120, 40), &["--ex", "run", source]);
    screen.wait_for(&["of a million"]);
    let begun = Instant::now();
    screen.type_keys(":");
    let mut times = Vec::new();
    let mut typed = String::new();
    for key in ('a'..='z').cycle().take(KEYS) {
        if typed.len() == 26 {
            screen.type_keys("\x15");
            screen.wait_until("an empty line", |it| !it.text().contains("(dapple) abc"));
            typed.clear();
        }
        typed.push(key);
        let pressed = Instant::now();
        screen.type_keys(&key.to_string());
        let wanted = format!("(dapple) {typed}");
        screen.wait_until(&wanted, |it| it.text().contains(&wanted));
        times.push(pressed.elapsed());
    }
    let typing = begun.elapsed();
    screen.type_keys("\x15");
    screen.wait_for(&["line 1000000 of"]);
    let all = begun.elapsed();
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!(
        "{KEYS} keys in {typing:?}, the lines in {all:?}; half of the keys were seen within {:?}, 99 of 100 within {:?}, all within {:?}",
        at(50),
        at(99),
        at(100)
    );
    screen.type_keys("\tqq");
}
