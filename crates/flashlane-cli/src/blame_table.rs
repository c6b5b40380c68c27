//! The blame matrix for people.

use flashlane::observe::{Blame, BlameVictim};

use crate::table::{Table, number};

/// Largest number of culprits with their own column; the others share one.
const COLUMNS_MAX: usize = 8;

/// Rows are victims, columns are culprits. A cell has the mean wait of a request, and its largest
/// cause.
pub(crate) fn blame(blame: &Blame) -> String {
    let mut culprits: Vec<(u128, &str)> = blame
        .flows
        .iter()
        .map(String::as_str)
        .chain(["device"])
        .map(|name| (blame.victims.iter().map(|victim| victim.by_culprit(name)).sum(), name))
        .filter(|&(ps, _): &(u128, &str)| ps > 0)
        .collect();
    if culprits.len() > COLUMNS_MAX {
        culprits.sort_by_key(|&(ps, _)| std::cmp::Reverse(ps));
    }
    let shown = culprits.len().min(COLUMNS_MAX);
    let (shown, others) = culprits.split_at(shown);
    let mut header = vec!["victim", "work", "waiting", "of which by"];
    header.extend(shown.iter().map(|&(_, name)| name));
    if !others.is_empty() {
        header.push("others");
    }
    let mut table = Table::new(&header);
    for victim in &blame.victims {
        let mean = |ps: u128| ps as f64 / 1e6 / victim.requests.max(1) as f64;
        let mut row = vec![
            victim.flow.clone(),
            number(mean(victim.service_ps)),
            number(mean(victim.waiting_ps)),
            String::new(),
        ];
        row.extend(shown.iter().map(|&(_, culprit)| {
            let cause = largest_cause(victim, culprit);
            match victim.by_culprit(culprit) {
                0 => "-".to_owned(),
                ps => format!("{} {cause}", number(mean(ps))),
            }
        }));
        if !others.is_empty() {
            let sum = others.iter().map(|&(_, culprit)| victim.by_culprit(culprit)).sum();
            row.push(number(mean(sum)));
        }
        table.row(row);
    }
    format!(
        "\nwho delays whom: mean waiting time of a request in us, with the largest cause\n{}",
        table.render()
    )
}

/// The cause with the largest wait. Cells are sorted, the largest first.
fn largest_cause<'a>(victim: &'a BlameVictim, culprit: &str) -> &'a str {
    victim.cells.iter().find(|cell| cell.culprit == culprit).map_or("", |cell| &cell.cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::observe::BlameCell;

    #[test]
    fn a_row_for_each_victim_and_a_column_for_each_culprit() {
        let cell = |culprit: &str, cause: &str, ps| BlameCell {
            culprit: culprit.into(),
            cause: cause.into(),
            ps,
        };
        let victim = |flow: &str, cells: Vec<BlameCell>| BlameVictim {
            flow: flow.into(),
            requests: 2,
            end_to_end_ps: 100_000_000,
            service_ps: 40_000_000,
            waiting_ps: 60_000_000,
            cells,
        };
        let found = Blame {
            flows: vec!["quiet".into(), "loud".into()],
            victims: vec![
                victim(
                    "quiet",
                    vec![cell("loud", "program", 50_000_000), cell("loud", "bus", 10_000_000)],
                ),
                victim("loud", vec![cell("loud", "read", 60_000_000)]),
            ],
            ..Blame::default()
        };
        let text = blame(&found);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[2].ends_with("loud") && !lines[2].contains("quiet  "), "{text}");
        assert!(
            lines[4].contains("20.00    30.00") && lines[4].ends_with("30.00 program"),
            "{text}"
        );
        assert!(lines[5].ends_with("30.00 read"), "{text}");
    }
}
