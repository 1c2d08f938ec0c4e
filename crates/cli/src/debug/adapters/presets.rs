//! The adapters that are known by name: where they are found, and what they want to be given.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Way;
use crate::programs::{folders, is_executable, on_path};

/// A known adapter.
#[derive(Debug)]
pub struct Preset {
    /// Its name for `--adapter`.
    pub name: &'static str,
    /// Other names for it.
    aliases: &'static [&'static str],
    /// What configurations for it have as `type` in a `launch.json`.
    types: &'static [&'static str],
    /// How it names what it is to attach to, or look at.
    pub attaches: Attaches,
    /// Arguments that it wants with each launch, besides the usual ones.
    pub launch: &'static [(&'static str, &'static str)],
    /// The `mode` in which it launches a program, if it has several.
    pub mode: Option<fn(&Path) -> &'static str>,
    /// As `launch`, for attaching.
    pub attach: &'static [(&'static str, &'static str)],
    /// Whether C, C++ and Rust files are compiled for it.
    pub compiles: bool,
    find: fn() -> Result<Way, String>,
    /// What is different about its breakpoints.
    pub breakpoints: BreakpointRules,
    /// Whether it writes each error that it answers with to stderr, too.
    pub repeats_errors: bool,
    /// What may be wrong if it ends at once.
    pub hint: Option<&'static str>,
}

/// What is different about an adapter's breakpoints.
#[derive(Debug, Clone, Copy, Default)]
pub struct BreakpointRules {
    /// What hits are to it, if it takes only a number.
    pub hit_number: Option<HitNumber>,
    /// Whether it has one breakpoint a line, so that one with a condition hides another one without.
    pub has_one_a_line: bool,
    /// Whether, of a breakpoint with a condition and hits, it heeds one alone (js-debug 1.105 the condition), or stops at either (debugpy 1.8).
    pub takes_one_limit: bool,
}

impl BreakpointRules {
    /// Nothing is.
    const NONE: BreakpointRules = BreakpointRules {
        hit_number: None,
        has_one_a_line: false,
        takes_one_limit: false,
    };
}

/// What a number of hits means to an adapter that takes no comparisons (`> 4`): it passes over those without a word, or refuses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitNumber {
    /// The first hit at which the program stops.
    First,
    /// How many hits it passes.
    Passed,
}

/// The names of arguments of `attach` and `launch`.
#[derive(Debug)]
pub struct Attaches {
    /// The process id.
    pub process: &'static str,
    /// The core file. `None`: it can't look at any.
    pub core: Option<&'static str>,
    /// Where a stub of gdb's remote protocol is.
    pub stub: StubArgument,
}

/// How an adapter is told where a stub is.
#[derive(Debug, Clone, Copy)]
pub enum StubArgument {
    /// It speaks to none, or not by such arguments.
    None,
    /// By the whole address.
    Address(&'static str),
    /// By a host and a port.
    HostAndPort(&'static str, &'static str),
}

const PRESETS: &[Preset] = &[
    Preset {
        name: "lldb",
        aliases: &["lldb-dap", "lldb-vscode"],
        types: &["lldb-dap", "lldb-vscode"],
        attaches: Attaches {
            process: "pid",
            core: Some("coreFile"),
            stub: StubArgument::HostAndPort("gdb-remote-hostname", "gdb-remote-port"),
        },
        launch: &[],
        mode: None,
        attach: &[],
        compiles: true,
        find: find_lldb,
        breakpoints: BreakpointRules {
            hit_number: Some(HitNumber::First),
            ..BreakpointRules::NONE
        },
        repeats_errors: false,
        hint: None,
    },
    Preset {
        name: "gdb",
        aliases: &[],
        types: &["gdb"],
        attaches: Attaches {
            process: "pid",
            core: Some("coreFile"),
            stub: StubArgument::Address("target"),
        },
        launch: &[],
        mode: None,
        attach: &[],
        compiles: true,
        find: find_gdb,
        breakpoints: BreakpointRules {
            hit_number: Some(HitNumber::Passed),
            ..BreakpointRules::NONE
        },
        repeats_errors: false,
        hint: Some("gdb speaks the protocol from version 14 on, where it was built with Python"),
    },
    Preset {
        name: "codelldb",
        aliases: &[],
        types: &["lldb", "codelldb"],
        attaches: Attaches {
            process: "pid",
            core: None,
            stub: StubArgument::None,
        },
        launch: &[("terminal", "\"console\"")],
        mode: None,
        attach: &[],
        compiles: true,
        find: find_codelldb,
        breakpoints: BreakpointRules::NONE,
        repeats_errors: true,
        hint: None,
    },
    Preset {
        name: "debugpy",
        aliases: &["python"],
        types: &["debugpy", "python"],
        attaches: Attaches {
            process: "processId",
            core: None,
            stub: StubArgument::None,
        },
        launch: &[
            ("console", "\"internalConsole\""),
            ("showReturnValue", "true"),
        ],
        mode: None,
        attach: &[],
        compiles: false,
        find: find_debugpy,
        breakpoints: BreakpointRules {
            takes_one_limit: true,
            ..BreakpointRules::NONE
        },
        repeats_errors: false,
        hint: None,
    },
    Preset {
        name: "delve",
        aliases: &["dlv", "go"],
        types: &["go", "delve"],
        attaches: Attaches {
            process: "processId",
            core: Some("coreFilePath"),
            stub: StubArgument::None,
        },
        // Otherwise the program's output goes to the server's own.
        launch: &[("outputMode", "\"remote\"")],
        mode: Some(mode_of_delve),
        attach: &[("mode", "\"local\"")],
        compiles: false,
        find: find_delve,
        breakpoints: BreakpointRules {
            has_one_a_line: true,
            ..BreakpointRules::NONE
        },
        repeats_errors: false,
        hint: None,
    },
    Preset {
        name: "js",
        aliases: &["js-debug", "node"],
        types: &["pwa-node", "node"],
        attaches: Attaches {
            process: "processId",
            core: None,
            stub: StubArgument::None,
        },
        launch: &[("type", "\"pwa-node\""), ("console", "\"internalConsole\"")],
        mode: None,
        attach: &[("type", "\"pwa-node\"")],
        compiles: false,
        find: find_js,
        breakpoints: BreakpointRules {
            has_one_a_line: true,
            takes_one_limit: true,
            ..BreakpointRules::NONE
        },
        repeats_errors: false,
        hint: None,
    },
];

impl Preset {
    /// The one with this name.
    pub fn named(name: &str) -> Option<&'static Preset> {
        let is = |preset: &&Preset| preset.name == name || preset.aliases.contains(&name);
        PRESETS.iter().find(is)
    }

