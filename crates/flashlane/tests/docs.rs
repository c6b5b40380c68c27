//! `docs/configuration.md` is written from the published schemas. This test fails when the two
//! differ; `make docs` (`UPDATE_DOCS=1`) writes the file anew.

use std::fmt::Write;
use std::path::Path;

use flashlane::config::{preset, schema};
use flashlane::policy::families;
use serde_json::Value;

const INTRODUCTION: &str = "\
# Configuration

This page is written from the JSON schemas by `make docs`; a test compares them. The schemas themselves
come from `flashlane schema device` and `flashlane schema workload`, for editors that check TOML.

- A quantity is a string with its unit: `\"75us\"`, `\"8KiB\"`, `\"333MT/s\"`, `\"1GB/s\"`. A bare number is
  refused where a unit is due. `KiB` is 1024 bytes, `kB` is 1000.
- A ratio is `0.28` or `\"28%\"`. A number of blocks is `\"4 blocks\"` or a share of a plane, `\"5%\"`.
- Unknown keys and values out of range are refused, all of them at once, with file and line, what was
  found and what is allowed.
- A device file may start from a shipped device: `base = \"fast18\"`. Its keys replace those of the
  preset one by one; a policy and a list are replaced whole.
- A policy is its name, `victim = \"greedy\"`, or its name with parameters,
  `victim = { rga = { choices = 8 } }`.
- The command line goes on top of the files: `--set ftl.gc.threshold=\"16 blocks\"`,
  `--set flow.tpcc.clone.time_scale=0.1`, `--scheduler NAME`.
- `flashlane run … --dry-run` prints the configuration that results, with every key.
";

/// One schema, and the definitions that its references name.
struct Schema {
    root: Value,
}

impl Schema {
    /// The definition that a property refers to, directly or as an optional value or list of it.
    fn target<'a>(&'a self, property: &'a Value) -> Option<(&'a str, &'a Value)> {
        let direct = property["$ref"].as_str();
        let optional = property["anyOf"]
            .as_array()
            .and_then(|any| any.iter().find_map(|p| p["$ref"].as_str()));
        let listed = property["items"]["$ref"].as_str();
        let name = direct.or(optional).or(listed)?.rsplit('/').next()?;
        Some((name, &self.root["$defs"][name]))
    }

    /// A table of the keys of `node`, then the tables below it.
    fn section(&self, out: &mut String, title: &str, path: &str, node: &Value) {
        let about = one_line(node["description"].as_str().unwrap_or_default());
        let _ = write!(out, "\n### {title}\n\n");
        if !about.is_empty() {
            let _ = write!(out, "{about}\n\n");
        }
        out.push_str("| key | value | default | |\n| --- | --- | --- | --- |\n");
        let mut inner = Vec::new();
        for (key, property) in node["properties"].as_object().expect("a table has keys") {
            let target = self.target(property);
            if let Some((_, table)) = target.filter(|(_, t)| t["properties"].is_object()) {
                let list = property["type"] == "array";
                inner.push((key.clone(), list, table));
                continue;
            }
            let _ = writeln!(
                out,
                "| `{key}` | {} | {} | {} |",
                self.value_of(property, target),
                default_of(property),
                one_line(property["description"].as_str().unwrap_or_default()),
            );
        }
        for (key, list, table) in inner {
            let path = if path.is_empty() { key } else { format!("{path}.{key}") };
            let title = if list { format!("`[[{path}]]`") } else { format!("`[{path}]`") };
            self.section(out, &title, &path, table);
        }
    }

    /// What a key takes, in a few words.
    fn value_of(&self, property: &Value, target: Option<(&str, &Value)>) -> String {
        if let Some((name, definition)) = target {
            let several = property["anyOf"].as_array().into_iter().flatten();
            let list = if property["items"].is_object() {
                "list of "
            } else if several.clone().any(|one| one["items"].is_object()) {
                "one, or a list of "
            } else {
                ""
            };
            let names = choices(definition);
            if POLICIES.contains(&name) {
                return "a policy, below".to_owned();
            } else if !names.is_empty() {
                return format!("{list}{}", names.join(", "));
            }
            return format!("{list}{}", quantity(name).unwrap_or("see `flashlane schema`"));
        }
        let kind = match &property["type"] {
            Value::Array(kinds) => kinds.first().cloned().unwrap_or_default(),
            kind => kind.clone(),
        };
        match kind.as_str().unwrap_or_default() {
            "boolean" => "`true`, `false`".to_owned(),
            "integer" => "whole number".to_owned(),
            "number" => "number".to_owned(),
            "string" => "text".to_owned(),
            "array" => "list of whole numbers".to_owned(),
            _ => property["enum"].as_array().map_or_else(String::new, |list| {
                list.iter().map(code).collect::<Vec<_>>().join(", ")
            }),
        }
    }
}

