//! Published JSON schemas.

use schemars::schema_for;
use serde_json::{Value, json};

use super::preset::Preset;
use super::{DeviceConfig, WorkloadConfig};
use flashlane_workload::clone::CloneFile;

/// Schema of a device file, `base` included.
#[must_use]
pub fn device() -> Value {
    let mut schema = schema_for!(DeviceConfig).to_value();
    schema["properties"]["base"] = json!({
        "description": "The preset whose keys the file's keys replace, table by table.",
        "enum": Preset::names(),
    });
    // With a base, no key is required, at any depth of the tables with required keys.
    let flash = schema["$defs"]["FlashConfig"]
        .as_object_mut()
        .and_then(|flash| flash.remove("required"))
        .unwrap_or_else(|| json!([]));
    let root = schema.as_object_mut().and_then(|root| root.remove("required"));
    schema["anyOf"] = json!([
        { "required": ["base"] },
        { "required": root, "properties": { "flash": { "required": flash } } },
    ]);
    schema
}

/// Schema of a workload file.
#[must_use]
pub fn workload() -> Value {
    schema_for!(WorkloadConfig).to_value()
}

/// Schema of a file of clone parameters.
#[must_use]
pub fn clone_parameters() -> Value {
    schema_for!(CloneFile).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_replaces_required_keys() {
        let schema = device();
        assert!(schema["properties"]["base"]["enum"].to_string().contains("flin"));
        assert!(schema["$defs"]["FlashConfig"]["required"].is_null());
        assert!(
            schema["anyOf"][1]["properties"]["flash"]["required"].to_string().contains("channels")
        );
        assert!(workload()["properties"]["flow"].is_object());
    }
}
