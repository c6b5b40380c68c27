/*
 * Flashlane: a simulated NVMe controller behind PCIe, as a part of a simulator in C or C++.
 *
 * docs/c.md is the introduction. cbindgen writes this file from the crate flashlane-capi.
 *
 * The program passes on what its host reads from and writes to the memory of the controller, lets
 * the controller read and write host memory through two functions, and lets time pass. Errors,
 * ownership, threads and units are those of flashlane.h.
 */


#ifndef FLASHLANE_NVME_H
#define FLASHLANE_NVME_H

#include "flashlane.h"

/**
 * An NVMe controller of a simulated drive, whose data is in the memory of the process.
 */
typedef struct flashlane_nvme flashlane_nvme;

/**
 * What a controller asks of the simulated host. The functions are called only during a call of
 * this library, in its thread. They may not call functions of this library with the same
 * controller: those return FLASHLANE_STATUS_BUSY.
 */
typedef struct flashlane_nvme_host {
    /**
     * Given to every function.
     */
    void *context;
    /**
     * Copies "bytes" bytes of host memory from "address" on to "data". Returns 0, or another
     * number if a part of the range is no memory: the command then fails.
     */
    int32_t (*read)(void *context, uint64_t address, void *data, size_t bytes);
    /**
     * Copies "bytes" bytes from "data" to host memory, from "address" on. Returns 0, or another
     * number if a part of the range is no memory.
     */
    int32_t (*write)(void *context, uint64_t address, const void *data, size_t bytes);
    /**
     * The controller interrupts the host at a time (in picoseconds) by a message of a vector.
     */
    void (*interrupt)(void *context, uint64_t at_ps, uint16_t vector);
} flashlane_nvme_host;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Makes a controller of a preconditioned drive at time 0, after a reset of the controller. Every
 * queue belongs to a tenant: to the one with the fewest queues. The namespace is as long as the
 * share of a tenant. "host" is copied; read and write may not be NULL, and interrupt may be. After
 * a failure *nvme is NULL.
 */
flashlane_status flashlane_nvme_new(const flashlane_config *config,
                                    const struct flashlane_nvme_host *host,
                                    struct flashlane_nvme **nvme);

/**
 * For a host whose memory takes time to answer. From now on the controller asks "ready" before it
 * reads a range; it gets the context of the host. A host that has to read the range first starts
 * to do so, and returns 0. The command that needs the range then stays in its queue, while other
 * queues go on. Once the range is there, the host calls flashlane_nvme_advance(), and is asked
 * again. It keeps all that has come until the controller asks for nothing that is missing. For a
 * range that is no memory the answer is another number than 0. NULL: memory answers at once.
 */
flashlane_status flashlane_nvme_set_ready(struct flashlane_nvme *nvme,
                                          int32_t (*ready)(void *context,
                                                           uint64_t address,
                                                           size_t bytes));

/**
 * Frees a controller. NULL is allowed. No other thread may use the controller any more.
 */
void flashlane_nvme_free(struct flashlane_nvme *nvme);

/**
 * Reads 1, 2, 4 or 8 bytes of the memory of the controller (its BAR 0). Places without a register
 * read as 0.
 */
flashlane_status flashlane_nvme_mmio_read(struct flashlane_nvme *nvme,
                                          uint64_t offset,
                                          uint32_t bytes,
                                          uint64_t *value);

/**
 * Writes 4 or 8 bytes of the memory of the controller at a time, up to which
 * flashlane_nvme_advance() has been called before. Writes of other lengths, or beside the
 * registers, change nothing.
 */
flashlane_status flashlane_nvme_mmio_write(struct flashlane_nvme *nvme,
                                           uint64_t at_ps,
                                           uint64_t offset,
                                           uint32_t bytes,
                                           uint64_t value);

/**
 * The time of the next event; FLASHLANE_NEVER if nothing is left to do until the host writes to
 * the controller. Unit: picoseconds.
 */
flashlane_status flashlane_nvme_next_event(struct flashlane_nvme *nvme, uint64_t *at_ps);

/**
 * Handles every event up to and including a time: moves data, posts completions, and interrupts
 * the host. Also looks at the shadow doorbells, if the host has placed them.
 */
flashlane_status flashlane_nvme_advance(struct flashlane_nvme *nvme, uint64_t until_ps);

/**
 * What the drive has done so far, as flashlane_summary() gives it. Free *json with
 * flashlane_string_free(). After a failure it is NULL.
 */
flashlane_status flashlane_nvme_summary(struct flashlane_nvme *nvme, char **json);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FLASHLANE_NVME_H */
