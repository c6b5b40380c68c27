/* The contract of flashlane.h: layouts, arguments, refusals, full buffers, snapshots, failures. */

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flashlane.h>

/* Programs are compiled with these numbers: a change needs another FLASHLANE_ABI_VERSION. */
_Static_assert(FLASHLANE_ABI_VERSION == 1, "the numbers below are those of version 1");
_Static_assert(sizeof(flashlane_command) == 32, "command");
_Static_assert(offsetof(flashlane_command, lba) == 8 && offsetof(flashlane_command, sectors) == 16, "command");
_Static_assert(offsetof(flashlane_command, tenant) == 20 && offsetof(flashlane_command, nsid) == 24, "command");
_Static_assert(offsetof(flashlane_command, placement) == 28 && offsetof(flashlane_command, op) == 30, "command");
_Static_assert(sizeof(flashlane_completion) == 136, "completion");
_Static_assert(offsetof(flashlane_completion, complete_ps) == 40, "completion");
_Static_assert(offsetof(flashlane_completion, transfer_out_ps) == 112, "completion");
_Static_assert(offsetof(flashlane_completion, pages) == 120 && offsetof(flashlane_completion, op) == 126, "completion");
_Static_assert(sizeof(void *) != 8 || sizeof(flashlane_config) == 72, "config");
_Static_assert(sizeof(flashlane_status) == 4 && sizeof(flashlane_report) == 4, "enums");

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

static const flashlane_tenant TENANTS[] = {{.name = "a"}, {.name = "b", .keys = "priority = 'high'"}};

static flashlane_config small(void) {
    flashlane_config config = {.struct_size = sizeof config,
                               .device = "tiny",
                               .tenants = TENANTS,
                               .tenants_count = 2,
                               .seed = 1,
                               .flags = FLASHLANE_CHECK | FLASHLANE_BLAME};
    return config;
}

static flashlane_drive *small_drive(void) {
    flashlane_config config = small();
    flashlane_drive *drive;
    REQUIRE(flashlane_drive_new(&config, &drive) == FLASHLANE_STATUS_OK);
    return drive;
}

/* Commands of both tenants, one every microsecond. */
static void load(flashlane_drive *drive, uint64_t commands) {
    for (uint64_t i = 0; i < commands; i++) {
        flashlane_command command = {.cookie = i, .lba = i * 8, .sectors = 8, .tenant = i % 2, .op = i % 3 == 0};
        REQUIRE(flashlane_submit(drive, i * FLASHLANE_US, &command) == FLASHLANE_STATUS_OK);
    }
}

static void makers(void) {
    flashlane_drive *drive = (flashlane_drive *)&drive;
    flashlane_config config = small();
    FAILS(flashlane_drive_new(NULL, &drive), ARGUMENT, "config");
    REQUIRE(drive == NULL);
    FAILS(flashlane_drive_new(&config, NULL), ARGUMENT, "drive");
    config.struct_size = 8;
    FAILS(flashlane_drive_new(&config, &drive), ARGUMENT, "struct_size");
    config = small();
    config.device = NULL;
    FAILS(flashlane_drive_new(&config, &drive), ARGUMENT, "device");
    config.device = "tiyn";
    FAILS(flashlane_drive_new(&config, &drive), CONFIG, "tiny");
    config.device = "\xff";
    FAILS(flashlane_drive_new(&config, &drive), ARGUMENT, "UTF-8");
    config = small();
    config.tenants_count = 0;
    FAILS(flashlane_drive_new(&config, &drive), CONFIG, "");
    config.tenants = NULL;
    config.tenants_count = 2;
    FAILS(flashlane_drive_new(&config, &drive), ARGUMENT, "tenants");
    config = small();
    config.flags = 64;
    FAILS(flashlane_drive_new(&config, &drive), ARGUMENT, "flags 64");
    const flashlane_tenant bad[] = {{.name = "a", .keys = "priority = 'hihg'"}, {.name = NULL}};
    config = small();
    config.tenants = bad;
    config.tenants_count = 1;
    FAILS(flashlane_drive_new(&config, &drive), CONFIG, "hihg");
    config.tenants = bad + 1;
    FAILS(flashlane_drive_new(&config, &drive), ARGUMENT, "name");
    const char *overrides[] = {"flash.channels=4", "flash.chanels=1"};
    config = small();
    config.overrides = overrides;
    config.overrides_count = 2;
    FAILS(flashlane_drive_new(&config, &drive), CONFIG, "chanels");
    config.overrides_count = 1;
    config.device = NULL;
    config.device_toml = "base = 'tiny'\n[cache]\ncapacity = '2MiB'";
    REQUIRE(flashlane_drive_new(&config, &drive) == FLASHLANE_STATUS_OK);
    uint64_t wide, narrow;
    REQUIRE(flashlane_sectors(drive, 0, &wide) == FLASHLANE_STATUS_OK);
    flashlane_drive_free(drive);
    drive = small_drive();
    REQUIRE(flashlane_sectors(drive, 0, &narrow) == FLASHLANE_STATUS_OK);
    REQUIRE(wide == 2 * narrow);
    flashlane_drive_free(drive);
    flashlane_drive_free(NULL);
    flashlane_snapshot_free(NULL);
    flashlane_string_free(NULL);
}

