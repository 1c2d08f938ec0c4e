//! Exception tables, compared with the landing pads that real programs reach.

mod support;

use dapple_symbols::lsda::{Action, CaughtType, LandingPad, Thrown};
use dapple_symbols::{FileAddress, Module};
use std::collections::BTreeSet;
use support::{TestFolder, run};

/// Prints each landing of the unwinder: the address of the call and of the landing pad, relative to `main`.
const WATCH: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <unwind.h>
int main();
void _Unwind_SetIP(struct _Unwind_Context *context, _Unwind_Ptr landing) {
    int before = 0;
    _Unwind_Ptr from = _Unwind_GetIPInfo(context, &before);
    printf("landing %lld %lld\n", (long long)(from - !before - (_Unwind_Ptr)main), (long long)(landing - (_Unwind_Ptr)main));
    fflush(stdout);
    void (*real)(struct _Unwind_Context *, _Unwind_Ptr) = dlsym(RTLD_NEXT, "_Unwind_SetIP");
    real(context, landing);
}
"#;

const SOURCE: &str = r#"
#include <cstdio>
#include <stdexcept>
struct Guard { const char *name; ~Guard() { std::puts(name); } };
struct Own { int code; };
volatile int chosen;
__attribute__((noinline)) void raise() {
    switch (chosen) {
        case 0: throw 7;
        case 1: throw Own{3};
        case 2: throw std::runtime_error("bad");
        case 3: throw 'c';
    }
}
__attribute__((noinline)) void passes() { raise(); chosen = 0; }
__attribute__((noinline)) void cleans_up() { Guard guard{"cleaned up"}; passes(); }
__attribute__((noinline)) int catches() {
    try { cleans_up(); }
    catch (int code) { return code; }
    catch (const Own &own) { return own.code; }
    catch (const std::exception &error) { return 9; }
    catch (...) { return 11; }
    return 0;
}
__attribute__((noinline)) void filters() throw(int, Own) { raise(); }
__attribute__((noinline)) int around() {
    try { filters(); } catch (int code) { return code; } catch (Own own) { return -own.code; }
    return 1;
}
__attribute__((noinline)) void quiet() noexcept { raise(); }
int main() {
    int sum = 0;
    for (int i = 0; i < 4; i++) { chosen = i; sum += catches(); }
    for (int i = 0; i < 2; i++) { chosen = i; sum += around(); }
    chosen = 4;
    quiet();
    std::printf("sum %d\n", sum);
}
"#;

fn build(name: &str, flags: &[&str]) -> TestFolder {
    let folder = TestFolder::new(name);
    folder.write("throws.cpp", SOURCE);
    folder.write("watch.c", WATCH);
    folder.run("gcc", &["-c", "-O1", "watch.c"]);
    let mut arguments = vec![
        "-std=c++14",
        "-w",
        "-rdynamic",
        "throws.cpp",
        "watch.o",
        "-ldl",
        "-o",
        "throws",
    ];
    arguments.extend(flags);
    folder.run("g++", &arguments);
    folder
}

/// The landings that the program printed: call and landing pad.
fn landings(output: &str, main: FileAddress) -> BTreeSet<(FileAddress, FileAddress)> {
    let address = |distance: &str| {
        let distance: i64 = distance.parse().expect("a number");
        FileAddress(main.0.wrapping_add_signed(distance))
    };
    let landing = |line: &str| {
        let (from, landing) = line.strip_prefix("landing ")?.split_once(' ')?;
        Some((address(from), address(landing)))
    };
    output.lines().filter_map(landing).collect()
}

fn landing_pad_at(module: &Module, address: FileAddress) -> LandingPad {
    let table = module.exception_table(address).unwrap().expect("a table");
    assert!(table.range.contains(&address), "{table:?}");
    match table.thrown_at(address) {
        Thrown::Lands(landing_pad) => landing_pad.clone(),
        other => panic!("{other:?} at {address:?} in {table:?}"),
    }
}

/// The actions of each of the function's landing pads.
fn actions_in(module: &Module, name: &str) -> Vec<Vec<String>> {
    let function = module.functions_named(name).remove(0);
    let table = module.exception_table(function.entry).unwrap();
    let sites = table.map(|table| table.call_sites).unwrap_or_default();
    let named = |caught: &CaughtType| match caught {
        CaughtType::Any => "...".to_owned(),
        CaughtType::Of { name, .. } => name.clone().expect("a name"),
    };
    let text = |action: &Action| match action {
        Action::Cleanup => "cleanup".to_owned(),
        Action::Catch(caught) => format!("catch {}", named(caught)),
        Action::Filter(types) => {
            format!(
                "only {}",
                types.iter().map(named).collect::<Vec<_>>().join(" ")
            )
        }
    };
    let pads = sites.into_iter().filter_map(|site| site.landing_pad);
    pads.map(|pad| pad.actions.iter().map(text).collect())
        .collect()
}

