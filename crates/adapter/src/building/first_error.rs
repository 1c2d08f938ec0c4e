//! Finds the first error in a compiler's output.
//!
//! Understands gcc's and clang's `FILE:LINE:COLUMN: error: …`, rustc's `error: …` with an arrow to the place below it, and linkers' undefined
//! references.

use crate::styling;

/// Reads output line by line.
#[derive(Debug, Default)]
pub struct FirstError {
    message: Option<String>,
    place: Option<String>,
}

impl FirstError {
    /// Reads a line.
    pub fn look(&mut self, line: &str) {
        if self.message.is_some() {
            if self.place.is_none()
                && let Some(place) = styling::without(line).trim_start().strip_prefix("--> ")
            {
                self.place = Some(place.to_owned());
            }
            return;
        }
        let line = styling::without(line);
        let line = line.trim();
        let of_rustc = line
            .strip_prefix("error")
            .and_then(|rest| {
                rest.starts_with([':', '['])
                    .then(|| rest.split_once(": "))?
            })
            .map(|(_, message)| message);
        if let Some(message) = of_rustc {
            self.message = Some(message.to_owned());
            return;
        }
        let of_gcc = [": fatal error: ", ": error: "]
            .iter()
            .find_map(|mark| line.split_once(mark));
        if let Some((place, message)) = of_gcc {
            self.place = Some(place.to_owned());
            self.message = Some(message.to_owned());
        } else if let Some((_, message)) = line.split_once(": undefined reference to ") {
            self.place = Some("linking".to_owned());
            self.message = Some(format!("undefined reference to {message}"));
        }
    }

    /// Adds an error from another source, unless there was one before.
    pub fn note(&mut self, place: Option<String>, message: &str) {
        if self.message.is_none() {
            self.message = Some(message.to_owned());
            self.place = place;
        }
    }

    /// `FILE:LINE:COLUMN: message`, or only the message if no place was found; `None` if there was no error.
    pub fn sentence(&self) -> Option<String> {
        let message = self.message.as_ref()?;
        Some(match &self.place {
            Some(place) => format!("{place}: {message}"),
            None => message.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::FirstError;

    #[test]
    fn the_first_error_is_found_in_what_compilers_write() {
        for (output, expected) in [
            (
                "warning: unused\n --> a.rs:1:1\n\x1b[1m\x1b[91merror[E0425]\x1b[0m\x1b[1m: cannot find value `x`\x1b[0m\n \x1b[94m--> \x1b[0msrc/main.rs:3:5\nerror: aborting\n",
                Some("src/main.rs:3:5: cannot find value `x`"),
            ),
            (
                "a.c: In function 'main':\na.c:3:9: warning: unused\na.c:4:5: error: 'x' undeclared (first use)\n",
                Some("a.c:4:5: 'x' undeclared (first use)"),
            ),
            (
                "a.c:1:10: fatal error: none.h: No such file or directory\n",
                Some("a.c:1:10: none.h: No such file or directory"),
            ),
            (
                "/usr/bin/ld: a.o: in function `main':\na.c:(.text+0x9): undefined reference to `f'\ncollect2: error: ld returned 1 exit status\n",
                Some("linking: undefined reference to `f'"),
            ),
            ("errors: 0\nall is well\n", None),
        ] {
            let mut first = FirstError::default();
            output.lines().for_each(|line| first.look(line));
            assert_eq!(first.sentence().as_deref(), expected, "{output}");
        }
    }
}