static void nulls(void) {
    flashlane_drive *drive = small_drive();
    flashlane_command command = {.sectors = 8};
    flashlane_completion done;
    flashlane_report report;
    uint64_t number;
    size_t count;
    char *json;
    flashlane_snapshot *snapshot;
    FAILS(flashlane_submit(NULL, 0, &command), ARGUMENT, "drive");
    FAILS(flashlane_submit(drive, 0, NULL), ARGUMENT, "command");
    FAILS(flashlane_schedule(drive, 0, NULL), ARGUMENT, "command");
    FAILS(flashlane_step(NULL, &report, &done), ARGUMENT, "drive");
    FAILS(flashlane_step(drive, NULL, &done), ARGUMENT, "report");
    FAILS(flashlane_step(drive, &report, NULL), ARGUMENT, "completion");
    FAILS(flashlane_advance(drive, 1, NULL, 1, &count), ARGUMENT, "completions");
    FAILS(flashlane_advance(drive, 1, &done, 0, &count), ARGUMENT, "capacity");
    FAILS(flashlane_advance(drive, 1, &done, SIZE_MAX, &count), ARGUMENT, "capacity");
    FAILS(flashlane_advance(drive, 1, &done, 1, NULL), ARGUMENT, "count");
    FAILS(flashlane_next_event(drive, NULL), ARGUMENT, "at_ps");
    FAILS(flashlane_now(NULL, &number), ARGUMENT, "drive");
    FAILS(flashlane_now(drive, NULL), ARGUMENT, "now_ps");
    FAILS(flashlane_outstanding(drive, NULL), ARGUMENT, "count");
    FAILS(flashlane_sectors(drive, 0, NULL), ARGUMENT, "sectors");
    FAILS(flashlane_sectors(drive, 2, &number), BAD_TENANT, "found 2");
    FAILS(flashlane_summary(NULL, &json), ARGUMENT, "drive");
    FAILS(flashlane_summary(drive, NULL), ARGUMENT, "json");
    FAILS(flashlane_blame(drive, NULL), ARGUMENT, "json");
    FAILS(flashlane_snapshot_new(drive, NULL), ARGUMENT, "snapshot");
    FAILS(flashlane_snapshot_new(NULL, &snapshot), ARGUMENT, "drive");
    FAILS(flashlane_snapshot_restore(drive, NULL), ARGUMENT, "snapshot");
    flashlane_drive_free(drive);
    flashlane_config config = small();
    config.flags = 0;
    REQUIRE(flashlane_drive_new(&config, &drive) == FLASHLANE_STATUS_OK);
    FAILS(flashlane_blame(drive, &json), ARGUMENT, "FLASHLANE_BLAME");
    REQUIRE(json == NULL);
    flashlane_drive_free(drive);
}

