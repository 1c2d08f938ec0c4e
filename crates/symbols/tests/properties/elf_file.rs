//! ELF files made of given sections, and the positions of a program's sections.

use std::ops::Range;

/// The addresses of a made program's code, which has no bytes.
pub const CODE: Range<u64> = 0x10_0000..0x20_0000;

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const SECTION_HEADER: usize = 64;

/// Makes an ELF program with these sections. Each is loaded at an address that equals its file offset. The code is at [`CODE`].
pub fn program(sections: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = vec![0; HEADER + 2 * PROGRAM_HEADER];
    let mut names = b"\0.text\0.shstrtab\0".to_vec();
    let mut headers = vec![0; SECTION_HEADER];
    // `.text` has addresses but no bytes.
    headers.extend(section_header(
        1,
        8,
        6,
        CODE.start,
        0,
        CODE.end - CODE.start,
    ));
    for (name, contents) in sections {
        let name_at = names.len() as u32;
        names.extend_from_slice(name.as_bytes());
        names.push(0);
        let at = file.len() as u64;
        headers.extend(section_header(name_at, 1, 2, at, at, contents.len() as u64));
        file.extend_from_slice(contents);
        file.resize(file.len().next_multiple_of(8), 0);
    }
    let at = file.len() as u64;
    headers.extend(section_header(7, 3, 0, 0, at, names.len() as u64));
    file.extend_from_slice(&names);
    file.resize(file.len().next_multiple_of(8), 0);
    let (headers_at, count) = (file.len() as u64, headers.len() / SECTION_HEADER);
    file.extend_from_slice(&headers);

    let length = file.len() as u64;
    let mut at_start = Vec::new();
    at_start.extend_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    at_start.extend([2u16.to_le_bytes(), 62u16.to_le_bytes()].concat());
    at_start.extend(1u32.to_le_bytes());
    at_start.extend(
        [CODE.start, HEADER as u64, headers_at]
            .map(u64::to_le_bytes)
            .concat(),
    );
    at_start.extend(0u32.to_le_bytes());
    let counts = [HEADER, PROGRAM_HEADER, 2, SECTION_HEADER, count, count - 1];
    at_start.extend(counts.map(|number| (number as u16).to_le_bytes()).concat());
    let segments = [
        (4u32, 0, 0, length, length),
        (5u32, 0, CODE.start, 0, CODE.end - CODE.start),
    ];
    for (flags, offset, address, in_file, in_memory) in segments {
        at_start.extend([1u32.to_le_bytes(), flags.to_le_bytes()].concat());
        let numbers = [offset, address, address, in_file, in_memory, 0x1000];
        at_start.extend(numbers.map(u64::to_le_bytes).concat());
    }
    file[..at_start.len()].copy_from_slice(&at_start);
    file
}

fn section_header(name: u32, kind: u32, flags: u64, address: u64, at: u64, size: u64) -> Vec<u8> {
    let mut header = [name.to_le_bytes(), kind.to_le_bytes()].concat();
    header.extend([flags, address, at, size].map(u64::to_le_bytes).concat());
    header.extend([0; 8]);
    header.extend([1u64, 0].map(u64::to_le_bytes).concat());
    header
}

/// A section that a debugger reads.
pub struct Place {
    pub name: String,
    /// The file offset of its header.
    pub header: usize,
    /// The file offsets of its contents.
    pub bytes: Range<usize>,
    /// Whether the section has an address, and so must keep its position.
    pub loaded: bool,
}

/// The sections that a debugger reads, and the section and program headers as if they were sections. Empty if the file is no ELF file.
pub fn places(file: &[u8]) -> Vec<Place> {
    let number = |at: usize, size: usize| {
        let bytes = file.get(at..at + size)?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        usize::try_from(bytes.iter().rev().fold(0, add)).ok()
    };
    let found = || {
        let (table, count, names) = (number(40, 8)?, number(60, 2)?, number(62, 2)?);
        let header = |index: usize| table.checked_add(index * SECTION_HEADER);
        let bytes_of = |header: usize| {
            let (start, size) = (number(header + 24, 8)?, number(header + 32, 8)?);
            let range = start..start.checked_add(size)?;
            file.get(range.clone())?;
            Some(range)
        };
        let names = file.get(bytes_of(header(names)?)?)?;
        let name_of = |header: usize| {
            let name = names
                .get(number(header, 4)?..)?
                .split(|&byte| byte == 0)
                .next()?;
            let wanted: [&[u8]; 8] = [
                b".debug_",
                b".zdebug_",
                b".eh_frame",
                b".gcc_except",
                b".symtab",
                b".strtab",
                b".dynamic",
                b".note",
            ];
            let is_read = wanted.iter().any(|start| name.starts_with(start));
            is_read.then(|| String::from_utf8_lossy(name).into_owned())
        };
        let section = |index: usize| {
            let header = header(index)?;
            let name = name_of(header)?;
            let (kind, flags) = (number(header + 4, 4)?, number(header + 8, 8)?);
            let bytes = bytes_of(header).filter(|bytes| kind != 8 && !bytes.is_empty())?;
            let loaded = flags & 2 != 0;
            Some(Place {
                name,
                header,
                bytes,
                loaded,
            })
        };
        Some((0..count).filter_map(section).collect())
    };
    found().unwrap_or_default()
}
