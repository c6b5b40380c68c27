//! Parses times and counts of the command line.

use flashlane::Warmup;
use flashlane::config::units::Span;
use flashlane::metrics::steady::Round;

/// A length of a round: a time or a number of requests, above 0.
pub(super) fn parse_round(text: &str) -> Result<Round, String> {
    match parse_warmup(text)? {
        Warmup::Time(span) if span > 0 => Ok(Round::Time(span)),
        Warmup::Requests(count) if count > 0 => Ok(Round::Requests(count)),
        _ => Err("allowed: above 0".to_owned()),
    }
}

/// A time above 0.
pub(crate) fn parse_window(text: &str) -> Result<Span, String> {
    match text.parse::<Span>() {
        Ok(span) if span.0 > 0 => Ok(span),
        Ok(_) => Err("allowed: above 0".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// A time or a number of requests.
pub(super) fn parse_warmup(text: &str) -> Result<Warmup, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        return text.parse().map(Warmup::Requests).map_err(|error| error.to_string());
    }
    match text.parse::<Span>() {
        Ok(span) => Ok(Warmup::Time(span.0)),
        Err(error) => Err(format!("{error}, or a number of requests, for example 1000")),
    }
}
