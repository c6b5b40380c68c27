//! The tenants as the workload file has them: copies of a flow are one kind.

use flashlane::config::FlowConfig;

use super::candidate::point;
use crate::sweep::Source;

/// A flow of the workload file, with its tenants.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kind {
    /// The name in the file.
    pub(super) name: String,
    /// The key of the flow, as `--set` takes it: `flow.NAME`, or `flow.NUMBER` where the name
    /// cannot be a part of a key.
    pub(super) key: String,
    /// The places of its tenants in the workload.
    pub(super) members: Vec<usize>,
}

/// The kinds of all tenants.
pub(super) fn kinds(flows: &[FlowConfig], source: &Source) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for (at, flow) in flows.iter().enumerate() {
        let name = original(flow, source);
        if let Some(known) = kinds.iter_mut().find(|kind| kind.name == name) {
            known.members.push(at);
            continue;
        }
        let key = match is_plain(&name) {
            true => format!("flow.{name}"),
            false => format!("flow.{}", kinds.len()),
        };
        kinds.push(Kind { name, key, members: vec![at] });
    }
    kinds
}

/// True if a name can be a part of a key, and is not taken for a number.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.chars().all(plain) && !name.chars().all(|c| c.is_ascii_digit())
}

/// The name that a flow has in the file: a copy has a number behind it.
fn original(flow: &FlowConfig, source: &Source) -> String {
    let copy = flow.name.rsplit_once('-').filter(|one| one.1.parse::<u32>().is_ok());
    let Some((base, _)) = copy.filter(|_| is_plain(&flow.name)) else { return flow.name.clone() };
    let class = serde_json::to_value(flow.priority).unwrap_or_default();
    let own = format!("flow.{}.priority={class}", flow.name);
    // Only a flow of the file has keys.
    let is_own = source.scenario(&point(&[own])).is_ok();
    if is_own { flow.name.clone() } else { base.to_owned() }
}

/// The kind of a tenant.
pub(super) fn kind_of(kinds: &[Kind], tenant: usize) -> &Kind {
    kinds.iter().find(|kind| kind.members.contains(&tenant)).expect("every tenant has a kind")
}
