//! A placement handle for each tenant: a change of a drive that studies and pages try.

use flashlane_device::config::{DeviceConfig, HandleIsolation};
use flashlane_device::ftl::superblocks::Superblock;

use crate::validate::HANDLES;

/// Settings that give each tenant a placement handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandleEach {
    /// What collection does with the data of different handles.
    pub isolation: HandleIsolation,
    /// The change, in words.
    pub label: String,
    /// The keys, as `--set` takes them.
    pub sets: Vec<String>,
}

/// Both ways to give each tenant a placement handle. There are none where the drive offers handles
/// already or has no superblocks, and where fewer than two tenants, or more than there can be
/// handles, share it. `flows`: the keys of the tenants, as `flow.backup` or `flow[0]`.
#[must_use]
pub fn handle_each(device: &DeviceConfig, flows: &[String]) -> Vec<HandleEach> {
    let fits = device.placement.is_off() && device.ftl.superblock != Superblock::Block;
    let handles = u32::try_from(flows.len()).unwrap_or(u32::MAX);
    if !fits || handles < 2 || !HANDLES.contains(&handles) {
        return Vec::new();
    }
    let of = |isolation, name: &str| {
        let mut sets = vec![
            "placement.mode=fdp".to_owned(),
            format!("placement.handles={handles}"),
            format!("placement.isolation={name}"),
        ];
        let flows = (0..).zip(flows);
        sets.extend(flows.map(|(handle, flow): (u32, _)| format!("{flow}.placement={handle}")));
        let label = format!("a placement handle for each tenant, {name} isolated");
        HandleEach { isolation, label, sets }
    };
    vec![
        of(HandleIsolation::Initially, "initially"),
        of(HandleIsolation::Persistently, "persistently"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Overrides, device_from_toml};

    #[test]
    fn a_drive_with_superblocks_and_without_handles_can_offer_them() {
        let of = |toml: &str, tenants: usize| {
            let device = device_from_toml(toml, "device", &Overrides::default()).expect("valid");
            let flows: Vec<String> = (0..tenants).map(|flow| format!("flow[{flow}]")).collect();
            handle_each(&device.config, &flows)
        };
        let superblocks = "base = 'tiny'\nftl.superblock = 'drive'\n";
        let found = of(superblocks, 2);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].label, "a placement handle for each tenant, persistently isolated");
        assert_eq!(
            found[1].sets,
            [
                "placement.mode=fdp",
                "placement.handles=2",
                "placement.isolation=persistently",
                "flow[0].placement=0",
                "flow[1].placement=1",
            ]
        );
        assert!(of(superblocks, 1).is_empty(), "one tenant is alone anyway");
        assert!(of(superblocks, *HANDLES.end() as usize + 1).is_empty(), "too many tenants");
        assert!(of("base = 'tiny'\n", 2).is_empty(), "a block of a plane is no reclaim unit");
        let placed = format!("{superblocks}placement.mode = 'fdp'\n");
        assert!(of(&placed, 2).is_empty(), "there are handles");
    }
}
