//! Random conditions and hit conditions over the variables of the fixtures `compared.*`.

/// A condition and a hit condition, at least one of them.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub condition: Option<String>,
    pub hits: Option<String>,
}

/// What is in scope at the places of a fixture.
pub struct Scope {
    pub fixture: &'static str,
    /// The log message. It begins with the thread's number.
    pub message: &'static str,
    is_rust: bool,
    integers: &'static [&'static str],
    floats: &'static [&'static str],
    truths: &'static [&'static str],
    /// What needs something to be true, with that. It has no value otherwise.
    guarded: &'static [(&'static str, &'static str)],
}

impl Scope {
    pub fn c() -> Scope {
        Scope {
            fixture: "compared.c",
            message: "{who} {i} {n} {sc} {l} {total} {p->inner} {first.name}",
            is_rust: false,
            integers: &[
                "sc",
                "uc",
                "c",
                "sh",
                "us",
                "n",
                "u",
                "l",
                "ul",
                "i",
                "who",
                "b",
                "total",
                "state",
                "r",
                "color",
                "own_turn",
                "own_small",
                "limit",
                "first.depth",
                "first.weight",
                "first.bytes[3]",
                "first.bytes[r % 8]",
                "first.color",
                "first.flags.one",
                "first.flags.three",
                "first.flags.five",
                "first.flags.wide",
                "first.flags.four",
                "second.weight",
                "outer.own.weight",
                "p->own.color",
                "p->own.weight",
                "shared_table[5]",
                "shared_table[u % 16]",
                "shared_table[i & 15]",
                "sizeof(first)",
                "(b ? n : u)",
                "(p->inner ? p->inner->weight : 7)",
                "(at ? *at : l)",
                "(sizeof(*p) + uc)",
                "sizeof(struct inner)",
                "((struct inner *)(void *)p->inner == &first)",
                "(enum color)r",
                "LAST",
            ],
            floats: &[
                "f",
                "d",
                "half",
                "first.ratio",
                "p->share",
                "outer.share",
                "(b ? f : d)",
                "(n < 0 ? half : sc)",
            ],
            truths: &[
                "$thread == me",
                "$thread - me > 0",
                "b",
                "at",
                "!at",
                "p->inner",
                "p->inner == &first",
                "(b ? p->inner : first.next)",
                "(p->inner == &first ? b : !at)",
                "&p->own.color != &first.color",
                "first.next != 0",
                "first.name == name",
                "color == GREEN",
                "color != BLUE",
                "first.color == LAST",
                "*name",
                "name[0] == 'a'",
                "name[1] > c",
                "!strcmp(name, \"berta\")",
                "strcmp(name, \"anna\") == 0",
                "c == 'q'",
                "strlen(name) > 4",
                "first.flags.one",
                "strncmp(name, \"caesar\", 6) == 0",
            ],
            guarded: &[
                ("*at > 2000000000", "at"),
                ("p->inner->weight > 0", "p->inner"),
                ("p->inner->weight % 3 == 1", "p->inner"),
                ("p->inner->bytes[2] > uc", "p->inner"),
                ("p->inner->flags.five < 0", "p->inner"),
                ("p->inner->flags.wide > limit / 4", "p->inner"),
                ("p->inner->color == GREEN", "p->inner"),
                ("p->inner->ratio > d", "p->inner != 0"),
                ("p->inner->next->depth > sh", "p->inner && p->inner->next"),
                ("p->inner->next->weight & 1", "p->inner && p->inner->next"),
                ("!strcmp(p->inner->name, \"anna\")", "p->inner"),
                ("first.next->depth > 0", "first.next"),
            ],
        }
    }

