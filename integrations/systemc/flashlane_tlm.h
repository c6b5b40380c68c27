/*
 * A Flashlane drive as a SystemC module with a TLM-2.0 target socket.
 *
 * Addresses of payloads are bytes in the space of a tenant. The initiator that was bound first is
 * tenant 0, the next tenant 1, and so on, unless a payload has a flashlane_tlm::request that names
 * another one. Blocking and non-blocking transport (approximately timed, four phases) are served.
 * Commands enter the drive at the local time of their initiator, which may be ahead of SystemC's.
 *
 * One SystemC process wakes at the times at which something happens in the drive. The resolution of
 * time has to be a picosecond, SystemC's default. docs/systemc.md is the introduction.
 */
#ifndef FLASHLANE_TLM_H
#define FLASHLANE_TLM_H

#include <flashlane.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/multi_passthrough_target_socket.h>

namespace flashlane_tlm {

/* What a generic payload has no field for. A payload without it reads or writes. */
struct request : tlm::tlm_extension<request> {
    /* The payload's command says whether it reads or writes; or it trims, or flushes. */
    enum class kind { transfer, trim, flush };

    /* The tenant, or -1 for that of the initiator. */
    int tenant = -1;
    kind what = kind::transfer;
    /* Length of a trim, whose payload has no data. Unit: bytes. */
    std::uint64_t trim_bytes = 0;
    /* Placement identifier of a write. Drives without placement refuse it. */
    bool placed = false;
    std::uint16_t placement = 0;
    /* Written when the command is complete: its times and its stages. */
    flashlane_completion completion{};

    tlm_extension_base *clone() const override { return new request(*this); }
    void copy_from(const tlm_extension_base &other) override {
        *this = static_cast<const request &>(other);
    }
};

/* A drive. */
class drive : public sc_core::sc_module {
public:
    tlm_utils::multi_passthrough_target_socket<drive> socket;

    /* Makes a preconditioned drive. The configuration is read during the call.
     * Throws std::runtime_error with the library's text. */
    drive(sc_core::sc_module_name name, const flashlane_config &config)
        : sc_module(name), socket("socket") {
        if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1, sc_core::SC_PS)) {
            throw std::runtime_error("the time resolution of SystemC has to be 1 ps");
        }
        flashlane_drive *made = nullptr;
        if (flashlane_drive_new(&config, &made) != FLASHLANE_STATUS_OK) {
            throw std::runtime_error(flashlane_last_error());
        }
        drive_.reset(made);
        tenants_ = config.tenants_count;
        socket.register_b_transport(this, &drive::b_transport);
        socket.register_nb_transport_fw(this, &drive::nb_transport_fw);
        SC_HAS_PROCESS(drive);
        SC_METHOD(run);
        sensitive << wake_;
        dont_initialize();
    }

    drive(const drive &) = delete;
    drive &operator=(const drive &) = delete;

    ~drive() override {
        for (auto &[cookie, one] : under_way_) {
            if (!one.blocking && one.payload->has_mm()) one.payload->release();
        }
    }

    /* The drive itself, for flashlane_summary(), flashlane_blame() and flashlane_sectors(). */
    flashlane_drive *handle() { return drive_.get(); }

