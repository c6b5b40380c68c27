//! Parses a date with a time of day.

use crate::reject::Reason;
use crate::units::TimeUnit;

/// Reads a text such as `2016-02-22T11:25:45.123Z`. The date has `-` or `/`, and `T` or a blank
/// follows. A fraction of a second is optional. The text may end with `Z` or an offset from UTC
/// such as `+01:00`; without one the time is in UTC. Returns picoseconds since 1970.
pub(crate) fn date_time(text: &[u8]) -> Result<u128, Reason> {
    parse(text).ok_or(Reason::BadTime)
}

fn parse(text: &[u8]) -> Option<u128> {
    let mut rest = text;
    let year = digits(&mut rest, 4)?;
    let separator = one_of(&mut rest, b"-/")?;
    let month = digits(&mut rest, 2)?;
    one_of(&mut rest, &[separator])?;
    let day = digits(&mut rest, 2)?;
    one_of(&mut rest, b"Tt ")?;
    let hour = digits(&mut rest, 2)?;
    one_of(&mut rest, b":")?;
    let minute = digits(&mut rest, 2)?;
    one_of(&mut rest, b":")?;
    let second = digits(&mut rest, 2)?;
    // A leap second counts as the second after it.
    let in_range = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !in_range {
        return None;
    }
    let fraction_ps = if one_of(&mut rest, b".,").is_some() { fraction(&mut rest)? } else { 0 };
    let east_s = zone(rest)?;
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    let seconds = u128::try_from(seconds - east_s).ok()?;
    Some(seconds * u128::from(TimeUnit::Seconds.picoseconds()) + fraction_ps)
}

/// Reads exactly `count` digits.
fn digits(rest: &mut &[u8], count: usize) -> Option<i64> {
    let (head, tail) = rest.split_at_checked(count)?;
    *rest = tail;
    head.iter().try_fold(0, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0'))
    })
}

/// Reads one of these bytes.
fn one_of(rest: &mut &[u8], bytes: &[u8]) -> Option<u8> {
    let (first, tail) = rest.split_first()?;
    bytes.contains(first).then(|| {
        *rest = tail;
        *first
    })
}

/// Reads the digits after the point. Unit: picoseconds; further digits are dropped.
fn fraction(rest: &mut &[u8]) -> Option<u128> {
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (head, tail) = rest.split_at(count);
    *rest = tail;
    let kept = head.iter().copied().chain(std::iter::repeat(b'0')).take(12);
    (count > 0).then(|| kept.fold(0, |value, byte| value * 10 + u128::from(byte - b'0')))
}

/// Reads the offset from UTC to the east. Unit: seconds.
fn zone(mut rest: &[u8]) -> Option<i64> {
    if matches!(rest, b"" | b"Z" | b"z") {
        return Some(0);
    }
    let sign = if one_of(&mut rest, b"+-")? == b'+' { 1 } else { -1 };
    let hours = digits(&mut rest, 2)?;
    let minutes = if rest.is_empty() {
        0
    } else {
        one_of(&mut rest, b":");
        digits(&mut rest, 2)?
    };
    (rest.is_empty() && hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Number of days from 1970-01-01 to a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let leap_days = |year: i64| year / 4 - year / 100 + year / 400;
    let years = (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969);
    let months: i64 = (1..month).map(|month| days_of(year, month)).sum();
    years + months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_count_from_1970() {
        let seconds = |text: &str| date_time(text.as_bytes()).map(|ps| ps / 1_000_000_000_000);
        assert_eq!(seconds("1970-01-01 00:00:00"), Ok(0));
        assert_eq!(seconds("2016-02-22T11:25:45Z"), Ok(1_456_140_345));
        assert_eq!(seconds("2016/02/29 00:00:00"), Ok(1_456_704_000));
        assert_eq!(seconds("2000-03-01T00:00:00+01:30"), Ok(951_863_400));
        assert_eq!(seconds("2100-03-01T00:00:00-0100"), Ok(4_107_546_000));
        assert_eq!(date_time(b"1970-01-01T00:00:00.5"), Ok(500_000_000_000));
        assert_eq!(date_time(b"1970-01-01T00:00:01.0000000000019Z"), Ok(1_000_000_000_001));
        for bad in [
            "",
            "2016-02-22",
            "2016-02-30 00:00:00",
            "2015-02-29 00:00:00",
            "2016-13-01 00:00:00",
            "2016-02-22 24:00:00",
            "2016-02-22 11:25:45.",
            "2016-02-22 11:25:45 CET",
            "2016-02/22 11:25:45",
            "1969-12-31 23:59:59",
            "1970-01-01T00:00:00+00:01",
            "22.02.2016 11:25:45",
        ] {
            assert_eq!(seconds(bad), Err(Reason::BadTime), "{bad}");
        }
    }
}
