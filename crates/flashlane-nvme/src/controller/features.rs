//! Features that hosts get and set.

use std::collections::BTreeMap;

use crate::status::Status;

/// Arbitration.
const ARBITRATION: u8 = 0x01;
/// Power management.
const POWER: u8 = 0x02;
/// Temperature threshold.
const TEMPERATURE: u8 = 0x04;
/// How often a controller tries again before it gives up.
const ERROR_RECOVERY: u8 = 0x05;
/// Volatile write cache.
const WRITE_CACHE: u8 = 0x06;
/// Number of queues.
pub(crate) const QUEUES: u8 = 0x07;
/// Write atomicity.
const ATOMICITY: u8 = 0x0a;
/// Asynchronous event configuration.
const ASYNC_EVENTS: u8 = 0x0b;
/// Timestamp, which is data of 8 bytes.
pub(crate) const TIMESTAMP: u8 = 0x0e;
/// Keep alive timer.
pub(crate) const KEEP_ALIVE: u8 = 0x0f;
/// Host identifier, which is data of 16 bytes.
pub(crate) const HOST_IDENTIFIER: u8 = 0x81;

/// All features, with the value after a reset, and whether a host may change it.
const KNOWN: &[(u8, u32, bool)] = &[
    (ARBITRATION, 0x7, true),
    (POWER, 0, true),
    (TEMPERATURE, 0xffff, true),
    (ERROR_RECOVERY, 0, true),
    (WRITE_CACHE, 1, false),
    (QUEUES, 0, true),
    (ATOMICITY, 0, true),
    (ASYNC_EVENTS, 0, true),
    (KEEP_ALIVE, 0, true),
];

/// The features of a controller that are one dword.
#[derive(Clone, Debug)]
pub(crate) struct Features(BTreeMap<u8, u32>);

impl Features {
    /// The features after a reset.
    pub(crate) fn new(keep_alive_ms: u32) -> Self {
        let mut values: BTreeMap<u8, u32> = KNOWN.iter().map(|it| (it.0, it.1)).collect();
        values.insert(KEEP_ALIVE, keep_alive_ms);
        Self(values)
    }

    /// The value of a feature.
    pub(crate) fn get(&self, feature: u8) -> Result<u32, Status> {
        self.0.get(&feature).copied().ok_or(Status::INVALID_FIELD)
    }

    /// Sets a feature.
    pub(crate) fn set(&mut self, feature: u8, value: u32) -> Result<(), Status> {
        let known = KNOWN.iter().find(|it| it.0 == feature);
        let &(_, fixed, may_change) = known.ok_or(Status::INVALID_FIELD)?;
        if !may_change && value != fixed {
            return Err(Status::FEATURE_NOT_CHANGEABLE);
        }
        if feature == POWER && value & 0x1f != 0 {
            return Err(Status::INVALID_FIELD); // There is one power state.
        }
        self.0.insert(feature, value);
        Ok(())
    }

    /// Milliseconds within which a host must be heard of; 0 for no limit.
    pub(crate) fn keep_alive_ms(&self) -> u32 {
        self.0.get(&KEEP_ALIVE).copied().unwrap_or_default()
    }
}

/// What the host gets for the number of queues that it asks for, 0-based in both halves.
pub(crate) fn granted(wanted: u32, most: u16) -> Result<u32, Status> {
    let (submission, completion) = (wanted as u16, (wanted >> 16) as u16);
    if submission == u16::MAX || completion == u16::MAX {
        return Err(Status::INVALID_FIELD);
    }
    let given = |queues: u16| u32::from(queues.min(most.saturating_sub(1)));
    Ok(given(submission) | given(completion) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_kept_or_refused() {
        let mut features = Features::new(5000);
        assert_eq!(features.keep_alive_ms(), 5000);
        assert_eq!(features.set(ARBITRATION, 0x0102_0304), Ok(()));
        assert_eq!(features.get(ARBITRATION), Ok(0x0102_0304));
        assert_eq!(features.set(WRITE_CACHE, 0), Err(Status::FEATURE_NOT_CHANGEABLE));
        assert_eq!(features.set(WRITE_CACHE, 1), Ok(()));
        assert_eq!(features.set(POWER, 1), Err(Status::INVALID_FIELD));
        assert_eq!(features.set(0x7f, 0), Err(Status::INVALID_FIELD));
        assert_eq!(features.get(0x7f), Err(Status::INVALID_FIELD));
    }

    #[test]
    fn queues_are_granted_up_to_the_limit() {
        assert_eq!(granted(1 | 1 << 16, 8), Ok(1 | 1 << 16));
        assert_eq!(granted(63 | 31 << 16, 8), Ok(7 | 7 << 16));
        assert_eq!(granted(0xffff, 8), Err(Status::INVALID_FIELD));
    }
}
