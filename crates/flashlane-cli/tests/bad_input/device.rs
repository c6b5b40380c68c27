//! Devices that are refused.

use super::{Case, assert_refused, case, good_folder, run_table};

/// Keys, types and units.
const READING: &[Case] = &[
    case("name = \"good\"\n", "", &["d.toml: name", "missing key `name`"]),
    case("technology = \"mlc\"\n", "", &["d.toml:7: flash.technology", "missing key"]),
    case("chips_per_channel = 2\n", "", &["flash.chips_per_channel", "missing key"]),
    case("channels = 2", "chanels = 2", &["d.toml:9: flash.chanels", "did you mean `channels`?"]),
    case("[ftl.gc]\n", "[ftl.gcc]\n", &["d.toml:5: ftl.gcc", "did you mean `gc`?"]),
    case("[ftl]\n", "[zebra]\n", &["d.toml:3: zebra", "unknown key", "allowed: name"]),
    case("channels = 2", "channels = 2\nchannels = 4", &["d.toml:10", "duplicate key"]),
    case("channels = 2", "channels = \"two\"", &["d.toml:9: flash.channels", "\"two\"", "whole"]),
    case("channels = 2", "channels = -2", &["flash.channels", "`-2`", "from 0"]),
    case("channels = 2", "channels = 2.5", &["flash.channels", "2.5", "whole number"]),
    case("channels = 2", "channels = 99999999999", &["flash.channels", "99999999999", "allowed"]),
    case("channels = 2", "channels = [2]", &["flash.channels", "a list", "whole number"]),
    case("channels = 2", "channels == 2", &["d.toml:9", "not valid TOML"]),
    case("\"75us\"", "\"75\"", &["d.toml:17: flash.read_time[0]", "has no unit", "75us"]),
    case("[\"75us\"]", "[75]", &["d.toml:17: flash.read_time[0]", "has no unit"]),
    case("[\"75us\"]", "75", &["d.toml:17: flash.read_time", "75", "list"]),
    case("[\"75us\"]", "\"75\"", &["d.toml:17: flash.read_time", "has no unit", "75us"]),
    case("[\"750us\"]", "\"750us\"", &["d.toml:18: flash.program_time", "750us", "list"]),
    case(
        "technology = \"mlc\"",
        "technology = \"mlc\"\nprogramming = \"three-pass\"",
        &["d.toml:9: flash.programming", "three-pass", "page", "one-shot", "two-pass"],
    ),
    case("\"3800us\"", "\"3800 parsecs\"", &["flash.erase_time", "unknown unit", "us, ms"]),
    case("\"3800us\"", "\"-3us\"", &["flash.erase_time", "-3us", "write a number with a unit"]),
    case("\"3800us\"", "\"99999999999s\"", &["flash.erase_time", "out of range"]),
    case("\"4KiB\"", "\"4KB\"", &["flash.page_size", "unknown unit", "KiB"]),
    case("\"28%\"", "\"much\"", &["d.toml:4: ftl.over_provisioning", "not a ratio", "28%"]),
    case("\"28%\"", "nan", &["ftl.over_provisioning", "finite"]),
    case("\"mlc\"", "\"mcl\"", &["d.toml:8: flash.technology", "did you mean `mlc`?", "slc"]),
    case("\"out-of-order\"", "\"out-of-ordr\"", &["d.toml:2: scheduler", "`out-of-order`?"]),
    case(
        "\"out-of-order\"",
        "\"sprinkler-fairnes\"",
        &["d.toml:2: scheduler", "did you mean `sprinkler-fairness`?"],
    ),
    case(
        "\"28%\"",
        "\"28%\"\nprecondition = { placement = \"random\" }",
        &["d.toml:5: ftl.precondition.placement", "found random, allowed: striped"],
    ),
    case(
        "\"rga\"",
        "\"none\"\n[ftl.read_scrubbing]\nlimit = 5",
        &["ftl.read_scrubbing.limit", "found 5, allowed: 0"],
    ),
    case("\"rga\"", "\"gredy\"", &["d.toml:6: ftl.gc.victim", "did you mean `greedy`?"]),
    case("\"rga\"", "{ rga = { choice = 3 } }", &["ftl.gc.victim.rga.choice", "`choices`"]),
    case("\"rga\"", "\"random-pluss\"", &["ftl.gc.victim", "did you mean `random-plus`?"]),
    case("\"rga\"", "{ random-plus-plus = { max = 1 } }", &["ftl.gc.victim", "`max_valid`"]),
    case("\"rga\"", "{ rga = {}, greedy = {} }", &["ftl.gc.victim", "two policies named"]),
    case("name = \"good\"", "base = \"flinn\"", &["d.toml:1: base", "did you mean `flin`?"]),
    case("name = \"good\"", "base = 7", &["d.toml:1: base", "name of a preset"]),
];

