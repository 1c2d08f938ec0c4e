//! Parses the output of `llvm-dwarfdump --debug-line`.

use super::entries::{Entries, hex};
use super::llvm::normalise;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A row of a line table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub address: u64,
    /// The next row's address, or the end of the sequence.
    pub end: u64,
    pub file: PathBuf,
    pub line: u32,
    pub column: u32,
    pub is_stmt: bool,
    pub prologue_end: bool,
}

/// Rows up to an `end_sequence`, by address.
#[derive(Debug)]
pub struct Sequence {
    pub range: Range<u64>,
    pub rows: Vec<Row>,
}

/// The file names in a line table's header.
#[derive(Default)]
struct Header {
    version: u32,
    folders: HashMap<usize, String>,
    /// File names, with the index of their folder.
    files: HashMap<usize, (String, usize)>,
}

/// The sequences of all line tables that units refer to, each once.
pub fn parse(text: &str, entries: &Entries) -> Vec<Sequence> {
    let folders: HashMap<u64, String> = entries
        .units()
        .filter_map(|unit| Some((unit.own_number("stmt_list")?, unit.own_text("comp_dir")?)))
        .collect();
    let mut sequences = Vec::new();
    let tables = text.split("\ndebug_line[").skip(1);
    for table in tables {
        let (offset, table) = table.split_once(']').expect("an offset");
        let Some(folder) = folders.get(&hex(offset)) else {
            continue;
        };
        parse_table(table, Path::new(folder), &mut sequences);
    }
    sequences.sort_by_key(|sequence| (sequence.range.start, sequence.range.end));
    sequences
}

fn parse_table(table: &str, folder: &Path, sequences: &mut Vec<Sequence>) {
    let mut header = Header::default();
    let mut paths: HashMap<usize, PathBuf> = HashMap::new();
    let mut file = 0;
    let mut rows: Vec<Row> = Vec::new();
    for line in table.lines() {
        let text = line.trim();
        let numbered = |text: &str| {
            let (number, rest) = text.split_once(']')?;
            Some((number.trim().parse::<usize>().ok()?, rest.to_owned()))
        };
        let value = |name: &str| text.strip_prefix(name).map(str::trim);
        if let Some(version) = value("version:") {
            header.version = version.parse().unwrap();
        } else if let Some((number, rest)) = value("include_directories[").and_then(numbered) {
            let name = rest.trim_start_matches([' ', '=']).trim_matches('"');
            header.folders.insert(number, name.to_owned());
        } else if let Some((number, _)) = value("file_names[").and_then(numbered) {
            file = number;
            header.files.insert(number, Default::default());
        } else if let Some(name) = value("name:") {
            header.files.get_mut(&file).unwrap().0 = name.trim_matches('"').to_owned();
        } else if let Some(index) = value("dir_index:") {
            header.files.get_mut(&file).unwrap().1 = index.parse().unwrap();
        } else if text.starts_with("0x") {
            let fields: Vec<&str> = text.split_whitespace().collect();
            let has = |flag: &str| fields.contains(&flag);
            let number = |index: usize| fields[index].parse::<u32>().unwrap();
            let address = hex(fields[0]);
            if has("end_sequence") {
                close(std::mem::take(&mut rows), address, sequences);
                continue;
            }
            let file = number(3) as usize;
            let path = paths
                .entry(file)
                .or_insert_with(|| header.path(folder, file));
            rows.push(Row {
                address,
                end: address,
                file: path.clone(),
                line: number(1),
                column: number(2),
                is_stmt: has("is_stmt"),
                prologue_end: has("prologue_end"),
            });
        }
    }
}

fn close(mut rows: Vec<Row>, end: u64, sequences: &mut Vec<Sequence>) {
    rows.sort_by_key(|row| row.address);
    let Some(start) = rows.first().map(|row| row.address) else {
        return;
    };
    let ends: Vec<u64> = rows.iter().skip(1).map(|row| row.address).collect();
    for (row, end) in rows.iter_mut().zip(ends.into_iter().chain([end])) {
        row.end = end;
    }
    sequences.push(Sequence {
        range: start..end,
        rows,
    });
}

impl Header {
    /// In DWARF 5 (§6.2.4), folder 0 is the compilation's own. DWARF 4 leaves it out of the list.
    fn path(&self, folder: &Path, file: usize) -> PathBuf {
        let (name, index) = self.files.get(&file).expect("a file of the header");
        let within = self.folders.get(index).map_or("", String::as_str);
        normalise(&folder.join(within).join(name))
    }
}

/// The row for an address by the rule of [`dapple_symbols::Module::row_at`], found by a linear search: the last row at the greatest address
/// that isn't above it, or, if that is no statement, the last statement of the same file at that address.
pub fn row_at(sequences: &[Sequence], address: u64) -> Option<Row> {
    let sequence = sequences
        .iter()
        .find(|sequence| sequence.range.contains(&address))?;
    let (last, same) = rows_for(sequence, address)?;
    let statement = same
        .iter()
        .rev()
        .take_while(|row| row.line != 0)
        .find(|row| row.is_stmt && row.file == last.file);
    let chosen = statement.filter(|_| !last.is_stmt).unwrap_or(last);
    let mut row = chosen.clone();
    row.end = last.end;
    Some(row)
}

/// The last row for an address, and the rows in front of it at the row's own address.
fn rows_for(sequence: &Sequence, address: u64) -> Option<(&Row, &[Row])> {
    let after = sequence.rows.partition_point(|row| row.address <= address);
    let last = sequence.rows.get(after.checked_sub(1)?)?;
    let first = sequence
        .rows
        .partition_point(|row| row.address < last.address);
    Some((last, &sequence.rows[first..after - 1]))
}
