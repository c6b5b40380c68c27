//! Values in fio's notation.

/// Bytes: a number with `k`, `m`, `g` or `t` for powers of 1024, perhaps with a `b` behind, as fio
/// 3.33 reads them. (`ki` is the same there, but `kib` means 1000: such units are refused.)
pub(super) fn bytes(text: &str) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let end = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (number, unit) = lower.split_at(end);
    let shift = match unit {
        "" | "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Time in picoseconds; a bare number counts in `unit_ps`.
pub(super) fn time_ps(text: &str, unit_ps: u64) -> Option<u64> {
    const SECOND: u64 = 1_000_000_000_000;
    let lower = text.trim().to_ascii_lowercase();
    let end = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (number, unit) = lower.split_at(end);
    let scale = match unit {
        "" => unit_ps,
        "us" | "usec" => SECOND / 1_000_000,
        "ms" | "msec" => SECOND / 1_000,
        "s" | "sec" => SECOND,
        "m" | "min" => 60 * SECOND,
        "h" => 3600 * SECOND,
        "d" => 24 * 3600 * SECOND,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(scale)
}

pub(super) const SECOND_PS: u64 = 1_000_000_000_000;
pub(super) const MICROSECOND_PS: u64 = 1_000_000;

/// A value for reads, writes and trims, separated by commas. A value that is left out at the end
/// equals that of the direction before it. An empty value is `None`: fio's default.
pub(super) fn directions(text: &str) -> Option<[Option<&str>; 3]> {
    let mut parts =
        text.split(',').map(str::trim).map(|part| Some(part).filter(|it| !it.is_empty()));
    let read = parts.next()?;
    let write = parts.next().unwrap_or(read);
    let trim = parts.next().unwrap_or(write);
    let is_empty = text.trim().is_empty();
    (parts.next().is_none() && !is_empty).then_some([read, write, trim])
}

/// Percent, such as `40%`.
pub(super) fn percent(text: &str) -> Option<u32> {
    let number = text.trim().strip_suffix('%')?;
    number.parse().ok().filter(|percent| *percent <= 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024() {
        let cases = [
            ("4k", 4096),
            ("4KB", 4096),
            ("512", 512),
            ("2g", 2 << 30),
            ("1 ", 1),
            ("3t", 3 << 40),
        ];
        for (text, expected) in cases {
            assert_eq!(bytes(text), Some(expected), "{text}");
        }
        for bad in ["4kib", "4ki", "k", "", "-4k", "1.5m", "99999999999999999999", "99999999t"] {
            assert_eq!(bytes(bad), None, "{bad}");
        }
    }

    #[test]
    fn times_have_a_unit_of_their_own() {
        assert_eq!(time_ps("30", 1_000_000_000_000), Some(30_000_000_000_000));
        assert_eq!(time_ps("30", 1_000_000), Some(30_000_000));
        assert_eq!(time_ps("5ms", 1), Some(5_000_000_000));
        assert_eq!(time_ps("2h", 1), Some(7200 * 1_000_000_000_000));
        assert_eq!(time_ps("2y", 1), None);
        assert_eq!(time_ps("999999999d", 1), None);
    }

    #[test]
    fn percentages_end_with_their_sign() {
        assert_eq!((percent("40%"), percent("0 %"), percent("101%")), (Some(40), None, None));
        assert_eq!((percent("40"), percent("100%")), (None, Some(100)));
    }

    #[test]
    fn directions_are_separated_by_commas() {
        assert_eq!(directions("4k"), Some([Some("4k"); 3]));
        assert_eq!(directions("4k,8k"), Some([Some("4k"), Some("8k"), Some("8k")]));
        assert_eq!(directions("4k,"), Some([Some("4k"), None, None]));
        assert_eq!(directions(",8k, 1k"), Some([None, Some("8k"), Some("1k")]));
        assert_eq!(directions("1,2,3,4"), None);
    }
}
