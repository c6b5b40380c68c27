//! Makes a drive from the configuration of a C program.

use std::path::Path;

use flashlane::config::load::{self, Overrides};
use flashlane::config::{DeviceConfig, validate};
use flashlane::drive::{Drive, DriveOptions};
use flashlane::{Error, drive};
use toml::{Table, Value};

use crate::error::{Failure, Status};
use crate::pointers::{array, text};
use crate::types::{Config, FLASHLANE_BLAME, FLASHLANE_CHECK, Tenant};

/// The drive of a configuration, and the number of its tenants.
pub(crate) fn drive(config: &Config) -> Result<(Drive, usize), Failure> {
    let (device, tenants, seed, options) = parts(config)?;
    let made = Drive::with_options(&device, &tenants, seed, &options)?;
    Ok((made, tenants.len()))
}

/// What a drive is made from.
type Parts = (DeviceConfig, Vec<drive::Tenant>, u64, DriveOptions);

/// Device, tenants, seed and options of a configuration.
pub(crate) fn parts(config: &Config) -> Result<Parts, Failure> {
    let known = FLASHLANE_CHECK | FLASHLANE_BLAME;
    if config.flags & !known != 0 || config.reserved != 0 {
        let (flags, reserved) = (config.flags, config.reserved);
        let text = format!(
            "config: found flags {flags} and reserved {reserved}, allowed: FLASHLANE_CHECK and \
             FLASHLANE_BLAME, and 0"
        );
        return Err(Failure::new(Status::Argument, text));
    }
    let options = DriveOptions {
        check: config.flags & FLASHLANE_CHECK != 0,
        blame: config.flags & FLASHLANE_BLAME != 0,
    };
    let device = device(config)?;
    let tenants = tenants(array(config.tenants, config.tenants_count, "config.tenants")?)?;
    Ok((device, tenants, config.seed, options))
}

fn device(config: &Config) -> Result<DeviceConfig, Failure> {
    let mut overrides = Overrides::default();
    let sets = array(config.overrides, config.overrides_count, "config.overrides")?;
    for (place, &set) in sets.iter().enumerate() {
        let name = format!("config.overrides[{place}]");
        overrides.sets.push(given(text(set, &name)?, &name)?.to_owned());
    }
    let name = text(config.device, "config.device")?;
    let keys = text(config.device_toml, "config.device_toml")?;
    let loaded = match (name, keys) {
        (Some(name), None) => load::device(name, &overrides)?,
        (None, Some(keys)) => load::device_from_toml(keys, "device_toml", &overrides)?,
        (name, _) => {
            let found = if name.is_some() { "both" } else { "none of both" };
            let text = format!("config: found {found}, allowed: either device or device_toml");
            return Err(Failure::new(Status::Argument, text));
        }
    };
    validate::check_device(&loaded)?;
    Ok(loaded.config)
}

/// The tenants, as the flows of a workload without a file.
fn tenants(tenants: &[Tenant]) -> Result<Vec<drive::Tenant>, Failure> {
    let flows = tenants.iter().enumerate().map(|(place, tenant)| keys(place, tenant));
    let flows = flows.collect::<Result<Vec<Value>, Failure>>()?;
    let workload = Table::from_iter([("flow".to_owned(), Value::Array(flows))]);
    let mut loaded =
        load::workload_from_toml(&workload.to_string(), "tenants", &Overrides::default())?;
    load::resolve_paths(&mut loaded, Path::new(""))?;
    Ok(loaded.config.flows)
}

/// The keys of a tenant, with its name.
fn keys(place: usize, tenant: &Tenant) -> Result<Value, Failure> {
    let of_name = format!("tenants[{place}].name");
    let name = given(text(tenant.name, &of_name)?, &of_name)?;
    let of_keys = format!("tenants[{place}].keys");
    let mut table = match text(tenant.keys, &of_keys)? {
        None => Table::new(),
        Some(keys) => keys
            .parse::<Table>()
            .map_err(|error| Error::config(&of_keys, error.to_string().trim_end()))?,
    };
    if table.insert("name".to_owned(), Value::String(name.to_owned())).is_some() {
        return Err(Error::config(of_keys, "found name, allowed: all other keys of a flow").into());
    }
    Ok(Value::Table(table))
}

fn given<'a>(text: Option<&'a str>, name: &str) -> Result<&'a str, Failure> {
    let missing = || Failure::new(Status::Argument, format!("{name}: found NULL, allowed: a text"));
    text.ok_or_else(missing)
}
