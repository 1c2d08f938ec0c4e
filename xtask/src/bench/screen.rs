//! Measures how long a key takes to the screen of `dapple tui` while the program writes a million lines as fast as it can.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitCode};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::build;
use crate::terminals::on_terminal;

/// How many keys are typed.
const KEYS: usize = 200;
/// Within this time each of them is to be seen.
const GOAL: Duration = Duration::from_millis(50);
/// The longest wait.
const PATIENCE: Duration = Duration::from_secs(120);
/// The program. It goes on behind its lines, so that nothing is measured of its end.
const PROGRAM: &str = "#include <stdio.h>
int main(void) {
    for (int i = 1; i <= 1000000; i++)
        printf(\"line %d of a million, and some text behind it\\n\", i);
    for (volatile int i = 0;; i++) ;
}
";
const COLUMNS: u16 = 120;
const ROWS: u16 = 40;
/// Deletes what is typed at the prompt.
const CTRL_U: &str = "\x15";

/// Builds, measures and prints.
pub fn run(root: &Path) -> anyhow::Result<ExitCode> {
    let dapple = build(root)?;
    let folder = root.join("target/bench/screen");
    std::fs::create_dir_all(&folder)?;
    let source = folder.join("million.c");
    std::fs::write(&source, PROGRAM)?;
    let mut command = Command::new("setsid");
    command
        .arg("--ctty")
        .arg(&dapple)
        .args(["tui", "--no-init", "--ex", "run"])
        .arg(&source)
        .env("TERM", "xterm-256color");
    let (child, keyboard, output) = on_terminal(command, COLUMNS, ROWS)?;
    let mut screen = Screen {
        child,
        keyboard,
        output,
        shown: vt100::Parser::new(
            ROWS.try_into().context("a terminal has rows")?,
            COLUMNS.try_into().context("a terminal has columns")?,
            0,
        ),
    };
    screen.wait_for("of a million")?;
    let begun = Instant::now();
    let mut times = Vec::with_capacity(KEYS);
    let mut typed = String::new();
    for key in ('a'..='z').cycle().take(KEYS) {
        if typed.len() == 26 {
            screen.type_keys(CTRL_U)?;
            screen.wait(|text| !text.contains("(dapple) abc"), "an empty line")?;
            typed.clear();
        }
        typed.push(key);
        let pressed = Instant::now();
        screen.type_keys(&key.to_string())?;
        screen.wait_for(&format!("(dapple) {typed}"))?;
        times.push(pressed.elapsed());
    }
    let typing = begun.elapsed();
    let is_beside = !screen.text().contains("line 1000000 of");
    screen.type_keys(CTRL_U)?;
    screen.wait_for("line 1000000 of")?;
    let all = begun.elapsed();
    times.sort();
    println!(
        "{KEYS} keys typed in {:.1} s while 1,000,000 lines came in {:.1} s:",
        typing.as_secs_f64(),
        all.as_secs_f64()
    );
    let longest = times[KEYS - 1];
    for (what, time) in [
        ("half of them seen within", times[KEYS / 2]),
        ("99 of 100 within", times[KEYS * 99 / 100]),
        ("all within", longest),
        ("goal", GOAL),
    ] {
        println!("  {what:26} {:6.1} ms", time.as_secs_f64() * 1e3);
    }
    if !is_beside {
        println!("  the lines had ended before the last key: not all was measured");
    }
    Ok(match longest < GOAL && is_beside {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The full screen of a session, as a terminal shows it.
struct Screen {
    child: Child,
    keyboard: File,
    output: Receiver<Vec<u8>>,
    shown: vt100::Parser,
}

impl Screen {
    fn type_keys(&mut self, keys: &str) -> anyhow::Result<()> {
        Ok(self.keyboard.write_all(keys.as_bytes())?)
    }

    fn text(&self) -> String {
        self.shown.screen().contents()
    }

    fn wait_for(&mut self, wanted: &str) -> anyhow::Result<()> {
        self.wait(|text| text.contains(wanted), wanted)
    }

    fn wait(&mut self, is_so: impl Fn(&str) -> bool, what: &str) -> anyhow::Result<()> {
        let until = Instant::now() + PATIENCE;
        while !is_so(&self.text()) {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(bytes) = self.output.recv_timeout(left) else {
                bail!("not on the screen: {what}\n{}", self.text());
            };
            self.shown.process(&bytes);
        }
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Its program ends with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
