/*
 * Flashlane: a simulated SSD as a part of a program in C or C++.
 *
 * docs/c.md is the introduction. cbindgen writes this file from the crate flashlane-capi.
 *
 * Times are picoseconds from the start of the drive. Sectors have 512 bytes.
 *
 * Errors. Functions return a flashlane_status. Negative numbers are failures, and
 * flashlane_last_error() has the text. A function that fails with FLASHLANE_STATUS_ARGUMENT or
 * one of the refusals has changed nothing. A NULL pointer is an error wherever its description
 * does not allow it. A fault of the simulator never ends the process: it is
 * FLASHLANE_STATUS_PANIC, and the drive is dead.
 *
 * Ownership. The program frees what it gets from a ..._new function with the ..._free function,
 * and texts in JSON with flashlane_string_free(). All other memory belongs to the program, and
 * the library does not use it after the call.
 *
 * Threads. One thread at a time may use a drive, and it need not always be the same. Different
 * drives may be used by different threads at the same time: they share nothing. A second thread
 * in the same drive gets FLASHLANE_STATUS_BUSY. The text of flashlane_last_error() belongs to the
 * thread.
 *
 * Order of ties. Two events of one picosecond happen in the order in which they were scheduled.
 * The same calls give the same completions, at the same picosecond. See flashlane_submit(),
 * flashlane_schedule() and flashlane_advance().
 */


#ifndef FLASHLANE_H
#define FLASHLANE_H

#include <stddef.h>
#include <stdint.h>

/**
 * Picoseconds of a microsecond, a millisecond and a second.
 */
#define FLASHLANE_US UINT64_C(1000000)
#define FLASHLANE_MS UINT64_C(1000000000)
#define FLASHLANE_S UINT64_C(1000000000000)

/**
 * A time after every event. flashlane_advance() takes it for "until nothing is left to do", and
 * flashlane_next_event() gives it where there is no event.
 */
#define FLASHLANE_NEVER UINT64_MAX


/**
 * Version of the binary interface. A library with another number does not fit a program that was
 * compiled with this header; flashlane_abi_version() tells the number of the library.
 */
#define FLASHLANE_ABI_VERSION 1

/**
 * Length of a sector. Unit: bytes.
 */
#define FLASHLANE_SECTOR_BYTES 512

/**
 * Flag of a drive: compare the whole state of the model with itself during the run. This is slow.
 */
#define FLASHLANE_CHECK 1

/**
 * Flag of a drive: keep which tenant delayed which, for flashlane_blame().
 */
#define FLASHLANE_BLAME 2

/**
 * Flag of a command: "placement" is set.
 */
#define FLASHLANE_PLACED 1

/**
 * What a function returns. Negative numbers are failures; flashlane_last_error() has their text.
 * Later versions may have further ones.
 */