    pub fn cpp() -> Scope {
        Scope {
            fixture: "compared.cpp",
            message: "{who} {i} {n} {sc} {l} {total} {at} {node.name}",
            is_rust: false,
            integers: &[
                "sc",
                "uc",
                "sh",
                "us",
                "n",
                "u",
                "l",
                "ul",
                "i",
                "who",
                "b",
                "total",
                "state",
                "r",
                "this->total",
                "this->who",
                "plain",
                "own_turn",
                "shapes::own_turn",
                "node.weight",
                "node.depth",
                "node.ready",
                "node.plain",
                "node.low",
                "node.high",
                "node.grid[1][0]",
                "node.grid[u % 3][1]",
                "second.weight",
                "ref.depth",
                "ref.weight",
                "Node::made",
                "shapes::Node::made",
                "node.name.size()",
                "node.parts.size()",
                "wide",
                "sizeof(Node)",
                "(b ? n : u)",
                "(at ? at->weight : sh)",
                "(kept ? kept->depth : 9)",
                "sizeof(node)",
                "sizeof(node.grid)",
                "(at == &node)",
            ],
            floats: &["f", "d", "shapes::scale", "node.share", "scale"],
            truths: &[
                "$thread == me",
                "me != $thread",
                "b",
                "at",
                "!at",
                "node.next",
                "node.next == &second",
                "node.ready",
                "kind == Kind::Round",
                "kind != shapes::Kind::Square",
                "node.kind == Kind::None",
                "plain == High",
                "plain < Mid",
                "node.plain == shapes::Low",
                "node.name == \"anna\"",
                "node.name != \"berta\"",
                "node.name.empty()",
                "node.parts.empty()",
                "node.name == \"a name that is too long for the object itself\"",
                "kept",
                "!kept",
            ],
            guarded: &[
                ("at->weight > 0", "at"),
                ("at->high < 4", "at"),
                ("at->share > f", "at != nullptr"),
                ("at->kind == Kind::Round", "at"),
                ("at->next->depth > sh", "at && at->next"),
                ("at->next->weight < l", "at && at->next"),
                ("node.next->depth > 0", "node.next"),
                ("node.parts[0] > n", "!node.parts.empty()"),
                ("node.parts[1] % 2 == 0", "node.parts.size() > 1"),
                ("kept->weight > 0", "kept"),
                ("at->name == \"anna\"", "at"),
            ],
        }
    }

    pub fn rust() -> Scope {
        Scope {
            fixture: "compared.rs",
            message: "{who} {i} {n} {sc} {l} {total} {name} {choice}",
            is_rust: true,
            integers: &[
                "sc",
                "uc",
                "sh",
                "us",
                "n",
                "u",
                "l",
                "ul",
                "i",
                "who",
                "b",
                "total",
                "state",
                "r",
                "c",
                "outer.inner.weight",
                "outer.inner.depth",
                "outer.inner.bytes[3]",
                "outer.pair.0",
                "outer.pair.1",
                "TABLE[5]",
                "TABLE[(u % 16) as usize]",
                "LIMIT",
                "outer.parts.len()",
                "name.len()",
                "outer.owned.len()",
                "outer.inner.color",
            ],
            floats: &["f", "d", "outer.inner.ratio", "outer.share"],
            truths: &[
                "$thread == me",
                "me < $thread",
                "b",
                "!b",
                "name == \"anna\"",
                "name != \"\"",
                "outer.owned == \"berta\"",
                "name.is_empty()",
                "outer.inner.name == \"caesar the third\"",
                "choice.is_some()",
                "choice.is_none()",
                "outer.next.is_some()",
                "outer.result.is_ok()",
                "outer.result.is_err()",
                "outer.inner.shape.is_some()",
                "outer.parts.is_empty()",
                "c == 'q'",
                "c > 'm'",
                "outer.inner.color == Color::Green",
                "color == Color::Blue",
                "color != Color::Red",
                "NAMES[1] == name",
                "choice == None",
                "choice == Some(25)",
                "choice != Some(n)",
                "outer.inner.shape == Some(u)",
                "outer.result == Ok(5)",
                "Err(3) == outer.result",
                "outer.result != Err(uc)",
                "outer.pair == (uc, l)",
                "outer.pair != (7, l)",
                "outer.form == Form::Empty",
                "outer.form == Form::Round(5)",
                "outer.form != Form::Round(n)",
                "outer.form == Form::Named { name: \"anna\", sides: uc }",
                "outer.near == Some(\"anna\")",
                "outer.near == None",
                "outer.near.is_some()",
            ],
            guarded: &[
                ("outer.parts[0] > n", "outer.parts.len() > 0"),
                ("outer.parts[1] > 0", "outer.parts.len() > 1"),
                (
                    "outer.parts[(u % 4) as usize] > 5",
                    "(u as usize % 4) < outer.parts.len()",
                ),
                ("l / (n as i64) > 1000", "n != 0"),
                ("u % (uc as u32) == 1", "uc != 0"),
                ("choice.0 > 40", "choice.is_some()"),
                ("choice.0 % 3 == 1", "choice != None"),
                ("outer.inner.shape.0 > u", "outer.inner.shape.is_some()"),
            ],
        }
    }
}

/// The numbers of a seed (xorshift64*).
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

/// Makes conditions.
pub struct Conditions<'a> {
    pub numbers: Numbers,
    pub scope: &'a Scope,
    /// Whether some may have no value at some hits.
    pub may_fail: bool,
}