private:
    /* A payload whose command is in the drive. */
    struct transfer {
        tlm::tlm_generic_payload *payload;
        int initiator;
        bool blocking;
        sc_core::sc_event *done;
    };

    struct free_drive {
        void operator()(flashlane_drive *drive) const { flashlane_drive_free(drive); }
    };

    static constexpr std::uint64_t page_bytes = 4096;
    using page = std::array<unsigned char, page_bytes>;

    static std::uint64_t ps(const sc_core::sc_time &time) { return time.value(); }

    void b_transport(int initiator, tlm::tlm_generic_payload &payload, sc_core::sc_time &delay) {
        sc_core::sc_event done;
        if (!submit(initiator, payload, delay, true, &done)) return;
        wait(done);
        // The caller's local time is that of SystemC again.
        delay = sc_core::SC_ZERO_TIME;
    }

    tlm::tlm_sync_enum nb_transport_fw(int initiator, tlm::tlm_generic_payload &payload,
                                       tlm::tlm_phase &phase, sc_core::sc_time &delay) {
        if (phase == tlm::BEGIN_REQ) {
            if (payload.has_mm()) payload.acquire();
            if (!submit(initiator, payload, delay, false, nullptr)) {
                if (payload.has_mm()) payload.release();
                return tlm::TLM_COMPLETED;
            }
            phase = tlm::END_REQ;
            return tlm::TLM_UPDATED;
        }
        if (phase == tlm::END_RESP) {
            auto &answers = answers_[initiator];
            if (answers.empty() || answers.front() != &payload) {
                SC_REPORT_ERROR(name(), "END_RESP for a payload that has no response");
                return tlm::TLM_ACCEPTED;
            }
            answered(initiator);
            if (!answers.empty()) wake_answers_.push_back(initiator);
            wake_.notify(delay);
            return tlm::TLM_COMPLETED;
        }
        SC_REPORT_ERROR(name(), "a phase that a target does not expect");
        return tlm::TLM_ACCEPTED;
    }

    /* Gives a command to the drive. Otherwise the payload has a response that says why not. */
    bool submit(int initiator, tlm::tlm_generic_payload &payload, const sc_core::sc_time &delay,
                bool blocking, sc_core::sc_event *done) {
        payload.set_dmi_allowed(false);
        flashlane_command command{};
        const auto response = translate(initiator, payload, command);
        if (response != tlm::TLM_OK_RESPONSE) {
            payload.set_response_status(response);
            return false;
        }
        const auto at = ps(sc_core::sc_time_stamp() + delay);
        command.cookie = next_cookie_;
        const auto status = flashlane_schedule(drive_.get(), at, &command);
        if (status != FLASHLANE_STATUS_OK) {
            payload.set_response_status(status == FLASHLANE_STATUS_BAD_RANGE
                                            ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                        : status == FLASHLANE_STATUS_UNSUPPORTED
                                            ? tlm::TLM_COMMAND_ERROR_RESPONSE
                                            : tlm::TLM_GENERIC_ERROR_RESPONSE);
            return false;
        }
        under_way_.emplace(next_cookie_++, transfer{&payload, initiator, blocking, done});
        wake_for_drive();
        return true;
    }

    tlm::tlm_response_status translate(int initiator, tlm::tlm_generic_payload &payload,
                                       flashlane_command &command) const {
        const auto *more = payload.get_extension<request>();
        const auto kind = more ? more->what : request::kind::transfer;
        const int tenant = more && more->tenant >= 0 ? more->tenant : initiator;
        if (static_cast<std::size_t>(tenant) >= tenants_) return tlm::TLM_GENERIC_ERROR_RESPONSE;
        command.tenant = static_cast<std::uint32_t>(tenant);
        if (kind == request::kind::flush) {
            command.op = static_cast<std::uint8_t>(FLASHLANE_OP_FLUSH);
            return tlm::TLM_OK_RESPONSE;
        }
        const bool trims = kind == request::kind::trim;
        const std::uint64_t bytes = trims ? more->trim_bytes : payload.get_data_length();
        const auto sector = std::uint64_t{FLASHLANE_SECTOR_BYTES};
        if (payload.get_address() % sector != 0) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
        if (bytes == 0 || bytes % sector != 0 || bytes / sector > UINT32_MAX) {
            return tlm::TLM_BURST_ERROR_RESPONSE;
        }
        if (!trims) {
            if (payload.get_byte_enable_ptr()) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
            if (payload.get_streaming_width() < bytes) return tlm::TLM_BURST_ERROR_RESPONSE;
            if (payload.is_read() == payload.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
        }
        const auto op = trims               ? FLASHLANE_OP_TRIM
                        : payload.is_read() ? FLASHLANE_OP_READ
                                            : FLASHLANE_OP_WRITE;
        command.op = static_cast<std::uint8_t>(op);
        command.lba = payload.get_address() / sector;
        command.sectors = static_cast<std::uint32_t>(bytes / sector);
        if (more && more->placed) {
            command.flags = FLASHLANE_PLACED;
            command.placement = more->placement;
        }
        return tlm::TLM_OK_RESPONSE;
    }

    /* The process is woken when the next thing happens in the drive. */
    void wake_for_drive() {
        std::uint64_t next = FLASHLANE_NEVER;
        if (flashlane_next_event(drive_.get(), &next) != FLASHLANE_STATUS_OK || next == FLASHLANE_NEVER) {
            return;
        }
        const auto now = ps(sc_core::sc_time_stamp());
        // A notification for an earlier time stays.
        wake_.notify(sc_core::sc_time::from_value(next > now ? next - now : 0));
    }

    /* Everything that happens in the drive at this time. */
    void run() {
        auto waiting = std::move(wake_answers_);
        wake_answers_.clear();
        for (const int initiator : waiting) answer(initiator);
        std::array<flashlane_completion, 64> buffer;
        const auto now = ps(sc_core::sc_time_stamp());
        for (;;) {
            std::size_t count = 0;
            const auto status =
                flashlane_advance(drive_.get(), now, buffer.data(), buffer.size(), &count);
            for (std::size_t at = 0; at < count; ++at) complete(buffer[at]);
            if (status == FLASHLANE_STATUS_MORE) continue;
            if (status != FLASHLANE_STATUS_OK) {
                SC_REPORT_ERROR(name(), flashlane_last_error());
                return;
            }
            break;
        }
        wake_for_drive();
    }

    void complete(const flashlane_completion &completion) {
        const auto found = under_way_.find(completion.cookie);
        const transfer one = found->second;
        under_way_.erase(found);
        auto &payload = *one.payload;
        move_data(payload, completion);
        if (auto *more = payload.get_extension<request>()) more->completion = completion;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        if (one.blocking) {
            one.done->notify();
            return;
        }
        auto &answers = answers_[one.initiator];
        answers.push_back(&payload);
        if (answers.size() == 1) answer(one.initiator);
    }

    /* Sends responses to an initiator, one at a time, until one is not over at once. */
    void answer(int initiator) {
        auto &answers = answers_[initiator];
        while (!answers.empty()) {
            tlm::tlm_phase phase = tlm::BEGIN_RESP;
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            const auto status = socket[initiator]->nb_transport_bw(*answers.front(), phase, delay);
            const bool over = status == tlm::TLM_COMPLETED ||
                              (status == tlm::TLM_UPDATED && phase == tlm::END_RESP);
            if (!over) return;
            answered(initiator);
        }
    }

    /* The response that an initiator has is over. */
    void answered(int initiator) {
        auto *payload = answers_[initiator].front();
        answers_[initiator].pop_front();
        if (payload->has_mm()) payload->release();
    }

    /* What is written takes effect, and reads see what they see, when the command is complete. */
    void move_data(tlm::tlm_generic_payload &payload, const flashlane_completion &completion) {
        const bool reads = completion.op == static_cast<std::uint8_t>(FLASHLANE_OP_READ);
        const bool trims = completion.op == static_cast<std::uint8_t>(FLASHLANE_OP_TRIM);
        if (completion.op == static_cast<std::uint8_t>(FLASHLANE_OP_FLUSH)) return;
        auto &contents = contents_[completion.tenant];
        auto *data = payload.get_data_ptr();
        if (!data && !trims) return;
        for (std::uint64_t done = 0; done < completion.bytes;) {
            const auto offset = completion.offset_bytes + done;
            const auto inside = offset % page_bytes;
            const auto length = std::min(page_bytes - inside, completion.bytes - done);
            const auto found = contents.find(offset / page_bytes);
            if (reads && found == contents.end()) {
                std::memset(data + done, 0, length);
            } else if (reads) {
                std::memcpy(data + done, found->second->data() + inside, length);
            } else if (!trims) {
                auto &kept = contents[offset / page_bytes];
                if (!kept) kept = std::make_unique<page>(page{});
                std::memcpy(kept->data() + inside, data + done, length);
            } else if (found != contents.end()) {
                std::memset(found->second->data() + inside, 0, length);
            }
            done += length;
        }
    }

    std::unique_ptr<flashlane_drive, free_drive> drive_;
    std::size_t tenants_ = 0;
    std::uint64_t next_cookie_ = 0;
    std::unordered_map<std::uint64_t, transfer> under_way_;
    /* Responses by initiator; the first one is on its way. */
    std::unordered_map<int, std::deque<tlm::tlm_generic_payload *>> answers_;
    /* Initiators whose next response may go. */
    std::vector<int> wake_answers_;
    /* By tenant: pages that were written. Others are zero. */
    std::unordered_map<std::uint16_t, std::unordered_map<std::uint64_t, std::unique_ptr<page>>>
        contents_;
    sc_core::sc_event wake_;
};

}  // namespace flashlane_tlm

#endif
