//! Compressed debug sections in every form that linkers and objcopy write.

mod support;

use support::shapes::{all_seen, both, build, sources};

#[test]
fn every_compression_shows_the_same() {
    let folder = sources("compressed-same");
    build(&folder, "plain", &[]);
    for (form, mark) in [("zlib", "C"), ("zlib-gnu", ".zdebug_info"), ("zstd", "C")] {
        let option = format!("--compress-debug-sections={form}");
        folder.run("objcopy", &[&option, "plain", "left"]);
        let sections = folder.run("readelf", &["-SW", "left"]);
        let info = sections.lines().find(|line| line.contains("debug_info"));
        assert!(
            info.is_some_and(|info| info.contains(mark)),
            "{form}: {info:?}"
        );
        assert_eq!(
            all_seen(&folder, "plain"),
            all_seen(&folder, "left"),
            "{form}"
        );
    }
}

#[test]
fn what_is_inflated_in_advance_is_inflated_once() {
    let folder = sources("compressed-once");
    for form in ["zlib", "zlib-gnu", "zstd"] {
        let option = format!("--compress-debug-sections={form}");
        build(&folder, "left", &[]);
        assert_eq!(both(&folder, "left").0.open().compressed_size(), 0);
        folder.run("objcopy", &[&option, "left"]);
        let (main, _) = both(&folder, "left");
        let module = main.open();
        let size = module.compressed_size();
        assert!(size > 0, "{form}");
        let ready = std::sync::Barrier::new(3);
        let inflated: u64 = std::thread::scope(|scope| {
            let inflates = || {
                ready.wait();
                module.inflate()
            };
            let threads = [(); 3].map(|()| scope.spawn(inflates));
            threads.map(|thread| thread.join().unwrap()).iter().sum()
        });
        assert_eq!(inflated, size, "{form}");
        assert!(!main.addresses(&module, "loop").is_empty(), "{form}");
        // A section that a query has already decompressed isn't decompressed again.
        let module = main.open();
        module.function_at(module.entry());
        assert_eq!(module.inflate(), 0, "{form}");
    }
}

#[test]
fn compressed_split_units_show_the_same() {
    let folder = sources("compressed-split");
    build(&folder, "plain", &["-gdwarf-4"]);
    let flags = ["-gdwarf-4", "-gsplit-dwarf", "-fdebug-types-section"];
    build(&folder, "left", &flags);
    for name in ["main-left.dwo", "far-left.dwo"] {
        folder.run("objcopy", &["--compress-debug-sections=zstd", name]);
    }
    let sections = folder.run("readelf", &["-tW", "main-left.dwo"]);
    assert!(sections.contains("ZSTD"), "{sections}");
    assert_eq!(all_seen(&folder, "plain"), all_seen(&folder, "left"));
}

#[test]
fn a_section_that_claims_to_be_huge_is_left_out() {
    let folder = sources("compressed-huge");
    build(&folder, "plain", &[]);
    for form in ["zlib", "zlib-gnu", "zstd"] {
        let option = format!("--compress-debug-sections={form}");
        folder.run("objcopy", &[&option, "plain", "left"]);
        let path = folder.path("left");
        let mut bytes = std::fs::read(&path).unwrap();
        let table = folder.run("readelf", &["-SW", "left"]);
        let line = table.lines().find(|line| line.contains("debug_info"));
        let fields: Vec<&str> = line
            .unwrap()
            .split_once(']')
            .unwrap()
            .1
            .split_whitespace()
            .collect();
        let start = usize::from_str_radix(fields[3], 16).unwrap();
        // The uncompressed size follows two words in an `Elf64_Chdr`, little-endian. In the old form it follows `ZLIB`, big-endian.
        match form {
            "zlib-gnu" => bytes[start + 4..start + 12].copy_from_slice(&(1u64 << 60).to_be_bytes()),
            _ => bytes[start + 8..start + 16].copy_from_slice(&(1u64 << 60).to_le_bytes()),
        }
        std::fs::write(&path, bytes).unwrap();
        let (main, _) = both(&folder, "left");
        let module = main.open();
        module.function_at(module.entry());
        let warnings = format!("{:?}", module.warnings());
        assert!(warnings.contains("can't hold"), "{form}: {warnings}");
    }
}
