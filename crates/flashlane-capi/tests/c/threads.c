/*
 * 64 drives on 2 threads give what each gives alone. The drives of a thread are alive at the same time and advance in
 * turn. Prints the number of drives that were compared.
 */

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flashlane.h>

enum { DRIVES = 64, THREADS = 2, COMMANDS = 400, SLICES = 20, BUFFER = 16 };

struct lane {
    flashlane_drive *drive;
    uint64_t digest;
    uint64_t completed;
};

static void check(flashlane_status status) {
    if (status < FLASHLANE_STATUS_OK) {
        fprintf(stderr, "%s: %s\n", flashlane_status_name(status), flashlane_last_error());
        exit(EXIT_FAILURE);
    }
}

static void digest(uint64_t *state, const void *data, size_t length) {
    for (size_t i = 0; i < length; i++) {
        *state = (*state ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    }
}

/* Drives differ in their seed, their scheduler and their load. */
static void start(struct lane *lane, uint64_t number) {
    static const char *const schedulers[] = {"scheduler=out-of-order", "scheduler=flin", "scheduler=read-priority"};
    flashlane_tenant tenants[] = {{.name = "a"}, {.name = "b"}};
    flashlane_config config = {
        .struct_size = sizeof config,
        .device = "tiny",
        .overrides = &schedulers[number % 3],
        .overrides_count = 1,
        .tenants = tenants,
        .tenants_count = 2,
        .seed = number,
    };
    lane->digest = 14695981039346656037u;
    lane->completed = 0;
    check(flashlane_drive_new(&config, &lane->drive));
    uint64_t state = number;
    for (uint64_t i = 0; i < COMMANDS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        flashlane_command command = {
            .cookie = i,
            .op = state >> 40 & 1 ? FLASHLANE_OP_READ : FLASHLANE_OP_WRITE,
            .tenant = state >> 41 & 1,
            .lba = (state >> 42) % 4000 * 8,
            .sectors = 8,
        };
        check(flashlane_submit(lane->drive, i * 30 * FLASHLANE_US, &command));
    }
}

static void advance(struct lane *lane, uint64_t until) {
    flashlane_completion done[BUFFER];
    flashlane_status status;
    do {
        size_t count;
        status = flashlane_advance(lane->drive, until, done, BUFFER, &count);
        check(status);
        digest(&lane->digest, done, count * sizeof done[0]);
        lane->completed += count;
    } while (status == FLASHLANE_STATUS_MORE);
}

static void end(struct lane *lane) {
    char *json;
    advance(lane, FLASHLANE_NEVER);
    check(flashlane_summary(lane->drive, &json));
    digest(&lane->digest, json, strlen(json));
    flashlane_string_free(json);
    flashlane_drive_free(lane->drive);
}

/* Advances every second drive of a number of drives in turn, to their ends. */
static void work_on(struct lane *lanes, size_t count) {
    for (uint64_t slice = 1; slice <= SLICES; slice++) {
        for (size_t i = 0; i < count; i += THREADS) {
            advance(&lanes[i], slice * 500 * FLASHLANE_US);
        }
    }
    for (size_t i = 0; i < count; i += THREADS) {
        end(&lanes[i]);
    }
}

/* The drives of a thread: every second one. They were made by another thread. */
static void *work(void *lanes) {
    work_on(lanes, DRIVES);
    return NULL;
}

static atomic_int refused;

/* Asks a drive for its time until another thread is in the drive. */
static void *disturb(void *drive) {
    uint64_t now;
    flashlane_status status = FLASHLANE_STATUS_OK;
    while (status == FLASHLANE_STATUS_OK) {
        status = flashlane_now(drive, &now);
    }
    if (status != FLASHLANE_STATUS_BUSY || strstr(flashlane_last_error(), "one thread") == NULL) {
        fprintf(stderr, "%s: %s\n", flashlane_status_name(status), flashlane_last_error());
        exit(EXIT_FAILURE);
    }
    atomic_store(&refused, 1);
    return NULL;
}

/* A second thread in a drive is refused. The first one may be refused as well; the drive is as it was. */
static void busy(void) {
    struct lane lane;
    flashlane_snapshot *snapshot;
    flashlane_completion done[BUFFER];
    pthread_t thread;
    size_t count;
    start(&lane, 0);
    check(flashlane_snapshot_new(lane.drive, &snapshot));
    if (pthread_create(&thread, NULL, disturb, lane.drive) != 0) {
        exit(EXIT_FAILURE);
    }
    while (!atomic_load(&refused)) {
        flashlane_status status = flashlane_advance(lane.drive, FLASHLANE_NEVER, done, BUFFER, &count);
        if (status == FLASHLANE_STATUS_OK) {
            status = flashlane_snapshot_restore(lane.drive, snapshot);
        }
        if (status != FLASHLANE_STATUS_BUSY) {
            check(status);
        }
    }
    pthread_join(thread, NULL);
    check(flashlane_snapshot_restore(lane.drive, snapshot));
    flashlane_snapshot_free(snapshot);
    end(&lane);
    if (lane.completed != COMMANDS) {
        exit(EXIT_FAILURE);
    }
}

int main(void) {
    static struct lane alone[DRIVES], together[DRIVES];
    for (uint64_t i = 0; i < DRIVES; i++) {
        start(&alone[i], i);
        work_on(&alone[i], 1);
    }
    for (uint64_t i = 0; i < DRIVES; i++) {
        start(&together[i], i);
    }
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, &together[i]) != 0) {
            return EXIT_FAILURE;
        }
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < DRIVES; i++) {
        if (alone[i].digest != together[i].digest || alone[i].completed != COMMANDS) {
            fprintf(stderr, "drive %zu: alone %016" PRIx64 ", together %016" PRIx64 "\n", i, alone[i].digest,
                    together[i].digest);
            return EXIT_FAILURE;
        }
        if (i > 0 && alone[i].digest == alone[i - 1].digest) {
            fprintf(stderr, "drives %zu and %zu do the same: the comparison would say nothing\n", i - 1, i);
            return EXIT_FAILURE;
        }
    }
    busy();
    printf("%d drives\n", DRIVES);
    return EXIT_SUCCESS;
}
