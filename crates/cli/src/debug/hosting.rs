//! What another process needs to debug as the options say: the command line of `dapple debug --json`, and the commands of `--ex` and `--script`.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, bail};
use clap::ValueEnum;

use super::session::Origin;
use super::{Options, commands};

impl Options {
    /// What is debugged, for people.
    pub fn debuggee(&self) -> String {
        let first = self
            .program
            .first()
            .map(|word| word.to_string_lossy().into_owned());
        let path = |path: &Path| path.display().to_string();
        let given = || {
            { self.attach.clone() }
                .or(self.launch.clone())
                .or(self.target.clone())
        };
        let core = || self.core.as_deref().map(path);
        let replayed = || self.replay.as_deref().map(path);
        let given = first.or_else(given).or_else(core).or_else(replayed);
        given.unwrap_or_else(|| "session".to_owned())
    }

    /// The arguments for `dapple debug --json`, and the commands to begin with.
    ///
    /// # Errors
    /// Some options are only for a debugger that people or scripts use directly.
    pub fn for_host(self) -> anyhow::Result<(Vec<OsString>, Vec<String>)> {
        // All of them are named, so that none is forgotten.
        let Options {
            commands,
            script,
            batch,
            keep_going,
            timeout,
            json: _,
            json_text: _,
            tui: _,
            pty,
            json_schema,
            command_table,
            no_init,
            color: _,
            adapter,
            connect,
            on,
            far_binary,
            launch,
            attach_with,
            log,
            debuginfod,
            follow_forks,
            record,
            source_map,
            natvis,
            attach,
            wait,
            core,
            target,
            sysroot,
            cargo,
            replay,
            program,
        } = self;
        if batch || keep_going || json_schema || command_table || timeout.is_some() {
            bail!(
                "--batch, --keep-going, --timeout and --json-schema are for `dapple debug` alone"
            );
        }
        if replay.is_some() {
            bail!("only `dapple replay` replays a recording");
        }
        let mut given = Given::default();
        given.flag("--no-init", no_init);
        given.flag("--pty", pty);
        given.option("--adapter", adapter);
        given.option("--connect", connect.map(|address| address.to_string()));
        given.option("--on", on.map(|place| place.to_string()));
        given.option("--far-binary", far_binary);
        given.option("--launch", launch);
        given.option("--attach-with", attach_with);
        given.option("--log", log);
        given.flag("--debuginfod", debuginfod);
        given.value("--follow-forks", follow_forks);
        given.flag("--record", record);
        for folders in source_map {
            let pair = format!("{}={}", folders.from, folders.to);
            given.option("--source-map", Some(pair));
        }
        for file in natvis {
            given.option("--natvis", Some(file));
        }
        given.option("--attach", attach);
        given.option("--target", target);
        given.flag("--wait", wait);
        given.option("--core", core);
        given.option("--sysroot", sysroot);
        given.flag("--cargo", cargo);
        given.words(program);
        let mut lines = commands;
        if let Some(file) = &script {
            let of_file = commands::lines_of(file, Origin::Script).context("--script")?;
            lines.extend(of_file.into_iter().map(|it| it.line));
        }
        Ok((given.0, lines))
    }
}

/// A command line.
#[derive(Default)]
struct Given(Vec<OsString>);

impl Given {
    fn flag(&mut self, name: &str, is_given: bool) {
        self.0.extend(is_given.then(|| name.into()));
    }

    /// What is behind the options.
    fn words(&mut self, words: Vec<OsString>) {
        self.0.push("--".into());
        self.0.extend(words);
    }

    fn value(&mut self, name: &str, value: impl ValueEnum) {
        let word = value.to_possible_value();
        self.option(name, word.map(|word| word.get_name().to_owned()));
    }

    fn option(&mut self, name: &str, value: Option<impl Into<OsString>>) {
        if let Some(value) = value {
            let mut word = OsString::from(format!("{name}="));
            word.push(value.into());
            self.0.push(word);
        }
    }
}
