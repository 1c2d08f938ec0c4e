//! Reads cargo's configuration for the programs that cargo runs: environment variables (`[env]`), `runner` and `build.target` (The Cargo Book,
//! "Configuration").
//!
//! Sources are `.cargo/config.toml` in cargo's working directory and its parents, cargo's home, files that these `include`, and the command
//! line (`--config`). For each key the command line wins, else the nearest file. Errors are ignored here, because cargo itself reports them.

use crate::argument_values::words::text_of;
use cargo_metadata::cargo_platform::{Cfg, CfgExpr};
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item, TableLike};

/// The deepest nesting of included files.
const DEEPEST: usize = 16;
/// Once there are this many sources, no more files are read, because files may include each other. Cargo refuses that, but an old cargo
/// doesn't know `include`.
const MOST: usize = 256;
/// The longest `cfg(…)` condition that is evaluated, in bytes; longer ones are false. The evaluation recurses as deep as a condition nests.
const LONGEST_CONDITION: usize = 1024;

/// All sources, the strongest first.
#[derive(Debug, Default)]
pub struct Configuration {
    layers: Vec<Layer>,
}

/// A file or a `--config` argument.
#[derive(Debug)]
struct Layer {
    /// The name for users.
    name: String,
    /// The folder that `relative` values start from.
    root: PathBuf,
    content: Document<String>,
}

/// A variable of `[env]`.
#[derive(Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: OsString,
    /// The value.
    pub value: OsString,
    /// Whether it replaces a variable that is set already.
    pub force: bool,
}

impl Configuration {
    /// Reads the configuration for a folder, with cargo's home directory and the values of `--config`.
    pub fn read(folder: &Path, home: Option<PathBuf>, given: &[&str]) -> Configuration {
        let mut layers = Vec::new();
        for argument in given.iter().rev() {
            let file = folder.join(argument);
            match !argument.is_empty() && file.exists() {
                true => add_file(&mut layers, &file, 0),
                false => layers.extend(Layer::read(
                    "--config".to_owned(),
                    folder.to_owned(),
                    (*argument).to_owned(),
                )),
            }
        }
        let mut seen = HashSet::new();
        let above = folder.ancestors().map(|folder| folder.join(".cargo"));
        for place in above.chain(home) {
            // The old name `config` wins if both exist.
            let files = ["config", "config.toml"].map(|name| place.join(name));
            let file = files.into_iter().find(|file| file.is_file());
            if seen.insert(place)
                && let Some(file) = file
            {
                add_file(&mut layers, &file, 0);
            }
        }
        Configuration { layers }
    }

    /// The variables for programs that cargo runs.
    pub fn variables(&self) -> Vec<Variable> {
        let tables = self.layers.iter().filter_map(|layer| layer.table("env"));
        let names: BTreeSet<&str> = tables
            .flat_map(|table| table.iter().map(|(name, _)| name))
            .collect();
        let variables = names.into_iter().filter_map(|name| self.variable(name));
        variables.collect()
    }

    /// A variable of `[env]`, whose value is a text, or a table with `value`, `force` and `relative`.
    fn variable(&self, name: &str) -> Option<Variable> {
        let said: Vec<(&Layer, &Item)> = self
            .layers
            .iter()
            .filter_map(|layer| Some((layer, layer.table("env")?.get(name)?)))
            .collect();
        let field = |field: &str| {
            let tables = said.iter().filter_map(|(_, item)| item.as_table_like());
            tables.filter_map(|table| table.get(field)).next()
        };
        let is_set = |name: &str| field(name).and_then(Item::as_bool) == Some(true);
        let (nearest, first) = said.first()?;
        let value = first.as_str().or_else(|| field("value")?.as_str())?;
        let value = match is_set("relative") {
            true => nearest.root.join(value).into(),
            false => value.into(),
        };
        Some(Variable {
            name: name.into(),
            value,
            force: is_set("force"),
        })
    }

    /// The runner for a target: its key, and the name of the source that has it. `known` has the lines of `rustc --print cfg`.
    pub fn runner(&self, target: &str, known: &[String]) -> Option<(String, &str)> {
        let has_runner = |item: &Item| {
            let table = item.as_table_like();
            table.is_some_and(|table| table.contains_key("runner"))
        };
        let targets = self.layers.iter().filter_map(|layer| {
            let runners = layer.table("target")?.iter();
            Some((layer, runners.filter(|(_, item)| has_runner(item))))
        });
        let runners: Vec<(&Layer, &str)> = targets
            .flat_map(|(layer, runners)| runners.map(move |(name, _)| (layer, name)))
            .collect();
        let is_this = |name: &str| name == target;
        let known: Vec<Cfg> = known.iter().filter_map(|line| line.parse().ok()).collect();
        let holds =
            |name: &str| name.len() <= LONGEST_CONDITION && CfgExpr::matches_key(name, &known);
        let found = runners.iter().find(|(_, name)| is_this(name));
        let (layer, name) = found.or_else(|| runners.iter().find(|(_, name)| holds(name)))?;
        let key = match is_this(name) {
            true => format!("target.{name}.runner"),
            false => format!("target.'{name}'.runner"),
        };
        Some((key, &layer.name))
    }