    /// The one for configurations of this `type`.
    pub fn of_type(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.types.contains(&name))
    }

    /// All names, for messages.
    pub fn names() -> String {
        let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        names.join(", ")
    }

    /// How it is started on this machine.
    ///
    /// # Errors
    /// It isn't installed; the sentence says where it was looked for.
    pub fn way(&self) -> Result<Way, String> {
        (self.find)()
    }
}

fn find_lldb() -> Result<Way, String> {
    let found = on_path("lldb-dap")
        .or_else(|| newest("lldb-dap-"))
        .or_else(|| on_path("lldb-vscode"))
        .or_else(|| newest("lldb-vscode-"));
    let found = found.ok_or(
        "lldb-dap is not installed: there is no `lldb-dap`, `lldb-dap-22` or the like in PATH; distributions have it in the package `lldb`",
    )?;
    Ok(Way::Stdio(vec![found.into()]))
}

fn find_gdb() -> Result<Way, String> {
    let found = on_path("gdb").ok_or("there is no `gdb` in PATH")?;
    Ok(Way::Stdio(vec![found.into(), "-i=dap".into()]))
}

fn find_codelldb() -> Result<Way, String> {
    let in_extension = |folder: PathBuf| folder.join("adapter/codelldb");
    let found = on_path("codelldb")
        .or_else(|| in_extensions("vadimcn.vscode-lldb-", in_extension))
        .or_else(|| {
            let file = "nvim/mason/packages/codelldb/extension/adapter/codelldb";
            in_data(file)
        });
    let found = found.ok_or(
        "CodeLLDB is not installed: there is no `codelldb` in PATH, in the extensions of VS Code or in Mason's packages of Neovim",
    )?;
    Ok(Way::Stdio(vec![found.into()]))
}

fn find_debugpy() -> Result<Way, String> {
    let environment = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let local = Some(PathBuf::from(".venv"));
    let pythons = [environment, local].into_iter().flatten();
    let pythons = pythons.map(|folder| folder.join("bin/python3"));
    let pythons: Vec<PathBuf> = { pythons.filter(|path| is_executable(path)) }
        .filter_map(|path| std::path::absolute(path).ok())
        .chain(on_path("python3"))
        .chain(on_path("python"))
        .collect();
    if pythons.is_empty() {
        return Err("there is no `python3` in PATH".to_owned());
    }
    let has_module = |python: &&PathBuf| {
        let mut command = Command::new(python);
        command.args(["-c", "import debugpy.adapter"]);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null());
        let status = status.stdin(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let found = pythons.iter().find(has_module).ok_or_else(|| {
        let tried: Vec<_> = pythons
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let (tried, first) = (tried.join(" and "), &tried[0]);
        format!("{tried}: no module `debugpy` there; `{first} -m pip install debugpy` installs it")
    })?;
    let words = [found.as_os_str(), "-m".as_ref(), "debugpy.adapter".as_ref()];
    Ok(Way::Stdio(words.map(OsString::from).to_vec()))
}

/// It builds packages and files in Go itself.
fn mode_of_delve(program: &Path) -> &'static str {
    let is_source = program.is_dir() || program.extension().is_some_and(|it| it == "go");
    if is_source { "debug" } else { "exec" }
}

