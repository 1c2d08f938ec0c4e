//! How a session begins: the arguments of `dapple debug` for what was asked.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::json;
use tempfile::NamedTempFile;

use super::arguments::Start;
use super::commands::word;
use super::permissions::Permissions;
use super::sessions::Plan;
use crate::debug::{Preset, quoted};

/// A session's plan, and the commands that come before the program is run.
///
/// # Errors
/// What was asked isn't complete, isn't there, or isn't allowed.
pub fn plan(
    asked: &Start,
    adapter: Option<&str>,
    permissions: &Permissions,
) -> anyhow::Result<(Plan, Vec<String>)> {
    let folder = match &asked.cwd {
        Some(cwd) => permissions.existing("the folder", cwd, permissions.first())?,
        None => permissions.first().to_owned(),
    };
    let adapter = chosen_adapter(asked, adapter)?;
    let mut plan = Plan {
        program: String::new(),
        is_own_adapter: adapter.is_none(),
        is_launched: asked.attach.is_none() && asked.core.is_none(),
        arguments: vec!["--no-init".into()],
        run: if asked.stop_in_main { "start" } else { "run" }.to_owned(),
        folder,
        input: None,
    };
    if let Some(adapter) = &adapter {
        plan.arguments.push(format!("--adapter={adapter}").into());
    }
    if asked.record {
        plan.arguments.push("--record".into());
    }
    debuggee(asked, &mut plan, permissions)?;
    give_input(asked, &mut plan)?;
    let mut commands = Vec::new();
    for (name, value) in &asked.env {
        permissions.variable(name)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) || value.chars().any(char::is_control) {
            bail!(
                "`env`: `{name}` can't be set: names have letters, digits and `_`, and values are one line"
            );
        }
        commands.push(format!("env {name}={value}"));
    }
    Ok((plan, commands))
}

/// The adapter that is used; `None`: our own.
fn chosen_adapter(asked: &Start, of_server: Option<&str>) -> anyhow::Result<Option<String>> {
    match &asked.adapter {
        None => Ok(of_server.map(str::to_owned)),
        Some(name) if name == "dapple" => Ok(None),
        Some(name) if Preset::named(name).is_some() => Ok(Some(name.clone())),
        Some(name) => bail!(
            "there is no adapter `{name}`; there are {} (`dapple mcp --adapter COMMAND` uses any other)",
            Preset::names()
        ),
    }
}

/// What is debugged.
fn debuggee(asked: &Start, plan: &mut Plan, permissions: &Permissions) -> anyhow::Result<()> {
    let forbids_calls = plan.is_own_adapter && !permissions.calls;
    let mut own = json!({});
    if forbids_calls {
        own["callThreads"] = "none".into();
    }
    let given = (&asked.program, asked.attach, &asked.core, &asked.cargo[..]);
    match given {
        (Some(program), None, None, []) => {
            let program = existing(permissions, "the program", program, &plan.folder)?;
            if forbids_calls {
                plan.arguments.push(format!("--launch={own}").into());
            }
            plan.program = program.display().to_string();
            plan.arguments.push("--".into());
            plan.arguments.push(program.into());
            plan.arguments.extend(asked.args.iter().map(OsString::from));
        }
        (None, None, None, cargo) if !cargo.is_empty() => {
            if !plan.is_own_adapter {
                bail!("`cargo` is for Dapple's adapter");
            }
            plan.program = format!("cargo {}", cargo.join(" "));
            own["cargo"] = json!({"args": cargo, "cwd": plan.folder});
            own["args"] = json!(asked.args);
            plan.arguments.push(format!("--launch={own}").into());
        }
        (None, Some(process), None, []) => {
            permissions.process(process)?;
            plan.program = format!("process {process}");
            match forbids_calls {
                true => {
                    own["pid"] = process.into();
                    own["stopOnEntry"] = true.into();
                    plan.arguments.push(format!("--attach-with={own}").into());
                }
                false => plan.arguments.push(format!("--attach={process}").into()),
            }
        }
        (program, None, Some(core), []) => {
            let core = existing(permissions, "the core file", core, &plan.folder)?;
            plan.program = core.display().to_string();
            let mut word = OsString::from("--core=");
            word.push(core);
            plan.arguments.push(word);
            if let Some(program) = program {
                let program = existing(permissions, "the program", program, &plan.folder)?;
                plan.arguments.push("--".into());
                plan.arguments.push(program.into());
            }
        }
        (None, None, None, _) => {
            bail!("what is to be debugged? `program`, `cargo`, `attach` or `core`")
        }
        _ => bail!(
            "only one of `program`, `cargo`, `attach` and `core` can be given (`core` may have a `program`)"
        ),
    }
    Ok(())
}

fn existing(
    permissions: &Permissions,
    what: &str,
    path: &str,
    folder: &Path,
) -> anyhow::Result<PathBuf> {
    permissions.existing(what, word(what, path)?, folder)
}

/// Has the program read what it is to read, from a file that only the user can read.
fn give_input(asked: &Start, plan: &mut Plan) -> anyhow::Result<()> {
    let Some(text) = &asked.stdin else {
        return Ok(());
    };
    if !plan.is_own_adapter || asked.program.is_none() {
        bail!("`stdin` is for a `program` and Dapple's adapter");
    }
    let mut file = NamedTempFile::new().context("the file for `stdin` can't be made")?;
    file.write_all(text.as_bytes())
        .context("the file for `stdin` can't be written")?;
    let mut words = vec![plan.run.clone()];
    for argument in &asked.args {
        words.push(quoted(word("an argument beside `stdin`", argument)?));
    }
    words.push(format!("< {}", quoted(&file.path().to_string_lossy())));
    plan.run = words.join(" ");
    plan.input = Some(file);
    Ok(())
}
