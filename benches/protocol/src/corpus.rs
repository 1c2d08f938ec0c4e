//! The recorded sessions.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use dapple_dap::envelope::{Envelope, Kind};

/// The messages of all sessions, by direction.
#[derive(Debug, Default)]
pub struct Corpus {
    /// To an adapter.
    pub requests: Vec<String>,
    /// From an adapter: responses and events.
    pub adapter: Vec<String>,
}

impl Corpus {
    /// Reads every `.ndjson` file of a directory.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut corpus = Self::default();
        let mut files = std::fs::read_dir(folder)
            .with_context(|| format!("no corpus in {}", folder.display()))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<Vec<_>>>()?;
        files.retain(|path| {
            path.extension()
                .is_some_and(|extension| extension == "ndjson")
        });
        files.sort();
        for path in &files {
            let text = std::fs::read_to_string(path)?;
            for (number, line) in text.lines().enumerate() {
                let envelope = Envelope::parse(line)
                    .with_context(|| format!("{}:{}", path.display(), number + 1))?;
                match envelope.kind {
                    Kind::Request { .. } => corpus.requests.push(line.to_owned()),
                    _ => corpus.adapter.push(line.to_owned()),
                }
            }
        }
        if corpus.requests.is_empty() || corpus.adapter.is_empty() {
            bail!("the corpus in {} is empty", folder.display());
        }
        Ok(corpus)
    }

    /// The total length of messages, in bytes.
    pub fn bytes(messages: &[String]) -> usize {
        messages.iter().map(String::len).sum()
    }
}
