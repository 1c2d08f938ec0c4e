//! Durations as `{:?}` writes them, instants as seconds of their clock, and the system's time as a date.

use super::{Flaw, Known, broken};
use crate::values::view::View;
use crate::values::{Reader, Value, contents};
use std::time::Duration;

/// `Duration`: `1.5s`.
pub(super) fn duration(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let (seconds, nanoseconds) = parts(reader, value, "secs", "nanos")?;
    let duration = Duration::new(seconds as u64, nanoseconds);
    Ok(text(format!("{duration:?}")))
}

/// `Instant`: seconds of the clock that counts from when the machine was started (`CLOCK_MONOTONIC`).
pub(super) fn instant(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let (seconds, nanoseconds) = parts(reader, value, "tv_sec", "tv_nsec")?;
    let fraction = fraction(nanoseconds);
    Ok(text(format!("{seconds}{fraction}s since boot")))
}

/// `SystemTime`: a date in UTC.
pub(super) fn date(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let (seconds, nanoseconds) = parts(reader, value, "tv_sec", "tv_nsec")?;
    Ok(text(utc(seconds, nanoseconds)))
}

fn text(text: String) -> View {
    View::Text {
        text,
        address: None,
    }
}

fn parts(
    reader: &Reader<'_>,
    value: &Value,
    seconds: &str,
    nanoseconds: &str,
) -> Result<(i64, u32), Flaw> {
    let seconds = reader.find(value, seconds).known()?;
    let nanoseconds = reader.find(value, nanoseconds).known()?;
    let nanoseconds = reader.find_integer(&nanoseconds).known()?;
    let seconds = reader.word(&seconds.contents)? as i64;
    let bytes = reader.bytes(&nanoseconds.contents, 4)?;
    match contents::extract_bits(&bytes, 0, 32) as u32 {
        nanoseconds @ 0..1_000_000_000 => Ok((seconds, nanoseconds)),
        nanoseconds => broken(format!("{nanoseconds} nanoseconds")),
    }
}

/// What stands behind a number of seconds: nothing, `.5`, `.000000001`.
fn fraction(nanoseconds: u32) -> String {
    match nanoseconds {
        0 => String::new(),
        _ => {
            let digits = format!(".{nanoseconds:09}");
            digits.trim_end_matches('0').to_owned()
        }
    }
}

/// Seconds since 1970 as a date of the Gregorian calendar and a time of day.
fn utc(seconds: i64, nanoseconds: u32) -> String {
    const DAY: i64 = 86_400;
    let (days, time) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    // Days are counted from the first of March of the year 0, so that a leap day is a year's last, in eras of 400 years.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = match month {
        0..10 => (month + 3, 0),
        _ => (month - 9, 1),
    };
    let year = era * 400 + year_of_era + next_year;
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    let fraction = fraction(nanoseconds);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{fraction} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_dates() {
        // As `date -u -d @N` says.
        for (seconds, nanoseconds, date) in [
            (0, 0, "1970-01-01 00:00:00 UTC"),
            (-1, 500_000_000, "1969-12-31 23:59:59.5 UTC"),
            (951_825_600, 0, "2000-02-29 12:00:00 UTC"),
            (1_709_251_199, 1, "2024-02-29 23:59:59.000000001 UTC"),
            (4_107_542_400, 0, "2100-03-01 00:00:00 UTC"),
            (-2_208_988_800, 0, "1900-01-01 00:00:00 UTC"),
            (-62_135_596_800, 0, "0001-01-01 00:00:00 UTC"),
        ] {
            assert_eq!(utc(seconds, nanoseconds), date);
        }
        for seconds in [i64::MIN, i64::MAX] {
            assert!(utc(seconds, 0).ends_with(" UTC"));
        }
    }
}
