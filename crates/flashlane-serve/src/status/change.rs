//! Changes that a live page asks for: the limits of a tenant.

use flashlane::Time;
use flashlane_nvme::{Media, TenantLimit};
use serde::Deserialize;

/// Largest number of commands a second.
const IOPS_MAX: u64 = 1_000_000_000;

/// Smallest and largest rate of data. Unit: megabytes a second.
const MB_PER_S: std::ops::RangeInclusive<f64> = 0.01..=1e6;

/// The body of a change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    tenant: String,
    #[serde(default)]
    iops: Option<u64>,
    #[serde(default)]
    mb_per_s: Option<f64>,
}

/// Secret words that only who started the server knows.
pub(super) fn token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// True if the words are equal. How long it takes tells nothing about where they differ.
pub(super) fn is_token(found: &str, token: &str) -> bool {
    let differing = found.bytes().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    found.len() == token.len() && differing == 0
}

/// Sets the limits of a tenant, from `at` on.
pub(super) fn apply(media: &mut Media, at: Time, body: &[u8]) -> Result<(), String> {
    let change: Change = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let tenants = &media.config().tenants;
    let tenant = tenants.iter().position(|it| it.name == change.tenant);
    let tenant = tenant.ok_or("tenant: found another name, allowed: those of the page")?;
    if change.iops.is_some_and(|it| !(1..=IOPS_MAX).contains(&it)) {
        return Err(format!("iops: allowed: 1 to {IOPS_MAX}, null"));
    }
    if change.mb_per_s.is_some_and(|it| !MB_PER_S.contains(&it)) {
        return Err("mb_per_s: allowed: 0.01 to 1000000, null".to_owned());
    }
    let bytes_per_s = change.mb_per_s.map(|rate| (rate * 1e6).round() as u64);
    media.set_limit(at, tenant, TenantLimit { iops: change.iops, bytes_per_s });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_are_told_apart() {
        let [one, other] = [token(), token()].map(|it| it.expect("random bytes"));
        assert_eq!((one.len(), one != other), (32, true));
        assert!(is_token(&one, &one) && !is_token(&other, &one));
        assert!(!is_token("", &one) && !is_token(&one[..31], &one));
    }
}
