use super::*;
use crate::metrics::{ChannelSummary, ChipSummary, FlowSummary, IsolationSummary};

fn summary(seed: u64, iops: f64, slowdown: Option<f64>, programs: u64) -> Summary {
    let mut summary = Summary { seed, wall_s: 0.5, ..Summary::default() };
    summary.flows = vec![FlowSummary { iops, slowdown, ..FlowSummary::default() }];
    summary.channels =
        (0..4).map(|channel| ChannelSummary { channel, ..ChannelSummary::default() }).collect();
    summary.chips =
        (0..4).map(|chip| ChipSummary { channel: 3, chip, ..ChipSummary::default() }).collect();
    summary.flash.user_programs = programs;
    let sets = vec![vec![2, 3], vec![0, 1]];
    summary.isolation_sets = Some(IsolationSummary { sets, ..IsolationSummary::default() });
    summary
}

#[test]
fn intervals_follow_student_t() {
    // Hand computed: standard deviation 1.5811, standard error 0.7071, t(4) = 2.7764.
    let estimate = Estimate::of([1.0, 2.0, 3.0, 4.0, 5.0].map(Some).to_vec()).unwrap();
    assert!((estimate.mean - 3.0).abs() < 1e-12);
    assert!((estimate.half_width().unwrap() - 1.9632).abs() < 1e-4);
    assert_eq!(Estimate::of(vec![Some(7.0)]).unwrap().ci95_low, None);
    assert_eq!(Estimate::of(vec![None]), None);
    assert!((student_t_975(60) - 2.0003).abs() < 1e-4);
    assert!((student_t_975(31) - 2.0395).abs() < 1e-4);
}

#[test]
fn every_metric_keeps_the_value_of_every_seed_and_identities_are_none() {
    let runs = [summary(7, 3.0, None, 10), summary(8, 5.0, Some(2.0), 13)];
    let statistics = SeedStatistics::of(&runs);
    assert_eq!(statistics.seeds, [7, 8]);
    let iops = statistics.get("flows[0].iops").unwrap();
    assert_eq!((iops.mean, iops.n, &iops.values[..]), (4.0, 2, &[Some(3.0), Some(5.0)][..]));
    let slowdown = statistics.get("flows[0].slowdown").unwrap();
    assert_eq!((slowdown.n, &slowdown.values[..]), (1, &[None, Some(2.0)][..]));
    assert!(statistics.get("chips[2].busy_fraction").is_some());
    for path in statistics.metrics.keys() {
        let last = path.rsplit('.').next().unwrap();
        let identity = ["seed", "channel", "chip", "schema"].contains(&last);
        assert!(!identity && !path.contains("sets[") && !path.contains("wall"), "{path}");
    }
}

#[test]
fn a_file_is_checked_and_its_means_are_its_own() {
    let runs = [summary(7, 3.0, Some(1.0), 10), summary(8, 5.0, Some(2.0), 13)];
    let text = serde_json::to_string(&SeedStatistics::of(&runs)).unwrap();
    let read = SeedStatistics::from_json(&text, &runs[0]).unwrap();
    assert_eq!(read, SeedStatistics::of(&runs));
    let edited = text.replace("\"mean\":4.0", "\"mean\":400.0");
    assert_ne!(edited, text);
    assert_eq!(SeedStatistics::from_json(&edited, &runs[0]).unwrap(), read);
    let refused = |text: &str, first: &Summary| SeedStatistics::from_json(text, first).unwrap_err();
    assert!(refused("{", &runs[0]).contains("is no seeds.json"));
    assert!(refused(&text, &runs[1]).contains("first seed is 7, that of the summary 8"));
    let stale = summary(7, 3.5, Some(1.0), 10);
    assert!(refused(&text, &stale).contains("flows[0].iops of seed 7 is 3, in the summary 3.5"));
    assert!(refused(&text.replace("[7,8]", "[7]"), &runs[0]).contains("found 2 values"));
    assert!(refused(&text.replace("seeds/1", "seeds/9"), &runs[0]).contains("seeds/9"));
}

#[test]
fn the_mean_summary_keeps_identities_and_rounds_counts() {
    let runs = [summary(7, 3.0, None, 10), summary(8, 5.0, Some(2.0), 13)];
    let mean = SeedStatistics::of(&runs).mean_summary(&runs[0]).unwrap();
    assert_eq!((mean.seed, mean.flows[0].iops, mean.flows[0].slowdown), (7, 4.0, Some(2.0)));
    assert_eq!(mean.flash.user_programs, 12, "11.5 is rounded");
    assert_eq!(mean.chips[2].chip, 2);
    assert_eq!(mean.isolation_sets.unwrap().sets, [[2, 3], [0, 1]]);
}
