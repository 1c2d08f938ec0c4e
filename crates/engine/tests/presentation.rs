//! Values of the user's own types, shown by Natvis files.

use crate::support;
use crate::support::{Debuggee, Fixture, clang, fixture, fixture_by, listing};
use dapple_engine::{Event, Session};
use expect_test::expect_file;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time limit of every wait. Longer in debug builds.
const PATIENCE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 10 });

/// A file of the repository's `fixtures/`.
fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    folder.canonicalize().expect("the folder").join(name)
}

fn shown_by(session: &Session, files: &[&str]) {
    let files = files.iter().map(|name| file(name)).collect();
    session.set_presentation(files).expect("a session");
}

/// The warnings about Natvis files, without the folder.
fn told(debuggee: &Debuggee<'_>) -> Vec<String> {
    let folder = file("").display().to_string();
    let warnings = debuggee
        .seen
        .iter()
        .cloned()
        .chain(debuggee.events.try_iter());
    let warnings = warnings.filter_map(|event| match event {
        Event::PresentationWarnings(warnings) => Some(warnings),
        _ => None,
    });
    let warnings = warnings.flatten();
    warnings
        .map(|warning| warning.to_string().replace(&folder, ""))
        .collect()
}

/// The locals at a stop. Checks that a core file shows the same.
fn shown(fixture: &Fixture, stop: &str, depth: usize) -> String {
    let mut debuggee = fixture.launch();
    shown_by(debuggee.session(), &["shown.natvis"]);
    debuggee.break_at(&[stop]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let frame = listing::innermost(debuggee.session(), thread);
    let live = listing::locals(debuggee.session(), frame, depth);
    assert_eq!(
        told(&debuggee),
        ["shown.natvis:181: `shop::Renamed` has no member `older`"]
    );
    let core = listing::core_of(debuggee.session());
    let (remains, _) = listing::post_mortem(&core, None);
    shown_by(&remains, &["shown.natvis"]);
    let left = listing::locals(&remains, listing::innermost(&remains, thread), depth);
    std::fs::remove_file(&core).expect("removed");
    assert_eq!(left, live, "post mortem, and live");
    live
}

#[test]
fn values_are_shown_as_their_natvis_says() {
    let fixture = fixture("shown.cpp", &[]);
    expect_file!["presentation/values.txt"].assert_eq(&shown(&fixture, "values", 2));
}

#[test]
fn clangs_values_are_shown_alike() {
    let Some(clang) = clang() else {
        return;
    };
    let fixture = fixture_by(
        &clang,
        "shown.cpp",
        &["-fstandalone-debug", "-xc++", "-lstdc++"],
    );
    expect_file!["presentation/values.txt"].assert_eq(&shown(&fixture, "values", 2));
}

#[test]
fn what_makes_no_sense_has_its_reason_in_its_place() {
    let fixture = fixture("shown.cpp", &[]);
    expect_file!["presentation/corrupt.txt"].assert_eq(&shown(&fixture, "corrupt", 2));
}

#[test]
fn a_crates_own_file_is_found_by_its_attribute() {
    let fixture = fixture("shown.rs", &["--crate-name", "shown"]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["values"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let shown = listing::locals_live_and_post_mortem(debuggee.session(), thread, 2);
    expect_file!["presentation/rust.txt"].assert_eq(&shown);
    let told = told(&debuggee);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("shown_rust.natvis:36: "), "{told:?}");
}

#[test]
fn a_script_for_gdb_is_told_to_be_for_gdb() {
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own.py");
    std::fs::write(&script, "pass\n").expect("a file");
    let source = format!(
        "#![debugger_visualizer(gdb_script_file = {script:?})]
struct Point {{ x: i32 }}
fn main() {{
    let point = Point {{ x: 3 }};
    std::hint::black_box(&point); // stop: value
}}
"
    );
    let fixture = support::inline("scripted.rs", &source, &[]);
    let mut debuggee = fixture.launch();
    debuggee.break_at(&["value"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let frame = listing::innermost(debuggee.session(), thread);
    let shown = listing::locals(debuggee.session(), frame, 1);
    assert!(shown.contains("Point { x: 3 }"), "{shown}");
    let told = told(&debuggee);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("own.py shows types in gdb only"),
        "{told:?}"
    );
}

#[test]
fn entries_that_have_no_end_are_left_after_a_while() {
    let source = "struct Node { Node *next; int value; };
struct Loop { int x; };
struct Self { Self *self; int x; };
struct Many { Node *head; };
int main()
{
    Loop loop{1};
    Self self{nullptr, 2};
    self.self = &self;
    Many many{nullptr};
    for (int i = 0; i < 100000; i++)
        many.head = new Node{many.head, i};
    return loop.x; // stop: end
}
";
    let natvis = "<AutoVisualizer>
<Type Name='Loop'>
  <DisplayString>{*this} {*this} {*this} {*this} {*this}</DisplayString>
  <Expand>
    <CustomListItems>
      <Variable Name='i' InitialValue='0'/>
      <Loop><Exec>i++</Exec></Loop>
    </CustomListItems>
    <CustomListItems>
      <Loop><Item>x</Item></Loop>
    </CustomListItems>
    <Synthetic Name='again'>
      <DisplayString>{*this}</DisplayString>
      <Expand><ExpandedItem>*this</ExpandedItem></Expand>
    </Synthetic>
  </Expand>
</Type>
<Type Name='Self'>
  <Expand>
    <ExpandedItem>*self->self</ExpandedItem>
    <Item Name='x'>x</Item>
    <IndexListItems><Size>1000000000</Size><ValueNode>*self</ValueNode></IndexListItems>
  </Expand>
</Type>
<Type Name='Many'>
  <Expand>
    <LinkedListItems>
      <HeadPointer>head</HeadPointer>
      <NextPointer>next</NextPointer>
      <ValueNode>value</ValueNode>
    </LinkedListItems>
  </Expand>
</Type>
</AutoVisualizer>";
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("endless.natvis");
    std::fs::write(&path, natvis).expect("a file");
    let fixture = support::inline("endless.cpp", source, &[]);
    let mut debuggee = fixture.launch();
    let session = debuggee.session();
    session.set_presentation(vec![path]).expect("a session");
    debuggee.break_at(&["end"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let frame = listing::innermost(debuggee.session(), thread);
    let before = Instant::now();
    let shown = listing::locals(debuggee.session(), frame, 1);
    let taken = before.elapsed();
    assert!(taken < PATIENCE, "{taken:?}: {shown}");
    for part in [
        "there is too much to work out at once",
        "self: Self = {self = 0x…, x = 2, ",
        "many: Many = len = 100000 {99999, 99998, ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let (many, rendered) = debuggee
        .session()
        .evaluate("many", Some(frame))
        .expect("it");
    let before = Instant::now();
    let last = rendered.named + 99_999;
    let children = debuggee
        .session()
        .children(&many.value, None, last..last + 1);
    let children = children.expect("children");
    assert!(before.elapsed() < PATIENCE, "{:?}", before.elapsed());
    assert_eq!(
        (&*children[0].0.name, &*children[0].1.text),
        ("[99999]", "0")
    );
}
