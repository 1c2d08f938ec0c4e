//! Files that are damaged, cut or made up, and those of recorders that were killed.

use super::chunks::ChunkWriter;
use super::*;
use crate::launch::{LaunchOptions, Sink};
use crate::linux::recording::run;
use std::fs::OpenOptions;
use std::io::Seek;

/// A new file without a name.
fn file() -> File {
    let folder = std::env::temp_dir();
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true);
    let file = options.custom_flags(libc::O_TMPFILE).open(folder);
    file.expect("a file without a name")
}

fn bytes_of(mut file: &File) -> Vec<u8> {
    file.rewind().expect("its beginning");
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).expect("its contents");
    bytes
}

/// The file of a program's recording.
fn recorded(program: &str) -> Vec<u8> {
    let file = file();
    let options = LaunchOptions {
        program: program.into(),
        stdout: Sink::Null,
        ..LaunchOptions::default()
    };
    let ours = file.try_clone().expect("a second descriptor");
    let recorded = run::run(&options, ours).expect("it runs");
    assert_eq!(recorded.gap, None);
    assert_eq!(recorded.status, ExitStatus::Code(0));
    bytes_of(&file)
}

/// All that the chunks of a file have.
fn contents_of(bytes: &[u8]) -> Vec<u8> {
    let mut reader = ChunkReader::new(bytes).expect("a header");
    let mut contents = Vec::new();
    while reader.read(1, &mut contents).expect("a chunk") {}
    contents
}

/// A file with these contents, whose checksums are right.
fn wrapped(contents: &[u8], is_finished: bool) -> Vec<u8> {
    let file = file();
    let ours = file.try_clone().expect("a second descriptor");
    let mut writer = ChunkWriter::new(ours).expect("a header");
    for chunk in contents.chunks(chunks::CHUNK) {
        writer.write(chunk).expect("a chunk");
    }
    if is_finished {
        writer.finish().expect("a header");
    }
    bytes_of(&file)
}

#[test]
fn a_file_in_which_any_byte_was_changed_is_refused_with_a_reason() {
    let bytes = recorded("/bin/true");
    let whole = Recording::read(bytes.as_slice()).expect("a recording");
    assert!(whole.events() > 10, "{}", whole.events());
    assert_eq!(whole.end(), "the program exited with 0");
    // All bytes of the beginning, and some of each part behind it.
    for index in (0..256).chain((256..bytes.len()).step_by(31)) {
        for change in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[index] ^= change;
            let read = Recording::read(damaged.as_slice());
            let damage = read
                .err()
                .unwrap_or_else(|| panic!("byte {index}, {change:#x}"));
            let is_first = index < 8;
            assert_eq!(
                matches!(damage, Damage::NoRecording),
                is_first,
                "byte {index}: {damage}"
            );
        }
    }
}

#[test]
fn a_file_that_was_cut_or_has_become_longer_is_refused() {
    let bytes = recorded("/bin/true");
    for length in (0..256).chain((256..bytes.len()).step_by(17)) {
        let read = Recording::read(&bytes[..length]);
        assert!(read.is_err(), "the first {length} of {} bytes", bytes.len());
    }
    for more in [1, 12, 100] {
        let mut longer = bytes.clone();
        longer.resize(bytes.len() + more, 0);
        assert!(Recording::read(longer.as_slice()).is_err(), "{more} more");
    }
    let twice = [bytes.clone(), bytes].concat();
    assert!(Recording::read(twice.as_slice()).is_err());
}

#[test]
fn what_was_written_before_the_recorder_was_killed_is_read() {
    let contents = contents_of(&recorded("/bin/true"));
    let whole = Recording::read(wrapped(&contents, true).as_slice());
    let whole = whole.expect("a recording").events();
    let mut most = 0;
    // The last one lacks a byte of the last event.
    let lengths = (0..contents.len()).step_by(61);
    for length in lengths.chain([contents.len() - 1]) {
        let bytes = wrapped(&contents[..length], false);
        match Recording::read(bytes.as_slice()) {
            Ok(recording) => {
                assert!(recording.events() >= most, "{length}");
                most = recording.events();
            }
            Err(damage) => assert_eq!(most, 0, "{length}: {damage}"),
        }
        // A chunk that was written in part.
        let cut = Recording::read(&bytes[..bytes.len() - 1]);
        assert!(cut.is_err(), "{length}: there is only one chunk");
    }
    assert!(most + 2 >= whole, "{most} of {whole}");
}

#[test]
fn contents_that_make_no_sense_are_refused_or_mean_something_else() {
    let contents = contents_of(&recorded("/bin/true"));
    let mut refused = 0;
    for index in (0..contents.len()).step_by(37) {
        for value in [0, 0x7f, 0xff] {
            let mut changed = contents.clone();
            changed[index] = value;
            refused += usize::from(Recording::read(wrapped(&changed, true).as_slice()).is_err());
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_call_that_would_change_more_than_the_copy_is_refused() {
    let made = |number: i64| {
        let made = super::super::journal::Made {
            number: number.cast_unsigned(),
            registers: 0,
            answer: 0,
            written: Vec::new(),
            again: Again::All,
            thread: None,
        };
        check(ThreadId(1), &Entry::Call(Box::new(made)))
    };
    assert_eq!(made(libc::SYS_munmap), Ok(()));
    for number in [
        libc::SYS_execve,
        libc::SYS_unlink,
        libc::SYS_kill,
        libc::SYS_clone,
        libc::SYS_openat,
    ] {
        assert!(made(number).is_err(), "{number}");
    }
}
