//! `flashlane serve`: the drive, for real clients.

pub(super) mod args;
mod recording;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use flashlane::Error;
use flashlane::config::load::{self, Overrides};
use flashlane::config::{DeviceConfig, WorkloadConfig, validate};
use flashlane::drive::{DriveOptions, Tenant};
use flashlane_nvme::{MediaConfig, Tenancy};
use flashlane_serve::{Address, Door, Outcome, Pace, ServeConfig, Server};
use serde_json::{Value, json};

use crate::args::TextOrJson;
use crate::commands::driven::Driven;
use crate::execute::{pretty, to_json};
use crate::output::{OutFolder, note, print, print_data, show};
use crate::signals;
use crate::table::bytes;
use args::{ServeArgs, TenantIs};
use recording::Recording;

/// Shares of completions whose lateness is reported.
const SHARES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)];

/// Serves the drive until a signal, and reports the results.
pub(crate) fn serve(arguments: &ServeArgs) -> Result<(), Error> {
    let mut doors = arguments.doors();
    if doors.is_empty() {
        let message = "found none, allowed: --nvme-tcp ADDR:PORT, --nbd ADDR:PORT, \
                       --nbd unix:PATH, --vfio-user unix:PATH";
        return Err(Error::config("doors", message));
    }
    doors.extend(arguments.status());
    let media = media(arguments)?;
    let stop = signals::stop_in_order();
    let overwrite = arguments.overwrite.overwrite;
    let folder = |root| OutFolder::for_run(root, overwrite, &["serve.json"]);
    let folder = arguments.out.as_deref().map(folder).transpose()?;
    if arguments.record.is_some() && arguments.record == arguments.out {
        let message = "found the folder of --out, allowed: a folder of its own";
        return Err(Error::config("--record", message));
    }
    let record = |root| Recording::start(root, overwrite, &media, stop.clone());
    let recording = arguments.record.as_deref().map(record).transpose()?;
    let tenants = media.tenants.len();
    let config = ServeConfig {
        media,
        doors,
        pace: arguments.time,
        store: arguments.store.clone(),
        allow: arguments.allow.clone(),
        limits: arguments.limits(),
        journal: recording.as_ref().map(Recording::journal),
    };
    let mut server = Server::bind(config)?;
    announce(&server, arguments)?;
    if !arguments.quiet {
        note(&format!("{tenants} tenants, {}; a signal ends it", spaces(&mut server)));
    }
    let ended = finish(&mut server, &stop, arguments, folder);
    drop(server);
    let replayed = recording.map(Recording::finish).transpose();
    ended?;
    if let (Some(command), false) = (replayed?, arguments.quiet) {
        note(&format!("recorded; to replay it: {command}"));
    }
    Ok(())
}

/// The drive and its tenants.
fn media(arguments: &ServeArgs) -> Result<MediaConfig, Error> {
    let overrides = arguments.overrides();
    let device = load::device(&arguments.device, &overrides)?;
    let (tenants, mut warnings) = tenants(arguments, &overrides, &device.config)?;
    warnings.splice(0..0, device.warnings);
    if !arguments.quiet {
        warnings.iter().for_each(|warning| note(&format!("warning: {warning}")));
    }
    Ok(MediaConfig {
        device: device.config,
        tenants,
        tenancy: match arguments.tenant_is {
            TenantIs::Queue => Tenancy::Queue,
            TenantIs::Namespace => Tenancy::Namespace,
            TenantIs::Host => Tenancy::Host,
            TenantIs::Class => Tenancy::Class,
        },
        block_bytes: arguments.block,
        seed: arguments.seed,
        options: DriveOptions { check: arguments.check, blame: arguments.blame },
    })
}

/// The tenants, and warnings about the file that tells of them.
fn tenants(
    arguments: &ServeArgs,
    overrides: &Overrides,
    device: &DeviceConfig,
) -> Result<(Vec<Tenant>, Vec<String>), Error> {
    let Some(path) = &arguments.workload else {
        let named = |number| Tenant::named(format!("tenant-{number}"));
        return Ok(((1..=arguments.tenants).map(named).collect(), Vec::new()));
    };
    let workload = one_workload(path, overrides)?;
    let mut warnings = workload.warnings;
    warnings.extend(validate::warnings(device, &workload.config));
    Ok((workload.config.flows, warnings))
}

/// The only scenario of a workload file.
pub(crate) fn one_workload(
    path: &Path,
    overrides: &Overrides,
) -> Result<load::Loaded<WorkloadConfig>, Error> {
    let mut workloads = load::workloads(path, overrides)?;
    match (workloads.pop(), workloads.len()) {
        (Some(workload), 0) => Ok(workload),
        (_, more) => {
            let message = format!("found {} scenarios, allowed: one", more + 1);
            Err(Error::config(path.display().to_string(), message))
        }
    }
}

