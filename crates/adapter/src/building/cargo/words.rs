//! A cargo command as the user writes it: what cargo is to build, and what the program is to get.

/// What cargo itself would do with the program that it builds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verb {
    /// `cargo build`, `cargo rustc`.
    #[default]
    Build,
    /// `cargo run`.
    Run,
    /// `cargo test`.
    Test,
    /// `cargo bench`.
    Bench,
}

impl Verb {
    /// Whether the program has the test harness.
    pub fn is_test(self) -> bool {
        matches!(self, Verb::Test | Verb::Bench)
    }
}

/// A command line after `cargo`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// `+nightly` and options before the subcommand.
    pub before: Vec<String>,
    /// What cargo itself would do with the program that it builds.
    pub verb: Verb,
    /// The subcommand that builds; for `run` that is `build`.
    pub subcommand: String,
    /// The subcommand's options.
    pub options: Vec<String>,
    /// The arguments of the program.
    pub program: Vec<String>,
    /// The wanted tests or benchmarks, by a part of their names.
    pub tests: Option<String>,
    /// Whether a target is named (`--bin`, `--example`).
    pub names_target: bool,
    /// The named packages.
    pub packages: Vec<String>,
    /// `--manifest-path`.
    pub manifest: Option<String>,
    /// `--target`.
    pub target: Option<String>,
    /// `--profile`, or the profile of `--release`.
    pub profile: Option<String>,
    /// Options that also apply to `cargo metadata`.
    pub common: Vec<String>,
    /// Whether the user sets the use of colours.
    pub names_colours: bool,
}

/// Long options with a value, which may be the next word.
const WITH_VALUE: [&str; 20] = [
    "--package",
    "--exclude",
    "--bin",
    "--example",
    "--test",
    "--bench",
    "--features",
    "--jobs",
    "--profile",
    "--target",
    "--target-dir",
    "--manifest-path",
    "--message-format",
    "--config",
    "--color",
    "--lockfile-path",
    "--artifact-dir",
    "--out-dir",
    "--explain",
    "--crate-type",
];

/// One-letter options with a value.
const LETTERS_WITH_VALUE: &str = "pFjZC";

/// Options of both `cargo metadata` and the build.
const COMMON: [&str; 4] = ["--offline", "--locked", "--frozen", "--config"];

