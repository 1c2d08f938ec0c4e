//! Programs of one source, built with each compiler and standard library, whose values must be shown alike.

use super::optimised::{Comparison, compare};
use super::{Fixture, clang, fixture, fixture_by, has_libcxx, listing};
use expect_test::expect_file;
use std::path::Path;

/// Compiler flags, and the name of the combination in file names.
pub struct Tools {
    name: &'static str,
    pub flags: &'static [&'static str],
}

/// clang's combinations. libc++ is linked statically, so that its headers and code match.
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
    // clang's default: types that it expects to be described elsewhere are only declared.
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
    /// Sections whose stop is in code that the optimizer has moved in front of the assignments of the variables.
    pub moved: &'static [&'static str],
}

impl<const COUNT: usize> Sections<COUNT> {
    /// The locals in each section.
    fn shown(&self, fixture: &Fixture) -> Vec<String> {
        let mut debuggee = fixture.launch();
        debuggee.break_at(&self.names);
        let stop = |_| {
            let (thread, _) = debuggee.run_to_breakpoint();
            listing::locals_live_and_post_mortem(debuggee.session(), thread, 2)
        };
        self.names.map(stop).into()
    }

    /// Compares the values of g++ and libstdc++ with `values/library/SECTION.txt`.
    pub fn check(&self) {
        let fixture = fixture(self.source, &["-std=c++20"]);
        for (section, shown) in self.names.iter().zip(self.shown(&fixture)) {
            expected(&format!("{section}.txt")).assert_eq(&shown);
        }
    }

    /// Compares the other combinations with `values/library/SECTION.TOOLS.diff`, which lists the differences.
    pub fn check_others(&self) {
        // The differences were recorded with this version.
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

    /// How many variables of the optimized program are shown as in the unoptimized one. No value may be wrong.
    pub fn compared(&self, compiler: &str, flags: &[&str]) -> Comparison {
        let flags = |level| [&["-std=c++20", level], flags].concat();
        let expected = self.shown(&fixture_by(compiler, self.source, &flags("-O0")));
        let optimised = self.shown(&fixture_by(compiler, self.source, &flags("-O2")));
        let mut comparison = Comparison::default();
        for ((section, expected), optimised) in self.names.iter().zip(&expected).zip(&optimised) {
            if !self.moved.contains(section) {
                compare(optimised, expected, &mut comparison);
            }
        }
        println!(
            "{compiler} {flags:?}: {comparison:#?}",
            flags = flags("-O2")
        );
        assert!(
            comparison.wrong.is_empty(),
            "{compiler}: {:#?}",
            comparison.wrong
        );
        comparison
    }

    /// Like [`Sections::compared`], for clang's programs with each library: at least `least` variables are complete.
    pub fn check_compiled_by_clang(&self, least: usize) {
        let Some(compiler) = clang().filter(|name| name == "clang-22") else {
            return println!("there is no clang 22 here");
        };
        let compiler = compiler.replace("clang", "clang++");
        let libraries = if has_libcxx(&compiler) { 2 } else { 1 };
        for tools in &CLANG[..libraries] {
            let comparison = self.compared(&compiler, tools.flags);
            assert!(comparison.same >= least, "{comparison:?}");
        }
    }
}

fn expected(file: &str) -> expect_test::ExpectFile {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/values/library");
    expect_file![folder.join(file)]
}

/// The differing lines, with `-` for those of `first` and `+` for those of `second`.
pub fn differences(first: &str, second: &str) -> String {
    let first: Vec<&str> = first.lines().collect();
    let second: Vec<&str> = second.lines().collect();
    // The length of the longest common subsequence of the remaining lines, for each pair of lines.
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
