//! The order in which the released MQSim starts its flows.
//!
//! The release keeps the objects of a simulation in a `std::unordered_map` by name, and starts them
//! as an iterator meets them. So the order of its flows depends on the number of objects and on
//! their names. The names here are those with which a build of the release fills its map (the
//! arguments of `Engine::AddObject`, seen in a debugger). The map is that of the GNU C++ library on
//! 64-bit machines: all nodes form one list. A node goes to the front of its bucket, or to the
//! front of the list where its bucket is empty. When the map grows, it takes its nodes over in the
//! order of the list, by the same rule. The hash of a name is MurmurHash64A.

use flashlane_config::{DeviceConfig, MqsimFlowConfig, WorkloadConfig};
use flashlane_units::FlowId;

/// Multiplier of the hash.
const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
/// Seed of the hash.
const SEED: u64 = 0xc70f_6907;
/// Numbers of buckets: the map grows to the next one when it is to hold more nodes than buckets.
/// The last one is enough for the chips and flows of any configuration.
const BUCKETS: [u64; 16] =
    [1, 13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172_933, 351_061];

/// The flows of a workload in the order in which they start: that of the release where the device
/// wants it, otherwise that of the workload.
pub(crate) fn of_flows(device: &DeviceConfig, workload: &WorkloadConfig) -> Vec<FlowId> {
    if !device.compat.random_generators {
        return (0..workload.flows.len()).map(FlowId::at).collect();
    }
    let names = workload.flows.iter().enumerate().map(|(number, flow)| match &flow.mqsim {
        Some(MqsimFlowConfig::Trace(trace)) => {
            format!("Host.IO_Flow.Trace.{}", trace.path.display())
        }
        _ => format!("Host.IO_Flow.Synth.No_{number}"),
    });
    let chips = (device.flash.channels, device.flash.chips_per_channel);
    of_names(chips, names).into_iter().map(FlowId::at).collect()
}

/// The order of flows with these names. `chips`: channels, and chips of each.
fn of_names((channels, chips): (u32, u32), names: impl Iterator<Item = String>) -> Vec<usize> {
    let mut map = ObjectMap::new();
    map.insert("SSDDevice");
    for channel in 0..channels {
        for chip in 0..chips {
            map.insert(&format!("SSDDevice.Channel.{channel}.Chip.{chip}"));
        }
    }
    for name in [
        "SSDDevice.PHY",
        "SSDDevice.FTL",
        "SSDDevice.FTL.TSU",
        "SSDDevice.FTL.AddressMappingUnit",
        "SSDDevice.FTL.GCandWLUnit",
        "SSDDevice.DataCache",
        "SSDDevice.HostInterface",
        "Host",
        "Host.PCIeLink",
    ] {
        map.insert(name);
    }
    let first = map.len();
    names.for_each(|name| map.insert(&name));
    map.iter().filter_map(|object| object.checked_sub(first)).collect()
}

/// The hash of a name, as `std::hash<std::string>` of the GNU C++ library has it.
fn hash(name: &str) -> u64 {
    let mix = |word: u64| word ^ word >> 47;
    let mut hash = SEED ^ (name.len() as u64).wrapping_mul(MULTIPLIER);
    let (words, rest) = name.as_bytes().as_chunks::<8>();
    for &word in words {
        let word = mix(u64::from_le_bytes(word).wrapping_mul(MULTIPLIER));
        hash = (hash ^ word.wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER);
    }
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(MULTIPLIER);
    }
    mix(mix(hash).wrapping_mul(MULTIPLIER))
}

/// Place of a node in [`ObjectMap::nodes`].
type Place = usize;

/// The place before the first node of the list.
const HEAD: Place = 0;

/// A node of the list.
struct Node {
    hash: u64,
    /// The node behind it.
    next: Option<Place>,
}

