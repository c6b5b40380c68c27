/* A panic inside of the library is an error, and the process and its other drives live. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flashlane.h>

/* Only the library of the tests has it. */
flashlane_status flashlane_test_panic(flashlane_drive *drive);

#define REQUIRE(what)                                                                                                  \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #what, flashlane_last_error());                             \
            exit(EXIT_FAILURE);                                                                                        \
        }                                                                                                              \
    } while (0)

static flashlane_drive *make_drive(void) {
    flashlane_tenant tenant = {.name = "a"};
    flashlane_config config = {
        .struct_size = sizeof config, .device = "tiny", .tenants = &tenant, .tenants_count = 1, .seed = 1};
    flashlane_drive *drive;
    REQUIRE(flashlane_drive_new(&config, &drive) == FLASHLANE_STATUS_OK);
    flashlane_command command = {.op = FLASHLANE_OP_READ, .sectors = 8};
    REQUIRE(flashlane_submit(drive, 0, &command) == FLASHLANE_STATUS_OK);
    return drive;
}

int main(void) {
    flashlane_drive *drive = make_drive(), *other = make_drive();
    flashlane_completion done;
    flashlane_report report;
    flashlane_snapshot *snapshot, *none;
    flashlane_command command = {.op = FLASHLANE_OP_READ, .sectors = 8};
    uint64_t number;
    size_t count;
    char *json;
    REQUIRE(flashlane_snapshot_new(drive, &snapshot) == FLASHLANE_STATUS_OK);
    REQUIRE(flashlane_test_panic(drive) == FLASHLANE_STATUS_PANIC);
    REQUIRE(strstr(flashlane_last_error(), "provoked by a test") != NULL);
    /* Every function refuses the drive. */
    REQUIRE(flashlane_test_panic(drive) == FLASHLANE_STATUS_DEAD);
    REQUIRE(flashlane_submit(drive, 0, &command) == FLASHLANE_STATUS_DEAD);
    REQUIRE(flashlane_schedule(drive, 0, &command) == FLASHLANE_STATUS_DEAD);
    REQUIRE(flashlane_step(drive, &report, &done) == FLASHLANE_STATUS_DEAD);
    REQUIRE(flashlane_advance(drive, FLASHLANE_NEVER, &done, 1, &count) == FLASHLANE_STATUS_DEAD);
    REQUIRE(flashlane_next_event(drive, &number) == FLASHLANE_STATUS_DEAD);
    REQUIRE(flashlane_now(drive, &number) == FLASHLANE_STATUS_DEAD);
    REQUIRE(flashlane_outstanding(drive, &number) == FLASHLANE_STATUS_DEAD);
    REQUIRE(flashlane_sectors(drive, 0, &number) == FLASHLANE_STATUS_DEAD);
    REQUIRE(flashlane_summary(drive, &json) == FLASHLANE_STATUS_DEAD && json == NULL);
    REQUIRE(flashlane_blame(drive, &json) == FLASHLANE_STATUS_DEAD && json == NULL);
    REQUIRE(flashlane_snapshot_new(drive, &none) == FLASHLANE_STATUS_DEAD && none == NULL);
    REQUIRE(flashlane_snapshot_restore(drive, snapshot) == FLASHLANE_STATUS_DEAD);
    flashlane_snapshot_free(snapshot);
    flashlane_drive_free(drive);
    /* Another drive goes on. */
    REQUIRE(flashlane_advance(other, FLASHLANE_NEVER, &done, 1, &count) == FLASHLANE_STATUS_MORE && count == 1);
    flashlane_drive_free(other);
    printf("alive\n");
    return EXIT_SUCCESS;
}
