//! Programs of one source made by each compiler and library, whose values are shown alike.

use super::optimised::{Held, hold};
use super::{Fixture, clang, fixture, fixture_by, has_libcxx, listing};
use expect_test::expect_file;
use std::path::Path;

/// How a program is made, and what it is called in the names of files.
pub struct Tools {
    name: &'static str,
    pub flags: &'static [&'static str],
}

/// Clang's. libc++ is linked in, so that its headers and code are the same.
pub const CLANG: [Tools; 4] = [
    Tools {
        name: "clang-libstdc++",
        flags: &["-fstandalone-debug"],
    },
    Tools {
        name: "clang-libc++",
        flags: &[
            "-fstandalone-debug",
            "-stdlib=libc++",
            "-static-libstdc++",
            "-lc++abi",
        ],
    },
    // What clang does unless told otherwise: types that it believes to be described elsewhere are only declared.
    Tools {
        name: "clang-libstdc++-limited",
        flags: &[],
    },
    Tools {
        name: "clang-libc++-limited",
        flags: &["-stdlib=libc++", "-static-libstdc++", "-lc++abi"],
    },
];

/// A program that stops in each of its sections.
pub struct Sections<const COUNT: usize> {
    pub source: &'static str,
    pub names: [&'static str; COUNT],
    /// Those whose stop is in code that an optimiser has moved before the variables are set.
    pub moved: &'static [&'static str],
}

impl<const COUNT: usize> Sections<COUNT> {
    /// What is shown in each section.
    fn shown(&self, fixture: &Fixture) -> Vec<String> {
        let mut debuggee = fixture.launch();
        debuggee.break_at(&self.names);
        let stop = |_| {
            let (thread, _) = debuggee.run_to_breakpoint();
            listing::locals_live_and_post_mortem(debuggee.session(), thread, 2)
        };
        self.names.map(stop).into()
    }

    /// Holds what g++ and libstdc++ give against `values/library/SECTION.txt`.
    pub fn check(&self) {
        let fixture = fixture(self.source, &["-std=c++20"]);
        for (section, shown) in self.names.iter().zip(self.shown(&fixture)) {
            expected(&format!("{section}.txt")).assert_eq(&shown);
        }
    }

    /// Holds what others give against `values/library/SECTION.TOOLS.diff`, which says what differs.
    pub fn check_others(&self) {
        // The one that the differences were written for.
        let Some(compiler) = clang().filter(|name| name == "clang-22") else {
            return println!("there is no clang 22 here");
        };
        let compiler = compiler.replace("clang", "clang++");
        let has_libcxx = has_libcxx(&compiler);
        let gcc = self.shown(&fixture(self.source, &["-std=c++20"]));
        for Tools { name, flags } in CLANG {
            if flags.contains(&"-stdlib=libc++") && !has_libcxx {
                println!("there is no libc++ here");
                continue;
            }
            let flags: Vec<&str> = [&["-std=c++20"], flags].concat();
            let other = fixture_by(&compiler, self.source, &flags);
            for ((section, gcc), other) in self.names.iter().zip(&gcc).zip(self.shown(&other)) {
                expected(&format!("{section}.{name}.diff")).assert_eq(&differences(gcc, &other));
            }
        }
    }

    /// How many of the variables of an optimised program are shown as without the optimiser. Nothing is shown otherwise.
    pub fn held(&self, compiler: &str, flags: &[&str]) -> Held {
        let flags = |level| [&["-std=c++20", level], flags].concat();
        let expected = self.shown(&fixture_by(compiler, self.source, &flags("-O0")));
        let optimised = self.shown(&fixture_by(compiler, self.source, &flags("-O2")));
        let mut held = Held::default();
        for ((section, expected), optimised) in self.names.iter().zip(&expected).zip(&optimised) {
            if !self.moved.contains(section) {
                hold(optimised, expected, &mut held);
            }
        }
        println!("{compiler} {flags:?}: {held:#?}", flags = flags("-O2"));
        assert!(held.wrong.is_empty(), "{compiler}: {:#?}", held.wrong);
        held
    }

    /// As [`Sections::held`], of clang's programs with each library: at least so many are shown whole.
    pub fn check_held_by_clang(&self, least: usize) {
        let Some(compiler) = clang().filter(|name| name == "clang-22") else {
            return println!("there is no clang 22 here");
        };
        let compiler = compiler.replace("clang", "clang++");
        let libraries = if has_libcxx(&compiler) { 2 } else { 1 };
        for tools in &CLANG[..libraries] {
            let held = self.held(&compiler, tools.flags);
            assert!(held.same >= least, "{held:?}");
        }
    }
}

fn expected(file: &str) -> expect_test::ExpectFile {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/values/library");
    expect_file![folder.join(file)]
}

/// The lines that differ, `-` of the first and `+` of the second.
fn differences(first: &str, second: &str) -> String {
    let first: Vec<&str> = first.lines().collect();
    let second: Vec<&str> = second.lines().collect();
    // The longest common rest from each pair of lines on.
    let width = second.len() + 1;
    let mut common = vec![0; (first.len() + 1) * width];
    for i in (0..first.len()).rev() {
        for j in (0..second.len()).rev() {
            common[i * width + j] = if first[i] == second[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut text) = (0, 0, String::new());
    while i < first.len() || j < second.len() {
        if i < first.len() && j < second.len() && first[i] == second[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == second.len()
            || (i < first.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            text.push_str(&format!("-{}\n", first[i]));
            i += 1;
        } else {
            text.push_str(&format!("+{}\n", second[j]));
            j += 1;
        }
    }
    text
}
