//! The page `docs/other-adapters.md`, made of the list of differences.

use std::fmt::Write;

use super::differences::{DIFFERENCES, Difference};
use super::peers::{Adapter, PEERS};
use super::script::STEPS;

const HEAD: &str = "\
<!-- Written by `cargo xtask codegen` from xtask/src/terminals/differences.rs, which `cargo xtask e2e terminals` compares with the adapters. -->
# Other adapters in the terminal

[`dapple debug`](terminal.md#other-adapters) drives other debug adapters with the same commands. This page says what is different with each of them, because the adapter does it in its own way or doesn't have it.
";

/// The page.
pub fn generated() -> String {
    let mut page = HEAD.to_owned();
    let all: Vec<String> = { STEPS.iter() }
        .map(|step| format!("`{}`", step.id.replace('|', "\\|")))
        .collect();
    // Writing to a string can't fail.
    let _ = write!(
        page,
        "\nIt is made by a script of {} commands, typed with each adapter at a program that is the same in each language: {}.\n\
         What isn't in the table of an adapter that was compared shows with it what it shows with Dapple's: the same stops, lines, frames and values.\n",
        STEPS.len(),
        all.join(", "),
    );
    page += "\n| adapter | version | debugs here | different |\n| --- | --- | --- | --- |\n";
    for adapter in Adapter::OTHERS {
        let languages = { PEERS.iter() }
            .filter(|peer| peer.adapter == adapter)
            .map(|peer| peer.language.name());
        let count = match of(adapter).count() {
            0 => "not compared yet".to_owned(),
            1 => "1 command".to_owned(),
            count => format!("{count} commands"),
        };
        let _ = writeln!(
            page,
            "| [{}](#{}), `--adapter {}` | {} | {} | {count} |",
            adapter.name(),
            adapter.name().to_lowercase(),
            adapter.option(),
            adapter.version(),
            languages.collect::<Vec<_>>().join(", "),
        );
    }
    for adapter in Adapter::OTHERS {
        let _ = write!(page, "\n## {}\n", adapter.name());
        if of(adapter).next().is_none() {
            page += "\nNot compared yet.\n";
            continue;
        }
        page += "\n| command | |\n| --- | --- |\n";
        for difference in of(adapter) {
            let language = match difference.language {
                Some(language) => format!(" ({})", language.name()),
                None => String::new(),
            };
            let _ = writeln!(
                page,
                "| `{}`{language} | {} |",
                difference.step.replace('|', "\\|"),
                difference.what.replace('|', "\\|"),
            );
        }
    }
    page
}

fn of(adapter: Adapter) -> impl Iterator<Item = &'static Difference> {
    let is_of = move |it: &&Difference| it.adapter == adapter && !it.what.is_empty();
    DIFFERENCES.iter().filter(is_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_difference_is_of_a_step_and_an_adapter_that_are_there() {
        for difference in DIFFERENCES {
            let named = |name: &str| STEPS.iter().any(|step| step.id == name);
            assert!(named(difference.step), "{difference:?}");
            let is_of = |language| difference.language.is_none_or(|of| of == language);
            let peers = { PEERS.iter() }
                .filter(|peer| peer.adapter == difference.adapter && is_of(peer.language));
            assert!(peers.count() > 0, "{difference:?}");
            assert!(
                Adapter::OTHERS.contains(&difference.adapter),
                "{difference:?}"
            );
        }
    }
}
