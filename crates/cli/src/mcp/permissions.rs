//! What the server may touch: it starts and reads only what is in the folders that it was given.
//!
//! The limit keeps a model that was misled by a text from starting other programs. Whoever can write into these folders can have anything run.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};

/// What the user has allowed.
#[derive(Debug)]
pub struct Permissions {
    /// The folders, without symbolic links.
    folders: Vec<PathBuf>,
    /// Programs, processes, core files and sources may be anywhere.
    pub outside: bool,
    /// Expressions may call functions of the program.
    pub calls: bool,
}

impl Permissions {
    /// # Errors
    /// A folder isn't there.
    pub fn new(folders: &[PathBuf], outside: bool, calls: bool) -> anyhow::Result<Permissions> {
        let real = |folder: &PathBuf| {
            let real = folder.canonicalize();
            real.with_context(|| format!("the folder {} can't be used", folder.display()))
        };
        let folders = folders.iter().map(real).collect::<Result<Vec<_>, _>>()?;
        Ok(Permissions {
            folders,
            outside,
            calls,
        })
    }

    /// The folder in which programs run that aren't told another.
    pub fn first(&self) -> &Path {
        self.folders.first().map_or(Path::new("/"), |it| it)
    }

    /// A file or folder that is there and may be used, as an absolute path. `what`: what it is, for the error.
    ///
    /// # Errors
    /// It isn't there, or is in none of the folders.
    pub fn existing(&self, what: &str, path: &str, relative_to: &Path) -> anyhow::Result<PathBuf> {
        let path = relative_to.join(path);
        let real = path
            .canonicalize()
            .with_context(|| format!("{what} {} can't be found", path.display()))?;
        self.require(what, &real)?;
        Ok(path)
    }

    /// The same for the program of a process.
    ///
    /// # Errors
    /// There is no such process, or its program is in none of the folders.
    pub fn process(&self, id: u32) -> anyhow::Result<()> {
        let program = std::fs::read_link(format!("/proc/{id}/exe"));
        let program =
            program.with_context(|| format!("the program of process {id} isn't known"))?;
        self.require(&format!("the program of process {id},"), &program)
    }

    fn require(&self, what: &str, real: &Path) -> anyhow::Result<()> {
        if self.outside || self.folders.iter().any(|folder| real.starts_with(folder)) {
            return Ok(());
        }
        let folders: Vec<String> = self
            .folders
            .iter()
            .map(|it| it.display().to_string())
            .collect();
        bail!(
            "{what} {} is outside of what this server may use: {} (`dapple mcp --folder DIR` adds a folder, `--allow-outside` allows all)",
            real.display(),
            folders.join(", ")
        )
    }

    /// The file in a text such as `src/main.rs:12`, if it names one outside of the folders, which would be read.
    ///
    /// # Errors
    /// It does.
    pub fn source(&self, text: &str, relative_to: &Path) -> anyhow::Result<()> {
        let file = text.rsplit_once(':').map_or(text, |(file, _)| file);
        let path = Path::new(file.trim());
        let leaves = path.is_absolute() || path.components().any(|it| it == Component::ParentDir);
        let Ok(real) = relative_to.join(path).canonicalize() else {
            return Ok(());
        };
        match leaves || !real.starts_with(relative_to) {
            true => self.require("the source", &real),
            false => Ok(()),
        }
    }

    /// Variables of the environment that have other code loaded.
    ///
    /// # Errors
    /// This is one.
    pub fn variable(&self, name: &str) -> anyhow::Result<()> {
        if name.starts_with("LD_") && !self.outside {
            bail!(
                "`{name}` has the program load other code; `dapple mcp --allow-outside` allows that"
            );
        }
        Ok(())
    }

    /// Whether an adapter may evaluate an expression. Ours is told to call nothing. Of others it isn't known, so only names, members and elements
    /// are passed on.
    ///
    /// # Errors
    /// It might call something.
    pub fn expression(&self, text: &str, is_own_adapter: bool) -> anyhow::Result<()> {
        if self.calls || is_own_adapter || is_path(text) {
            return Ok(());
        }
        bail!(
            "`{text}` may call functions, which this server does with other adapters only if it was started as `dapple mcp --allow-calls`; names, \
             members (`a.b`) and elements (`a[0]`) can be evaluated"
        )
    }
}

/// Whether an expression only follows names, members and elements.
fn is_path(text: &str) -> bool {
    let text = text.trim_start_matches(['*', '&', ' ']).trim_end();
    let mut rest = text;
    let mut is_first = true;
    while !rest.is_empty() {
        let next = match (is_first, rest) {
            (false, it) if it.starts_with('[') => after_element(it),
            (false, it) => it
                .strip_prefix('.')
                .or_else(|| it.strip_prefix("->"))
                .or_else(|| it.strip_prefix("::"))
                .and_then(after_name),
            (true, it) => after_name(it),
        };
        let Some(next) = next else { return false };
        rest = next;
        is_first = false;
    }
    !is_first
}

fn after_name(text: &str) -> Option<&str> {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    (end > 0).then(|| &text[end..])
}

/// Behind `[12]` or `["key"]`.
fn after_element(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('[')?;
    if let Some(quoted) = inner.strip_prefix(['"', '\'']) {
        let end = quoted.find(['"', '\'', '\\', '[', '{'])?;
        return quoted[end + 1..].strip_prefix(']');
    }
    let rest = after_name(inner)?;
    rest.strip_prefix(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_members_and_elements_are_paths() {
        for text in [
            "a",
            "a.b->c",
            "*a.b",
            "a[0].b",
            "a[i]",
            r#"a["key"].x"#,
            "m::x",
        ] {
            assert!(is_path(text), "{text}");
        }
        for text in [
            "",
            "*",
            "f()",
            "a.f()",
            "a + b",
            "a[f()]",
            "a.",
            "[0]",
            "`x",
            "a b",
            r#"a["x"+f()]"#,
            "a[b[0]]",
            "x = 1",
            "exec -x",
        ] {
            assert!(!is_path(text), "{text}");
        }
    }
}
