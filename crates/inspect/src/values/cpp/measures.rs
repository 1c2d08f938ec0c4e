//! Durations, points in time and complex numbers.

use super::find;
use crate::values::view::View;
use crate::values::{Number, Reader, Value, names, number_of};
use dapple_symbols::types::Type;

/// The number in a value.
fn number(reader: &Reader<'_>, value: &Value) -> Option<Number> {
    let type_ = reader.resolve(value)?.type_;
    let bytes = reader.bytes(&value.contents, type_.size?.min(16)).ok()?;
    number_of(&type_, &bytes)
}

/// `chrono::duration`: its count, and its unit, which the last template argument says.
pub(super) fn duration(reader: &Reader<'_>, value: &Value, type_: &Type) -> Option<View> {
    let count = number(reader, &find(reader, value, &["__r", "__rep_"])?)?;
    let unit = unit(&type_.name)?;
    Some(View::Leaf(format!("{}{unit}", count.text())))
}

/// The unit of a duration by its type's name, as C++ prints it ([time.duration.io]).
fn unit(name: &str) -> Option<String> {
    let (numerator, denominator) = period(name)?;
    Some(match (numerator, denominator) {
        (1, 1) => "s".to_owned(),
        (1, 1_000) => "ms".to_owned(),
        (1, 1_000_000) => "µs".to_owned(),
        (1, 1_000_000_000) => "ns".to_owned(),
        (60, 1) => "min".to_owned(),
        (3600, 1) => "h".to_owned(),
        (86400, 1) => "d".to_owned(),
        (numerator, 1) => format!("[{numerator}]s"),
        (numerator, denominator) => format!("[{numerator}/{denominator}]s"),
    })
}

/// `duration<long, std::ratio<1, 1000> >` → 1, 1000. The default is a second.
fn period(name: &str) -> Option<(u64, u64)> {
    let duration = &name[name.find("duration<")?..];
    let arguments = names::arguments(duration);
    let Some(ratio) = arguments.get(1) else {
        return Some((1, 1));
    };
    let digits = |text: &String| {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let parts = names::arguments(ratio);
    let denominator = match parts.get(1) {
        Some(denominator) => digits(denominator)?,
        None => 1,
    };
    Some((digits(parts.first()?)?, denominator))
}

/// `chrono::time_point`: for the system's clock a date, for other clocks the time since their epoch.
pub(super) fn time_point(reader: &Reader<'_>, value: &Value, type_: &Type) -> Option<View> {
    let since = find(reader, value, &["__d", "__d_"])?;
    let count = number(reader, &find(reader, &since, &["__r", "__rep_"])?)?;
    let duration = reader.resolve(&since)?.type_;
    let clock = names::arguments(&type_.name).first()?.clone();
    let elapsed = format!("{}{}", count.text(), unit(&duration.name)?);
    let Number::Integer { value: count, .. } = count else {
        return Some(View::Leaf(elapsed));
    };
    let (numerator, denominator) = period(&duration.name)?;
    let (numerator, denominator) = (i128::from(numerator), i128::from(denominator));
    if !clock.ends_with("system_clock") {
        let digits = denominator.ilog10();
        let is_decimal = numerator == 1 && denominator == 10i128.pow(digits) && count >= 0;
        return Some(View::Leaf(match is_decimal {
            true => {
                let rest = decimals(count % denominator, digits as usize);
                format!("{}{rest}s", count / denominator)
            }
            false => elapsed,
        }));
    }
    let ticks = count.checked_mul(numerator)?;
    let seconds = ticks.div_euclid(denominator);
    // The fraction of a second, in the clock's resolution.
    let digits = denominator.ilog10() as usize;
    let rest = ticks.rem_euclid(denominator);
    let fraction = match denominator == 10i128.pow(digits as u32) && rest > 0 {
        true => decimals(rest, digits),
        false => String::new(),
    };
    Some(View::Leaf(match date(seconds) {
        // A clock that counts days shows no time.
        Some(date) if numerator % 86400 == 0 && denominator == 1 => {
            date.split(' ').next().unwrap_or_default().to_owned()
        }
        Some(date) => format!("{date}{fraction} UTC"),
        None => elapsed,
    }))
}

/// The digits after the decimal point, without trailing zeros.
fn decimals(rest: i128, digits: usize) -> String {
    match rest {
        0 => String::new(),
        rest => format!(".{rest:0digits$}").trim_end_matches('0').to_owned(),
    }
}

/// The date and time of seconds since 1970-01-01 in the Gregorian calendar. `None`: the year is implausible.
fn date(seconds: i128) -> Option<String> {
    const DAY: i128 = 86400;
    let (day, time) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    if !(-800_000..3_000_000).contains(&day) {
        return None;
    }
    // Howard Hinnant's civil_from_days: years begin in March, in eras of 400 years.
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i128::from(month <= 2);
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    Some(format!(
        "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"
    ))
}

/// `complex`: libc++'s has two members, libstdc++'s has one of the compiler's complex type.
pub(super) fn complex(reader: &Reader<'_>, value: &Value) -> Option<View> {
    if let Some(inner) = reader.field(value, "_M_value") {
        return Some(View::Alias(inner));
    }
    let part = |name: &str| Some(number(reader, &reader.field(value, name)?)?.text());
    let text = crate::values::scalars::complex(&part("__re_")?, &part("__im_")?);
    Some(View::Leaf(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_off_names() {
        for (name, expected) in [
            ("std::chrono::duration<long, std::ratio<1, 1000> >", "ms"),
            ("std::chrono::duration<long, std::ratio<1L, 1L> >", "s"),
            ("std::chrono::duration<double>", "s"),
            (
                "std::__1::chrono::duration<int, std::__1::ratio<1, 30> >",
                "[1/30]s",
            ),
            (
                "std::chrono::duration<int, std::ratio<604800> >",
                "[604800]s",
            ),
        ] {
            assert_eq!(unit(name).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_400, "2000-02-29 00:00:00"),
            (-1, "1969-12-31 23:59:59"),
            (1_714_567_890, "2024-05-01 12:51:30"),
        ] {
            assert_eq!(date(seconds).as_deref(), Some(expected));
        }
        assert_eq!(date(i128::from(i64::MAX)), None);
    }
}
