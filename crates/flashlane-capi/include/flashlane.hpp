/*
 * Flashlane for C++17: flashlane.h with classes that free what they hold.
 *
 * Failures are exceptions: flashlane::Error carries the flashlane_status and the text. Objects can be moved and
 * not copied. flashlane.h describes times, threads and the order of ties; docs/c.md is the introduction.
 */

#ifndef FLASHLANE_HPP
#define FLASHLANE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <flashlane.h>

namespace flashlane {

using Command = flashlane_command;
using Completion = flashlane_completion;
using Zone = flashlane_zone;
using PlacementEvent = flashlane_placement_event;

/** A function of the library failed. */
class Error : public std::runtime_error {
public:
    Error(flashlane_status status, const std::string &text)
        : std::runtime_error(text), status_(status) {}

    /** What the function returned: a negative number. */
    flashlane_status status() const noexcept { return status_; }

private:
    flashlane_status status_;
};

/** Throws for a failure; returns the status otherwise. */
inline flashlane_status check(flashlane_status status) {
    if (status < FLASHLANE_STATUS_OK) {
        throw Error(status, flashlane_last_error());
    }
    return status;
}

/** A tenant; "keys" as in flashlane_tenant, empty for none. */
struct Tenant {
    std::string name;
    std::string keys = {};
};

/** How to make a drive: either "device" or "device_toml", and one tenant at least. */
struct Config {
    std::string device = {};
    std::string device_toml = {};
    std::vector<std::string> overrides = {};
    std::vector<Tenant> tenants = {};
    std::uint64_t seed = 1;
    bool check = false;
    bool blame = false;
};

/** A command of a tenant. */
inline Command command(flashlane_op op, std::uint32_t tenant, std::uint64_t lba, std::uint32_t sectors,
                       std::uint64_t cookie = 0) {
    Command made = {};
    made.op = static_cast<std::uint8_t>(op);
    made.tenant = tenant;
    made.lba = lba;
    made.sectors = sectors;
    made.cookie = cookie;
    return made;
}

inline Command read(std::uint32_t tenant, std::uint64_t lba, std::uint32_t sectors, std::uint64_t cookie = 0) {
    return command(FLASHLANE_OP_READ, tenant, lba, sectors, cookie);
}

inline Command write(std::uint32_t tenant, std::uint64_t lba, std::uint32_t sectors, std::uint64_t cookie = 0) {
    return command(FLASHLANE_OP_WRITE, tenant, lba, sectors, cookie);
}

inline Command trim(std::uint32_t tenant, std::uint64_t lba, std::uint32_t sectors, std::uint64_t cookie = 0) {
    return command(FLASHLANE_OP_TRIM, tenant, lba, sectors, cookie);
}

inline Command flush(std::uint32_t tenant, std::uint64_t cookie = 0) {
    return command(FLASHLANE_OP_FLUSH, tenant, 0, 0, cookie);
}

/** The state of a drive at an instant, from Drive::snapshot(). */
class Snapshot {
public:
    const flashlane_snapshot *get() const noexcept { return snapshot_.get(); }

private:
    friend class Drive;
    struct Free {
        void operator()(flashlane_snapshot *snapshot) const { flashlane_snapshot_free(snapshot); }
    };
    explicit Snapshot(flashlane_snapshot *snapshot) : snapshot_(snapshot) {}
    std::unique_ptr<flashlane_snapshot, Free> snapshot_;
};

/** What Drive::step() reports. */
struct Step {
    flashlane_report report;
    /** The command that is complete, where the report is FLASHLANE_REPORT_COMPLETED. */
    std::optional<Completion> completion;
};

/** A simulated drive. One thread at a time may use it. */
class Drive {
public:
    /** Makes a preconditioned drive at time 0. */
    explicit Drive(const Config &config) {
        if (flashlane_abi_version() != FLASHLANE_ABI_VERSION) {
            throw Error(FLASHLANE_STATUS_ARGUMENT, "libflashlane and flashlane.h have different versions");
        }
        std::vector<flashlane_tenant> tenants;
        for (const Tenant &tenant : config.tenants) {
            tenants.push_back({tenant.name.c_str(), text_or_null(tenant.keys)});
        }
        std::vector<const char *> overrides;
        for (const std::string &set : config.overrides) {
            overrides.push_back(set.c_str());
        }
        flashlane_config native = {};
        native.struct_size = sizeof native;
        native.device = text_or_null(config.device);
        native.device_toml = text_or_null(config.device_toml);
        native.overrides = overrides.data();
        native.overrides_count = overrides.size();
        native.tenants = tenants.data();
        native.tenants_count = tenants.size();
        native.seed = config.seed;
        native.flags = (config.check ? FLASHLANE_CHECK : 0u) | (config.blame ? FLASHLANE_BLAME : 0u);
        flashlane_drive *made = nullptr;
        flashlane::check(flashlane_drive_new(&native, &made));
        drive_.reset(made);
    }

    /** As flashlane_submit(): for the present, it enters at once. */
    void submit(std::uint64_t at_ps, const Command &command) {
        flashlane::check(flashlane_submit(drive_.get(), at_ps, &command));
    }