/// A map by name, as far as the order of its objects goes.
struct ObjectMap {
    /// The nodes by order of insertion, behind the head of the list.
    nodes: Vec<Node>,
    /// By bucket: the node before its first one; `None` if the bucket is empty.
    before: Vec<Option<Place>>,
}

impl ObjectMap {
    fn new() -> Self {
        Self { nodes: vec![Node { hash: 0, next: None }], before: vec![None] }
    }

    /// Number of objects.
    fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Adds an object whose name is new.
    fn insert(&mut self, name: &str) {
        // A map that has never grown has one bucket and no room.
        if self.len() == self.before.len() || self.len() == 0 {
            self.grow();
        }
        self.nodes.push(Node { hash: hash(name), next: None });
        self.link(self.len());
    }

    fn bucket(&self, at: Place) -> usize {
        (self.nodes[at].hash % self.before.len() as u64) as usize
    }

    /// Puts a node into the list.
    fn link(&mut self, at: Place) {
        let bucket = self.bucket(at);
        let before = self.before[bucket].unwrap_or(HEAD);
        self.nodes[at].next = self.nodes[before].next.replace(at);
        if self.before[bucket].is_none() {
            self.before[bucket] = Some(HEAD);
            if let Some(second) = self.nodes[at].next {
                let bucket = self.bucket(second);
                self.before[bucket] = Some(at);
            }
        }
    }

    fn grow(&mut self) {
        let buckets = BUCKETS.iter().find(|&&buckets| buckets > self.before.len() as u64);
        self.before = vec![None; *buckets.expect("a drive has fewer objects") as usize];
        let mut rest = self.nodes[HEAD].next.take();
        while let Some(at) = rest {
            rest = self.nodes[at].next;
            self.link(at);
        }
    }

    /// The objects in the order of an iterator, each as the number of those that came before it.
    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let from = |at: Place| self.nodes[at].next;
        std::iter::successors(from(HEAD), move |&at| from(at)).map(|at| at - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a drive of channels with one chip each.
    fn order(chips: u32, flows: usize) -> Vec<usize> {
        of_names((chips, 1), (0..flows).map(|flow| format!("Host.IO_Flow.Synth.No_{flow}")))
    }

    #[test]
    fn flows_start_as_in_the_release() {
        // Measured with the release: channels of one chip each.
        for (flows, chips, started) in [
            (4, 1..=13, "3210"),
            (4, 14..=14, "3102"),
            (4, 19..=20, "2103"),
            (4, 21..=45, "2031"),
            (4, 49..=49, "0132"),
            (3, 1..=13, "210"),
            (3, 14..=16, "102"),
            (3, 21..=46, "201"),
            (3, 49..=49, "012"),
            (2, 1..=20, "10"),
            (2, 21..=47, "01"),
            (1, 1..=49, "0"),
        ] {
            for chips in chips {
                let order: String = order(chips, flows).iter().map(usize::to_string).collect();
                assert_eq!(order, started, "{flows} flows on {chips} chips");
            }
        }
    }

    #[test]
    fn every_flow_starts_once_on_any_drive() {
        for (chips, flows) in [(4096, 8), (2, 1024), (1, 1)] {
            let mut order = order(chips, flows);
            order.sort_unstable();
            assert!(order.into_iter().eq(0..flows));
        }
    }

    #[test]
    fn names_are_hashed_as_the_library_does() {
        // Printed by a program of three lines that was compiled with GNU C++ 12.
        for (name, expected) in [
            ("", 0x553e_9390_1e46_2a6e),
            ("Host", 0xe19e_05b3_8d1c_9354),
            ("SSDDevice", 0xb5ba_4e81_575d_6ed0),
            ("SSDDevice.PHY", 0x2514_05e4_cc1e_a5dd),
            ("Host.PCIeLink", 0x942a_1808_776c_cb43),
            ("Host.IO_Flow.Synth.No_0", 0xcdd6_2883_d4ff_7b46),
        ] {
            assert_eq!(hash(name), expected, "{name}");
        }
    }
}
