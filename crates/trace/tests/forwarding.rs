//! Bytes that are passed on and looked at.

use dapple_dap::lifecycle::Side;
use dapple_trace::Item;
use dapple_trace::backlog::Backlog;
use dapple_trace::forward::{Observer, forward};

/// A stream with two messages and what is none between them.
const STREAM: &[u8] = b"Content-Length: 2\r\nX-Own: yes\r\n\r\n{}Hello\r\nContent-Length: x\r\n\r\n{}\
    content-length:3\r\n\r\n\xff\xff\xffContent-Length: 7\r\n\r\n{\"a\":1}Content-Length: 5\r\n\r\n{";

/// Reads at most so many bytes at once.
struct Pieces<'a>(&'a [u8], usize);

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let limit = self.1.min(buffer.len());
        std::io::Read::read(&mut self.0, &mut buffer[..limit])
    }
}

#[test]
fn bytes_are_passed_on_as_they_are_and_read_the_same_in_all_pieces() {
    for size in 1..STREAM.len() + 1 {
        let backlog = Backlog::new(1 << 20);
        let mut output = Vec::new();
        let mut input = Pieces(STREAM, size);
        forward(Side::Client, &mut input, &mut output, &backlog, |_| {}).expect("memory");
        assert_eq!(output, STREAM);
        backlog.close();
        let mut observer = Observer::new();
        let mut found = Vec::new();
        let mut take = |item: Item| {
            found.push(match item {
                Item::Message(entry) => entry.text,
                Item::Malformed { reason, .. } => format!("! {reason}"),
                _ => "?".to_owned(),
            });
        };
        while let Some(chunk) = backlog.next() {
            observer.chunk(&chunk, &mut take);
        }
        observer.end(&mut take);
        let texts: Vec<_> = found.iter().filter(|text| !text.starts_with('!')).collect();
        assert_eq!(texts, ["{}", "{\"a\":1}"], "pieces of {size}: {found:#?}");
        let last = found.last().expect("the end is reported");
        assert_eq!(last, "! the stream ends within a message");
        assert_eq!(found.len(), 6, "pieces of {size}: {found:#?}");
    }
}

/// An output whose reader answers at once: what it answers is in the backlog behind what it got.
struct Answers(Backlog);

impl std::io::Write for Answers {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.push(Side::Client, b"answer");
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_causes_something_is_recorded_before_it() {
    let backlog = Backlog::new(1 << 20);
    let mut output = Answers(backlog.clone());
    forward(
        Side::Adapter,
        &mut &b"event"[..],
        &mut output,
        &backlog,
        |_| {},
    )
    .expect("memory");
    backlog.close();
    let order: Vec<_> = std::iter::from_fn(|| backlog.next())
        .map(|chunk| chunk.from)
        .collect();
    assert_eq!(order, [Side::Adapter, Side::Client]);
}
