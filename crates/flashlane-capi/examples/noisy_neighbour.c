/*
 * What a noisy neighbour does to a reader: latencies of 4 KiB reads, alone and beside a tenant that keeps 32 writes
 * outstanding. Both are closed loops: a tenant submits its next command when one of its commands is complete.
 *
 *     cc noisy_neighbour.c $(pkg-config --cflags --libs flashlane) -o noisy_neighbour
 *     ./noisy_neighbour [device]
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <flashlane.h>

enum { READER, WRITER, READS_MAX = 10000 };

/* Reads of the reader in one phase. */
static uint64_t latencies[READS_MAX];
static uint64_t waits[READS_MAX];

static void check(flashlane_status status) {
    if (status < FLASHLANE_STATUS_OK) {
        fprintf(stderr, "%s: %s\n", flashlane_status_name(status), flashlane_last_error());
        exit(EXIT_FAILURE);
    }
}

/* Submits the next command of a tenant for the present: 4 KiB at a random place. */
static void submit(flashlane_drive *drive, uint32_t tenant) {
    static uint64_t state = 1;
    uint64_t now, sectors;
    check(flashlane_now(drive, &now));
    check(flashlane_sectors(drive, tenant, &sectors));
    state = state * 6364136223846793005u + 1442695040888963407u;
    flashlane_command command = {
        .op = tenant == READER ? FLASHLANE_OP_READ : FLASHLANE_OP_WRITE,
        .tenant = tenant,
        .lba = (state >> 33) % (sectors / 8) * 8,
        .sectors = 8,
    };
    check(flashlane_submit(drive, now, &command));
}

static int ascending(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Runs both loops up to a time, and prints what the reader has seen. */
static void run(flashlane_drive *drive, uint64_t until, const char *phase) {
    size_t reads = 0, count;
    uint64_t total = 0, waiting = 0;
    flashlane_completion done;
    /* With a buffer for one, the drive stops at every completion: FLASHLANE_STATUS_MORE. */
    for (;;) {
        check(flashlane_advance(drive, until, &done, 1, &count));
        if (count == 0) {
            break;
        }
        if (done.tenant == READER && reads < READS_MAX) {
            latencies[reads] = done.complete_ps - done.submit_ps;
            waits[reads] = done.flash_queue_ps;
            total += latencies[reads];
            waiting += waits[reads];
            reads++;
        }
        submit(drive, done.tenant);
    }
    if (reads == 0) {
        return;
    }
    qsort(latencies, reads, sizeof latencies[0], ascending);
    printf("%-22s %6zu reads, mean %7.1f us, 99%% %7.1f us, of the mean %7.1f us in queues for flash\n", phase, reads,
           (double)total / (double)reads / 1e6, (double)latencies[reads * 99 / 100] / 1e6,
           (double)waiting / (double)reads / 1e6);
}

int main(int argc, char **argv) {
    flashlane_tenant tenants[] = {{.name = "reader"}, {.name = "writer"}};
    flashlane_config config = {
        .struct_size = sizeof config,
        .device = argc > 1 ? argv[1] : "tiny",
        .tenants = tenants,
        .tenants_count = 2,
        .seed = 1,
    };
    flashlane_drive *drive;
    check(flashlane_drive_new(&config, &drive));

    submit(drive, READER);
    run(drive, 10 * FLASHLANE_MS, "alone");
    for (int depth = 0; depth < 32; depth++) {
        submit(drive, WRITER);
    }
    run(drive, 20 * FLASHLANE_MS, "beside the writer");

    char *json;
    check(flashlane_summary(drive, &json));
    printf("%s\n", json);
    flashlane_string_free(json);
    flashlane_drive_free(drive);
    return EXIT_SUCCESS;
}