enum flashlane_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The function has done its work.
     */
    FLASHLANE_STATUS_OK = 0,
    /**
     * flashlane_advance() stopped before the time, because the buffer is full. Call it again.
     */
    FLASHLANE_STATUS_MORE = 1,
    /**
     * An argument is NULL where that is not allowed, is no UTF-8, or has flags or numbers that it
     * may not have. Nothing was done.
     */
    FLASHLANE_STATUS_ARGUMENT = -1,
    /**
     * The device or the tenants are refused, or a file that they name does not exist or is not
     * readable. There is no drive.
     */
    FLASHLANE_STATUS_CONFIG = -2,
    /**
     * A trace that a tenant names has a line that is refused, or cannot be read to its end. There
     * is no drive.
     */
    FLASHLANE_STATUS_TRACE = -3,
    /**
     * The drive cannot finish its work. It is dead; a snapshot can be restored.
     */
    FLASHLANE_STATUS_STUCK = -4,
    /**
     * The drive is dead, because an earlier call failed with FLASHLANE_STATUS_STUCK,
     * FLASHLANE_STATUS_MEMORY or FLASHLANE_STATUS_PANIC. Nothing was done.
     */
    FLASHLANE_STATUS_DEAD = -5,
    /**
     * Another thread uses the drive at this moment. Nothing was done.
     */
    FLASHLANE_STATUS_BUSY = -6,
    /**
     * A fault of the simulator. The drive is dead and cannot be restored.
     */
    FLASHLANE_STATUS_PANIC = -7,
    /**
     * A text could not be made.
     */
    FLASHLANE_STATUS_OUTPUT = -8,
    /**
     * There is less memory than the drive needs. Nothing was done; where that was found while the
     * drive worked, it is dead for good.
     */
    FLASHLANE_STATUS_MEMORY = -9,
    /**
     * Refused: the time is before the drive's present, or 213 days (2^64 ps) after its start.
     */
    FLASHLANE_STATUS_BAD_TIME = -16,
    /**
     * Refused: there is no such tenant.
     */
    FLASHLANE_STATUS_BAD_TENANT = -17,
    /**
     * Refused: there is no such namespace.
     */
    FLASHLANE_STATUS_BAD_NAMESPACE = -18,
    /**
     * Refused: the range is empty, too long, or ends outside of the tenant's space.
     */
    FLASHLANE_STATUS_BAD_RANGE = -19,
    /**
     * Refused: 2^24 commands are outstanding, which is all that a drive takes.
     */
    FLASHLANE_STATUS_FULL = -20,
    /**
     * Refused: no drive does this yet.
     */
    FLASHLANE_STATUS_UNSUPPORTED = -21,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum flashlane_status flashlane_status;
#else
typedef int32_t flashlane_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a step of a drive was.
 */
enum flashlane_report
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * There was no event: the drive has nothing to do until something is submitted.
     */
    FLASHLANE_REPORT_IDLE = 0,
    /**
     * Something inside the drive happened.
     */
    FLASHLANE_REPORT_INTERNAL = 1,
    /**
     * A command that was submitted for a later time has arrived.
     */
    FLASHLANE_REPORT_ARRIVED = 2,
    /**
     * A command is complete.
     */
    FLASHLANE_REPORT_COMPLETED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum flashlane_report flashlane_report;
#else
typedef int32_t flashlane_report;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a command does.
 */
enum flashlane_op
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Reads sectors.
     */
    FLASHLANE_OP_READ = 0,
    /**
     * Writes sectors.
     */
    FLASHLANE_OP_WRITE = 1,
    /**
     * Deallocates sectors.
     */
    FLASHLANE_OP_TRIM = 2,
    /**
     * Makes everything durable that was acknowledged before. It has no sectors.
     */
    FLASHLANE_OP_FLUSH = 3,
    /**
     * Writes at the write pointer of the zone that starts at `lba`. The completion has the place.
     */
    FLASHLANE_OP_ZONE_APPEND = 4,
    /**
     * Empties the zone that starts at `lba`.
     */
    FLASHLANE_OP_ZONE_RESET = 5,
    /**
     * Makes the zone that starts at `lba` full.
     */
    FLASHLANE_OP_ZONE_FINISH = 6,
    /**
     * Opens the zone that starts at `lba`.
     */
    FLASHLANE_OP_ZONE_OPEN = 7,
    /**
     * Closes the zone that starts at `lba`.
     */
    FLASHLANE_OP_ZONE_CLOSE = 8,
    /**
     * In completions: the command broke a rule of zones, and `result` has the status.
     */
    FLASHLANE_OP_REFUSED = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum flashlane_op flashlane_op;
#else
typedef uint8_t flashlane_op;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The state of a zone, with the numbers of NVMe.
 */
