//! Index files: whatever they contain, each answer is true, or the same as without an index.

use dapple_symbols::Module;
use dapple_symbols::indexing::IndexState;
use dapple_symbols::names::NamePattern;
use dapple_symbols::queries::FoundFunction;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// A program and its index.
struct Indexed {
    program: Vec<u8>,
    index: Vec<u8>,
    /// The answers without an index.
    plain: Answers,
}

#[derive(Debug, PartialEq)]
struct Answers {
    functions: Vec<String>,
    types: Vec<String>,
    variables: Vec<String>,
    line: String,
    at: Vec<String>,
}

/// The seed program, compiled once with the installed compiler.
fn indexed() -> &'static Indexed {
    static INDEXED: OnceLock<Indexed> = OnceLock::new();
    INDEXED.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let seed = [folder.join("fuzz/seeds"), folder.join("seeds")];
        let seed = seed.iter().map(|folder| folder.join("seed.cpp"));
        let seed = seed.into_iter().find(|seed| seed.exists());
        let program = std::env::temp_dir().join(format!("dapple-index-{}", std::process::id()));
        let compiled = Command::new("g++")
            .args(["-g", "-O1", "-nostdlib", "-shared", "-fPIC", "-o"])
            .arg(&program)
            .arg(seed.expect("the seed"))
            .status();
        assert!(compiled.expect("g++ is needed").success());
        let bytes = std::fs::read(&program).expect("a program");
        std::fs::remove_file(&program).expect("removed");
        let module = open(&bytes);
        let plain = answers(&module);
        assert!(plain.functions.len() > 3, "{plain:?}");
        assert_eq!(module.make_index(&mut |_, _| true), IndexState::Used);
        let index = module.index_bytes().expect("an index");
        let indexed = open(&bytes);
        assert_eq!(indexed.use_index(index.clone()), IndexState::Used);
        assert_eq!(answers(&indexed), plain);
        Indexed {
            program: bytes,
            index,
            plain,
        }
    })
}

fn open(program: &[u8]) -> Module {
    Module::from_bytes("indexed", program.to_vec()).expect("a program")
}

fn answers(module: &Module) -> Answers {
    let all = NamePattern::new("*");
    let functions = module.find_functions(&all);
    let line = functions.iter().find_map(|function| {
        let place = function.declaration.as_ref()?;
        Some(module.lookup_line(&place.file, place.line))
    });
    let name = |function: &FoundFunction| {
        let at = module.function_at(function.entry);
        let name = at.map(|function| function.name.clone());
        format!("{:?} {name:?}", function.entry)
    };
    Answers {
        line: format!("{line:?}"),
        at: functions.iter().map(name).collect(),
        functions: functions.iter().map(|found| format!("{found:?}")).collect(),
        types: (module.find_types(&all).iter())
            .map(|found| format!("{found:?}"))
            .collect(),
        variables: (module.find_variables(&all).iter())
            .map(|found| format!("{found:?}"))
            .collect(),
    }
}

/// The first byte says whether the checksums are corrected. Each group of five further bytes is a position and the byte to write there.
pub fn any_index_is_checked(input: &[u8]) {
    is_used(input);
}

/// Like [`any_index_is_checked`]. Returns whether the index was used to the end.
pub fn is_used(input: &[u8]) -> bool {
    let Some((&sealed, changes)) = input.split_first() else {
        return false;
    };
    let indexed = indexed();
    let mut index = indexed.index.clone();
    for change in changes.as_chunks().0 {
        let [a, b, c, d, value] = *change;
        let at = u32::from_le_bytes([a, b, c, d]) as usize % index.len();
        index[at] = value;
    }
    if sealed & 1 == 1 {
        seal(&mut index);
    }
    let module = open(&indexed.program);
    module.use_index(index);
    let now = answers(&module);
    if sealed & 1 == 0 {
        assert_eq!(now, indexed.plain);
        return module.index_state() == IndexState::Used;
    }
    // With correct checksums, names can be missing. Everything that is found is read from the program.
    let questions = ["seed", "main", "Shape::area", "no_such_name", "s*"];
    for name in questions {
        let pattern = NamePattern::new(name);
        for function in module.find_functions(&pattern) {
            let bare = function.name.replace("(anonymous namespace)::", "");
            let linkage = function.linkage_name.as_deref() == Some(name);
            assert!(pattern.matches(&function.name) || linkage, "{name}: {bare}");
        }
        let _ = module.similar_names(&pattern);
        let _ = module.find_types(&pattern);
        let _ = module.statics_named(name);
    }
    module.index_state() == IndexState::Used
}

/// Corrects the checksums, as far as the header is valid.
pub fn seal(index: &mut [u8]) {
    const FIXED: usize = 40;
    let number = |index: &[u8], at: usize| {
        let bytes = index.get(at..).and_then(|bytes| bytes.first_chunk());
        u32::from_le_bytes(bytes.copied().unwrap_or_default()) as usize
    };
    let [head, key, tables, chunks] = [12, 16, 20, 24].map(|at| number(index, at));
    let sums = FIXED
        .saturating_add(key)
        .saturating_add(tables.saturating_mul(16));
    for chunk in 0..chunks.min(1000) {
        let start = head.saturating_add(chunk << 16);
        let Some(bytes) = index.get(start..start.saturating_add(1 << 16)) else {
            break;
        };
        let sum = crc32fast::hash(bytes).to_le_bytes();
        if let Some(place) = index.get_mut(sums + chunk * 4..sums + chunk * 4 + 4) {
            place.copy_from_slice(&sum);
        }
    }
    if head < FIXED || head > index.len() {
        return;
    }
    let mut check = crc32fast::Hasher::new();
    check.update(&index[..FIXED - 4]);
    check.update(&index[FIXED..head]);
    let check = check.finalize().to_le_bytes();
    index[FIXED - 4..FIXED].copy_from_slice(&check);
}