impl CommandLine {
    /// Parses the words after `cargo`.
    ///
    /// # Errors
    /// A message about a command that builds no program.
    pub fn read(words: &[String]) -> Result<CommandLine, String> {
        let words = words.strip_prefix(&["cargo".to_owned()]).unwrap_or(words);
        let (mut line, mut rest) = subcommand(words)?;
        while let Some(word) = rest.first() {
            if word == "--" {
                line.behind(rest.get(1..).unwrap_or_default());
                break;
            }
            if !word.starts_with('-') {
                match line.verb {
                    Verb::Run => {
                        line.program = rest.to_vec();
                        break;
                    }
                    Verb::Test | Verb::Bench if line.tests.is_none() => {
                        line.tests = Some(word.clone());
                    }
                    // `cargo build` takes no such word: cargo itself reports the error.
                    _ => line.options.push(word.clone()),
                }
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let (option, value, taken) = option(rest);
            let used = rest.get(..taken).unwrap_or(rest);
            line.note(&option, value.as_deref(), used)?;
            rest = rest.get(used.len()..).unwrap_or_default();
        }
        Ok(line)
    }

    /// Parses the words after `--`.
    fn behind(&mut self, words: &[String]) {
        if self.subcommand == "rustc" {
            // Options of the compiler.
            self.options.push("--".to_owned());
            self.options.extend_from_slice(words);
            return;
        }
        self.program = words.to_vec();
    }

    fn note(&mut self, option: &str, value: Option<&str>, words: &[String]) -> Result<(), String> {
        match option {
            // Dapple sets these itself.
            "--message-format" | "--no-run" => return Ok(()),
            "--doc" if self.verb == Verb::Test => {
                return Err(
                    "documentation tests are compiled as they are run, and can't be debugged; move the code into a test"
                        .to_owned(),
                );
            }
            "--help" | "-h" | "--list" => {
                return Err(format!("`{option}` builds nothing that could be debugged"));
            }
            "--bin" | "--example" => self.names_target = true,
            "--package" | "-p" => self.packages.extend(value.map(str::to_owned)),
            "--manifest-path" => self.manifest = value.map(str::to_owned),
            "--target" => self.target = value.map(str::to_owned),
            "--profile" => self.profile = value.map(str::to_owned),
            "--release" | "-r" => self.profile = Some("release".to_owned()),
            "--color" => self.names_colours = true,
            _ => {}
        }
        if COMMON.contains(&option) {
            self.common.extend_from_slice(words);
        }
        self.options.extend_from_slice(words);
        Ok(())
    }

    /// The arguments that cargo would give the program.
    pub fn program_arguments(&self) -> Vec<String> {
        let mut words: Vec<String> = self.tests.iter().chain(&self.program).cloned().collect();
        if self.verb == Verb::Bench {
            words.push("--bench".to_owned());
        }
        words
    }

    /// The values of `--config`. Those after the subcommand replace those before it.
    pub fn configured(&self) -> Vec<&str> {
        match values_of_config(&self.options) {
            behind if behind.is_empty() => values_of_config(&self.before),
            behind => behind,
        }
    }

    /// The command for the user: the subcommand with its options, without the arguments of the program behind `--`.
    pub fn shown(&self) -> String {
        let verb = match self.verb {
            Verb::Build => self.subcommand.as_str(),
            Verb::Run => "run",
            Verb::Test => "test",
            Verb::Bench => "bench",
        };
        let mut words = vec!["cargo", verb];
        words.extend(self.options.iter().map(String::as_str));
        words.extend(self.tests.as_deref());
        words.join(" ")
    }
}

/// The values of `--config` among options.
fn values_of_config(options: &[String]) -> Vec<&str> {
    let mut found = Vec::new();
    let mut options = options.iter().map(String::as_str);
    while let Some(option) = options.next() {
        match option.strip_prefix("--config") {
            Some("") => found.extend(options.next()),
            Some(value) => found.extend(value.strip_prefix('=')),
            None => {}
        }
    }
    found
}

/// Parses the words up to the subcommand. Returns the words after it.
fn subcommand(words: &[String]) -> Result<(CommandLine, &[String]), String> {
    let mut before = Vec::new();
    let mut common = Vec::new();
    let mut names_colours = false;
    let mut rest = words;
    while let Some(word) = rest
        .first()
        .filter(|word| word.starts_with('-') || word.starts_with('+'))
    {
        let (name, _, taken) = match word.starts_with('+') {
            true => (String::new(), None, 1),
            false => option(rest),
        };
        let used = rest.get(..taken).unwrap_or(rest);
        names_colours |= name == "--color";
        if COMMON.contains(&name.as_str()) {
            common.extend_from_slice(used);
        }
        before.extend_from_slice(used);
        rest = rest.get(used.len()..).unwrap_or_default();
    }
    let Some((word, rest)) = rest.split_first() else {
        return Err(
            "a subcommand is missing: \"run\", \"test\", \"bench\" or \"build\"".to_owned(),
        );
    };
    let (verb, subcommand) = match word.as_str() {
        "build" | "b" => (Verb::Build, "build"),
        "rustc" => (Verb::Build, "rustc"),
        "run" | "r" => (Verb::Run, "build"),
        "test" | "t" => (Verb::Test, "test"),
        "bench" => (Verb::Bench, "bench"),
        other => {
            return Err(format!(
                "`cargo {other}` isn't one of \"run\", \"test\", \"bench\", \"build\" and \"rustc\"; if it is an alias of yours, write what it stands for"
            ));
        }
    };
    let line = CommandLine {
        before,
        verb,
        subcommand: subcommand.to_owned(),
        common,
        names_colours,
        ..CommandLine::default()
    };
    Ok((line, rest))
}

/// The option at the beginning of `words`, its value, and how many words they take.
fn option(words: &[String]) -> (String, Option<String>, usize) {
    let word = words.first().map(String::as_str).unwrap_or_default();
    let next = words.get(1).map(String::as_str);
    // Values don't begin with a dash, except for a negative number of jobs.
    let is_value = |word: &&str| !word.starts_with('-') || word.parse::<i64>().is_ok();
    let next = next.filter(is_value);
    if word.starts_with("--") {
        return match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned()), 1),
            None if WITH_VALUE.contains(&word) && next.is_some() => {
                (word.to_owned(), next.map(str::to_owned), 2)
            }
            None => (word.to_owned(), None, 1),
        };
    }
    // Several one-letter flags may be joined, and the last may have a value.
    let letters = word.trim_start_matches('-');
    let Some(at) = letters.find(|letter| LETTERS_WITH_VALUE.contains(letter)) else {
        let last = letters.chars().next_back();
        return (format!("-{}", last.unwrap_or_default()), None, 1);
    };
    let (_, from) = letters.split_at(at);
    let name = format!("-{}", from.chars().next().unwrap_or_default());
    let value = from.get(1..).unwrap_or_default();
    match (value.strip_prefix('=').unwrap_or(value), next) {
        ("", Some(next)) => (name, Some(next.to_owned()), 2),
        ("", None) => (name, None, 1),
        (value, _) => (name, Some(value.to_owned()), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<CommandLine, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        CommandLine::read(&words)
    }

    #[test]
    fn what_is_cargos_and_what_is_the_programs_is_told_apart() {
        for (line, options, program) in [
            ("run", "", ""),
            ("run --release -- a -b", "--release", "a -b"),
            (
                "r --bin x one --two -- three",
                "--bin x",
                "one --two -- three",
            ),
            ("run -p x -Fa,b -qj 4 -- --bin", "-p x -Fa,b -qj 4", "--bin"),
            ("test some::test", "", "some::test"),
            (
                "t -p x --lib some -- --exact -q",
                "-p x --lib",
                "some --exact -q",
            ),
            (
                "test --no-run --message-format json --test it",
                "--test it",
                "",
            ),
            (
                "test --test=it --message-format=short -j -1",
                "--test=it -j -1",
                "",
            ),
            (
                "bench --bench b group -- --quick",
                "--bench b",
                "group --quick --bench",
            ),
            ("build --bin --release", "--bin --release", ""),
            (
                "rustc --bin x -- -C debuginfo=2",
                "--bin x -- -C debuginfo=2",
                "",
            ),
            ("cargo +nightly --config a=1 -Zx run y", "", "y"),
        ] {
            let read = read(line).expect("a line");
            assert_eq!(read.options.join(" "), options, "{line}");
            assert_eq!(read.program_arguments().join(" "), program, "{line}");
        }
    }

    #[test]
    fn what_matters_of_the_options_is_noted() {
        let line = read(
            "+nightly --color always --config a=1 run -qr -p one --package=two --manifest-path m/Cargo.toml --target t --offline --example e",
        );
        let line = line.expect("a line");
        assert_eq!(line.verb, Verb::Run);
        assert_eq!(
            line.before.join(" "),
            "+nightly --color always --config a=1"
        );
        assert_eq!(line.packages, ["one", "two"]);
        assert_eq!(line.manifest.as_deref(), Some("m/Cargo.toml"));
        assert_eq!(line.target.as_deref(), Some("t"));
        assert_eq!(line.profile.as_deref(), Some("release"));
        assert_eq!(line.common.join(" "), "--config a=1 --offline");
        assert_eq!(line.configured(), ["a=1"]);
        assert!(line.names_target && line.names_colours);
        let line = read("--config a=1 run --config=b=2 --config c=3").expect("a line");
        assert_eq!(line.configured(), ["b=2", "c=3"]);
    }

    #[test]
    fn what_makes_no_program_is_refused_with_what_would() {
        for (line, part) in [
            ("", "a subcommand is missing"),
            ("+nightly -q", "a subcommand is missing"),
            ("check --lib", "`cargo check` isn't one of"),
            ("test --doc", "documentation tests"),
            ("run --help", "`--help` builds nothing"),
        ] {
            let sentence = read(line).expect_err("no program");
            assert!(sentence.contains(part), "{line}: {sentence}");
        }
    }
}