/// Definitions that are families of policies.
const POLICIES: [&str; 6] =
    ["Allocation", "Arbitration", "Isolation", "Scheduling", "Separation", "Victim"];

/// The kind of quantity that a definition is.
fn quantity(name: &str) -> Option<&'static str> {
    Some(match name {
        "Span" => "time",
        "ByteSize" => "size",
        "Bandwidth" => "data rate",
        "TransferRate" => "transfer rate",
        "Ratio" => "ratio",
        "BlockShare" => "blocks",
        _ => return None,
    })
}

/// The alternatives of a definition: names, quantities, and tables by the name of their key.
fn choices(definition: &Value) -> Vec<String> {
    let empty = Vec::new();
    let named = |variant: &Value| -> Vec<String> {
        if let Some(name) = variant.get("const") {
            return vec![code(name)];
        }
        let target = variant["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        if let Some(kind) = target.and_then(quantity) {
            return vec![kind.to_owned()];
        }
        if let Some(names) = variant["enum"].as_array() {
            return names.iter().map(code).collect();
        }
        if variant["type"] == "object"
            && let Some(table) = variant["properties"].as_object()
        {
            return table.keys().map(|key| format!("`{{ {key} = … }}`")).collect();
        }
        Vec::new()
    };
    let variants = definition["oneOf"].as_array().or(definition["anyOf"].as_array());
    let mut list: Vec<String> = variants.unwrap_or(&empty).iter().flat_map(named).collect();
    if variants.is_none() {
        list = named(definition);
    }
    list
}

fn code(value: &Value) -> String {
    format!("`{value}`")
}

fn default_of(property: &Value) -> String {
    match property.get("default") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) if text.is_empty() => String::new(),
        Some(value) => code(value),
    }
}

/// Text of a doc comment as one cell.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// A table of the parameters of a family's policies, if any has some.
fn parameters(out: &mut String, schema: &Schema, family: &str) {
    let mut rows = String::new();
    for variant in schema.root["$defs"][family]["anyOf"].as_array().expect("alternatives") {
        let Some(table) = variant["properties"].as_object() else { continue };
        for (policy, property) in table {
            let Some((_, config)) = schema.target(property) else { continue };
            let Some(keys) = config["properties"].as_object() else { continue };
            for (key, property) in keys {
                let about = one_line(property["description"].as_str().unwrap_or_default());
                let default = default_of(property);
                let _ = writeln!(rows, "| `{policy}` | `{key}` | {default} | {about} |");
            }
        }
    }
    if !rows.is_empty() {
        out.push_str("\n| policy | parameter | default | |\n| --- | --- | --- | --- |\n");
        out.push_str(&rows);
    }
}

fn policies(out: &mut String, schema: &Schema) {
    out.push_str("\n## Policies\n\nAs `flashlane policies` lists them.\n");
    for family in &families() {
        let _ = write!(out, "\n### `{}`\n\n| name | what it does | source |\n", family[0].family);
        out.push_str("| --- | --- | --- |\n");
        let mut start = 0;
        while start < family.len() {
            let like = &family[start];
            let same = family[start..].iter().take_while(|p| p.summary == like.summary).count();
            let names: Vec<String> =
                family[start..start + same].iter().map(|p| format!("`{}`", p.name)).collect();
            let mark = if like.reconstructed { " (reconstructed)" } else { "" };
            let (summary, source) = (one_line(&like.summary), one_line(&like.source));
            let _ = writeln!(out, "| {} | {summary}{mark} | {source} |", names.join(", "));
            start += same;
        }
        let kind = POLICIES
            .iter()
            .find(|kind| {
                let names = &schema.root["$defs"][**kind]["anyOf"][0]["enum"];
                names
                    .as_array()
                    .is_some_and(|names| names.contains(&family[0].name.as_ref().into()))
            })
            .expect("every family is in the schema");
        parameters(out, schema, kind);
    }
}

