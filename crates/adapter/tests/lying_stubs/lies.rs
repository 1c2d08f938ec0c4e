//! The lies: each takes what a stub was asked and what an honest one would answer, and says something else.

use super::recorded::Exchange;
use super::wire::framed;
use std::sync::LazyLock;

/// What a stub does in place of an answer.
#[derive(Debug, Clone)]
pub enum Act {
    Packet(Vec<u8>),
    Raw(Vec<u8>),
    /// These bytes again and again, until the connection ends.
    Flood(Vec<u8>),
    Close,
    /// Nothing more is said.
    Mute,
}

/// A kind of lie.
pub struct Kind {
    pub name: &'static str,
    /// Whether a packet can be lied at so.
    pub fits: fn(&[u8]) -> bool,
    pub lie: fn(&mut Asked) -> Vec<Act>,
    /// Whether answers are waited for in vain.
    pub is_slow: bool,
}

/// What was asked.
pub struct Asked<'a> {
    pub text: &'a [u8],
    pub honest: Vec<Vec<u8>>,
    pub random: &'a mut Random,
    pub seed: u64,
    pub exchanges: &'a [Exchange],
    /// A FIFO, to which nobody writes.
    pub fifo: &'a str,
}

/// The numbers of a seed (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit.max(1)
    }

    pub fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

impl Asked<'_> {
    /// The first answer of an honest stub.
    fn first(&self) -> Vec<u8> {
        self.honest.first().cloned().unwrap_or_default()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(self.text).into_owned()
    }

    /// One of these, always the same one.
    fn chosen<T: Clone>(&self, all: &[T]) -> T {
        all[self.seed as usize % all.len()].clone()
    }

    /// One of these texts as the answer.
    fn one_of(&mut self, texts: &[&str]) -> Vec<Act> {
        packet(self.random.one_of(texts))
    }

    /// The last two numbers of what was asked: an offset and a length.
    fn range(&self) -> (usize, usize) {
        let text = self.text();
        let mut numbers = text.rsplit([':', ',']).map(|digits| {
            let number = u64::from_str_radix(digits, 16);
            number.map_or(0, |number| number as usize)
        });
        let (last, before) = (numbers.next(), numbers.next());
        // `m` and `qXfer` have the length last, `vFile:pread` the offset.
        match text.starts_with("vFile") {
            true => (last.unwrap_or(0), before.unwrap_or(0)),
            false => (before.unwrap_or(0), last.unwrap_or(0)),
        }
    }

    /// The part of a document that was asked for.
    fn part(&self, document: &[u8]) -> Vec<Act> {
        let (offset, length) = self.range();
        let rest = document.get(offset..).unwrap_or_default();
        let part = &rest[..rest.len().min(length)];
        let kind: &[u8] = if part.len() < rest.len() { b"m" } else { b"l" };
        packet([kind, part].concat())
    }

    /// The part of a file that was asked for.
    fn read(&self, content: &[u8]) -> Vec<Act> {
        let (offset, length) = self.range();
        let rest = content.get(offset..).unwrap_or_default();
        let part = &rest[..rest.len().min(length)];
        packet([format!("F{:x};", part.len()).as_bytes(), part].concat())
    }
}

