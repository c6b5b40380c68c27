//! docs/probe.md has every probe as it is.

use flashlane_probe::battery::PROBES;

#[test]
fn the_page_lists_every_probe() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/probe.md");
    let page = std::fs::read_to_string(page).expect("it is there");
    for probe in PROBES {
        let row = format!("| `{}` | {} | {} |", probe.name, probe.about, probe.source);
        assert!(page.contains(&row), "missing in docs/probe.md: {row}");
    }
}
