//! Reads the keys of a job one by one.

use super::Notes;
use super::sections::{Entry, Section};
use super::values::{bytes, percent};
use crate::FioExtent;
use flashlane_units::ByteSize;

/// A job while its keys are read.
pub(super) struct Reader<'a> {
    pub(super) section: &'a Section,
    pub(super) notes: &'a mut Notes,
}

impl Reader<'_> {
    pub(super) fn entry(&self, key: &str) -> Option<Entry> {
        self.section.entries.get(key).cloned()
    }

    pub(super) fn line(&self, key: &str) -> usize {
        self.entry(key).map_or(self.section.line, |entry| entry.line)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.section.entries.contains_key(key)
    }

    pub(super) fn refuse(&mut self, key: &str, message: String) {
        let line = self.line(key);
        self.notes.refuse(line, key, message);
    }

    /// The value of a key, parsed by `read`.
    pub(super) fn value<T>(
        &mut self,
        key: &str,
        allowed: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let entry = self.entry(key)?;
        let text = entry.value.as_deref().unwrap_or("");
        let value = read(text);
        if value.is_none() {
            let found = entry.value.as_ref().map_or("no value".to_owned(), |v| format!("{v:?}"));
            self.refuse(key, format!("found {found}, allowed: {allowed}"));
        }
        value
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.entry(key).and_then(|entry| entry.value)
    }

    /// A key that may stand alone.
    pub(super) fn flag(&mut self, key: &str) -> bool {
        self.section.entries.get(key).is_some_and(|entry| entry.value.is_none())
            || self.value(key, "0 or 1", |text| match text {
                "" | "1" => Some(true),
                "0" => Some(false),
                _ => None,
            }) == Some(true)
    }

    pub(super) fn number(
        &mut self,
        key: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Option<u64> {
        let text = format!("a whole number from {} to {}", range.start(), range.end());
        self.value(key, &text, |text| text.parse().ok().filter(|number| range.contains(number)))
    }

    /// A size in bytes, in percent of the file, or in zones.
    pub(super) fn extent(&mut self, key: &str) -> Option<FioExtent> {
        let allowed = "bytes, such as 4096, 4k, 1m or 2g (powers of 1024), a share, such as 40%, or zones, such as \
                       4z, beside zonesize or zonemode=zbd";
        let zone = self.text("zonesize").and_then(|size| bytes(&size));
        let is_zoned = self.text("zonemode").as_deref() == Some("zbd");
        let zones = |count: u64| match zone {
            Some(zone) => FioExtent::Zones(count).in_zones(zone),
            None => FioExtent::Zones(count),
        };
        self.value(key, allowed, |text| match text.trim().strip_suffix(['z', 'Z']) {
            Some(count) if zone.is_some() || is_zoned => count.parse().ok().map(zones),
            Some(_) => None,
            None if text.contains('%') => percent(text).map(FioExtent::Percent),
            None => bytes(text).map(|bytes| FioExtent::Bytes(ByteSize(bytes))),
        })
    }

    pub(super) fn size(&mut self, key: &str) -> Option<u64> {
        self.value(key, "bytes, such as 4096, 4k, 1m or 2g (powers of 1024)", bytes)
    }
}