const VARIANTS: [(&str, &[&str]); 4] = [
    ("plain", &["-g", "-O0"]),
    ("fixed", &["-g", "-O1", "-no-pie", "-fno-inline"]),
    ("optimised", &["-g", "-O2"]),
    (
        "sections",
        &[
            "-g",
            "-O2",
            "-ffunction-sections",
            "-Wl,--gc-sections",
            "-Wl,--no-eh-frame-hdr",
            "-fno-pie",
            "-no-pie",
        ],
    ),
];

#[test]
fn a_throw_lands_where_the_table_says() {
    // The last variant can't throw: without `.eh_frame_hdr` the unwinder finds no frame information.
    for (name, flags) in &VARIANTS[..3] {
        let folder = build(&format!("landings-{name}"), flags);
        let output = run(folder.path("throws").to_str().unwrap(), &[]);
        assert!(output.ends_with("sum 34\n"), "{output}");
        let module = Module::open(&folder.path("throws")).unwrap();
        let main = module.symbol_named("main").unwrap().address;
        let landings = landings(&output, main);
        assert!(landings.len() >= 3, "{output}");
        for (from, landing) in landings {
            let pad = landing_pad_at(&module, from);
            assert_eq!(pad.address, landing, "{name}: from {from:?}");
        }
        assert!(module.warnings().is_empty(), "{:?}", module.warnings());
    }
}

#[test]
fn the_actions_are_those_of_the_source() {
    for (name, flags) in VARIANTS {
        let folder = build(&format!("actions-{name}"), flags);
        let module = Module::open(&folder.path("throws")).unwrap();
        let catches = actions_in(&module, "catches");
        let expected = [
            "catch int",
            "catch Own",
            "catch std::exception",
            "catch ...",
        ];
        assert!(
            catches.contains(&expected.map(str::to_owned).to_vec()),
            "{name}: {catches:?}"
        );
        let cleans_up = actions_in(&module, "cleans_up");
        assert!(!cleans_up.is_empty(), "{name}");
        assert!(
            cleans_up.iter().flatten().all(|action| action == "cleanup"),
            "{name}: {cleans_up:?}"
        );
        let filters = actions_in(&module, "filters");
        // The order isn't specified.
        let only = |actions: &Vec<String>| {
            actions[..] == ["only int Own"] || actions[..] == ["only Own int"]
        };
        assert!(filters.iter().any(only), "{name}: {filters:?}");

        // The call in `quiet` must not throw, so no call site covers it.
        let quiet = module.functions_named("quiet").remove(0);
        let table = module
            .exception_table(quiet.entry)
            .unwrap()
            .expect("a table");
        for address in quiet.ranges[0].start.0..quiet.ranges[0].end.0 {
            assert_eq!(
                table.thrown_at(FileAddress(address)),
                Thrown::NotExpected,
                "{name}"
            );
        }
        let passes = module.functions_named("passes").remove(0);
        let table = module.exception_table(passes.entry).unwrap();
        assert_eq!(table, None, "{name}");
    }
}

#[test]
fn rust_programs_land_where_the_table_says() {
    const PROGRAM: &str = r#"
struct Guard(u32);
impl Drop for Guard {
    fn drop(&mut self) { println!("dropped {}", self.0); }
}
#[inline(never)]
fn work(guard: &Guard) { if guard.0 > 2 { panic!("too many"); } }
#[inline(never)]
fn cleans_up(count: u32) -> u32 { let guard = Guard(count); work(&guard); guard.0 }
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(|| cleans_up(4)).is_err();
    println!("caught {caught}");
}
"#;
    let folder = TestFolder::new("landings-rust");
    folder.write("throws.rs", PROGRAM);
    folder.write("watch.c", WATCH);
    folder.run("gcc", &["-c", "-O1", "-fPIC", "watch.c"]);
    let linked = [
        "-C",
        "link-args=watch.o -rdynamic -ldl -Wl,--undefined=_Unwind_SetIP",
    ];
    for level in ["0", "2"] {
        let optimised = format!("opt-level={level}");
        let arguments = [
            &["-g", "-C", &optimised, "throws.rs", "-o", "throws"],
            &linked[..],
        ]
        .concat();
        folder.run("rustc", &arguments);
        let output = run(folder.path("throws").to_str().unwrap(), &[]);
        assert!(
            output.contains("dropped 4") && output.contains("caught true"),
            "{output}"
        );
        let module = Module::open(&folder.path("throws")).unwrap();
        let main = module.symbol_named("main").unwrap().address;
        let landings = landings(&output, main);
        assert!(landings.len() >= 2, "{output}");
        let mut actions = Vec::new();
        for (from, landing) in landings {
            let pad = landing_pad_at(&module, from);
            assert_eq!(pad.address, landing, "opt-level {level}: from {from:?}");
            actions.extend(pad.actions.to_vec());
        }
        assert!(actions.contains(&Action::Cleanup), "{actions:?}");
        assert!(
            actions.contains(&Action::Catch(CaughtType::Any)),
            "{actions:?}"
        );
    }
}