fn presets(out: &mut String) {
    out.push_str("\n## Shipped devices\n\n| name | |\n| --- | --- |\n");
    for preset in preset::PRESETS {
        let _ = writeln!(out, "| `{}` | {} |", preset.name, one_line(preset.summary));
    }
}

fn configuration() -> String {
    let mut out = INTRODUCTION.to_owned();
    presets(&mut out);
    out.push_str("\n## Device\n\nWithout a `base`, every key that has no default is required.\n");
    let device = Schema { root: schema::device() };
    device.section(&mut out, "Top level", "", &device.root);
    out.push_str("\n## Workload\n");
    let workload = Schema { root: schema::workload() };
    workload.section(&mut out, "Top level", "", &workload.root);
    for (key, name) in [
        ("hot-cold", "HotColdConfig"),
        ("zipf", "ZipfConfig"),
        ("mixed", "MixedConfig"),
        ("zones", "ZonesConfig"),
    ] {
        let title = format!("`[flow.synthetic.address.{key}]`");
        workload.section(&mut out, &title, "", &workload.root["$defs"][name]);
    }
    out.push_str(
        "\nSizes of a synthetic flow (`size`): `\"4KiB\"`, \
         `{ normal = { mean = \"16KiB\", stddev = \"4KiB\" } }`, or\n\
         `{ discrete = [[\"4KiB\", 3], [\"64KiB\", 1]] }` with weights.\n",
    );
    out.push_str(
        "\n## Clone parameters\n\nA file that `[flow.clone] of = \"FILE.toml\"` names; `flashlane trace clone` \
         writes one. Schema: `flashlane schema clone`.\n",
    );
    let clone = Schema { root: schema::clone_parameters() };
    clone.section(&mut out, "Parameters", "", &clone.root);
    policies(&mut out, &device);
    out
}

#[test]
fn the_configuration_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/configuration.md");
    let text = configuration();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text).expect("the page is writable");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "docs/configuration.md is out of date; run `make docs`");
}

/// Every block of Rust in the page stands like this in a file that it speaks of.
#[test]
fn the_page_on_policies_quotes_the_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page =
        std::fs::read_to_string(root.join("../../docs/adding-a-policy.md")).expect("the page");
    let source = |file: &str| {
        std::fs::read_to_string(root.join("../flashlane-device/src/scheduler/policy").join(file))
            .expect("the source")
    };
    let sources = [source("host_first.rs"), source("mod.rs")];
    let blocks: Vec<&str> = page
        .split("```rust\n")
        .skip(1)
        .map(|rest| rest.split("```").next().expect("blocks end"))
        .collect();
    assert!(blocks.len() >= 6, "the page shows how");
    for block in blocks {
        assert!(sources.iter().any(|source| source.contains(block)), "not in the source:\n{block}");
    }
}

/// Every function that the lives of a read and of a write name is there, in a file that they name.
#[test]
fn the_lives_of_requests_name_functions_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("../../ARCHITECTURE.md")).expect("the page");
    let (_, lives) = page.split_once("## The life of a 4 KiB read").expect("a life");
    let (lives, _) = lives.split_once("## Where to start reading").expect("they end");
    let named: Vec<&str> = lives.split('`').skip(1).step_by(2).collect();
    let folders = ["flashlane-device/src", "flashlane/src", "flashlane-measure/src", ""];
    let place = |name: &&str| {
        let places = folders.map(|folder| root.join("..").join(folder).join(name));
        places.into_iter().find(|path| path.exists()).unwrap_or_else(|| panic!("no {name}"))
    };
    let sources: String = named
        .iter()
        .filter(|name| name.contains('/') && !name.starts_with("crates/"))
        .map(place)
        .map(|path| if path.is_dir() { path.join("mod.rs") } else { path })
        .filter(|path| path.exists())
        .map(|path| std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{}", path.display())))
        .collect();
    let is_function = |name: &&&str| {
        name.contains('_') && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    let functions: Vec<&&str> = named.iter().filter(is_function).collect();
    assert!(functions.len() > 40, "the page names functions: {functions:?}");
    for name in functions {
        assert!(sources.contains(&format!("fn {name}(")), "no `{name}` in the files of the page");
    }
}