/// Ranges and geometry.
const RULES: &[Case] = &[
    case("channels = 2", "channels = 0", &["d.toml:9: flash.channels", "found 0", "1 to 64"]),
    case("channels = 2", "channels = 65", &["flash.channels", "found 65", "1 to 64"]),
    case("chips_per_channel = 2", "chips_per_channel = 0", &["chips_per_channel", "1 to 64"]),
    case("dies_per_chip = 1", "dies_per_chip = 17", &["flash.dies_per_chip", "1 to 16"]),
    case("planes_per_die = 2", "planes_per_die = 9", &["flash.planes_per_die", "1 to 8"]),
    case("blocks_per_plane = 64", "blocks_per_plane = 7", &["flash.blocks_per_plane", "8 to"]),
    case("pages_per_block = 32", "pages_per_block = 3", &["flash.pages_per_block", "4 to 8192"]),
    case("\"4KiB\"", "\"4000B\"", &["d.toml:15: flash.page_size", "multiples of 512B"]),
    case("\"4KiB\"", "\"64KiB\"", &["flash.page_size", "found 64KiB", "512B to 32KiB"]),
    case("[\"75us\"]", "[]", &["flash.read_time", "found 0 values", "1 or 2"]),
    case("[\"75us\"]", "[\"1us\", \"2us\", \"3us\"]", &["flash.read_time", "3 values", "mlc"]),
    case("[\"750us\"]", "[\"0us\"]", &["flash.program_time[0]", "found 0ps", "1ns to 10s"]),
    case("\"333MT/s\"", "\"3T/s\"", &["flash.channel_rate", "found 3T/s", "1MT/s"]),
    case(
        "[ftl.gc]\n",
        "[ftl.mapping]\nkind = \"hybrid\"\n[ftl.precondition]\nopen_blocks = true\n[ftl.gc]\n",
        &["ftl.precondition.open_blocks", "allowed: false"],
    ),
    case(
        "[ftl.gc]\n",
        "[ftl.mapping]\nkind = \"hybrid\"\n[interface]\nkind = \"sata\"\n\
         [compat]\nsata_one_stream = true\n[ftl.gc]\n",
        &["compat.sata_one_stream", "found true, allowed: false", "hybrid mapping"],
    ),
    case("\"28%\"", "\"0.1%\"", &["ftl.over_provisioning", "0.5%"]),
    case("\"28%\"", "\"5%\"", &["ftl.over_provisioning", "plane 0", "over-provisioning of at"]),
    case(
        "blocks_per_plane = 64",
        "blocks_per_plane = 16",
        &["d.toml:5: ftl.gc.threshold", "5% = 0 of 16 blocks", "at least 3 blocks"],
    ),
    case(
        "victim = \"rga\"",
        "threshold = \"2 blocks\"",
        &["d.toml:6: ftl.gc.threshold", "at least 3 blocks"],
    ),
    case(
        "victim = \"rga\"",
        "hard_threshold = \"64 blocks\"",
        &["ftl.gc.hard_threshold", "fewer blocks than the 64"],
    ),
    case(
        "victim = \"rga\"",
        "max_concurrent_per_plane = 0",
        &["ftl.gc.max_concurrent_per_plane", "1 to 16"],
    ),
    case("[ftl]\n", "[link]\nlanes = 0\n[ftl]\n", &["d.toml:4: link.lanes", "1 to 32"]),
    case(
        "[ftl]\n",
        "[interface]\nqueue_depth = 1\n[ftl]\n",
        &["d.toml:4: interface.queue_depth", "2 to 65536"],
    ),
    case(
        "[ftl]\n",
        "[link]\ngeneration = 7\n[ftl]\n",
        &["d.toml:4: link.generation", "found 7", "3 to 6"],
    ),
    case("\"mlc\"", "\"in-place\"", &["d.toml:19: flash.erase_time", "has no erase"]),
    case("erase_time = \"3800us\"", "", &["flash.erase_time", "found 0ps", "1ns to 10s"]),
    case(
        "erase_time = \"3800us\"",
        "erase_time = \"3800us\"\nread_unit = \"256B\"",
        &["flash.read_unit", "only with technology \"in-place\""],
    ),
    case(
        "\"333MT/s\"",
        "\"800MT/s\"\nchannel_class = \"nv-ddr2\"",
        &["d.toml:16: flash.channel_rate", "found 800MT/s", "up to 533MT/s"],
    ),
    case(
        "erase_time = \"3800us\"",
        "erase_time = \"3800us\"\nsmall_read = { size = \"8KiB\", time = [\"50us\"] }",
        &["flash.small_read.size", "found 8KiB", "512B to 4KiB"],
    ),
    case(
        "[ftl]\n",
        "[interface]\nkind = \"sta\"\n[ftl]\n",
        &["d.toml:4: interface.kind", "did you mean `sata`?"],
    ),
    case(
        "[ftl]\n",
        "[interface.sata]\ntags = 33\n[ftl]\n",
        &["d.toml:4: interface.sata.tags", "found 33", "1 to 32"],
    ),
    case(
        "[ftl]\n",
        "[interface.sata]\nframe_payload = \"16KiB\"\n[ftl]\n",
        &["interface.sata.frame_payload", "512B to 8KiB"],
    ),
    case(
        "\"out-of-order\"",
        "{ priority-out-of-order = { high = 0 } }",
        &["d.toml:2: scheduler.priority-out-of-order.high", "1 to 256"],
    ),
    case(
        "\"out-of-order\"",
        "{ sprinkler = { window = 0 } }",
        &["d.toml:2: scheduler.sprinkler.window", "found 0", "1 to 1024"],
    ),
    case(
        "\"out-of-order\"",
        "{ sprinkler-fairness = { round = \"10us\" } }",
        &["d.toml:2: scheduler.sprinkler-fairness.round", "found 10us", "1ms to 10s"],
    ),
    case(
        "\"out-of-order\"",
        "{ sprinkler-fairness = { least_factor = 0.0 } }",
        &["scheduler.sprinkler-fairness.least_factor", "found 0", "0.1 to 1"],
    ),
    case(
        "\"out-of-order\"",
        "{ sprinkler-fairness = { idle = \"2s\" } }",
        &["scheduler.sprinkler-fairness.idle", "found 2s", "1us to 1s"],
    ),
    case(
        "\"out-of-order\"",
        "{ sprinkler-fairness = { low = 300 } }",
        &["scheduler.sprinkler-fairness.low", "found 300", "1 to 256"],
    ),
];

