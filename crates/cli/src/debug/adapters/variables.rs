//! The variables of VS Code's configurations and tasks: `${workspaceFolder}` and the like.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;

/// What the variables stand for.
#[derive(Debug)]
pub struct Variables {
    folder: PathBuf,
    /// The file that is open in the editor.
    open: Option<PathBuf>,
    /// What the editor would ask the user.
    inputs: Value,
}

impl Variables {
    /// Those of a folder. `open`: what stands for the file that is open in the editor. `inputs`: as in the file in which they are.
    pub fn new(folder: &Path, open: Option<&Path>, inputs: &Value) -> Self {
        Self {
            folder: folder.to_owned(),
            open: open.and_then(|open| std::path::absolute(open).ok()),
            inputs: inputs.clone(),
        }
    }

    /// A value with all variables in it replaced.
    ///
    /// # Errors
    /// One isn't known here; the sentence names it.
    pub fn replaced(&self, value: &Value) -> anyhow::Result<Value> {
        Ok(match value {
            Value::String(text) => Value::String(self.text(text)?),
            Value::Array(items) => {
                let items = items.iter().map(|item| self.replaced(item));
                Value::Array(items.collect::<anyhow::Result<_>>()?)
            }
            Value::Object(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(name, value)| Ok((name.clone(), self.replaced(value)?)));
                Value::Object(fields.collect::<anyhow::Result<_>>()?)
            }
            other => other.clone(),
        })
    }

    fn text(&self, text: &str) -> anyhow::Result<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("${") {
            let Some((name, after)) = behind.split_once('}') else {
                break;
            };
            out.push_str(before);
            out.push_str(&self.variable(name)?);
            rest = after;
        }
        Ok(out + rest)
    }

    fn variable(&self, name: &str) -> anyhow::Result<String> {
        let path = |path: &Path| path.display().to_string();
        let (kind, of) = name.split_once(':').unwrap_or((name, ""));
        Ok(match kind {
            "workspaceFolder" | "workspaceRoot" => path(&self.folder),
            "workspaceFolderBasename" => {
                path(Path::new(self.folder.file_name().unwrap_or_default()))
            }
            "cwd" => path(&std::env::current_dir().context("the working directory is gone")?),
            "userHome" => std::env::var("HOME").context("HOME is not set")?,
            "pathSeparator" | "/" => "/".to_owned(),
            "env" => std::env::var(of).unwrap_or_default(),
            "config" => self.setting(of)?,
            "input" => self.input(of)?,
            "command" => bail!("`${{{name}}}` asks VS Code: write what it stands for in its place"),
            _ if kind.starts_with("file") || kind == "relativeFile" => self.of_file(kind)?,
            _ => bail!("`${{{name}}}` is not known here"),
        })
    }

    fn of_file(&self, name: &str) -> anyhow::Result<String> {
        let open = self.open.as_deref().with_context(|| {
            format!(
                "`${{{name}}}` is of the file that is open in the editor: give that file as PROGRAM"
            )
        })?;
        let part = |part: Option<&std::ffi::OsStr>| {
            part.unwrap_or_default().to_string_lossy().into_owned()
        };
        let relative = open.strip_prefix(&self.folder).unwrap_or(open);
        Ok(match name {
            "file" => open.display().to_string(),
            "relativeFile" => relative.display().to_string(),
            "fileBasename" => part(open.file_name()),
            "fileBasenameNoExtension" => part(open.file_stem()),
            "fileDirname" => part(open.parent().map(Path::as_os_str)),
            "fileExtname" => open
                .extension()
                .map_or(String::new(), |it| format!(".{}", it.to_string_lossy())),
            "fileWorkspaceFolder" => self.folder.display().to_string(),
            _ => bail!("`${{{name}}}` is not known here"),
        })
    }

    /// What the folder's own settings say.
    fn setting(&self, name: &str) -> anyhow::Result<String> {
        let file = self.folder.join(".vscode/settings.json");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let settings: Value =
            serde_json::from_str(&crate::jsonc::without_comments(&text)).unwrap_or_default();
        match &settings[name] {
            Value::String(text) => Ok(text.clone()),
            Value::Null => bail!("`${{config:{name}}}` is not in {}", file.display()),
            other => Ok(other.to_string()),
        }
    }

    /// What is to be answered to a question of the editor: its default.
    fn input(&self, id: &str) -> anyhow::Result<String> {
        let inputs = self.inputs.as_array();
        let mut inputs = inputs.into_iter().flatten();
        let input = inputs.find(|input| input["id"] == id);
        let default = input.and_then(|input| input["default"].as_str());
        let default = default.map(str::to_owned);
        default.with_context(|| {
            format!("`${{input:{id}}}` asks the user of VS Code, and has no default: write the answer in its place")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variables_are_replaced_wherever_they_are() {
        let inputs = json!([{"id": "port", "default": "80"}, {"id": "host"}]);
        let of = Variables::new(Path::new("/a/b"), Some(Path::new("/a/b/c/d.py")), &inputs);
        let given = json!({
            "program": "${workspaceFolder}/x-${workspaceFolderBasename}", "args": ["${file}", 1, "${", "${input:port}"],
            "env": {"A": "${relativeFile} ${fileBasenameNoExtension}${fileExtname} ${fileDirname}"}, "stop": true,
        });
        let expected = json!({
            "program": "/a/b/x-b", "args": ["/a/b/c/d.py", 1, "${", "80"], "env": {"A": "c/d.py d.py /a/b/c"}, "stop": true,
        });
        assert_eq!(of.replaced(&given).unwrap(), expected);
        let error = |text: &str| of.replaced(&json!(text)).unwrap_err().to_string();
        for (text, named) in [
            ("${input:host}", "${input:host}"),
            ("${command:pickProcess}", "asks VS Code"),
            ("${nothing}", "is not known here"),
            ("${config:a.b}", "settings.json"),
        ] {
            assert!(error(text).contains(named), "{text}: {}", error(text));
        }
        let none = Variables::new(Path::new("/a"), None, &Value::Null);
        let error = none.replaced(&json!("${file}")).unwrap_err().to_string();
        assert!(error.contains("PROGRAM"), "{error}");
    }
}