fn find_delve() -> Result<Way, String> {
    let in_home = || {
        let path = PathBuf::from(std::env::var_os("HOME")?).join("go/bin/dlv");
        is_executable(&path).then_some(path)
    };
    let found = { on_path("dlv").or_else(in_home) }
        .ok_or("delve is not installed: there is no `dlv` in PATH or ~/go/bin")?;
    let words = [found.as_os_str(), "dap".as_ref(), "--listen".as_ref()];
    let words = words.into_iter().chain(["127.0.0.1:0".as_ref()]);
    Ok(Way::Server(words.map(OsString::from).collect()))
}

fn find_js() -> Result<Way, String> {
    const SERVER: &str = "js-debug/src/dapDebugServer.js";
    let port = |mut words: Vec<OsString>| {
        words.extend(["0", "127.0.0.1"].map(OsString::from));
        Way::Server(words)
    };
    if let Some(found) = on_path("js-debug-adapter").or_else(|| on_path("js-debug")) {
        return Ok(port(vec![found.into()]));
    }
    let node = on_path("node").ok_or("there is no `node` in PATH, which runs js-debug")?;
    let given = std::env::var_os("JS_DEBUG").map(PathBuf::from);
    let given = given.map(|path| match path.is_dir() {
        true => path.join("src/dapDebugServer.js"),
        false => path,
    });
    let mason = format!("nvim/mason/packages/js-debug-adapter/{SERVER}");
    let found = given
        .or_else(|| in_data(&mason))
        .or_else(|| in_data(SERVER));
    let found = found.ok_or_else(|| {
        format!(
            "js-debug is not installed: there is no `js-debug-adapter` in PATH, no {SERVER} in ~/.local/share and none in Mason's packages of \
             Neovim; unpack a release of github.com/microsoft/vscode-js-debug, and set JS_DEBUG to its folder"
        )
    })?;
    Ok(port(vec![node.into(), found.into()]))
}

/// Of the programs in `PATH` whose names are this and a number, the one with the highest number.
fn newest(start: &str) -> Option<PathBuf> {
    let all = folders()
        .into_iter()
        .filter_map(|folder| folder.read_dir().ok());
    let all = all.flatten().flatten().map(|entry| entry.path());
    let numbered = all.filter_map(|path| {
        let name = path.file_name()?.to_str()?;
        let number: u32 = name.strip_prefix(start)?.parse().ok()?;
        is_executable(&path).then_some((number, path))
    });
    let newest = numbered.max_by_key(|(number, _)| *number);
    newest.map(|(_, path)| path)
}

/// A file below `~/.local/share`.
fn in_data(file: &str) -> Option<PathBuf> {
    let folder = crate::folders::user_directory("XDG_DATA_HOME", ".local/share")?;
    Some(folder.parent()?.join(file)).filter(|path| path.is_file())
}

/// A file in the newest extension of VS Code, or an editor that is made of it, whose folder's name begins so.
fn in_extensions(start: &str, file: impl Fn(PathBuf) -> PathBuf) -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    let editors = [".vscode", ".vscode-server", ".vscode-oss", ".cursor"];
    let folders = editors.map(|editor| home.join(editor).join("extensions"));
    let all = folders.iter().filter_map(|folder| folder.read_dir().ok());
    let all = all.flatten().flatten().map(|entry| entry.path());
    let fitting = all.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(start))
    });
    let changed = |path: &PathBuf| path.metadata().and_then(|it| it.modified()).ok();
    let fitting = fitting.map(file).filter(|path| is_executable(path));
    fitting.max_by_key(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_name_and_type_is_of_one_adapter_and_all_arguments_are_json() {
        let mut names = HashSet::new();
        let mut types = HashSet::new();
        for preset in PRESETS {
            for name in preset.aliases.iter().chain([&preset.name]) {
                assert!(names.insert(*name), "{name}");
            }
            for name in preset.types {
                assert!(types.insert(*name), "{name}");
            }
            for (name, value) in preset.launch.iter().chain(preset.attach) {
                assert!(
                    serde_json::from_str::<serde_json::Value>(value).is_ok(),
                    "{name}"
                );
            }
        }
    }
}
