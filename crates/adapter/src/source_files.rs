//! Checks whether source files exist on this machine.
//!
//! A client requests the stack after each step, and so the same few files. Each check is a system call, so its result is cached briefly.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long results are used at most: after that time, all are removed. So a created or removed file is noticed at the latest then.
const MOMENT: Duration = Duration::from_millis(10);

/// The most cached files.
const REMEMBERED: usize = 256;

/// The cached results.
struct Looks {
    began: Instant,
    found: HashMap<PathBuf, bool>,
}

thread_local! {
    static LOOKS: RefCell<Looks> = RefCell::new(Looks {
        began: Instant::now(),
        found: HashMap::new(),
    });
}

/// Whether a source file exists on this machine. The result may be 10 ms old.
pub fn source_exists(path: &Path) -> bool {
    LOOKS.with_borrow_mut(|looks| looks.exists(path, Instant::now()))
}

impl Looks {
    fn exists(&mut self, path: &Path, now: Instant) -> bool {
        if now.saturating_duration_since(self.began) >= MOMENT || self.found.len() >= REMEMBERED {
            self.found.clear();
            self.began = now;
        }
        if let Some(known) = self.found.get(path) {
            return *known;
        }
        let exists = path.is_file();
        self.found.insert(path.to_owned(), exists);
        exists
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_goes_is_missed_after_a_moment() {
        let folder = std::env::temp_dir().join(format!("dapple-sources-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("main.c");
        let began = Instant::now();
        let mut looks = Looks {
            began,
            found: HashMap::new(),
        };
        assert!(!looks.exists(&file, began));
        std::fs::write(&file, "int main() {}\n").unwrap();
        assert!(!looks.exists(&file, began + MOMENT / 2));
        assert!(looks.exists(&file, began + MOMENT));
        std::fs::remove_file(&file).unwrap();
        assert!(looks.exists(&file, began + MOMENT));
        assert!(!looks.exists(&file, began + 2 * MOMENT));
        assert!(!looks.exists(&folder, began + 2 * MOMENT), "a folder");
        std::fs::remove_dir(&folder).unwrap();
    }
}