impl Conditions<'_> {
    /// What is wanted of a breakpoint.
    pub fn wanted(&mut self) -> Wanted {
        let hits = (self.numbers.below(3) == 0).then(|| {
            let number = 1 + self.numbers.below(150);
            match self.numbers.below(6) {
                0 => format!("{number}"),
                1 => format!("== {number}"),
                2 => format!(">= {number}"),
                3 => format!("> {number}"),
                4 => format!("< {number}"),
                _ => format!("% {}", 1 + number / 4),
            }
        });
        let is_counted_only = hits.is_some() && self.numbers.below(4) == 0;
        let depth = self.numbers.below(4);
        Wanted {
            condition: (!is_counted_only).then(|| self.truth(depth)),
            hits,
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        if depth > 0 {
            let (left, right) = (depth - 1, self.numbers.below(depth));
            match self.numbers.below(7) {
                0 | 1 => return format!("({} && {})", self.truth(left), self.truth(right)),
                2 | 3 => return format!("({} || {})", self.truth(left), self.truth(right)),
                4 => return format!("!({})", self.truth(left)),
                _ => {}
            }
        }
        match self.numbers.below(10) {
            0 | 1 => self.numbers.one_of(self.scope.truths).to_owned(),
            2 | 3 => {
                let (text, guard) = self.numbers.one_of(self.scope.guarded);
                match self.may_fail && self.numbers.below(6) == 0 {
                    true => text.to_owned(),
                    false => format!("({guard} && {text})"),
                }
            }
            4 | 5 => {
                let (left, right) = (self.float(depth), self.float(0));
                format!("{left} {} {right}", self.numbers.one_of(&COMPARISONS))
            }
            6 if !self.scope.is_rust => self.integer(depth + 1),
            _ => {
                let (left, right) = (self.integer(depth), self.integer(0));
                format!("{left} {} {right}", self.numbers.one_of(&COMPARISONS))
            }
        }
    }

    /// An integer; in Rust, an `i64`.
    fn integer(&mut self, depth: usize) -> String {
        if depth > 0 && self.numbers.below(2) == 0 {
            let (left, right) = (depth - 1, self.numbers.below(depth));
            return match self.numbers.below(12) {
                0..=2 => format!("({} + {})", self.integer(left), self.integer(right)),
                3 => format!("({} - {})", self.integer(left), self.integer(right)),
                4 => format!("({} * {})", self.small(), self.literal()),
                5 => format!("({} & {})", self.integer(left), self.integer(right)),
                6 => format!("({} | {})", self.integer(left), self.integer(right)),
                7 => format!("({} ^ {})", self.integer(left), self.integer(right)),
                8 => format!("({} % {})", self.integer(left), 1 + self.numbers.below(20)),
                9 => format!("({} / {})", self.integer(left), 1 + self.numbers.below(9)),
                10 => format!("({} >> {})", self.integer(left), self.numbers.below(20)),
                _ => format!("(-{})", self.small()),
            };
        }
        if self.numbers.below(4) == 0 {
            return self.literal();
        }
        let text = self.numbers.one_of(self.scope.integers);
        match (self.scope.is_rust, self.numbers.below(12)) {
            (true, 0) => format!("({text} as u8 as i64)"),
            (true, 1) => format!("({text} as i16 as i64)"),
            (true, 2) => format!("({text} as i32 as i64)"),
            (true, _) => format!("({text} as i64)"),
            (false, 0) => format!("(unsigned char){text}"),
            (false, 1) => format!("(short){text}"),
            (false, 2) => format!("(int){text}"),
            (false, 3) => format!("(unsigned long){text}"),
            (false, 4) => format!("~{text}"),
            (false, _) => text.to_owned(),
        }
    }

    /// An integer of at most 16 bits, or nearly.
    fn small(&mut self) -> String {
        let text = self.numbers.one_of(&["sc", "uc", "sh", "us", "n"]);
        match self.scope.is_rust {
            true => format!("({text} as i64)"),
            false => text.to_owned(),
        }
    }

    fn literal(&mut self) -> String {
        let near = self.numbers.below(400) as i64 - 200;
        match self.numbers.below(8) {
            0 => "0".to_owned(),
            1 => "0x7fff".to_owned(),
            2 if !self.scope.is_rust => "4000000000u".to_owned(),
            3 if !self.scope.is_rust => "1UL".to_owned(),
            4 => format!("{}", near * 1_000_000_007),
            _ => format!("{near}"),
        }
    }

    fn float(&mut self, depth: usize) -> String {
        if depth > 0 && self.numbers.below(3) == 0 {
            let operator = self.numbers.one_of(&["+", "-", "*", "/"]);
            let (left, right) = (self.float(depth - 1), self.float(0));
            return format!("({left} {operator} {right})");
        }
        let text = match self.numbers.below(4) {
            0 => return format!("{}.5", self.numbers.below(40) as i64 - 20),
            1 if !self.scope.is_rust => self.numbers.one_of(self.scope.integers),
            _ => self.numbers.one_of(self.scope.floats),
        };
        match self.scope.is_rust {
            true => format!("({text} as f64)"),
            false => text.to_owned(),
        }
    }
}