enum flashlane_zone_state
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Nothing is written.
     */
    FLASHLANE_ZONE_STATE_EMPTY = 1,
    /**
     * Open by a write.
     */
    FLASHLANE_ZONE_STATE_IMPLICITLY_OPEN = 2,
    /**
     * Open by a command.
     */
    FLASHLANE_ZONE_STATE_EXPLICITLY_OPEN = 3,
    /**
     * Written in part, and not open.
     */
    FLASHLANE_ZONE_STATE_CLOSED = 4,
    /**
     * Failed: data can only be read.
     */
    FLASHLANE_ZONE_STATE_READ_ONLY = 13,
    /**
     * Nothing can be written.
     */
    FLASHLANE_ZONE_STATE_FULL = 14,
    /**
     * Failed: data cannot even be read.
     */
    FLASHLANE_ZONE_STATE_OFFLINE = 15,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum flashlane_zone_state flashlane_zone_state;
#else
typedef uint8_t flashlane_zone_state;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Kinds of events, with the numbers of NVMe.
 */
enum flashlane_event_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * A reclaim unit was open for longer than placement.unit_time, and its handle moved to another
     * one before it was full.
     */
    FLASHLANE_EVENT_KIND_TIME_LIMIT = 1,
    /**
     * Data lies elsewhere than the host has put it: collection copied it, or its reclaim group had
     * no room.
     */
    FLASHLANE_EVENT_KIND_REALLOCATED = 128,
    /**
     * A reclaim unit was full, and its handle moved to another one by itself.
     */
    FLASHLANE_EVENT_KIND_MOVED = 129,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum flashlane_event_kind flashlane_event_kind;
#else
typedef uint8_t flashlane_event_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A simulated drive.
 */
typedef struct flashlane_drive flashlane_drive;

/**
 * The state of a drive at an instant.
 */
typedef struct flashlane_snapshot flashlane_snapshot;

/**
 * A tenant of a drive.
 */
typedef struct flashlane_tenant {
    /**
     * Name in the summary. Every tenant has another one.
     */
    const char *name;
    /**
     * NULL, or more keys of a flow as TOML, for example "priority = 'high'\nchannels = [0, 1]".
     * docs/configuration.md lists them. A source of requests ("synthetic", "trace" and so on) says
     * only what the tenant has done before: what the drive and its caches hold of it.
     */
    const char *keys;
} flashlane_tenant;

/**
 * How to make a drive. Set unused fields to 0 or NULL. Texts are UTF-8 and end with a zero byte.
 * The library reads them during the call and keeps none of them.
 */
typedef struct flashlane_config {
    /**
     * sizeof(flashlane_config). A later version of the library knows by it which fields there are.
     */
    size_t struct_size;
    /**
     * The name of a preset ("tiny", "980-pro" and so on), or the path of a TOML file or of MQSim's
     * ssdconfig.xml. NULL where "device_toml" is given.
     */
    const char *device;
    /**
     * The text of a device file, for example "base = '980-pro'\nflash.channels = 4". NULL where
     * "device" is given.
     */
    const char *device_toml;
    /**
     * Keys of the device that are changed, each as "path.to.key=value", for example
     * "scheduler=flin". NULL where there are none.
     */
    const char *const *overrides;
    /**
     * Number of overrides.
     */
    size_t overrides_count;
    /**
     * Who shares the drive. One tenant at least.
     */
    const struct flashlane_tenant *tenants;
    /**
     * Number of tenants.
     */
    size_t tenants_count;
    /**
     * Root of all random draws. Equal seeds give equal drives.
     */
    uint64_t seed;
    /**
     * FLASHLANE_CHECK and FLASHLANE_BLAME, or 0.
     */
    uint32_t flags;
    /**
     * 0.
     */
    uint32_t reserved;
} flashlane_config;

/**
 * A command of a tenant. Set unused fields to 0.
 */