#[test]
fn devices_that_cannot_be_read() {
    run_table(READING, true);
}

#[test]
fn devices_that_break_a_rule() {
    run_table(RULES, true);
}

#[test]
fn memory_written_in_place_refuses_what_is_for_flash() {
    let folder = good_folder();
    let mut arguments = vec!["run", "--device", "xpoint", "--workload", "w.toml"];
    for set in [
        "ftl.mapping.ideal=false",
        "ftl.allocation=dynamic",
        "flash.read_unit=1KiB",
        "flash.write_unit=48B",
        "flash.small_read={ size = \"512B\", time = [\"1us\"] }",
    ] {
        arguments.extend(["--set", set]);
    }
    let says = [
        "ftl.mapping.ideal: found false, allowed: true",
        "ftl.allocation: found dynamic, allowed: the static orders",
        "flash.read_unit: found 1KiB, allowed: 16B to 512B",
        "flash.write_unit: found 48B, allowed: powers of two",
        "flash.small_read: found with memory that is written in place",
    ];
    assert_refused(folder.path(), &arguments, &says);
}

#[test]
fn too_many_pages() {
    let folder = good_folder();
    let mut arguments = vec!["run", "--device", "d.toml", "--workload", "w.toml"];
    for set in [
        "flash.channels=64",
        "flash.chips_per_channel=64",
        "flash.dies_per_chip=16",
        "flash.planes_per_die=8",
        "flash.blocks_per_plane=1048576",
        "flash.pages_per_block=8192",
    ] {
        arguments.extend(["--set", set]);
    }
    let says = ["d.toml:7: flash", "4503599627370496 pages", "at most 4293918720"];
    assert_refused(folder.path(), &arguments, &says);
}

#[test]
fn planes_without_room_for_collection() {
    let folder = good_folder();
    let arguments = ["run", "--device", "d.toml", "--workload", "w.toml"];
    let mut small = arguments.to_vec();
    small.extend(["--set", "flash.blocks_per_plane=16", "--set", "ftl.gc.threshold=3 blocks"]);
    let says = ["d.toml:4: ftl.over_provisioning", "16 blocks less 2 in reserve", "at least 29 bl"];
    assert_refused(folder.path(), &small, &says);
}

#[test]
fn all_problems_are_reported_at_once() {
    let folder = good_folder();
    let arguments = ["run", "--device", "d.toml", "--workload", "w.toml", "--set", "link.lanes=99"];
    let mut more = arguments.to_vec();
    more.extend(["--set", "flash.channels=0", "--set", "flow.second.synthetic.iops=-1.0"]);
    let says = [
        "--set link.lanes=99: link.lanes: found 99",
        "--set flash.channels=0: flash.channels: found 0",
        "--set flow.second.synthetic.iops=-1.0: flow[1].synthetic.iops: found -1",
    ];
    assert_refused(folder.path(), &more, &says);
}
