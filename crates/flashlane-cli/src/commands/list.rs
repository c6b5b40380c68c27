//! `flashlane preset`, `policies` and `schema`: list what is built into the program.

use flashlane::Error;
use flashlane::config::load;
use flashlane::config::preset::{PRESETS, Preset};
use flashlane::policy::families;
use flashlane::schema;

use crate::args::{PresetAction, PresetArgs, SchemaOf};
use crate::execute::pretty;
use crate::output::print;

/// Lists the presets, or prints one.
pub(crate) fn preset(arguments: &PresetArgs) -> Result<(), Error> {
    match &arguments.action {
        PresetAction::List => {
            let lines = PRESETS.iter().map(|one| format!("{:<8} {}\n", one.name, one.summary));
            print(&lines.collect::<String>())
        }
        PresetAction::Show { name } => {
            let preset = Preset::by_name(name).ok_or_else(|| {
                let hint = load::allowed(name, &Preset::names());
                Error::config("preset show", format!("no preset `{name}`; {hint}"))
            })?;
            print(preset.text)
        }
    }
}

/// Lists every policy by its configuration key.
pub(crate) fn policies() -> Result<(), Error> {
    let families = families();
    let mut text = String::new();
    for family in &families {
        let key = family.first().map_or("", |policy| policy.family);
        text.push_str(&format!("{key}\n"));
        for policy in family {
            let mark = if policy.reconstructed { " (reconstructed)" } else { "" };
            text.push_str(&format!(
                "  {:<22} {}{mark} [{}]\n",
                policy.name, policy.summary, policy.source
            ));
        }
    }
    print(&text)
}

/// Prints a JSON schema.
pub(crate) fn schema(of: SchemaOf) -> Result<(), Error> {
    print(&pretty(&match of {
        SchemaOf::Device => schema::device(),
        SchemaOf::Workload => schema::workload(),
        SchemaOf::Summary => schema::summary(),
        SchemaOf::Blame => schema::blame(),
        SchemaOf::Clone => schema::clone_parameters(),
    }))
}