fn packet(body: impl AsRef<[u8]>) -> Vec<Act> {
    vec![Act::Packet(body.as_ref().to_vec())]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

// What fits.

fn any(_: &[u8]) -> bool {
    true
}

fn registers(asked: &[u8]) -> bool {
    asked == b"g"
}

fn memory(asked: &[u8]) -> bool {
    asked.starts_with(b"m")
}

pub fn resumption(asked: &[u8]) -> bool {
    asked.starts_with(b"vCont;")
}

fn stop(asked: &[u8]) -> bool {
    resumption(asked) || asked == b"?"
}

fn features(asked: &[u8]) -> bool {
    asked.starts_with(b"qSupported")
}

fn description(asked: &[u8]) -> bool {
    asked.starts_with(b"qXfer:features")
}

fn threads(asked: &[u8]) -> bool {
    asked.starts_with(b"qXfer:threads")
}

fn thread_ids(asked: &[u8]) -> bool {
    features(asked) || threads(asked) || asked.ends_with(b"ThreadInfo")
}

fn map(asked: &[u8]) -> bool {
    features(asked) || asked.starts_with(b"qXfer:memory-map")
}

fn auxiliary(asked: &[u8]) -> bool {
    asked.starts_with(b"qXfer:auxv")
}

fn program(asked: &[u8]) -> bool {
    asked.starts_with(b"qXfer:exec-file")
}

fn object(asked: &[u8]) -> bool {
    asked.starts_with(b"qXfer:")
}

fn file(asked: &[u8]) -> bool {
    asked.starts_with(b"vFile:")
}

fn read(asked: &[u8]) -> bool {
    asked.starts_with(b"vFile:pread")
}

fn piecewise(asked: &[u8]) -> bool {
    memory(asked) || object(asked) || read(asked)
}

/// All kinds but for silence, which takes as long as answers are waited for.
pub const KINDS: [Kind; 40] = [
    kind("a part of the answer", any, |asked| {
        let honest = asked.first();
        packet(&honest[..asked.random.below(honest.len())])
    }),
    kind("more than the answer", any, |asked| {
        let count = asked.random.one_of(&[1, 7, 400]);
        let more = asked.random.bytes(count);
        packet([asked.first(), more].concat())
    }),
    kind("the answer many times in one", any, |asked| {
        packet(asked.first().repeat(asked.random.one_of(&[2, 3, 500])))
    }),
    kind("a wrong checksum", any, |asked| {
        let mut bytes = framed(&asked.first());
        if let Some(last) = bytes.last_mut() {
            *last = if *last == b'0' { b'1' } else { b'0' };
        }
        vec![Act::Raw(bytes)]
    }),
    slow("nothing but refusals", any, |_| {
        vec![Act::Raw(b"-".repeat(50))]
    }),
    kind("repetitions without end", any, |asked| {
        let count = asked.random.one_of(&[20_000, 200_000]);
        vec![Act::Raw(
            [&b"$0"[..], &b"*~".repeat(count), b"#00"].concat(),
        )]
    }),
    kind("a packet without end", any, |_| {
        vec![Act::Raw(b"$".to_vec()), Act::Flood(vec![b'4'; 10_000])]
    }),
    slow("output without end", any, |asked| {
        let text = "41".repeat(asked.random.one_of(&[0, 1, 2000]));
        vec![Act::Flood(framed(format!("O{text}").as_bytes()).repeat(10))]
    }),
    slow("noise without end", any, |asked| {
        let noise: &[u8] = asked
            .random
            .one_of(&[b"+", b"\n", b"%Stop:T05#2d", b"$x#00"]);
        vec![Act::Flood(noise.repeat(500))]
    }),
    kind("stops without end", stop, |asked| {
        vec![Act::Flood(framed(&asked.first()).repeat(10))]
    }),
    kind(
        "more to come without end",
        |it| object(it) || thread_ids(it),
        |asked| match features(asked.text) {
            true => packet("PacketSize=4000;qXfer:features:read+"),
            false => asked.one_of(&["m1,2,3", "m", "mxxxxxxxxxxxxxxxxx", "m<threads>", "m1"]),
        },
    ),
    kind("a byte at a time", piecewise, |asked| {
        let honest = asked.first();
        let (_, last) = honest.split_at(honest.len().saturating_sub(1));
        packet(match asked.text[0] {
            b'm' => honest[..honest.len().min(2)].to_vec(),
            b'q' => [b"m", honest.get(1..2).unwrap_or(b"x")].concat(),
            _ => [b"F1;", last].concat(),
        })
    }),
    kind("a wrong number of registers", registers, |asked| {
        let honest = asked.first();
        let length = honest.len();
        let count = asked
            .random
            .one_of(&[0, 2, 16, length / 2, length - 1, length + 1, 100_000]);
        packet(honest.into_iter().cycle().take(count).collect::<Vec<_>>())
    }),
    kind("other registers", registers, |asked| {
        let length = asked.first().len() / 2;
        let random = hex(&asked.random.bytes(length));
        let values = [
            "ff",
            "00",
            "xx",
            "7f",
            "80",
            "ffffffffffffff7f",
            "0100000000000080",
        ];
        let value = asked.random.one_of(&values);
        let same = value.repeat(length * 2 / value.len() + 1)[..length * 2].to_owned();
        packet(asked.random.one_of(&[random, same]))
    }),
    kind("a wrong number of bytes", memory, |asked| {
        let honest = asked.first();
        let length = honest.len();
        let wrong = [1, 2, length / 2 + 1, length + 2, length * 2, 1 << 20];
        let count = asked.random.one_of(&wrong);
        packet(honest.into_iter().cycle().take(count).collect::<Vec<_>>())
    }),
    kind("other memory", memory, |asked| {
        let (address, length) = asked.range();
        let random = asked.random.bytes(length);
        // A list whose elements follow themselves.
        let own = (address as u64).to_le_bytes().repeat(length / 8 + 1);
        let all = [
            random,
            own,
            vec![0xff; length],
            vec![0; length],
            vec![b'/'; length],
        ];
        packet(hex(&asked.random.one_of(&all)))
    }),
    kind("memory without zeros", memory, |asked| {
        let (_, length) = asked.range();
        let text = String::from_utf8_lossy(&asked.first()).into_owned();
        let text = text.replace("00", "41");
        packet(if text.starts_with('E') {
            "2f".repeat(length)
        } else {
            text
        })
    }),
    kind("no hexadecimal digits", any, |asked| {
        let mut body = asked.first();
        let at = asked.random.below(body.len());
        body[at..]
            .iter_mut()
            .step_by(3)
            .for_each(|byte| *byte = b'z');
        packet(body)
    }),
    kind("a stop of a thread that isn't there", stop, |asked| {
        let threads = [
            "p0.0",
            "p-1.-1",
            "0",
            "-1",
            "p1.1",
            "7fffffff",
            "80000000",
            "pffffffffffffffff.ffffffffffffffff",
            "p7fffffff.7fffffff",
            "",
        ];
        let thread = asked.random.one_of(&threads);
        let why = asked
            .random
            .one_of(&["", "swbreak:;", "watch:0;", "create:;"]);
        packet(format!("T05{why}thread:{thread};"))
    }),
    kind("a stop by another signal", stop, |asked| {
        let first = String::from_utf8_lossy(&asked.first()).into_owned();
        let signal = asked
            .random
            .one_of(&["00", "ff", "90", "0b", "7f", "02", "13", "zz"]);
        let rest = first.get(3..).unwrap_or_default();
        packet(format!("T{signal}{rest}"))
    }),
    kind("a stop for another reason", stop, |asked| {
        let first = String::from_utf8_lossy(&asked.first()).into_owned();
        let reasons = [
            "watch:ffffffffffffffff;",
            "rwatch:0;",
            "awatch:7ffff;",
            "swbreak:;",
            "fork:p5.5;",
            "vfork:p5.5;",
            "vforkdone:;",
            "exec:2f78;",
            "exec:;",
            "create:;",
            "library:;",
            "replaylog:begin;",
            "syscall_entry:ffffffff;",
            "hwbreak:;",
            "10:ff;fffffffffffffffff:00;",
            "core:-1;",
        ];
        let threads: String = { first.split(';') }
            .filter(|pair| pair.contains("thread:"))
            .map(|pair| format!("thread:{};", pair.rsplit(':').next().unwrap_or_default()))
            .collect();
        packet(format!("T05{}{threads}", asked.random.one_of(&reasons)))
    }),
    kind("somebody's end", stop, |asked| {
        asked.one_of(&[
            "W00",
            "W00;process:ffff",
            "Wffffffffffffffff",
            "W",
            "X0b",
            "Xff",
            "X09;process:1",
            "w0;p1.1",
            "w0;0",
            "w",
            "N",
            "W00;process:ffffffffffffffff",
        ])
    }),
    slow("a stop that isn't told", resumption, |_| Vec::new()),
    kind("the answer twice", any, |asked| {
        let twice = [asked.honest.clone(), asked.honest.clone()].concat();
        twice.into_iter().map(Act::Packet).collect()
    }),
    kind("an answer to something else", any, |asked| {
        let other = asked.random.below(asked.exchanges.len());
        let answers = asked.exchanges[other].answers.clone();
        answers.into_iter().map(Act::Packet).collect()
    }),
    kind("an error", any, |asked| {
        asked.one_of(&[
            "E01", "Eff", "E.no", "E.", "E", "E01;6e6f", "Ezz", "F-1", "F-1,9",
        ])
    }),
    kind("no knowledge of the packet", any, |_| packet("")),
    kind("all is well", any, |_| packet("OK")),
    kind("random bytes", any, |asked| {
        let count = asked.random.one_of(&[1, 5, 3000]);
        packet(asked.random.bytes(count))
    }),
    kind("files that aren't so", file, |asked| {
        asked.one_of(&[
            "F-1",
            "F0",
            "F",
            "F1",
            "F10;ab",
            "Fffffffffffffffff;",
            "F-1,2",
            "F7fffffff",
            "F0;",
            "Fz;",
            "F40;short",
            "F1;ab",
        ])
    }),
    kind("files without end", file, |asked| {
        let text = asked.text();
        let (_, length) = asked.range();
        let content = b"7f0000000000-7f0000001000 rwxp 00000000 00:00 0 /lib/a\n".repeat(3000);
        match () {
            _ if text.contains("open") => packet("F5"),
            _ if text.contains("fstat") => packet([&b"F40;"[..], &[0x7f; 64]].concat()),
            _ if text.contains("pread") => {
                let count = length.min(content.len());
                packet([format!("F{count:x};").as_bytes(), &content[..count]].concat())
            }
            _ => packet("F0"),
        }
    }),
    kind("a memory map of the process", read, |asked| {
        let maps: [&[u8]; 4] = [
            b"0-ffffffffffffffff rwxp 0 0:0 0 /x\n0-ffffffffffffffff rwxp 0 0:0 0 /x\n",
            b"ffffffffffffffff-0 r-xp ffffffffffffffff 0:0 0 [vdso]\n",
            b"zz-yy\n-\n \n",
            b"1000-2000 r-xp 0 0:0 1 /dev/zero\n2000-3000 r-xp 0 0:0 1 /dev/stdin\n",
        ];
        let map = asked.chosen(&maps);
        asked.read(map)
    }),
    kind("a description of registers", description, |asked| {
        let document = asked.chosen(&described());
        asked.part(document.as_bytes())
    }),
    kind("threads in a document", threads, |asked| {
        let many = |id: fn(usize) -> String, count: usize| -> String {
            (1..count)
                .map(|number| format!("<thread id=\"{}\"/>", id(number)))
                .collect()
        };
        let lists = [
            many(|number| format!("p1.{number:x}"), 3000),
            many(|_| "p1.1".to_owned(), 1000),
            many(|number| format!("p{number:x}.{number:x}"), 500),
            "<thread id=\"0\"/><thread id=\"-1\"/><thread id=\"p-1.-1\"/>".to_owned(),
            "<thread id=\"pffffffffffffffff.ffffffffffffffff\" core=\"1\"/>".to_owned(),
            format!("<thread id=\"1\" name=\"{}\"/>", "n".repeat(1 << 20)),
            String::new(),
            "<thread>".repeat(1000),
        ];
        let list = asked.chosen(&lists);
        asked.part(format!("<threads>{list}</threads>").as_bytes())
    }),
    kind("two thousand threads", thread_ids, |asked| {
        if features(asked.text) {
            return packet("PacketSize=4000;qXfer:features:read+;multiprocess+");
        }
        static LISTED: LazyLock<String> = LazyLock::new(|| {
            let ids = (1..2_000).map(|id| format!("<thread id=\"{id:x}\"/>"));
            format!("<threads>{}</threads>", ids.collect::<String>())
        });
        match threads(asked.text) {
            true => asked.part(LISTED.as_bytes()),
            false if asked.text.starts_with(b"qs") => packet("l"),
            false => {
                let ids: Vec<_> = (1..2_000).map(|id| format!("{id:x}")).collect();
                packet(format!("m{}", ids.join(",")))
            }
        }
    }),
    kind("a map of memory", map, |asked| {
        if features(asked.text) {
            let honest = asked.first();
            return packet([&honest[..], b";qXfer:memory-map:read+"].concat());
        }
        let whole = "<memory type=\"ram\" start=\"0\" length=\"0xffffffffffffffff\"/>";
        let end =
            "<memory type=\"ram\" start=\"0xffffffffffffffff\" length=\"0xffffffffffffffff\"/>";
        let none = "<memory type=\"io\" start=\"0\" length=\"0\"/>";
        let regions = asked.chosen(&[whole, end, none, "", "<memory/>"]);
        asked.part(format!("<memory-map>{}</memory-map>", regions.repeat(50)).as_bytes())
    }),
    kind("an auxiliary vector", auxiliary, |asked| {
        let random = asked.random.bytes(4000);
        let word = |value: u64| value.to_le_bytes();
        let mut words = Vec::new();
        for (key, value) in [
            (3, u64::MAX),
            (4, u64::MAX),
            (5, u64::MAX),
            (7, 1),
            (9, 0),
            (33, u64::MAX - 8),
        ] {
            words.extend([word(key), word(value)].concat());
        }
        let all = [random, words, vec![0xff; 999], vec![3; 60_000], Vec::new()];
        let vector = asked.chosen(&all);
        asked.part(&vector)
    }),
    kind(
        "a program's path",
        |it| program(it) || file(it),
        |asked| {
            match asked.text() {
                text if text.starts_with("vFile:fstat") => {
                    return packet([&b"F40;"[..], &[0; 64]].concat());
                }
                text if text.starts_with("vFile:open") => return packet("F5"),
                text if text.starts_with("vFile") => return packet("F0;"),
                _ => {}
            }
            let long = "/x".repeat(30_000);
            let up = "/..".repeat(500) + "/dev/zero";
            let fifo = asked.fifo.to_owned();
            let paths = [
                &*long,
                &up,
                &fifo,
                "/dev/zero",
                "/dev/full",
                "/dev/tty",
                "/proc/self/mem",
                "/proc/kmsg",
                "/",
                ".",
                "relative",
                "/etc/passwd",
                "\0",
                "/proc/self/fd/0",
            ];
            let path = asked.chosen(&paths);
            asked.part(path.as_bytes())
        },
    ),
    kind("features", features, |asked| {
        let honest = String::from_utf8_lossy(&asked.first()).into_owned();
        let size =
            |size: &str| honest.replacen("PacketSize=", &format!("PacketSize={size};was="), 1);
        let texts = [
            size("1"),
            size("0"),
            size("40"),
            size("ffffffffffffffffffff"),
            honest.clone() + ";binary-upload+",
            honest.clone() + ";native-signals+",
            honest.replace("QStartNoAckMode+", "QStartNoAckMode-"),
            honest.replace("multiprocess+", "multiprocess-"),
            honest.replace("swbreak+", "swbreak-"),
            "a+;".repeat(100_000),
        ];
        packet(asked.random.one_of(&texts))
    }),
    kind("an answer in pieces of frames", any, |asked| {
        let bytes = framed(&asked.first());
        let (front, back) = bytes.split_at(bytes.len() / 2);
        vec![
            Act::Raw(front.to_vec()),
            Act::Raw(b"$".to_vec()),
            Act::Raw(back.to_vec()),
        ]
    }),
];

const fn kind(
    name: &'static str,
    fits: fn(&[u8]) -> bool,
    lie: fn(&mut Asked) -> Vec<Act>,
) -> Kind {
    Kind {
        name,
        fits,
        lie,
        is_slow: false,
    }
}

/// A kind of lie by which no answer comes.
const fn slow(
    name: &'static str,
    fits: fn(&[u8]) -> bool,
    lie: fn(&mut Asked) -> Vec<Act>,
) -> Kind {
    Kind {
        is_slow: true,
        ..kind(name, fits, lie)
    }
}

/// Target descriptions that are none.
fn described() -> Vec<String> {
    let names = [
        "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12",
        "r13", "r14", "r15", "rip", "eflags", "cs", "ss", "ds", "es", "fs", "gs", "fs_base",
        "gs_base", "orig_rax",
    ];
    let described = |attributes: &str| -> String {
        let registers = names.map(|name| format!("<reg name=\"{name}\" {attributes}/>"));
        format!(
            "<target><architecture>i386:x86-64</architecture><feature name=\"a\">{}</feature></target>",
            registers.concat()
        )
    };
    let include = |file: &str| format!("<target><xi:include href=\"{file}\"/></target>");
    vec![
        described("bitsize=\"64\" offset=\"4294967287\""),
        described("bitsize=\"65536\""),
        described("bitsize=\"1\""),
        described("bitsize=\"0\""),
        described("bitsize=\"64\" regnum=\"1\""),
        described("bitsize=\"64\" offset=\"0\""),
        described("bitsize=\"64\""),
        described(
            "bitsize=\"64\" type=\"a\"><vector id=\"a\" type=\"a\" count=\"4000000000\"/><reg name=\"y\" bitsize=\"8\"",
        ),
        include("target.xml"),
        include("other.xml"),
        include("../../../../etc/passwd"),
        include("64bit-core.xml").repeat(3),
        "<target>".repeat(10_000),
        "<!DOCTYPE a [<!ENTITY b \"bbbb\">]><target>&b;</target>".to_owned(),
        "<target><architecture>arm</architecture></target>".to_owned(),
        "<target/>".to_owned(),
    ]
}
