//! Times of the standard library: `Duration` as `{:?}` writes it, `Instant` in seconds of its clock, `SystemTime` as a date. And `chrono`'s dates
//! and times.

use super::{Flaw, OrUnknownLayout, broken};
use crate::values::view::View;
use crate::values::{Reader, Value, contents};
use std::time::Duration;

/// `Duration`: `1.5s`.
pub(super) fn duration(reader: &Reader<'_>, value: &Value) -> Result<View, Flaw> {
    let (seconds, nanoseconds) = parts(reader, value, "secs", "nanos")?;
    let duration = Duration::new(seconds as u64, nanoseconds);
    Ok(text(format!("{duration:?}")))
}

/// `Instant`: seconds of the clock that counts from the start of the machine (`CLOCK_MONOTONIC`).
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
    let seconds = reader.number(&seconds.contents, 8)? as i64;
    let bytes = reader.bytes(&nanoseconds.contents, 4)?;
    match contents::extract_bits(&bytes, 0, 32) as u32 {
        nanoseconds @ 0..1_000_000_000 => Ok((seconds, nanoseconds)),
        nanoseconds => broken(format!("{nanoseconds} nanoseconds")),
    }
}

/// The fraction of a second: empty, `.5`, `.000000001`.
fn fraction(nanoseconds: u32) -> String {
    match nanoseconds {
        0 => String::new(),
        _ => {
            let digits = format!(".{nanoseconds:09}");
            digits.trim_end_matches('0').to_owned()
        }
    }
}

/// Seconds since 1970 as a date of the Gregorian calendar with the time of day.
fn utc(seconds: i64, nanoseconds: u32) -> String {
    const DAY: i64 = 86_400;
    let (days, time) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    // Counts days from March 1 of the year 0, so that a leap day is the last day of its year. An era has 400
    // years.
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
    let width = if year < 0 { 5 } else { 4 };
    format!("{year:0width$}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{fraction} UTC")
}

/// Seconds since 1970 as a date and a time of day: `2024-02-29T01:02:03`.
pub(crate) fn date_and_time(seconds: i64) -> String {
    let text = utc(seconds, 0);
    text.trim_end_matches(" UTC").replace(' ', "T")
}

/// Types of the crate `chrono`: dates, times of day, both, and both in a time zone.
pub(super) fn chrono(reader: &Reader<'_>, value: &Value, path: &str) -> Result<View, Flaw> {
    let number = |value: &Value, name: &str| -> Result<i32, Flaw> {
        let integer = reader.find(value, name).known()?;
        let integer = reader.find_integer(&integer).known()?;
        let bytes = reader.bytes(&integer.contents, 4)?;
        Ok(contents::extract_bits(&bytes, 0, 32) as u32 as i32)
    };
    let date = || {
        // The year, the ordinal day from 1, and four bits of flags.
        let packed = number(value, "yof")?;
        Ok::<i64, Flaw>(days(
            i64::from(packed >> 13),
            i64::from(packed >> 4 & 0x1ff),
        ))
    };
    let time = || {
        let (seconds, nanoseconds) = (number(value, "secs")?, number(value, "frac")?);
        match (seconds, nanoseconds) {
            // From 1,000,000,000 nanoseconds on, it is a leap second: the second 60.
            (0..86_400, 0..2_000_000_000) => Ok((i64::from(seconds), nanoseconds.unsigned_abs())),
            _ => broken(format!("{seconds} seconds of a day")),
        }
    };
    let both = |zone: i64| -> Result<(String, String), Flaw> {
        let (seconds, nanoseconds) = time()?;
        chrono_text(date()? * 86_400 + seconds + zone, nanoseconds).known()
    };
    Ok(self::text(match path {
        "chrono::naive::date::NaiveDate" => {
            let (day, _) = chrono_text(date()? * 86_400, 0).known()?;
            day
        }
        "chrono::naive::time::NaiveTime" => {
            let (seconds, nanoseconds) = time()?;
            let (_, time) = chrono_text(seconds, nanoseconds).known()?;
            time
        }
        "chrono::naive::datetime::NaiveDateTime" => {
            let (day, time) = both(0)?;
            format!("{day}T{time}")
        }
        "chrono::datetime::DateTime" => match number(value, "local_minus_utc") {
            Ok(offset @ -86_400..86_400) => {
                let (day, time) = both(offset.into())?;
                let sign = if offset < 0 { '-' } else { '+' };
                let minutes = offset.unsigned_abs() / 60;
                format!("{day}T{time}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
            Ok(offset) => return broken(format!("{offset} seconds from UTC")),
            Err(_) => {
                let (day, time) = both(0)?;
                format!("{day}T{time}Z")
            }
        },
        _ => return Err(Flaw::Layout),
    }))
}

/// The day and the time of day as `chrono` writes them: a sign before years with other than four digits, and a fraction of three, six or
/// nine digits. From 1,000,000,000 nanoseconds on, the second is a leap second.
fn chrono_text(seconds: i64, nanoseconds: u32) -> Option<(String, String)> {
    let text = utc(seconds, 0);
    let (day, time) = text.trim_end_matches(" UTC").split_once(' ')?;
    let is_long = !day.starts_with('-') && day.find('-') > Some(4);
    let sign = if is_long { "+" } else { "" };
    let (minutes, second) = time.rsplit_once(':')?;
    let (second, nanoseconds) = match nanoseconds.checked_sub(1_000_000_000) {
        Some(rest) => (format!("{:02}", second.parse::<u32>().ok()? + 1), rest),
        None => (second.to_owned(), nanoseconds),
    };
    let fraction = match nanoseconds {
        0 => String::new(),
        n if n % 1_000_000 == 0 => format!(".{:03}", n / 1_000_000),
        n if n % 1000 == 0 => format!(".{:06}", n / 1000),
        n => format!(".{n:09}"),
    };
    Some((
        format!("{sign}{day}"),
        format!("{minutes}:{second}{fraction}"),
    ))
}

/// The number of days from January 1, 1970 to a day of `year`; `day` is counted from 1.
fn days(year: i64, day: i64) -> i64 {
    let before = year - 1;
    let leap_days = before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400);
    before * 365 + leap_days + day - 719_163
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_dates() {
        // The expected dates are those of `date -u -d @N`.
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