static void refusals(void) {
    flashlane_drive *drive = small_drive();
    flashlane_completion done;
    uint64_t space, number;
    size_t count;
    const flashlane_command read = {.op = FLASHLANE_OP_READ, .sectors = 8};
    flashlane_command command = read;
    REQUIRE(flashlane_sectors(drive, 0, &space) == FLASHLANE_STATUS_OK);
    command.lba = space - 7;
    FAILS(flashlane_submit(drive, 0, &command), BAD_RANGE, "allowed");
    command = read;
    command.sectors = 0;
    FAILS(flashlane_submit(drive, 0, &command), BAD_RANGE, "allowed");
    command = read;
    command.tenant = 2;
    FAILS(flashlane_submit(drive, 0, &command), BAD_TENANT, "found 2");
    command = read;
    command.nsid = 2;
    FAILS(flashlane_submit(drive, 0, &command), BAD_NAMESPACE, "found 2");
    command = read;
    command.op = 9;
    FAILS(flashlane_submit(drive, 0, &command), ARGUMENT, "op: found 9");
    command.op = FLASHLANE_OP_ZONE_RESET;
    FAILS(flashlane_submit(drive, 0, &command), UNSUPPORTED, "zones");
    command = read;
    command.flags = FLASHLANE_PLACED;
    FAILS(flashlane_submit(drive, 0, &command), UNSUPPORTED, "placement");
    command.flags = 2;
    FAILS(flashlane_submit(drive, 0, &command), ARGUMENT, "flags");
    command.flags = 0;
    command.placement = 1;
    FAILS(flashlane_submit(drive, 0, &command), ARGUMENT, "placement");
    FAILS(flashlane_submit(drive, FLASHLANE_NEVER, &read), BAD_TIME, "213 days");
    REQUIRE(flashlane_outstanding(drive, &number) == FLASHLANE_STATUS_OK && number == 0);
    REQUIRE(flashlane_submit(drive, 5 * FLASHLANE_US, &read) == FLASHLANE_STATUS_OK);
    REQUIRE(flashlane_advance(drive, FLASHLANE_NEVER, &done, 1, &count) == FLASHLANE_STATUS_MORE && count == 1);
    REQUIRE(flashlane_now(drive, &number) == FLASHLANE_STATUS_OK && number == done.complete_ps);
    FAILS(flashlane_submit(drive, number - 1, &read), BAD_TIME, "present");
    REQUIRE(done.submission_ps + done.transfer_in_ps + done.firmware_ps + done.cache_ps + done.mapping_ps +
                done.flash_queue_ps + done.flash_bus_ps + done.flash_array_ps + done.transfer_out_ps ==
            done.complete_ps - done.submit_ps);
    REQUIRE(done.bytes == 4096 && done.counted == 1 && done.result == 0 && done.reserved == 0);
    flashlane_drive_free(drive);
}

/* All completions with a buffer of some capacity; the last one is the number of them. */
static size_t all(size_t capacity, flashlane_completion *kept) {
    flashlane_drive *drive = small_drive();
    size_t kept_count = 0, count;
    flashlane_status status;
    uint64_t now, next;
    load(drive, 100);
    do {
        status = flashlane_advance(drive, FLASHLANE_NEVER, kept + kept_count, capacity, &count);
        REQUIRE(status >= FLASHLANE_STATUS_OK && (status == FLASHLANE_STATUS_MORE) == (count == capacity));
        kept_count += count;
        REQUIRE(flashlane_now(drive, &now) == FLASHLANE_STATUS_OK);
        REQUIRE(count == 0 || status == FLASHLANE_STATUS_OK || kept[kept_count - 1].complete_ps == now);
    } while (status == FLASHLANE_STATUS_MORE);
    REQUIRE(flashlane_next_event(drive, &next) == FLASHLANE_STATUS_OK && next == FLASHLANE_NEVER);
    flashlane_drive_free(drive);
    return kept_count;
}

static void buffers(void) {
    static flashlane_completion first[2000], other[2000];
    const size_t capacities[] = {1, 2, 7, 99, 100, 101};
    REQUIRE(all(1000, first) == 100);
    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
        memset(other, 0, sizeof other);
        REQUIRE(all(capacities[i], other) == 100);
        REQUIRE(memcmp(first, other, 100 * sizeof first[0]) == 0);
    }
    /* Nothing after the time is handled, with a buffer that is too small as well. */
    flashlane_drive *drive = small_drive();
    flashlane_completion done;
    size_t count, before = 0;
    uint64_t now;
    load(drive, 100);
    while (flashlane_advance(drive, 60 * FLASHLANE_US, &done, 1, &count) == FLASHLANE_STATUS_MORE) {
        before++;
    }
    REQUIRE(count == 0 && before > 0 && flashlane_now(drive, &now) == FLASHLANE_STATUS_OK);
    REQUIRE(now <= 60 * FLASHLANE_US && first[before - 1].complete_ps <= 60 * FLASHLANE_US);
    REQUIRE(first[before].complete_ps > 60 * FLASHLANE_US);
    flashlane_drive_free(drive);
}

