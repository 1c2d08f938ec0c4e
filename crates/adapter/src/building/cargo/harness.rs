//! Asks test and benchmark programs for their tests (`--list`), to find the program that has the wanted test.

use super::choosing;
use super::messages::folder;
use super::words::CommandLine;
use crate::argument_values::unknown::nearest;
use crate::building::context::{BuildContext, Ended, Unbuilt};
use crate::building::{Built, joined_library_path};
use cargo_metadata::Artifact;
use dapple_engine::event::{ExitStatus, Stream};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The time limit for listing the tests of a program.
const LISTING: Duration = Duration::from_secs(10);

/// The most lines of a list that are read.
const MOST_LISTED: usize = 1 << 20;

/// The longest test name, in characters; longer ones are cut.
const LONGEST_NAME: usize = 1000;

/// The most tests that an error names.
const MOST_NAMED: usize = 5;

/// Says how a program would be run.
type Launchable<'l> = dyn Fn(&Artifact) -> Built + 'l;

/// The one of several programs that has the wanted test.
///
/// # Errors
/// The build was cancelled, or no program or several have it.
pub fn with_the_test<'a>(
    line: &CommandLine,
    several: &[&'a Artifact],
    launchable: &Launchable<'_>,
    context: &mut BuildContext,
) -> Result<&'a Artifact, Unbuilt> {
    let mut having = Vec::new();
    let mut silent = Vec::new();
    for artifact in several {
        let built = launchable(artifact);
        match tests(&built, &built.args, folder(artifact), context)?.as_deref() {
            Some([]) => {}
            Some(_) => having.push(*artifact),
            None => silent.push(*artifact),
        }
    }
    let what = wanted(line);
    match having.as_slice() {
        [only] => {
            let name = &only.target.name;
            context.say(&format!(
                "of {} programs, `{name}` has {what}",
                several.len()
            ));
            Ok(only)
        }
        [] => Err(Unbuilt::Failed(match silent.is_empty() {
            true => format!(
                "cargo: none of the {} programs that were built has {what}:{}{}",
                several.len(),
                choosing::listed(several),
                match near(line, &all_tests(several, launchable, context)?) {
                    Some(near) => format!("\ndid you mean `{near}`?"),
                    None => String::new(),
                }
            ),
            false => format!(
                "cargo: no program lists {what}; these have a harness of their own, say with `args` or `filter` which one is meant:{}",
                choosing::listed(&silent)
            ),
        })),
        several => Err(Unbuilt::Failed(format!(
            "cargo: {} programs have {what}; say in `args`, or with `filter`, which one is meant:{}",
            several.len(),
            choosing::listed(several)
        ))),
    }
}

/// Checks that the only program has the wanted test, if one is named and the program lists its tests.
///
/// # Errors
/// The build was cancelled, or the program doesn't have the test.
pub fn require_the_test(
    line: &CommandLine,
    only: &Artifact,
    launchable: &Launchable<'_>,
    context: &mut BuildContext,
) -> Result<(), Unbuilt> {
    if name_wanted(line).is_none() || may_have_its_own_harness(only) {
        return Ok(());
    }
    let built = launchable(only);
    let found = tests(&built, &built.args, folder(only), context)?;
    if found.as_deref() != Some(&[]) {
        return Ok(());
    }
    let all = all_tests(&[only], launchable, context)?;
    let hint = match near(line, &all) {
        Some(near) => format!("did you mean `{near}`?"),
        None if all.is_empty() => "it has none at all".to_owned(),
        None => {
            let named = all.iter().take(MOST_NAMED);
            let named: Vec<String> = named.map(|name| format!("`{name}`")).collect();
            let more = match all.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("it has {}{more}", named.join(", "))
        }
    };
    Err(Unbuilt::Failed(format!(
        "cargo: `{}` has no {}; {hint}",
        only.target.name,
        wanted(line)
    )))
}

/// The name of the wanted test, or a part of it.
fn name_wanted(line: &CommandLine) -> Option<&str> {
    let first = || line.program.first().filter(|word| !word.starts_with('-'));
    Some(line.tests.as_ref().or_else(first)?.as_str())
}

/// A description of the wanted test.
fn wanted(line: &CommandLine) -> String {
    match line.program_arguments().as_slice() {
        [] => "tests".to_owned(),
        words => format!("tests for `{}`", words.join(" ")),
    }
}

/// The test whose name is most like the wanted one, compared with full names, or else with names without the module.
fn near<'t>(line: &CommandLine, tests: &'t [String]) -> Option<&'t str> {
    let wanted = name_wanted(line)?;
    let whole: Vec<&str> = tests.iter().map(String::as_str).collect();
    let last = |name: &'t str| name.rsplit("::").next().unwrap_or(name);
    let own: Vec<&str> = whole.iter().map(|name| last(name)).collect();
    nearest(wanted, &whole).or_else(|| {
        let near = nearest(wanted.rsplit("::").next().unwrap_or(wanted), &own)?;
        whole.iter().find(|name| last(name) == near).copied()
    })
}

/// Whether the program may have a harness of its own, which may not know `--list`. If such a program is the only one, it isn't run with
/// `--list`, because it might do anything.
fn may_have_its_own_harness(artifact: &Artifact) -> bool {
    let manifest = std::fs::read_to_string(&artifact.manifest_path);
    manifest.map_or(true, |manifest| manifest.contains("harness"))
}

/// All tests of these programs, not only the wanted ones.
fn all_tests(
    artifacts: &[&Artifact],
    launchable: &Launchable<'_>,
    context: &mut BuildContext,
) -> Result<Vec<String>, Unbuilt> {
    let mut all = Vec::new();
    for artifact in artifacts {
        let tests = tests(&launchable(artifact), &[], folder(artifact), context)?;
        all.extend(tests.unwrap_or_default());
    }
    Ok(all)
}

/// The tests that a program would run with these arguments; `None` if it doesn't list them.
fn tests(
    built: &Built,
    args: &[OsString],
    folder: &Path,
    context: &mut BuildContext,
) -> Result<Option<Vec<String>>, Unbuilt> {
    let Some(program) = &built.program else {
        return Ok(None);
    };
    let mut command = Command::new(program);
    command.args(args).arg("--list");
    if !args.iter().any(|word| is_format(word)) {
        command.args(["--format", "terse"]);
    }
    command.envs(built.env.iter().map(|(name, value)| (name, value)));
    let before = std::env::var_os("LD_LIBRARY_PATH");
    if let Some(path) = joined_library_path(&built.library_path, before.as_deref()) {
        command.env("LD_LIBRARY_PATH", path);
    }
    command.current_dir(folder);
    let (mut tests, mut lines) = (Vec::new(), 0);
    let ended = context.run_for(command, LISTING, &mut |stream, line, _| {
        lines += 1;
        if stream == Stream::Stdout && lines <= MOST_LISTED {
            let name = line
                .strip_suffix(": test")
                .or_else(|| line.strip_suffix(": benchmark"));
            tests.extend(name.map(|name| name.chars().take(LONGEST_NAME).collect()));
        }
    });
    match ended {
        Ok(Ok(Ended::With(ExitStatus::Code(0)))) => Ok(Some(tests)),
        Ok(Err(unbuilt)) => Err(unbuilt),
        Ok(Ok(_)) => Ok(None),
        Err(error) => {
            tracing::warn!(%error, program = %program.display(), "it can't be asked for its tests");
            Ok(None)
        }
    }
}

fn is_format(word: &OsStr) -> bool {
    word.to_str()
        .is_some_and(|word| word.starts_with("--format"))
}
