//! `flashlane exec`: programs in virtual time on a simulated drive.

pub(super) mod args;

use std::path::{Path, PathBuf};

use flashlane::Error;
use flashlane::config::load::{self, Overrides};
use flashlane_exec::{ExecConfig, ExecOptions, ProgramConfig, Results, execute, trace};

use crate::args::TextOrJson;
use crate::blame_table;
use crate::commands::driven::Driven;
use crate::output::{Content, OutFile, OutFolder, note, print, print_data};
use crate::table::{Table, bytes, maybe, number};
use args::ExecArgs;

/// Loads the configuration, runs the programs, and reports the results.
pub(crate) fn exec(arguments: &ExecArgs) -> Result<(), Error> {
    let config = configuration(arguments)?;
    let overrides = Overrides { sets: config.set.clone(), ..Overrides::default() };
    let device = load::device(&config.device, &overrides)?.config;
    let overwrite = arguments.overwrite.overwrite;
    let folder = |root| OutFolder::for_run(root, overwrite, &["exec.json"]);
    let folder = arguments.out.as_deref().map(folder).transpose()?;
    let capture = arguments.capture.as_deref();
    let mut capture = capture.map(|path| OutFile::prepare(path, overwrite)).transpose()?;
    let options = ExecOptions {
        alone: arguments.alone,
        threads: usize::from(arguments.threads),
        blame: arguments.blame,
        capture: capture.is_some(),
        check: arguments.check,
    };
    let results = execute(&config, &device, &options)?;
    if let Some(file) = &mut capture {
        let names: Vec<&str> = config.programs.iter().map(|one| one.name.as_str()).collect();
        let text = trace(&results.shared.captured, &names);
        file.write(|out| out.write_all(text.as_bytes()))?;
    }
    if let Some(folder) = folder {
        folder.write(files(&results, &config)?)?;
    }
    if let Some(file) = capture {
        file.keep()?;
    }
    if !arguments.quiet {
        for program in &results.shared.programs {
            for line in program.output.lines() {
                note(&format!("{}: {line}", program.name));
            }
        }
    }
    if arguments.format == TextOrJson::Json {
        let value: serde_json::Value = serde_json::from_str(&results.json(&config))
            .map_err(|error| Error::Output(format!("exec.json: {error}")))?;
        return print_data(&format!("{value}\n"));
    }
    print(&report(&results))
}

/// The configuration from the file. Options of the command line override it.
fn configuration(arguments: &ExecArgs) -> Result<ExecConfig, Error> {
    let mut config = match &arguments.config {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                Error::config(path.display().to_string(), format!("cannot be read: {error}"))
            })?;
            ExecConfig::from_toml(&text, path)?
        }
        None => {
            let device = arguments.device.clone().unwrap_or_default();
            let mut config = ExecConfig::of(device);
            for program in &arguments.programs {
                config.programs.push(program_of(program)?);
            }
            config.check("command line")?;
            config
        }
    };
    config.set.extend(arguments.sets.iter().cloned());
    config.seed = arguments.seed.unwrap_or(config.seed);
    Ok(config)
}

/// `NAME=ELF,ARG,…`
fn program_of(text: &str) -> Result<ProgramConfig, Error> {
    let refuse = || {
        let message = format!("found `{text}`, allowed: NAME=ELF or NAME=ELF,ARGUMENT,...");
        Error::config("--program", message)
    };
    let (name, rest) = text.split_once('=').ok_or_else(refuse)?;
    let mut parts = rest.split(',').map(str::to_owned);
    let elf = parts.next().filter(|elf| !elf.is_empty()).ok_or_else(refuse)?;
    Ok(ProgramConfig::of(name.to_owned(), PathBuf::from(elf), parts.collect()))
}

fn files(results: &Results, config: &ExecConfig) -> Result<Vec<(PathBuf, Content)>, Error> {
    let (summary, blame) = (&results.shared.summary, results.shared.blame.as_ref());
    let mut files = Driven { summary, blame }.files()?;
    files.push(("exec.json".into(), results.json(config).into()));
    for (program, path, content) in &results.shared.kept {
        let name = &config.programs[*program].name;
        let inside = Path::new(path.trim_start_matches('/'));
        let place = Path::new("files").join(name).join(inside);
        files.push((place, Content::Bytes(content.clone())));
    }
    Ok(files)
}

/// Tables for people.
fn report(results: &Results) -> String {
    let mut table =
        Table::new(&["program", "time, ms", "IPC", "IPC alone", "slowdown", "page cache"]);
    let mut drive = Table::new(&[
        "at the drive",
        "reads",
        "writes",
        "flushes",
        "read",
        "written",
        "outstanding: mean",
        "p50",
        "p99",
        "max",
        "above 16",
    ]);
    for program in &results.shared.programs {
        let cache = program.page_cache;
        let asked = cache.hits + cache.misses;
        let hits = (asked > 0).then(|| cache.hits as f64 / asked as f64);
        table.row(vec![
            program.name.clone(),
            number(program.measured_s * 1000.0),
            number(program.ipc),
            maybe(program.alone_ipc),
            maybe(program.slowdown),
            hits.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0)),
        ]);
        let (requests, outstanding) = (&program.requests, &program.outstanding);
        drive.row(vec![
            program.name.clone(),
            requests.read.to_string(),
            requests.write.to_string(),
            requests.flush.to_string(),
            bytes(requests.bytes_read),
            bytes(requests.bytes_written),
            number(outstanding.mean),
            outstanding.p50.to_string(),
            outstanding.p99.to_string(),
            outstanding.max.to_string(),
            format!("{:.1} %", outstanding.above_16 * 100.0),
        ]);
    }
    let mut text = format!("{}\n{}", table.render(), drive.render());
    if let Some(fairness) = results.fairness {
        text.push_str(&format!(
            "\nfairness {}, maximum slowdown {}, weighted speedup {}\n",
            number(fairness.fairness),
            number(fairness.max_slowdown),
            number(fairness.weighted_speedup)
        ));
    }
    if let Some(blame) = &results.shared.blame {
        text.push_str(&format!("\n{}", blame_table::blame(blame)));
    }
    text
}