typedef struct flashlane_command {
    /**
     * Comes back with the completion. The drive does not look at it.
     */
    uint64_t cookie;
    /**
     * First sector, in the tenant's space. Unit: sectors of 512 bytes.
     */
    uint64_t lba;
    /**
     * Length. Unit: sectors of 512 bytes. Range: 1 to 32768 (16 MiB), of a trim to 8388608
     * (4 GiB); 0 for a flush.
     */
    uint32_t sectors;
    /**
     * The tenant, by its place in flashlane_config.tenants.
     */
    uint32_t tenant;
    /**
     * Namespace. Every tenant has one. Range: 1, or 0, which means the same.
     */
    uint32_t nsid;
    /**
     * Placement identifier of a write (flexible data placement), where "flags" has
     * FLASHLANE_PLACED: a handle or a stream. Below the number of the drive's identifiers
     * (placement.handles); a drive without placement refuses it.
     */
    uint16_t placement;
    /**
     * A flashlane_op.
     */
    uint8_t op;
    /**
     * 0 or FLASHLANE_PLACED.
     */
    uint8_t flags;
} flashlane_command;

/**
 * A command that is complete. Times are picoseconds from the start of the drive. The nine stages,
 * "submission_ps" to "transfer_out_ps", sum to "complete_ps" - "submit_ps". docs/results.md
 * describes them.
 */
typedef struct flashlane_completion {
    /**
     * The cookie of the command.
     */
    uint64_t cookie;
    /**
     * First byte in the tenant's space.
     */
    uint64_t offset_bytes;
    /**
     * Length. Unit: bytes.
     */
    uint64_t bytes;
    /**
     * The time that the command was submitted for.
     */
    uint64_t arrival_ps;
    /**
     * The command was written to the submission queue. It waits for that where the queue is full.
     */
    uint64_t submit_ps;
    /**
     * The host saw the completion.
     */
    uint64_t complete_ps;
    /**
     * In the submission queue, until the drive fetched the command.
     */
    uint64_t submission_ps;
    /**
     * The command, and the data of a write, came over the link.
     */
    uint64_t transfer_in_ps;
    /**
     * In the firmware.
     */
    uint64_t firmware_ps;
    /**
     * In the data cache.
     */
    uint64_t cache_ps;
    /**
     * Waiting for the mapping of the pages.
     */
    uint64_t mapping_ps;
    /**
     * Waiting for dies and channels.
     */
    uint64_t flash_queue_ps;
    /**
     * On the channels.
     */
    uint64_t flash_bus_ps;
    /**
     * In the flash arrays.
     */
    uint64_t flash_array_ps;
    /**
     * The data of a read, and the completion, went over the link.
     */
    uint64_t transfer_out_ps;
    /**
     * Flash pages that the command touched, in part or whole.
     */
    uint32_t pages;
    /**
     * The tenant of the command.
     */
    uint16_t tenant;
    /**
     * The flashlane_op of the command.
     */
    uint8_t op;
    /**
     * 1: part of the summary. Always so today.
     */
    uint8_t counted;
    /**
     * How the drive carried the command out: 0, as it was asked. Otherwise the command broke a
     * rule of zones, and nothing was done: status code type times 256, and status code, as NVMe
     * has them.
     */
    uint32_t result;
    /**
     * 0.
     */
    uint32_t reserved;
} flashlane_completion;

/**
 * A zone of a tenant.
 */
typedef struct flashlane_zone {
    /**
     * First sector in the tenant's space. Unit: sectors of 512 bytes.
     */
    uint64_t start;
    /**
     * Sectors that can be written. Unit: sectors of 512 bytes.
     */
    uint64_t capacity;
    /**
     * The sector in the tenant's space at which the next write begins. A full zone has the end of
     * its capacity here, and a zone that failed keeps its last pointer. Unit: sectors of 512
     * bytes.
     */
    uint64_t pointer;
    /**
     * A flashlane_zone_state.
     */
    uint8_t state;
    /**
     * 0.
     */
    uint8_t reserved[7];
} flashlane_zone;

/**
 * What a drive tells of the placement of data, as the log page 23h of NVMe does.
 */