    /** As flashlane_schedule(): for the present, it enters after everything that is scheduled for the present. */
    void schedule(std::uint64_t at_ps, const Command &command) {
        flashlane::check(flashlane_schedule(drive_.get(), at_ps, &command));
    }

    /** Handles one event. */
    Step step() {
        flashlane_report report = FLASHLANE_REPORT_IDLE;
        Completion completion;
        flashlane::check(flashlane_step(drive_.get(), &report, &completion));
        if (report != FLASHLANE_REPORT_COMPLETED) {
            return {report, std::nullopt};
        }
        return {report, completion};
    }

    /** Handles every event up to and including a time. Returns what was completed, in order. */
    std::vector<Completion> advance(std::uint64_t until_ps = FLASHLANE_NEVER) {
        std::vector<Completion> all;
        flashlane_status status = FLASHLANE_STATUS_MORE;
        while (status == FLASHLANE_STATUS_MORE) {
            const std::size_t before = all.size();
            all.resize(before + static_cast<std::size_t>(outstanding()) + 1);
            std::size_t count = 0;
            status = flashlane_advance(drive_.get(), until_ps, all.data() + before, all.size() - before, &count);
            all.resize(before + count);
        }
        flashlane::check(status);
        return all;
    }

    /** Handles events up to the next completion, and returns it; nothing, where none comes up to the time. */
    std::optional<Completion> next_completion(std::uint64_t until_ps = FLASHLANE_NEVER) {
        Completion completion;
        std::size_t count = 0;
        flashlane::check(flashlane_advance(drive_.get(), until_ps, &completion, 1, &count));
        return count == 1 ? std::optional<Completion>(completion) : std::nullopt;
    }

    /** The time of the next event; nothing, where nothing is left to do. */
    std::optional<std::uint64_t> next_event() const {
        std::uint64_t at_ps = 0;
        flashlane::check(flashlane_next_event(drive_.get(), &at_ps));
        return at_ps == FLASHLANE_NEVER ? std::nullopt : std::optional<std::uint64_t>(at_ps);
    }

    /** The time of the last event. */
    std::uint64_t now() const {
        std::uint64_t now_ps = 0;
        flashlane::check(flashlane_now(drive_.get(), &now_ps));
        return now_ps;
    }

    /** Commands that were submitted and are not complete. */
    std::uint64_t outstanding() const {
        std::uint64_t count = 0;
        flashlane::check(flashlane_outstanding(drive_.get(), &count));
        return count;
    }

    /** Sectors of a tenant's space. */
    std::uint64_t sectors(std::uint32_t tenant) const {
        std::uint64_t sectors = 0;
        flashlane::check(flashlane_sectors(drive_.get(), tenant, &sectors));
        return sectors;
    }

    /** The zones of a tenant; none, on a drive without zones. */
    std::vector<Zone> zones(std::uint32_t tenant) const {
        std::size_t count = 0;
        flashlane::check(flashlane_zones(drive_.get(), tenant, nullptr, 0, &count));
        std::vector<Zone> all(count);
        flashlane::check(flashlane_zones(drive_.get(), tenant, all.data(), all.size(), &count));
        return all;
    }

    /** A zone of a tenant fails: FLASHLANE_ZONE_STATE_READ_ONLY or FLASHLANE_ZONE_STATE_OFFLINE. */
    void fail_zone(std::uint32_t tenant, std::uint32_t zone, flashlane_zone_state state) {
        flashlane::check(flashlane_fail_zone(drive_.get(), tenant, zone, static_cast<std::uint32_t>(state)));
    }

    /** The latest events of placement, oldest first. */
    std::vector<PlacementEvent> placement_events() const {
        std::size_t count = 0;
        flashlane::check(flashlane_placement_events(drive_.get(), nullptr, 0, &count));
        std::vector<PlacementEvent> all(count);
        flashlane::check(flashlane_placement_events(drive_.get(), all.data(), all.size(), &count));
        return all;
    }

    /** Keeps the state of the drive. */
    Snapshot snapshot() {
        flashlane_snapshot *made = nullptr;
        flashlane::check(flashlane_snapshot_new(drive_.get(), &made));
        return Snapshot(made);
    }

    /** Goes back to a snapshot of this drive. */
    void restore(const Snapshot &snapshot) {
        flashlane::check(flashlane_snapshot_restore(drive_.get(), snapshot.get()));
    }

    /** What the drive has done so far, as JSON. */
    std::string summary() { return text(flashlane_summary); }

    /** Which tenant delayed which other so far, as JSON; for drives with Config::blame. */
    std::string blame() { return text(flashlane_blame); }

    /** The drive for functions of flashlane.h. It stays the property of this object. */
    flashlane_drive *get() const noexcept { return drive_.get(); }

private:
    struct Free {
        void operator()(flashlane_drive *drive) const { flashlane_drive_free(drive); }
    };

    static const char *text_or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

    std::string text(flashlane_status (*function)(flashlane_drive *, char **)) {
        char *json = nullptr;
        flashlane::check(function(drive_.get(), &json));
        const std::unique_ptr<char, void (*)(char *)> owned(json, flashlane_string_free);
        return std::string(json);
    }

    std::unique_ptr<flashlane_drive, Free> drive_;
};

} // namespace flashlane

#endif /* FLASHLANE_HPP */
