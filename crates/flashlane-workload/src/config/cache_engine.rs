//! Configuration of a flow that writes as a cache engine on flash does.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parts::PartConfig;
use super::synthetic::{AddressConfig, SizeConfig, SyntheticConfig};
use flashlane_units::{ByteSize, Ratio};

/// A cache engine on flash. Small objects share buckets, which are overwritten at random places at
/// the start of the flow's space. Large objects are in a log, which is written in sequence over the
/// rest of the space. Popularity is left out: an object's hash decides about its bucket, so that
/// buckets are about equally popular.
///
/// Source: CacheLib as WARP (FAST'26) runs it, with buckets of `BigHash` and a log-structured cache
/// of large objects. A default is published where its key says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheEngineConfig {
    /// Share of the flow's space for buckets of small objects, from its start. 0: all objects are
    /// large, whatever the other keys of small ones say. Range: 0..1. Default: 4%; WARP (FAST'26)
    /// has 0, 4, 20 and 40%.
    pub small_space: Ratio,
    /// Size of a bucket: that of all reads and writes of small objects. Default: 4KiB, as in WARP
    /// (FAST'26).
    pub bucket: ByteSize,
    /// Share of small objects among the bytes that are written. Range: above 0, below 1. Default:
    /// 50%. WARP (FAST'26) publishes none; this one value is fitted to six of its amplifications.
    pub small_bytes: Ratio,
    /// Size of a write to the log of large objects. Default: 128KiB, our choice.
    pub large_write: ByteSize,
    /// Share of reads among all requests. Range: 0..=1. Default: 0, our choice.
    pub read_ratio: Ratio,
    /// Share of small objects among the reads. Range: 0..=1. Default: 50%, our choice.
    pub small_reads: Ratio,
    /// Size of a read of a large object, which may be anywhere in the log. Default: 4KiB, our
    /// choice.
    pub large_read: ByteSize,
    /// Placement identifier of the writes of small objects, instead of that of the flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small_placement: Option<u16>,
    /// Placement identifier of the writes of large objects, instead of that of the flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub large_placement: Option<u16>,
    /// The flow first writes its whole space once, in order: first the buckets, then the log.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fill_first: bool,
}

impl Default for CacheEngineConfig {
    fn default() -> Self {
        Self {
            small_space: Ratio(0.04),
            bucket: ByteSize(4 << 10),
            small_bytes: Ratio(0.5),
            large_write: ByteSize(128 << 10),
            read_ratio: Ratio(0.0),
            small_reads: Ratio(0.5),
            large_read: ByteSize(4 << 10),
            small_placement: None,
            large_placement: None,
            fill_first: false,
        }
    }
}

impl CacheEngineConfig {
    /// The engine as parts of a flow: writes of small objects and of large ones, then reads of
    /// both. Parts without requests are left out.
    #[must_use]
    pub fn parts(&self) -> Vec<PartConfig> {
        let [written, read] = self.bytes();
        let small = |share| PartConfig {
            end: self.small_space,
            size: SizeConfig::Fixed(self.bucket),
            ..PartConfig::of_share(share)
        };
        let large = |share, size| PartConfig {
            start: self.small_space,
            size: SizeConfig::Fixed(size),
            ..PartConfig::of_share(share)
        };
        let writes =
            |part, placement| PartConfig { placement, fill_first: self.fill_first, ..part };
        let reads = |part| PartConfig { read_ratio: Ratio(1.0), ..part };
        let log =
            PartConfig { address: AddressConfig::Streaming, ..large(written[1], self.large_write) };
        let mut parts = vec![
            writes(small(written[0]), self.small_placement),
            writes(log, self.large_placement),
            reads(small(read[0])),
            reads(large(read[1], self.large_read)),
        ];
        parts.retain(|part| part.share > 0.0);
        parts
    }

    /// Bytes of small and of large objects that are written, and that are read, relative to each
    /// other.
    fn bytes(&self) -> [[f64; 2]; 2] {
        let of_small = |share: Ratio| if self.small_space.0 > 0.0 { share.0 } else { 0.0 };
        let (written, read) = (of_small(self.small_bytes), of_small(self.small_reads));
        let size = |size: ByteSize| size.0 as f64;
        let written = [written, 1.0 - written];
        // Requests: `read_ratio` counts those.
        let writes = written[0] / size(self.bucket) + written[1] / size(self.large_write);
        let (writes, reads) = match self.read_ratio.0 {
            1.0 => (0.0, 1.0),
            ratio => (1.0, writes * ratio / (1.0 - ratio)),
        };
        let read = [read * size(self.bucket), (1.0 - read) * size(self.large_read)];
        [written.map(|bytes| bytes * writes), read.map(|bytes| bytes * reads)]
    }
}

impl SyntheticConfig {
    /// True if each request is one of several kinds.
    #[must_use]
    pub fn has_parts(&self) -> bool {
        !self.parts.is_empty() || self.cache_engine.is_some()
    }

    /// The parts of the requests: those that are given, or those of a cache engine.
    #[must_use]
    pub fn request_parts(&self) -> Cow<'_, [PartConfig]> {
        match &self.cache_engine {
            Some(engine) => Cow::Owned(engine.parts()),
            None => Cow::Borrowed(&self.parts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(text: &str) -> SyntheticConfig {
        toml::from_str(&format!("queue_depth = 1\n{text}")).expect("a flow")
    }

    fn engine(text: &str) -> Vec<PartConfig> {
        flow(&format!("[cache_engine]\n{text}")).request_parts().into_owned()
    }

    /// Share of the requests of each part.
    fn requests(parts: &[PartConfig]) -> Vec<f64> {
        let of = |part: &PartConfig| part.share / part.size.largest() as f64;
        let all: f64 = parts.iter().map(of).sum();
        parts.iter().map(|part| of(part) / all).collect()
    }

    #[test]
    fn an_engine_is_the_parts_that_one_would_give() {
        let given = flow(
            "[[parts]]\nshare = 0.5\nplacement = 1\nend = 0.2\nfill_first = true\n\
             [[parts]]\nshare = 0.5\nplacement = 0\nstart = 0.2\nsize = '128KiB'\n\
             address = 'streaming'\nfill_first = true",
        );
        let keys = "small_space = 0.2\nsmall_placement = 1\nlarge_placement = 0\nfill_first = true";
        assert_eq!(engine(keys), given.parts);
        assert_eq!(given.request_parts(), given.parts);
    }

    #[test]
    fn reads_have_their_share_of_the_requests() {
        let parts = engine("read_ratio = 0.8\nsmall_reads = 0.75\nlarge_read = '16KiB'");
        let shares = requests(&parts);
        let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-12, "{shares:?}");
        near(shares[0] + shares[1], 0.2);
        near(shares[0] / shares[1], 32.0);
        near(shares[2], 0.6);
        near(shares[3], 0.2);
        assert!(parts[2..].iter().all(|part| part.read_ratio == Ratio(1.0)));
        assert_eq!(engine("read_ratio = 1.0").len(), 2, "no writes");
    }

    #[test]
    fn an_engine_may_have_no_small_objects() {
        let parts = engine("small_space = 0.0\nread_ratio = 0.5");
        assert_eq!(parts.len(), 2);
        assert!(parts.iter().all(|part| part.start == Ratio(0.0) && part.end == Ratio(1.0)));
        assert_eq!(requests(&parts), [0.5, 0.5]);
    }
}