typedef struct flashlane_placement_event {
    /**
     * When it happened. Unit: picoseconds.
     */
    uint64_t at_ps;
    /**
     * Pages that lie elsewhere, for FLASHLANE_EVENT_KIND_REALLOCATED; 0 for the other kinds.
     */
    uint32_t pages;
    /**
     * The placement identifier, where "flags" has FLASHLANE_PLACED. Copies in a reclaim unit that
     * all handles share have none.
     */
    uint16_t placement;
    /**
     * A flashlane_event_kind.
     */
    uint8_t kind;
    /**
     * 0 or FLASHLANE_PLACED.
     */
    uint8_t flags;
} flashlane_placement_event;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The text of the last failure in this thread; an empty text before the first one. Do not free it.
 * It is valid until the next call of this thread that fails, and until the thread ends.
 */
const char *flashlane_last_error(void);

/**
 * The name of a flashlane_status, such as "FLASHLANE_STATUS_BAD_RANGE". Do not free it.
 */
const char *flashlane_status_name(int32_t status);

/**
 * Makes a preconditioned drive at time 0. After a failure *drive is NULL.
 */
flashlane_status flashlane_drive_new(const struct flashlane_config *config,
                                     struct flashlane_drive **drive);

/**
 * Frees a drive. NULL is allowed. No other thread may use the drive any more.
 */
void flashlane_drive_free(struct flashlane_drive *drive);

/**
 * Submits a command for a time. Unit: picoseconds.
 *
 * A command for the drive's present enters the drive at once. After a step that completed a
 * command, this is how a host reacts to the completion. A command for a later time enters at that
 * time, after everything that was scheduled for the same time before. Commands for time 0 before
 * the first step are there before the drive begins.
 *
 * A command that is refused leaves the drive as it was.
 */
flashlane_status flashlane_submit(struct flashlane_drive *drive,
                                  uint64_t at_ps,
                                  const struct flashlane_command *command);

/**
 * As flashlane_submit(), but a command for the drive's present enters after everything that is
 * scheduled for the present. This is how commands arrive that come by the clock.
 */
flashlane_status flashlane_schedule(struct flashlane_drive *drive,
                                    uint64_t at_ps,
                                    const struct flashlane_command *command);

/**
 * Handles one event and reports what it was. *completion is written if the report is
 * FLASHLANE_REPORT_COMPLETED, and only then: an event completes one command at most. Commands that
 * are submitted for the present before the next call are the host's reaction to the event.
 */
flashlane_status flashlane_step(struct flashlane_drive *drive,
                                flashlane_report *report,
                                struct flashlane_completion *completion);

/**
 * Handles every event up to and including a time, in order, and writes the commands that complete
 * to a buffer, in order. *count is their number.
 *
 * Where the buffer becomes full, the drive stops right after the event that filled it, and the
 * function returns FLASHLANE_STATUS_MORE. The present is then the time of the last completion, and
 * commands that are submitted for the present are the host's reaction to it, as after a step. The
 * next call goes on from there. With a capacity of 1 the drive thus stops at every completion.
 * Otherwise the function returns FLASHLANE_STATUS_OK, and the buffer is not full.
 *
 * After FLASHLANE_STATUS_STUCK, *count and the buffer hold what was completed before.
 */
flashlane_status flashlane_advance(struct flashlane_drive *drive,
                                   uint64_t until_ps,
                                   struct flashlane_completion *completions,
                                   size_t capacity,
                                   size_t *count);

/**
 * The time of the next event, which is never before the present; FLASHLANE_NEVER if nothing is
 * left to do until something is submitted. Unit: picoseconds. Right after an event that the host
 * may react to, it is the present.
 */
flashlane_status flashlane_next_event(struct flashlane_drive *drive, uint64_t *at_ps);

/**
 * The present: the time of the last event. Before the first one it is 0. Unit: picoseconds.
 */
flashlane_status flashlane_now(struct flashlane_drive *drive, uint64_t *now_ps);

