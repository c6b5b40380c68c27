/* The zones of a tenant, zones that fail, and the events of placement. */

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flashlane.h>

_Static_assert(sizeof(flashlane_zone) == 32 && offsetof(flashlane_zone, state) == 24, "zone");
_Static_assert(sizeof(flashlane_placement_event) == 16, "event");
_Static_assert(offsetof(flashlane_placement_event, kind) == 14, "event");

#define REQUIRE(what)                                                                                                  \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #what, flashlane_last_error());                             \
            exit(EXIT_FAILURE);                                                                                        \
        }                                                                                                              \
    } while (0)

/* The call fails with a status, and the text names what is wrong. */
#define FAILS(call, with, says)                                                                                        \
    do {                                                                                                               \
        REQUIRE((call) == FLASHLANE_STATUS_##with);                                                                    \
        REQUIRE(strstr(flashlane_last_error(), says) != NULL);                                                         \
    } while (0)

#define MAPPING "[ftl]\nsuperblock = 'drive'\nmapping.ideal = true\nwear_leveling.static_threshold = 0"

static flashlane_drive *made(const char *device) {
    const flashlane_tenant tenant = {.name = "a", .keys = "occupancy = 0.0"};
    const flashlane_config config = {.struct_size = sizeof config,
                                     .device_toml = device,
                                     .tenants = &tenant,
                                     .tenants_count = 1,
                                     .seed = 1,
                                     .flags = FLASHLANE_CHECK};
    flashlane_drive *drive;
    REQUIRE(flashlane_drive_new(&config, &drive) == FLASHLANE_STATUS_OK);
    return drive;
}

/* Carries a command out, and returns its completion. */
static flashlane_completion done(flashlane_drive *drive, flashlane_command command) {
    flashlane_completion completion;
    uint64_t now;
    size_t count;
    REQUIRE(flashlane_now(drive, &now) == FLASHLANE_STATUS_OK);
    REQUIRE(flashlane_submit(drive, now, &command) == FLASHLANE_STATUS_OK);
    REQUIRE(flashlane_advance(drive, FLASHLANE_NEVER, &completion, 1, &count) >= FLASHLANE_STATUS_OK && count == 1);
    return completion;
}

static void zones(void) {
    flashlane_drive *drive = made("base = 'tiny'\nplacement.mode = 'zones'\n" MAPPING);
    flashlane_zone found[4];
    size_t count, again;
    uint64_t sectors;
    REQUIRE(flashlane_zones(drive, 0, NULL, 0, &count) == FLASHLANE_STATUS_OK && count > 4);
    memset(found, 0xff, sizeof found);
    REQUIRE(flashlane_zones(drive, 0, found, 3, &again) == FLASHLANE_STATUS_OK && again == count);
    REQUIRE(found[0].start == 0 && found[0].pointer == 0 && found[0].state == FLASHLANE_ZONE_STATE_EMPTY);
    REQUIRE(found[0].capacity > 8 && found[1].start >= found[0].capacity && found[2].reserved[6] == 0);
    REQUIRE(found[3].state == 0xff);
    REQUIRE(flashlane_sectors(drive, 0, &sectors) == FLASHLANE_STATUS_OK && found[1].start * count <= sectors);

    const uint64_t second = found[1].start;
    const flashlane_command append = {.op = FLASHLANE_OP_ZONE_APPEND, .lba = second, .sectors = 8};
    const flashlane_command finish = {.op = FLASHLANE_OP_ZONE_FINISH, .lba = found[2].start};
    const flashlane_command open = {.op = FLASHLANE_OP_ZONE_OPEN, .lba = 0};
    const flashlane_command close = {.op = FLASHLANE_OP_ZONE_CLOSE, .lba = second};
    REQUIRE(done(drive, append).result == 0 && done(drive, finish).result == 0 && done(drive, open).result == 0);
    REQUIRE(flashlane_zones(drive, 0, found, 4, &count) == FLASHLANE_STATUS_OK);
    REQUIRE(found[0].state == FLASHLANE_ZONE_STATE_EXPLICITLY_OPEN);
    REQUIRE(found[1].state == FLASHLANE_ZONE_STATE_IMPLICITLY_OPEN && found[1].pointer == second + 8);
    REQUIRE(found[2].state == FLASHLANE_ZONE_STATE_FULL && found[2].pointer == found[2].start + found[2].capacity);
    REQUIRE(found[3].state == FLASHLANE_ZONE_STATE_EMPTY);
    REQUIRE(done(drive, close).result == 0);

    REQUIRE(flashlane_fail_zone(drive, 0, 0, FLASHLANE_ZONE_STATE_OFFLINE) == FLASHLANE_STATUS_OK);
    REQUIRE(flashlane_fail_zone(drive, 0, 3, FLASHLANE_ZONE_STATE_READ_ONLY) == FLASHLANE_STATUS_OK);
    REQUIRE(flashlane_zones(drive, 0, found, 4, &count) == FLASHLANE_STATUS_OK);
    REQUIRE(found[0].state == FLASHLANE_ZONE_STATE_OFFLINE && found[1].state == FLASHLANE_ZONE_STATE_CLOSED);
    REQUIRE(found[3].state == FLASHLANE_ZONE_STATE_READ_ONLY);
    REQUIRE(done(drive, open).op == FLASHLANE_OP_REFUSED);

    FAILS(flashlane_fail_zone(drive, 0, 0, FLASHLANE_ZONE_STATE_READ_ONLY), ARGUMENT, "offline for ever");
    FAILS(flashlane_fail_zone(drive, 0, 1, FLASHLANE_ZONE_STATE_FULL), ARGUMENT, "zone_state: found 14");
    FAILS(flashlane_fail_zone(drive, 0, 1, 269), ARGUMENT, "zone_state: found 269");
    FAILS(flashlane_fail_zone(drive, 0, 1000000, FLASHLANE_ZONE_STATE_OFFLINE), ARGUMENT, "zone: found 1000000");
    FAILS(flashlane_fail_zone(drive, 1, 0, FLASHLANE_ZONE_STATE_OFFLINE), BAD_TENANT, "tenant");
    FAILS(flashlane_fail_zone(NULL, 0, 0, FLASHLANE_ZONE_STATE_OFFLINE), ARGUMENT, "drive");
    FAILS(flashlane_zones(drive, 1, found, 4, &count), BAD_TENANT, "tenant");
    FAILS(flashlane_zones(drive, 0, NULL, 4, &count), ARGUMENT, "zones: found NULL");
    REQUIRE(count == 0);
    FAILS(flashlane_zones(drive, 0, found, SIZE_MAX, &count), ARGUMENT, "capacity");
    FAILS(flashlane_zones(drive, 0, found, 4, NULL), ARGUMENT, "count");
    flashlane_drive_free(drive);
}

static void events(void) {
    flashlane_drive *drive = made("base = 'tiny'\nplacement = { mode = 'fdp', handles = 2 }\n" MAPPING);
    flashlane_placement_event found[63];
    size_t count, again;
    REQUIRE(flashlane_placement_events(drive, NULL, 0, &count) == FLASHLANE_STATUS_OK && count == 0);
    REQUIRE(flashlane_zones(drive, 0, NULL, 0, &count) == FLASHLANE_STATUS_OK && count == 0);
    FAILS(flashlane_fail_zone(drive, 0, 0, FLASHLANE_ZONE_STATE_OFFLINE), UNSUPPORTED, "no zones");
    for (uint64_t i = 0; i < 16; i++) {
        const flashlane_command write = {.op = FLASHLANE_OP_WRITE,
                                         .lba = i * 512,
                                         .sectors = 512,
                                         .placement = 1,
                                         .flags = FLASHLANE_PLACED};
        REQUIRE(done(drive, write).result == 0);
    }
    REQUIRE(done(drive, (flashlane_command){.op = FLASHLANE_OP_FLUSH}).result == 0);
    REQUIRE(flashlane_placement_events(drive, found, 63, &count) == FLASHLANE_STATUS_OK && count > 0 && count <= 63);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(found[i].kind == FLASHLANE_EVENT_KIND_MOVED && found[i].pages == 0);
        REQUIRE(found[i].flags == FLASHLANE_PLACED && found[i].placement == 1);
        REQUIRE(found[i].at_ps > 0 && (i == 0 || found[i].at_ps >= found[i - 1].at_ps));
    }
    const flashlane_placement_event first = found[0];
    memset(found, 0, sizeof found);
    REQUIRE(flashlane_placement_events(drive, found, 1, &again) == FLASHLANE_STATUS_OK && again == count);
    REQUIRE(memcmp(found, &first, sizeof first) == 0 && found[1].kind == 0);
    FAILS(flashlane_placement_events(drive, NULL, 1, &count), ARGUMENT, "events: found NULL");
    FAILS(flashlane_placement_events(drive, found, 1, NULL), ARGUMENT, "count");
    FAILS(flashlane_placement_events(NULL, found, 1, &count), ARGUMENT, "drive");
    flashlane_drive_free(drive);
}

int main(void) {
    zones();
    events();
    puts("zones and events");
    return EXIT_SUCCESS;
}
