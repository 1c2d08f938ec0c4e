//! Words of a source text, where the debug information's columns aren't those of statements.

use std::collections::HashSet;
use std::path::Path;

/// The longest source file that is looked at, in bytes.
const LONGEST_SOURCE: u64 = 1 << 24;

/// Leaves out places in the middle of a word where the line has another one. For the code that drops what an `await` has awaited, rustc
/// gives the column of the word's last letter.
pub fn without_ends_of_words(places: Vec<(u32, u32)>, file: &Path) -> Vec<(u32, u32)> {
    let is_several = places.windows(2).any(|pair| pair[0].0 == pair[1].0);
    let is_short = || std::fs::metadata(file).is_ok_and(|file| file.len() <= LONGEST_SOURCE);
    if !is_several || !is_short() {
        return places;
    }
    let text = std::fs::read(file).unwrap_or_default();
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let is_within = |(line, column): (u32, u32)| {
        let line = lines.get((line as usize).wrapping_sub(1));
        let is_letter = |at: usize| {
            let byte = line.and_then(|line| line.get(at)).copied();
            byte.is_some_and(|byte| {
                byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
            })
        };
        let at = column as usize;
        at >= 2 && is_letter(at - 1) && is_letter(at - 2)
    };
    let begins: HashSet<u32> = { places.iter() }
        .filter(|place| !is_within(**place))
        .map(|(line, _)| *line)
        .collect();
    let mut places = places;
    places.retain(|place| !is_within(*place) || !begins.contains(&place.0));
    places
}
