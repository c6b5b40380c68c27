//! `flashlane conformance`: tests policies against the rules of their family.

use flashlane::Error;
use flashlane::config::PolicyInfo;
use flashlane::config::load::allowed;
use flashlane::conformance::{Family, Verdict};
use flashlane::policy::{Allocation, Arbitration, Isolation, Scheduling, Separation, Victim};

use crate::args::ConformanceArgs;
use crate::output::print;

/// A family of policies, without its type.
struct Rules {
    key: &'static str,
    list: fn() -> Vec<PolicyInfo>,
    verdicts: fn(&str) -> Option<Vec<Verdict>>,
}

/// The families in the order of `flashlane policies`.
const FAMILIES: [Rules; 6] = [
    Rules {
        key: Scheduling::KEY,
        list: Scheduling::list,
        verdicts: |name| Some(Scheduling::by_name(name)?.verdicts()),
    },
    Rules {
        key: Isolation::KEY,
        list: Isolation::list,
        verdicts: |name| Some(Isolation::by_name(name)?.verdicts()),
    },
    Rules {
        key: Allocation::KEY,
        list: Allocation::list,
        verdicts: |name| Some(Allocation::by_name(name)?.verdicts()),
    },
    Rules {
        key: Victim::KEY,
        list: Victim::list,
        verdicts: |name| Some(Victim::by_name(name)?.verdicts()),
    },
    Rules {
        key: Separation::KEY,
        list: Separation::list,
        verdicts: |name| Some(Separation::by_name(name)?.verdicts()),
    },
    Rules {
        key: Arbitration::KEY,
        list: Arbitration::list,
        verdicts: |name| Some(Arbitration::by_name(name)?.verdicts()),
    },
];

/// Tests the policies; an error if one breaks a rule.
pub(crate) fn conformance(arguments: &ConformanceArgs) -> Result<(), Error> {
    let chosen = choose(arguments)?;
    let mut broken = Vec::new();
    for (family, name) in chosen {
        let verdicts = (family.verdicts)(&name).ok_or_else(|| {
            let why = "has a parameter without a default; allowed: a default for each";
            Error::config(format!("{} {name}", family.key), why)
        })?;
        let mut text = format!("{} {name}\n", family.key);
        for verdict in &verdicts {
            let (mark, why) = match &verdict.result {
                Ok(()) => ("held  ", String::new()),
                Err(why) => ("BROKEN", format!("\n          {why}")),
            };
            text.push_str(&format!("  {mark}  {}{why}\n", verdict.rule));
        }
        print(&text)?;
        let count = verdicts.iter().filter(|verdict| verdict.result.is_err()).count();
        if count > 0 {
            broken.push(flashlane::Problem {
                place: format!("{} {name}", family.key),
                message: format!("breaks {count} of {} rules", verdicts.len()),
            });
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(Error::Config(broken)) }
}

/// The policies that are to be tested.
fn choose(arguments: &ConformanceArgs) -> Result<Vec<(&'static Rules, String)>, Error> {
    if let Some(key) = &arguments.family
        && FAMILIES.iter().all(|family| family.key != key)
    {
        let keys = FAMILIES.map(|family| family.key);
        let hint = allowed(key, &keys);
        return Err(Error::config("--family", format!("no family `{key}`; {hint}")));
    }
    let in_family = |family: &&Rules| arguments.family.as_ref().is_none_or(|key| family.key == key);
    let all: Vec<(&Rules, String)> = FAMILIES
        .iter()
        .filter(in_family)
        .flat_map(|family| (family.list)().into_iter().map(move |one| (family, one.name.into())))
        .collect();
    if arguments.policies.is_empty() {
        return Ok(all);
    }
    let mut chosen = Vec::new();
    for wanted in &arguments.policies {
        let before = chosen.len();
        chosen.extend(all.iter().filter(|(_, name)| name == wanted).cloned());
        if chosen.len() == before {
            let names: Vec<&str> = all.iter().map(|(_, name)| name.as_str()).collect();
            let hint = allowed(wanted, &names);
            return Err(Error::config("conformance", format!("no policy `{wanted}`; {hint}")));
        }
    }
    Ok(chosen)
}
