//! Numbers as text.

/// The text of a figure, with a star where the drive does not keep up with the flow.
#[must_use]
pub fn starred(text: String, saturated: bool) -> String {
    if saturated && text != "–" { text + "*" } else { text }
}

/// A number with three or four digits that say something.
#[must_use]
pub fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if value == 0.0 => "0".to_owned(),
        1e9.. => format!("{:.3}G", value / 1e9),
        1e6.. => format!("{:.3}M", value / 1e6),
        1e4.. => format!("{:.1}k", value / 1e3),
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        0.01.. => format!("{value:.2}"),
        _ => format!("{value:.1e}"),
    }
}

/// A time in the unit that fits. Input: microseconds.
#[must_use]
pub fn time(us: f64) -> String {
    match us.abs() {
        1e6.. => format!("{} s", number(us / 1e6)),
        1e3.. => format!("{} ms", number(us / 1e3)),
        _ if us == 0.0 => "0".to_owned(),
        1.0.. => format!("{} µs", number(us)),
        _ => format!("{} ns", number(us * 1e3)),
    }
}

/// A share in percent, with a digit behind the point where it is small.
#[must_use]
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value != 0.0 && value < 0.95 { format!("{value:.1} %") } else { format!("{value:.0} %") }
}

/// A cause in words.
#[must_use]
pub fn cause(name: &str) -> String {
    match name {
        "read" | "program" | "erase" => format!("{name}s"),
        _ => name.replace('_', " "),
    }
}
