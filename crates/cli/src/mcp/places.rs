//! Places in sources, by the text of a line: a number is right only until the file is edited.

use std::path::Path;

use anyhow::{Context, bail};

/// The largest source that is searched.
const LARGEST: u64 = 16 << 20;
/// The most lines that an error lists.
const LISTED: usize = 8;

/// The number of the line in a file that has a text, from 1. Spaces don't count. A line that is the text comes before those that have it in them.
/// `near`: of several such lines, the nearest to this one is meant.
///
/// # Errors
/// The file can't be read, no line has the text, or several have.
pub fn line_with(file: &Path, text: &str, near: Option<u32>) -> anyhow::Result<u32> {
    let name = file.display();
    let size = std::fs::metadata(file)
        .with_context(|| format!("the source {name} can't be read"))?
        .len();
    if size > LARGEST {
        bail!("the source {name} is too large to be searched");
    }
    let bytes = std::fs::read(file).with_context(|| format!("the source {name} can't be read"))?;
    line_in(&String::from_utf8_lossy(&bytes), text, near).with_context(|| format!("in {name}"))
}

fn line_in(source: &str, text: &str, near: Option<u32>) -> anyhow::Result<u32> {
    let wanted = plain(text);
    if wanted.is_empty() {
        bail!("the text of the line is empty");
    }
    let lines: Vec<(u32, &str)> = (1..).zip(source.lines().map(str::trim)).collect();
    let equal = |(_, line): &&(u32, &str)| plain(line) == wanted;
    let having = |(_, line): &&(u32, &str)| plain(line).contains(&wanted);
    let mut found: Vec<_> = lines.iter().filter(equal).collect();
    if found.is_empty() {
        found = lines.iter().filter(having).collect();
    }
    match (&found[..], near) {
        ([], _) => {
            let nearest =
                lines
                    .iter()
                    .filter(|(_, line)| !line.is_empty())
                    .max_by(|(_, a), (_, b)| {
                        let alike =
                            |line: &str| strsim::normalized_levenshtein(&plain(line), &wanted);
                        alike(a).total_cmp(&alike(b))
                    });
            match nearest {
                Some((number, line)) => {
                    bail!("no line has “{text}”; the most similar is line {number}: {line}")
                }
                None => bail!("no line has “{text}”: the file is empty"),
            }
        }
        ([(number, _)], _) => Ok(*number),
        (several, Some(near)) => {
            let nearest = several.iter().min_by_key(|(it, _)| it.abs_diff(near));
            Ok(nearest.map_or(near, |(number, _)| *number))
        }
        (several, None) => {
            let listed: Vec<String> = several
                .iter()
                .take(LISTED)
                .map(|(number, line)| format!("{number}: {line}"))
                .collect();
            bail!(
                "{} lines have “{text}”; give more of the line, or `line` beside it for the nearest:\n{}",
                several.len(),
                listed.join("\n")
            )
        }
    }
}

/// A line without its spaces.
fn plain(line: &str) -> String {
    line.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "int f(int n) {\n    total += n;\n    return total;\n}\n\nint g(int n) {\n    total  +=  n;\n    return 2 * total;\n}\n";

    fn error(text: &str) -> String {
        line_in(SOURCE, text, None).unwrap_err().to_string()
    }

    #[test]
    fn a_line_is_found_by_what_it_says() {
        assert_eq!(line_in(SOURCE, "2 * total", None).unwrap(), 8);
        assert_eq!(line_in(SOURCE, "return total;", None).unwrap(), 3);
        assert_eq!(line_in(SOURCE, "total+=n;", Some(9)).unwrap(), 7);
        assert_eq!(line_in(SOURCE, "total += n", Some(1)).unwrap(), 2);
    }

    #[test]
    fn what_is_not_clear_is_told() {
        assert_eq!(
            error("total += n;"),
            "2 lines have “total += n;”; give more of the line, or `line` beside it for the nearest:\n2: total += n;\n7: total  +=  n;"
        );
        assert_eq!(
            error("return totals;"),
            "no line has “return totals;”; the most similar is line 3: return total;"
        );
        assert_eq!(error("  "), "the text of the line is empty");
    }
}
