//! Commands for several threads.

use crate::support::{Run, typed, write};

/// Three threads that spin at the same line, one after another; the last one has another stack. Line 25 comes when all are there.
const TEXT: &str = "#include <pthread.h>
#include <stdatomic.h>
static atomic_int here, go;

static void spin(int id)
{
    for (atomic_fetch_add(&here, 1); !atomic_load(&go);) {}
}

static void *waits(void *id)
{
    spin(*(int *)id);
    return id;
}

static void *waits_too(void *id) { spin(*(int *)id); return id; }

int main(void)
{
    int ids[3] = {11, 12, 13};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, i < 2 ? waits : waits_too, &ids[i]);
    while (atomic_load(&here) < 3) {}
    atomic_store(&go, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
";

fn run(name: &str, lines: &[&str]) -> Run {
    let source = write(name, TEXT);
    let all: Vec<&str> = ["b 25", "run"].iter().chain(lines).copied().collect();
    typed(&[source.to_str().expect("a plain path")], &all)
}

#[test]
fn threads_are_listed_with_their_places() {
    let run = run("threads-listed.c", &["info threads"]);
    let spins = run.stdout.matches(" in spin at ").count();
    assert_eq!(spins, 3, "{run:#?}");
    let selected = { run.stdout.lines() }.find(|line| line.starts_with("→ thread "));
    let selected = selected.expect("the selected thread");
    assert!(selected.contains(" in main at "), "{run:#?}");
    assert_eq!(run.stderr, "", "{run:#?}");
}

#[test]
fn equal_stacks_are_shown_once() {
    let run = run("threads-stacks.c", &["thread apply all bt"]);
    let titles = { run.stdout.lines() }.filter(|line| line.contains("thread N"));
    let titles: Vec<&str> = titles.filter(|line| !line.starts_with("stopped")).collect();
    assert_eq!(titles.len(), 3, "{run:#?}");
    assert!(
        titles.iter().any(|line| line.starts_with("2 threads: ")),
        "{run:#?}"
    );
    assert_eq!(run.stdout.matches(" waits at ").count(), 1, "{run:#?}");
    assert_eq!(run.stdout.matches(" waits_too at ").count(), 1, "{run:#?}");
}

#[test]
fn a_command_is_run_in_each_thread_and_the_selection_stays() {
    let lines = [
        "thread apply all p id",
        "frame",
        "thread apply 4 p id",
        "thread apply p id",
        "thread apply all",
    ];
    let run = run("threads-applied.c", &lines);
    for id in ["id = 11", "id = 12", "id = 13"] {
        assert_eq!(run.stdout.matches(id).count(), 1, "{run:#?}");
    }
    let end = run
        .stdout
        .rfind("main at ")
        .expect("the frame is shown again");
    assert!(
        end > run.stdout.rfind("id = ").unwrap_or_default(),
        "{run:#?}"
    );
    let errors: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(errors.len(), 4, "{run:#?}");
    assert!(errors[0].contains("`id`"), "main has none: {run:#?}");
    let expected = [
        "dapple: apply to which threads? `thread apply all bt`, or `thread apply 1 2 bt`",
        "dapple: apply which command? `thread apply all bt`",
    ];
    // Numbers of threads are left out of the output.
    assert!(errors[1].ends_with("`info threads` lists them"), "{run:#?}");
    assert_eq!(errors[2..], expected, "{run:#?}");
}
