//! Numbers and promises of tenants: `count = 3` becomes three flows, and `--slo` of the command
//! line goes to the flow that it names.

use toml::Value;

use crate::validate::FLOWS;
use crate::{FlowConfig, WorkloadConfig};
use flashlane_reading::{self, Draft};
use flashlane_reading::{Error, Problem};

/// Replaces each flow by as many copies as `counts` or its `count` say. False if no flow has a
/// count.
pub(super) fn multiply(
    draft: &mut Draft,
    config: &WorkloadConfig,
    counts: &[(String, u32)],
) -> Result<bool, Error> {
    let wish = |flow: &FlowConfig| {
        let wish = counts.iter().rev().find(|(name, _)| *name == flow.name);
        wish.map(|&(_, count)| count).or(flow.count)
    };
    let wishes: Vec<Option<u32>> = config.flows.iter().map(wish).collect();
    if wishes.iter().all(Option::is_none) {
        return Ok(false);
    }
    let copies = wishes.iter().enumerate().map(|(index, &count)| copies(draft, index, count));
    let copies = copies.collect::<Result<Vec<usize>, Error>>()?;
    let Some(Value::Array(written)) = draft.value.remove("flow") else { return Ok(false) };
    let places = draft.places.clone();
    draft.places.remove_below("flow");
    draft.places.take_over_one("flow", &places);
    let mut flows = Vec::new();
    for (index, (flow, count)) in written.into_iter().zip(copies).enumerate() {
        for copy in 1..=count {
            let to = format!("flow[{}]", flows.len());
            draft.places.take_over_as(&format!("flow[{index}]"), &places, &to);
            let mut flow = flow.clone();
            if let (Value::Table(keys), Some(_)) = (&mut flow, wishes[index]) {
                keys.remove("count");
                let name = format!("{}-{copy}", config.flows[index].name);
                keys.insert("name".to_owned(), Value::String(name));
            }
            flows.push(flow);
        }
    }
    draft.value.insert("flow".to_owned(), Value::Array(flows));
    Ok(true)
}

/// Number of copies of a flow.
fn copies(draft: &Draft, index: usize, count: Option<u32>) -> Result<usize, Error> {
    let count = count.unwrap_or(1) as usize;
    if FLOWS.contains(&count) {
        return Ok(count);
    }
    let place = draft.places.locate(&format!("flow[{index}].count"));
    Err(Error::config(place, format!("found {count}, allowed: 1 to {}", FLOWS.end())))
}

/// Applies `--slo FLOW:GOAL=VALUE[,GOAL=VALUE…]`. A flow with a `count` is named as in the file.
pub(super) fn promise(
    draft: &mut Draft,
    config: &WorkloadConfig,
    promises: &[String],
) -> Result<bool, Error> {
    let mut problems = Vec::new();
    for text in promises {
        problems.extend(promise_one(draft, config, text).err());
    }
    if problems.is_empty() { Ok(!promises.is_empty()) } else { Err(Error::Config(problems)) }
}

fn promise_one(draft: &mut Draft, config: &WorkloadConfig, text: &str) -> Result<(), Problem> {
    let place = format!("--slo {text}");
    let refuse = |message: String| Problem { place: place.clone(), message };
    let unclear = || refuse("write FLOW:GOAL=VALUE, for example reader:p99=1ms".to_owned());
    let (name, goals) = text.rsplit_once(':').ok_or_else(unclear)?;
    let names: Vec<&str> = config.flows.iter().map(|flow| flow.name.as_str()).collect();
    let index = names.iter().position(|&one| one == name).ok_or_else(|| {
        refuse(format!("no flow is named `{name}`; {}", flashlane_reading::allowed(name, &names)))
    })?;
    for goal in goals.split(',') {
        let (key, value) = goal.split_once('=').ok_or_else(unclear)?;
        let value = flashlane_reading::parse_value(value.trim());
        draft.set(&format!("flow[{index}].slo.{}", key.trim()), value, &place)?;
    }
    Ok(())
}
