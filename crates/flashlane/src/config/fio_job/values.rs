//! Values as fio writes them.

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

/// A value that may be given for reads, writes and trims, separated by commas: the one for all that
/// matter.
pub(super) fn one_of_directions<'a>(
    text: &'a str,
    (reads, writes, trims): (bool, bool, bool),
) -> Option<&'a str> {
    let mut parts = text.split(',').map(str::trim);
    let read = parts.next().unwrap_or_default();
    let filled =
        |part: Option<&'a str>, other| part.filter(|part| !part.is_empty()).unwrap_or(other);
    let write = filled(parts.next(), read);
    let trim = filled(parts.next(), write);
    let wanted = [(reads, read), (writes, write), (trims, trim)];
    let mut wanted = wanted.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, value)| value);
    let first = wanted.next()?;
    (parts.next().is_none() && wanted.all(|value| value == first)).then_some(first)
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
    fn directions_must_agree_where_both_are_used() {
        let both = (true, true, false);
        assert_eq!(one_of_directions("4k", both), Some("4k"));
        assert_eq!(one_of_directions("4k,4k", both), Some("4k"));
        assert_eq!(one_of_directions("4k,8k", both), None);
        assert_eq!(one_of_directions("4k,8k", (true, false, false)), Some("4k"));
        assert_eq!(one_of_directions("4k,8k", (false, true, false)), Some("8k"));
        assert_eq!(one_of_directions(",8k", (false, true, false)), Some("8k"));
        assert_eq!(one_of_directions("4k,8k,1k", (false, false, true)), Some("1k"));
        assert_eq!(one_of_directions("1,2,3,4", both), None);
    }
}
