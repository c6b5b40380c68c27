//! Examples for every command, shown at the end of its help and of its manual page.

use clap::Command;

/// The words after `flashlane` that name a command, and its examples, one on each line.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "run",
        "flashlane run --device flin --workload tenants.toml --alone --blame --report --out results\n\
         flashlane run --device 980-pro --workload incident.txt --split process --report --out why\n\
         flashlane run --device 970-pro --workload job.fio --set flash.channels=4 --seeds 8",
    ),
    ("demo", "flashlane demo --blame --report --out results"),
    ("exec", "flashlane exec --device 970-pro --program store=out/programs/kv,100 --blame"),
    (
        "serve",
        "flashlane serve --device 980-pro --nvme-tcp 127.0.0.1:4420 --blame --out results\n\
         flashlane serve --device 980-pro --nbd unix:drive.sock --store sparse:drive.data\n\
         flashlane serve --device tiny --nbd 127.0.0.1:0 --time virtual --record recording",
    ),
    (
        "reproduce",
        "flashlane reproduce list\n\
         flashlane reproduce flin policies --out results",
    ),
    (
        "probe",
        "flashlane probe /dev/nvme1n1 --out measured\n\
         flashlane probe simulated:970-pro --only read-latency --out measured",
    ),
    ("fit", "flashlane fit measured --base 970-pro --out my-drive.toml"),
    (
        "validate",
        "flashlane validate --out results\n\
         flashlane validate micron-7450-max --kind waf,write-rate",
    ),
    ("sweep", "flashlane sweep grid.toml --out results --jobs 2"),
    ("search", "flashlane search study.toml --out results --trials 200"),
    (
        "plan",
        "flashlane plan --device 980-pro --workload tenants.toml --slo reader:p99=1ms --count reader",
    ),
    (
        "advise",
        "flashlane advise --device fast18 --workload tenants.toml --goal p99:shop --out advice\n\
         flashlane advise --device 980-pro --workload tenants.toml --keep backup:iops=90% --out advice",
    ),
    ("compare", "flashlane compare fcfs flin --report compared.html --format markdown"),
    ("states list", "flashlane states list"),
    ("states clear", "flashlane states clear"),
    ("states prune", "flashlane states prune --limit 1GiB"),
    (
        "completions",
        "flashlane completions bash > ~/.local/share/bash-completion/completions/flashlane",
    ),
    ("man", "flashlane man --out ~/.local/share/man/man1"),
    ("check", "flashlane check device.toml tenants.toml"),
    ("preset list", "flashlane preset list"),
    ("preset show", "flashlane preset show 980-pro > my-drive.toml"),
    ("policies", "flashlane policies"),
    ("conformance", "flashlane conformance --family scheduler flin"),
    ("trace inspect", "flashlane trace inspect requests.csv.gz --from msr"),
    ("trace convert", "flashlane trace convert requests.csv.gz requests.parquet --from msr"),
    (
        "trace split",
        "flashlane trace split incident.txt --by process --out tenants\n\
         flashlane trace split disk.blktrace.0 --by lba --top 4 --out tenants",
    ),
    (
        "trace clone",
        "flashlane trace clone --list\n\
         flashlane trace clone tpcc --generate 100000 --out tpcc.csv",
    ),
    ("trace formats", "flashlane trace formats"),
    ("schema", "flashlane schema workload > workload.schema.json"),
];

/// Adds the examples to the help of every command.
pub(super) fn added(whole: Command) -> Command {
    EXAMPLES.iter().fold(whole, |whole, (name, examples)| {
        let words: Vec<&str> = name.split(' ').collect();
        below(whole, &words, examples)
    })
}

/// Adds examples to the help of the command that the words name, if it is built in.
fn below(command: Command, words: &[&str], examples: &str) -> Command {
    let Some((first, rest)) = words.split_first() else {
        let title = if examples.contains('\n') { "Examples" } else { "Example" };
        let lines: Vec<String> = examples.lines().map(|line| format!("  {line}")).collect();
        return command.after_help(format!("{title}:\n{}", lines.join("\n")));
    };
    if command.find_subcommand(first).is_none() {
        return command;
    }
    command.mut_subcommand(first, |one| below(one, rest, examples))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::whole;

    /// Names of the commands without subcommands, each with the words that lead to it.
    fn leaves(command: &Command, above: &str) -> Vec<String> {
        let below = command.get_subcommands().flat_map(|one| {
            let name = format!("{above} {}", one.get_name());
            let inner = leaves(one, &name);
            if inner.is_empty() { vec![name.trim().to_owned()] } else { inner }
        });
        below.collect()
    }

    #[test]
    fn every_command_has_an_example() {
        for name in leaves(&whole(), "") {
            assert!(EXAMPLES.iter().any(|one| one.0 == name), "no example for `{name}`");
        }
    }

    #[test]
    fn every_example_is_accepted() {
        for (name, examples) in EXAMPLES {
            for line in examples.lines() {
                assert!(line.starts_with(&format!("flashlane {}", name)), "{name}: {line}");
                if whole().find_subcommand(name.split(' ').next().unwrap_or(name)).is_none() {
                    continue;
                }
                let words = line.split(" > ").next().unwrap_or(line).split(' ');
                let parsed = whole().try_get_matches_from(words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.expect_err("it failed"));
            }
        }
    }
}