    /// The configured target (`build.target`).
    pub fn target(&self) -> Option<String> {
        let builds = self.layers.iter().filter_map(|layer| layer.table("build"));
        let target = builds.filter_map(|build| build.get("target")).next()?;
        target.as_str().map(str::to_owned)
    }
}

impl Layer {
    fn read(name: String, root: PathBuf, text: String) -> Option<Layer> {
        let content = Document::parse(text).ok()?;
        Some(Layer {
            name,
            root,
            content,
        })
    }

    fn table(&self, name: &str) -> Option<&dyn TableLike> {
        self.content.get(name)?.as_table_like()
    }
}

/// Adds a file, and behind it, as weaker sources, the files that it includes. The last of these comes first, because it wins.
fn add_file(layers: &mut Vec<Layer>, file: &Path, depth: usize) {
    if layers.len() >= MOST {
        return;
    }
    let root = file.parent().and_then(Path::parent);
    let (Ok(text), Some(root)) = (text_of(file), root) else {
        return;
    };
    let Some(layer) = Layer::read(file.display().to_string(), root.to_owned(), text) else {
        return;
    };
    let included = layer.content.get("include").map(included);
    layers.push(layer);
    if depth < DEEPEST {
        for path in included.into_iter().flatten().rev() {
            add_file(layers, &file.with_file_name(path), depth + 1);
        }
    }
}

/// The paths of `include`, which is a path, or a list of paths and of tables with a `path`.
fn included(item: &Item) -> Vec<String> {
    let path = |table: &dyn TableLike| Some(table.get("path")?.as_str()?.to_owned());
    if let Some(one) = item.as_str() {
        return vec![one.to_owned()];
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().filter_map(|table| path(table)).collect();
    }
    let values = item.as_array().into_iter().flatten();
    let paths = values.filter_map(|value| match value.as_str() {
        Some(text) => Some(text.to_owned()),
        None => path(value.as_inline_table()?),
    });
    paths.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(given: &[&str]) -> Configuration {
        Configuration::read(Path::new("/nowhere/at/all"), None, given)
    }

    #[test]
    fn later_arguments_win_and_others_do_nothing() {
        let read = configuration(&[
            "env.A = 'one'",
            "env.A.value = 'two'",
            "env.A.force = true",
            "no TOML",
            "",
        ]);
        let expected = Variable {
            name: "A".into(),
            value: "two".into(),
            force: true,
        };
        assert_eq!(read.variables(), [expected]);
    }

    #[test]
    fn files_that_include_themselves_come_to_an_end() {
        let name = format!("dapple-configuration-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let own = folder.join(".cargo");
        std::fs::create_dir_all(&own).expect("a folder");
        let text = "include = ['config.toml', 'config.toml', 'config.toml']\n[env]\nA = 'a'\n";
        std::fs::write(own.join("config.toml"), text).expect("a file");
        let read = Configuration::read(&folder, None, &[]);
        std::fs::remove_dir_all(&folder).expect("it is there");
        assert!(
            (2..=MOST + 3).contains(&read.layers.len()),
            "{}",
            read.layers.len()
        );
        assert_eq!(read.variables().len(), 1);
    }

    #[test]
    fn a_runner_is_told_by_its_target_or_by_what_the_target_is() {
        let known = ["unix".to_owned(), "target_os=\"linux\"".to_owned()];
        let of = |argument: &str, target: &str| {
            let read = configuration(&[argument]);
            read.runner(target, &known)
                .map(|(key, place)| format!("{key} in {place}"))
        };
        let plain = "target.x86_64-unknown-linux-gnu.runner = 'time'";
        assert_eq!(
            of(plain, "x86_64-unknown-linux-gnu").as_deref(),
            Some("target.x86_64-unknown-linux-gnu.runner in --config")
        );
        assert_eq!(of(plain, "x86_64-unknown-linux-musl"), None);
        let conditional = "target.'cfg(all(unix, target_os = \"linux\"))'.runner = ['time', '-v']";
        assert_eq!(
            of(conditional, "any").as_deref(),
            Some("target.'cfg(all(unix, target_os = \"linux\"))'.runner in --config")
        );
        assert_eq!(of("target.'cfg(windows)'.runner = 'wine'", "any"), None);
        assert_eq!(of("target.any.linker = 'ld'", "any"), None);
        let odd = "target.'cfg(unix windows)'.runner = 'time'";
        assert_eq!(of(odd, "any"), None);
        let nested = |depth: usize| {
            let (open, close) = ("not(".repeat(depth), ")".repeat(depth));
            format!("target.'cfg({open}unix{close})'.runner = 'time'")
        };
        assert!(of(&nested(2), "any").is_some());
        assert_eq!(of(&nested(100_000), "any"), None);
    }
}