/**
 * The number of commands that were submitted and are not complete. Those that have not arrived yet
 * count as well.
 */
flashlane_status flashlane_outstanding(struct flashlane_drive *drive, uint64_t *count);

/**
 * The sectors of a tenant's space, which are numbered from 0. Unit: sectors of 512 bytes.
 */
flashlane_status flashlane_sectors(struct flashlane_drive *drive,
                                   uint32_t tenant,
                                   uint64_t *sectors);

/**
 * The zones of a tenant, in order. *count is their number; 0 on a drive without zones. The first
 * of them are written to the array, as many as it has places (capacity). With a capacity of 0,
 * zones may be NULL. A command counts from its arrival on.
 */
flashlane_status flashlane_zones(struct flashlane_drive *drive,
                                 uint32_t tenant,
                                 struct flashlane_zone *zones,
                                 size_t capacity,
                                 size_t *count);

/**
 * A zone of a tenant fails, from now on: a program tests what a host does then. "zone" is the
 * place of the zone in flashlane_zones(), and "zone_state" is FLASHLANE_ZONE_STATE_READ_ONLY or
 * FLASHLANE_ZONE_STATE_OFFLINE. A zone cannot fail while writes of it are under way, and a zone
 * that is offline cannot become read only: both are FLASHLANE_STATUS_ARGUMENT. A tenant without
 * zones is FLASHLANE_STATUS_UNSUPPORTED.
 */
flashlane_status flashlane_fail_zone(struct flashlane_drive *drive,
                                     uint32_t tenant,
                                     uint32_t zone,
                                     uint32_t zone_state);

/**
 * The latest events of flexible data placement and streams, oldest first: 63 at most. *count is
 * their number; 0 on a drive without placement. The oldest of them are written to the array, as
 * many as it has places (capacity). With a capacity of 0, events may be NULL.
 */
flashlane_status flashlane_placement_events(struct flashlane_drive *drive,
                                            struct flashlane_placement_event *events,
                                            size_t capacity,
                                            size_t *count);

/**
 * Keeps the state of a drive. After a failure *snapshot is NULL. The snapshot belongs to the
 * drive: a thread that uses the snapshot uses the drive.
 */
flashlane_status flashlane_snapshot_new(struct flashlane_drive *drive,
                                        struct flashlane_snapshot **snapshot);

/**
 * Takes a drive back to a snapshot of this drive. The snapshot can be used again. A drive that was
 * dead after FLASHLANE_STATUS_STUCK lives again.
 */
flashlane_status flashlane_snapshot_restore(struct flashlane_drive *drive,
                                            const struct flashlane_snapshot *snapshot);

/**
 * Frees a snapshot, before or after its drive. NULL is allowed.
 */
void flashlane_snapshot_free(struct flashlane_snapshot *snapshot);

/**
 * The FLASHLANE_ABI_VERSION of the library. A program that loads the library itself compares it
 * with that of the header.
 */
uint32_t flashlane_abi_version(void);

/**
 * The version of Flashlane, such as "0.1.0". Do not free it.
 */
const char *flashlane_version(void);

/**
 * What the drive has done so far, as a JSON text with the keys of summary.json (docs/results.md):
 * the summary of a run that ends now. Free *json with flashlane_string_free(). After a failure it
 * is NULL.
 */
flashlane_status flashlane_summary(struct flashlane_drive *drive, char **json);

/**
 * Which tenant delayed which other so far, as a JSON text with the keys of blame.json
 * (docs/blame.md). The drive needs the flag FLASHLANE_BLAME. Free *json with
 * flashlane_string_free(). After a failure *json is NULL.
 */
flashlane_status flashlane_blame(struct flashlane_drive *drive, char **json);

/**
 * Frees a text that came from this library and has to be freed. NULL is allowed.
 */
void flashlane_string_free(char *text);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FLASHLANE_H */
