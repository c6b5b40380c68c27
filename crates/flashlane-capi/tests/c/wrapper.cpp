/* The classes of flashlane.hpp: moved and not copied, failures as exceptions, the same completions as in C. */

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include <flashlane.hpp>

static_assert(std::is_nothrow_move_constructible_v<flashlane::Drive> && !std::is_copy_constructible_v<flashlane::Drive>);
static_assert(std::is_nothrow_move_assignable_v<flashlane::Drive> && !std::is_copy_assignable_v<flashlane::Drive>);
static_assert(std::is_nothrow_move_constructible_v<flashlane::Snapshot>);
static_assert(!std::is_copy_constructible_v<flashlane::Snapshot>);

static void require(bool what, int line) {
    if (!what) {
        std::fprintf(stderr, "line %d\n", line);
        std::exit(EXIT_FAILURE);
    }
}
#define REQUIRE(what) require(what, __LINE__)

template <typename Call> static flashlane_status status_of(Call call) {
    try {
        call();
    } catch (const flashlane::Error &error) {
        REQUIRE(std::strlen(error.what()) > 0);
        return error.status();
    }
    return FLASHLANE_STATUS_OK;
}

static flashlane::Config small() {
    flashlane::Config config;
    config.device_toml = "base = 'tiny'";
    config.overrides = {"cache.capacity=2MiB"};
    config.tenants = {{"a"}, {"b", "priority = 'high'"}};
    config.check = true;
    return config;
}

int main() {
    flashlane::Drive first(small());
    REQUIRE(first.next_event() == 0 && first.outstanding() == 0 && first.sectors(1) > 0);
    first.submit(0, flashlane::write(0, 0, 8, 1));
    first.schedule(5 * FLASHLANE_US, flashlane::read(1, 64, 8, 2));
    first.submit(6 * FLASHLANE_US, flashlane::trim(1, 64, 8, 3));
    first.submit(7 * FLASHLANE_US, flashlane::flush(0, 4));
    flashlane::Drive drive(std::move(first));
    const flashlane::Snapshot snapshot = drive.snapshot();
    const auto all = drive.advance();
    REQUIRE(!drive.next_event());
    REQUIRE(all.size() == 4 && drive.outstanding() == 0 && drive.now() == all.back().complete_ps);
    drive.restore(snapshot);
    for (const auto &expected : all) {
        const auto done = drive.next_completion();
        REQUIRE(done && std::memcmp(&*done, &expected, sizeof expected) == 0);
    }
    REQUIRE(!drive.next_completion());
    drive.restore(snapshot);
    std::size_t completed = 0;
    for (auto step = drive.step(); step.report != FLASHLANE_REPORT_IDLE; step = drive.step()) {
        completed += step.completion.has_value();
    }
    REQUIRE(completed == 4 && drive.summary().find("\"requests_completed\":4") != std::string::npos);
    REQUIRE(drive.zones(0).empty() && drive.placement_events().empty());
    REQUIRE(status_of([&] { drive.fail_zone(0, 0, FLASHLANE_ZONE_STATE_OFFLINE); }) == FLASHLANE_STATUS_UNSUPPORTED);
    flashlane::Config with_zones;
    with_zones.device_toml = "base = 'tiny'\nplacement.mode = 'zones'\n[ftl]\nsuperblock = 'drive'\n"
                             "mapping.ideal = true\nwear_leveling.static_threshold = 0";
    with_zones.tenants = {{"a"}};
    flashlane::Drive zoned(with_zones);
    zoned.fail_zone(0, 1, FLASHLANE_ZONE_STATE_OFFLINE);
    const auto zones = zoned.zones(0);
    REQUIRE(zones.size() > 1 && zones[1].state == FLASHLANE_ZONE_STATE_OFFLINE);
    REQUIRE(zones[0].state == FLASHLANE_ZONE_STATE_EMPTY && zones[1].start >= zones[0].capacity);
    // Failures.
    REQUIRE(status_of([&] { drive.submit(0, flashlane::read(0, 0, 8)); }) == FLASHLANE_STATUS_BAD_TIME);
    REQUIRE(status_of([&] { drive.blame(); }) == FLASHLANE_STATUS_ARGUMENT);
    REQUIRE(status_of([&] { drive.sectors(2); }) == FLASHLANE_STATUS_BAD_TENANT);
    REQUIRE(status_of([] { flashlane::Drive bad{flashlane::Config{}}; }) == FLASHLANE_STATUS_ARGUMENT);
    flashlane::Drive other(small());
    REQUIRE(status_of([&] { other.restore(snapshot); }) == FLASHLANE_STATUS_ARGUMENT);
    other = std::move(drive);
    other.restore(snapshot);
    REQUIRE(other.outstanding() == 4);
    // A drive that was moved away is no drive.
    REQUIRE(status_of([&] { drive.now(); }) == FLASHLANE_STATUS_ARGUMENT);
    std::puts("moved");
    return EXIT_SUCCESS;
}
