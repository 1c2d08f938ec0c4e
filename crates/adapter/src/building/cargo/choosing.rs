//! Selects one of the programs that cargo has built.

use super::messages::Artifact;
use super::words::Verb;
use std::path::Path;

/// The argument `filter`: which of several programs to debug.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The target's name.
    pub name: Option<String>,
    /// The target's kind.
    pub kind: Option<Kind>,
}

/// A kind of target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A library, with its unit tests.
    Lib,
    /// A program.
    Bin,
    /// An integration test.
    Test,
    /// An example.
    Example,
    /// A benchmark.
    Bench,
}

impl Kind {
    /// All kinds, with their names in a filter.
    pub const ALL: [(Kind, &'static str); 5] = [
        (Kind::Bin, "bin"),
        (Kind::Lib, "lib"),
        (Kind::Test, "test"),
        (Kind::Example, "example"),
        (Kind::Bench, "bench"),
    ];

    /// The name in a filter.
    pub fn name(self) -> &'static str {
        let found = Kind::ALL.iter().find(|(kind, _)| *kind == self);
        found.map_or("", |(_, name)| name)
    }

    fn of(target: &[String]) -> Option<Kind> {
        let first = target.first()?;
        Some(match first.as_str() {
            "bin" => Kind::Bin,
            "test" => Kind::Test,
            "example" => Kind::Example,
            "bench" => Kind::Bench,
            "custom-build" => return None,
            _ => Kind::Lib,
        })
    }
}

impl Artifact {
    /// Whether its target has this kind, in cargo's terms.
    pub fn is_of_kind(&self, kind: &str) -> bool {
        self.target.kind.iter().any(|of| of == kind)
    }

    /// The folder of its package.
    pub fn folder(&self) -> &Path {
        self.manifest_path
            .parent()
            .unwrap_or(self.manifest_path.as_path())
    }

    fn kind(&self) -> Kind {
        Kind::of(&self.target.kind).unwrap_or(Kind::Lib)
    }

    /// The options of cargo and of the filter that select it.
    fn choice(&self, packages: bool) -> String {
        let (name, kind) = (&self.target.name, self.kind());
        let mut words = match kind {
            Kind::Lib => "--lib".to_owned(),
            kind => format!("--{} {name}", kind.name()),
        };
        if packages {
            let folder = self.folder().file_name().unwrap_or_default();
            let package = self.package_name();
            let package = package.unwrap_or_else(|| folder.to_string_lossy().into_owned());
            words = format!("-p {package} {words}");
        }
        format!(
            "\n  {words:<24} or \"filter\": {{\"name\": {name:?}, \"kind\": \"{}\"}}",
            kind.name()
        )
    }

    /// The name in `path+file:///folder/name#1.2.3`, or in `…#name@1.2.3`.
    fn package_name(&self) -> Option<String> {
        let (address, fragment) = self.package_id.rsplit_once('#')?;
        match fragment.split_once('@') {
            Some((name, _)) => Some(name.to_owned()),
            None => Some(address.rsplit('/').next()?.to_owned()),
        }
    }
}

/// The programs that match the filter.
pub fn candidates<'a>(
    artifacts: &'a [Artifact],
    verb: Verb,
    filter: &Filter,
) -> Result<Vec<&'a Artifact>, String> {
    let programs: Vec<&Artifact> = artifacts
        .iter()
        .filter(|artifact| {
            artifact.executable.is_some() && Kind::of(&artifact.target.kind).is_some()
        })
        .filter(|artifact| match verb {
            Verb::Build => true,
            Verb::Run => !artifact.profile.test,
            Verb::Test | Verb::Bench => artifact.profile.test,
        })
        .collect();
    if programs.is_empty() {
        return Err(match verb {
            Verb::Run | Verb::Build => "it builds no program: the package has none that these arguments choose (a library's tests are debugged with \"args\": [\"test\", \"--lib\"])",
            Verb::Test => "it builds no tests",
            Verb::Bench => "it builds no benchmarks",
        }
        .to_owned());
    }
    let meant = |artifact: &&Artifact| {
        filter
            .name
            .as_ref()
            .is_none_or(|name| artifact.target.name == *name)
            && filter.kind.is_none_or(|kind| artifact.kind() == kind)
    };
    let chosen: Vec<&Artifact> = programs.iter().copied().filter(meant).collect();
    match chosen.is_empty() {
        true => Err(format!(
            "`filter` chooses none of what was built:{}",
            listed(&programs)
        )),
        false => Ok(chosen),
    }
}

/// A list of the programs, with the options that select each.
pub fn listed(artifacts: &[&Artifact]) -> String {
    let packages = artifacts
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a.package_id != b.package_id));
    let choices = artifacts.iter().map(|artifact| artifact.choice(packages));
    let mut choices: Vec<String> = choices.collect();
    choices.sort();
    choices.concat()
}