static void snapshots(void) {
    flashlane_drive *drive = small_drive(), *stranger = small_drive();
    flashlane_snapshot *snapshot;
    static flashlane_completion first[200], second[200];
    size_t count, again;
    char *json, *same;
    load(drive, 100);
    REQUIRE(flashlane_advance(drive, 50 * FLASHLANE_US, first, 200, &count) == FLASHLANE_STATUS_OK);
    REQUIRE(flashlane_snapshot_new(drive, &snapshot) == FLASHLANE_STATUS_OK);
    FAILS(flashlane_snapshot_restore(stranger, snapshot), ARGUMENT, "another drive");
    REQUIRE(flashlane_advance(drive, FLASHLANE_NEVER, first, 200, &count) == FLASHLANE_STATUS_OK && count > 0);
    REQUIRE(flashlane_summary(drive, &json) == FLASHLANE_STATUS_OK && strstr(json, "\"requests_completed\":100"));
    REQUIRE(flashlane_snapshot_restore(drive, snapshot) == FLASHLANE_STATUS_OK);
    REQUIRE(flashlane_advance(drive, FLASHLANE_NEVER, second, 200, &again) == FLASHLANE_STATUS_OK && again == count);
    REQUIRE(memcmp(first, second, count * sizeof first[0]) == 0);
    REQUIRE(flashlane_summary(drive, &same) == FLASHLANE_STATUS_OK && strcmp(json, same) == 0);
    flashlane_string_free(json);
    flashlane_string_free(same);
    REQUIRE(flashlane_blame(drive, &json) == FLASHLANE_STATUS_OK && strstr(json, "\"flows\":[\"a\",\"b\"]"));
    flashlane_string_free(json);
    flashlane_drive_free(drive);
    flashlane_drive_free(stranger);
    flashlane_snapshot_free(snapshot);
}

/* A read that the end of simulated time comes before: the drive is dead, and a snapshot brings it back. */
static void stuck(void) {
    flashlane_drive *drive = small_drive();
    flashlane_snapshot *snapshot;
    flashlane_completion done[4];
    flashlane_command command = {.sectors = 8};
    size_t count;
    uint64_t number;
    REQUIRE(flashlane_submit(drive, 0, &command) == FLASHLANE_STATUS_OK);
    REQUIRE(flashlane_snapshot_new(drive, &snapshot) == FLASHLANE_STATUS_OK);
    REQUIRE(flashlane_submit(drive, FLASHLANE_NEVER - 10000, &command) == FLASHLANE_STATUS_OK);
    FAILS(flashlane_advance(drive, FLASHLANE_NEVER, done, 4, &count), STUCK, "213 days");
    REQUIRE(count == 1);
    FAILS(flashlane_submit(drive, FLASHLANE_NEVER - 9000, &command), DEAD, "earlier");
    REQUIRE(flashlane_outstanding(drive, &number) == FLASHLANE_STATUS_OK && number == 1);
    REQUIRE(flashlane_snapshot_restore(drive, snapshot) == FLASHLANE_STATUS_OK);
    REQUIRE(flashlane_advance(drive, FLASHLANE_NEVER, done, 4, &count) == FLASHLANE_STATUS_OK && count == 1);
    flashlane_snapshot_free(snapshot);
    flashlane_drive_free(drive);
}

static void steps(void) {
    flashlane_drive *drive = small_drive();
    flashlane_report report;
    flashlane_completion done;
    size_t seen[4] = {0};
    load(drive, 20);
    do {
        REQUIRE(flashlane_step(drive, &report, &done) == FLASHLANE_STATUS_OK);
        seen[report]++;
    } while (report != FLASHLANE_REPORT_IDLE);
    /* Commands for time 0 are there from the start: nobody reports their arrival. */
    REQUIRE(seen[FLASHLANE_REPORT_COMPLETED] == 20 && seen[FLASHLANE_REPORT_ARRIVED] == 19);
    flashlane_drive_free(drive);
}

int main(void) {
    REQUIRE(strcmp(flashlane_last_error(), "") == 0);
    REQUIRE(flashlane_abi_version() == FLASHLANE_ABI_VERSION);
    REQUIRE(strcmp(flashlane_status_name(FLASHLANE_STATUS_BAD_RANGE), "FLASHLANE_STATUS_BAD_RANGE") == 0);
    REQUIRE(strcmp(flashlane_status_name(99), "unknown flashlane_status") == 0);
    makers();
    nulls();
    refusals();
    buffers();
    snapshots();
    stuck();
    steps();
    printf("version %s\n", flashlane_version());
    return EXIT_SUCCESS;
}
