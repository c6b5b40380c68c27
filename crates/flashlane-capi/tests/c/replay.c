/*
 * Submits a recording through flashlane.h, in the order of ties, and writes every completion with its breakdown.
 *
 *     replay RECORDING COMPLETIONS
 *
 * The recording is written by recordings.rs: lengths and texts of device and tenants, then a line for each command.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <flashlane.h>

enum { TENANTS_MAX = 16, BUFFER = 7 };

static FILE *input, *output;

static void check(flashlane_status status) {
    if (status < FLASHLANE_STATUS_OK) {
        fprintf(stderr, "%s: %s\n", flashlane_status_name(status), flashlane_last_error());
        exit(EXIT_FAILURE);
    }
}

static uint64_t number(void) {
    uint64_t value;
    if (fscanf(input, "%" SCNu64, &value) != 1) {
        fprintf(stderr, "the recording has no number at %ld\n", ftell(input));
        exit(EXIT_FAILURE);
    }
    return value;
}

/* A length, a line break, and a text of that length. */
static char *text(void) {
    size_t length = (size_t)number();
    char *bytes = calloc(length + 1, 1);
    if (bytes == NULL || fgetc(input) != '\n' || fread(bytes, 1, length, input) != length) {
        fprintf(stderr, "the recording has no text of %zu bytes\n", length);
        exit(EXIT_FAILURE);
    }
    return bytes;
}

static void write_out(const flashlane_completion *done) {
    static const char *const names[] = {"read", "write", "trim", "flush"};
    const uint64_t values[] = {
        done->offset_bytes,   done->bytes,         done->pages,          done->arrival_ps,  done->submit_ps,
        done->complete_ps,    done->submission_ps, done->transfer_in_ps, done->firmware_ps, done->cache_ps,
        done->mapping_ps,     done->flash_queue_ps, done->flash_bus_ps,  done->flash_array_ps,
        done->transfer_out_ps,
    };
    fprintf(output, "%" PRIu64 ",%u,%s", done->cookie, (unsigned)done->tenant, names[done->op]);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        fprintf(output, ",%" PRIu64, values[i]);
    }
    fprintf(output, "\n");
}

static flashlane_drive *make_drive(void) {
    uint64_t seed = number();
    char *device = text();
    flashlane_tenant tenants[TENANTS_MAX];
    size_t count = (size_t)number();
    for (size_t i = 0; i < count && i < TENANTS_MAX; i++) {
        tenants[i].name = text();
        tenants[i].keys = text();
    }
    flashlane_config config = {
        .struct_size = sizeof config,
        .device_toml = device,
        .tenants = tenants,
        .tenants_count = count,
        .seed = seed,
    };
    flashlane_drive *drive;
    check(flashlane_drive_new(&config, &drive));
    free(device);
    for (size_t i = 0; i < count && i < TENANTS_MAX; i++) {
        free((void *)tenants[i].name);
        free((void *)tenants[i].keys);
    }
    return drive;
}

static void submit_next(flashlane_drive *drive, uint64_t cookie, uint64_t *reports) {
    uint64_t after = number(), at = number();
    flashlane_command command = {.cookie = cookie, .nsid = 1};
    command.tenant = (uint32_t)number();
    command.op = (uint8_t)number();
    command.lba = number();
    command.sectors = (uint32_t)number();
    uint64_t at_once = number();
    while (*reports < after) {
        flashlane_report report;
        flashlane_completion done;
        check(flashlane_step(drive, &report, &done));
        if (report == FLASHLANE_REPORT_IDLE) {
            fprintf(stderr, "the drive has fewer reports than the recording\n");
            exit(EXIT_FAILURE);
        }
        if (report == FLASHLANE_REPORT_COMPLETED) {
            write_out(&done);
        }
        *reports += report != FLASHLANE_REPORT_INTERNAL;
    }
    check(at_once ? flashlane_submit(drive, at, &command) : flashlane_schedule(drive, at, &command));
}

int main(int argc, char **argv) {
    input = argc == 3 ? fopen(argv[1], "rb") : NULL;
    output = argc == 3 ? fopen(argv[2], "wb") : NULL;
    if (input == NULL || output == NULL) {
        fprintf(stderr, "usage: replay RECORDING COMPLETIONS\n");
        return EXIT_FAILURE;
    }
    flashlane_drive *drive = make_drive();
    uint64_t reports = 0, commands = number();
    for (uint64_t cookie = 0; cookie < commands; cookie++) {
        submit_next(drive, cookie, &reports);
    }
    /* The rest in small portions. */
    flashlane_completion done[BUFFER];
    flashlane_status status = FLASHLANE_STATUS_MORE;
    while (status == FLASHLANE_STATUS_MORE) {
        size_t count;
        status = flashlane_advance(drive, FLASHLANE_NEVER, done, BUFFER, &count);
        check(status);
        for (size_t i = 0; i < count; i++) {
            write_out(&done[i]);
        }
    }
    flashlane_drive_free(drive);
    fclose(input);
    return fclose(output) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