fn name_of(door: Door) -> &'static str {
    match door {
        Door::NvmeTcp => "nvme-tcp",
        Door::Nbd => "nbd",
        Door::VfioUser => "vfio-user",
        Door::Status => "status",
    }
}

/// The address as clients write it.
fn uri(door: Door, address: &Address) -> String {
    match (door, address) {
        (Door::Nbd, Address::Tcp(address)) => format!("nbd://{address}/"),
        (Door::Nbd, Address::Unix(path)) => format!("nbd+unix:///?socket={}", path.display()),
        (Door::VfioUser, Address::Unix(path)) => path.display().to_string(),
        (Door::Status, address) => format!("http://{address}/"),
        (Door::NvmeTcp | Door::VfioUser, address) => address.to_string(),
    }
}

/// Prints a line for each door.
fn announce(server: &Server, arguments: &ServeArgs) -> Result<(), Error> {
    for (door, address) in server.addresses() {
        let (name, at) = (name_of(door), address.to_string());
        let nqn = (door == Door::NvmeTcp).then(|| server.nqn());
        let token = server.token().filter(|_| door == Door::Status);
        if arguments.format == TextOrJson::Json {
            let mut line = json!({ "door": name, "address": at });
            if let Some(token) = token {
                line["token"] = token.into();
            }
            match nqn {
                Some(nqn) => line["nqn"] = nqn.into(),
                None if door == Door::VfioUser => line["path"] = uri(door, &address).into(),
                None => line["uri"] = uri(door, &address).into(),
            }
            print_data(&format!("{line}\n"))?;
            continue;
        }
        let more = nqn.map_or_else(|| uri(door, &address), str::to_owned);
        let more = token.map(|token| format!("{more}#{token}")).unwrap_or(more);
        print(&format!("{name} {at} {more}\n"))?;
    }
    Ok(())
}

/// The namespaces for people.
fn spaces(server: &mut Server) -> String {
    let spaces = server.namespaces();
    let length = bytes(spaces.iter().copied().min().unwrap_or_default());
    match spaces.len() {
        1 => format!("one namespace of {length}"),
        count => format!("{count} namespaces, the smallest of {length}"),
    }
}

/// Serves until the end, prints the results and writes them.
fn finish(
    server: &mut Server,
    stop: &AtomicBool,
    arguments: &ServeArgs,
    folder: Option<OutFolder>,
) -> Result<(), Error> {
    let outcome = server.run(stop)?;
    let about = about(&outcome, arguments);
    let driven = Driven { summary: &outcome.summary, blame: outcome.blame.as_ref() };
    if let Some(folder) = folder {
        let mut files = driven.files()?;
        files.push(("serve.json".into(), pretty(&about).into()));
        folder.write(files)?;
    }
    let json = arguments.format == TextOrJson::Json;
    if !json || !arguments.quiet {
        driven.show(json)?;
        show(&lateness(&outcome, arguments.time), json)?;
    }
    if json {
        print_data(&format!("{}\n{about}\n", to_json(&outcome.summary)?))?;
    }
    Ok(())
}

/// How late completions left, for people.
fn lateness(outcome: &Outcome, pace: Pace) -> String {
    let clients = match outcome.connections {
        1 => "1 connection".to_owned(),
        count => format!("{count} connections"),
    };
    if outcome.lateness.count() == 0 {
        let why = if pace == Pace::Virtual { "virtual time is never late" } else { "no request" };
        return format!("\n{clients}; {why}");
    }
    let late = |(name, share): (&str, f64)| {
        format!("{name} {:.1}", outcome.lateness.quantile(share).as_secs_f64() * 1e6)
    };
    let late = SHARES.map(late).join(", ");
    format!("\n{clients}; completions left later than the drive had them by, us: {late}")
}

/// `serve.json`: what is not in the summary.
fn about(outcome: &Outcome, arguments: &ServeArgs) -> Value {
    let mut late = json!({ "count": outcome.lateness.count() });
    if outcome.lateness.count() > 0 {
        for (name, share) in SHARES {
            late[name] = json!(outcome.lateness.quantile(share).as_secs_f64() * 1e6);
        }
    }
    let time = match arguments.time {
        Pace::Real => "real".to_owned(),
        Pace::Dilated(factor) => format!("dilated={factor}"),
        Pace::Virtual => "virtual".to_owned(),
    };
    json!({
        "schema": "flashlane.serve/1",
        "time": time,
        "connections": outcome.connections,
        "lateness_us": late,
    })
}
