/*
 * Random transactions through the socket, against the same commands given to a drive without SystemC.
 * `transactions methods` uses non-blocking transport only, which needs no coroutines: valgrind follows it.
 */
#include "../flashlane_tlm.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <utility>

#include <tlm_utils/simple_initiator_socket.h>

namespace {

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);      \
            std::exit(1);                                                             \
        }                                                                             \
    } while (false)

/* A command as it went into the drive, and when it was over. */
struct record {
    std::uint64_t called_ps;
    std::uint64_t at_ps;
    flashlane_command command;
    std::uint64_t complete_ps;
};

std::vector<record> records;

std::uint64_t now_ps() { return sc_core::sc_time_stamp().value(); }

/* The space of a tenant that is used. */
constexpr std::uint64_t space_sectors = 4096;

record drawn(std::mt19937_64 &random, std::uint32_t tenant, std::uint64_t at_ps) {
    record one{};
    one.called_ps = now_ps();
    one.at_ps = at_ps;
    one.command.tenant = tenant;
    one.command.op = static_cast<std::uint8_t>(random() % 3 ? FLASHLANE_OP_READ : FLASHLANE_OP_WRITE);
    one.command.sectors = static_cast<std::uint32_t>(1 + random() % 32);
    one.command.lba = random() % (space_sectors - one.command.sectors);
    return one;
}

void prepare(tlm::tlm_generic_payload &payload, const record &one, unsigned char *data) {
    payload.set_command(one.command.op == static_cast<std::uint8_t>(FLASHLANE_OP_READ) ? tlm::TLM_READ_COMMAND
                                                                                       : tlm::TLM_WRITE_COMMAND);
    payload.set_address(one.command.lba * FLASHLANE_SECTOR_BYTES);
    payload.set_data_ptr(data);
    payload.set_data_length(one.command.sectors * FLASHLANE_SECTOR_BYTES);
    payload.set_streaming_width(payload.get_data_length());
    payload.set_byte_enable_ptr(nullptr);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

/* One transaction after the other, some of them ahead of SystemC's time; reads see what was written. */
class blocking : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<blocking> socket;

    SC_HAS_PROCESS(blocking);
    blocking(sc_core::sc_module_name name, std::uint32_t tenant, int count)
        : sc_module(name), socket("socket"), tenant_(tenant), count_(count), random_(tenant + 1),
          contents_(space_sectors * FLASHLANE_SECTOR_BYTES) {
        SC_THREAD(run);
    }

private:
    void run() {
        std::vector<unsigned char> data(32 * FLASHLANE_SECTOR_BYTES);
        for (int n = 0; n < count_; ++n) {
            // The local time runs ahead, by a fraction of a nanosecond or by much.
            sc_core::sc_time local = sc_core::sc_time::from_value(random_() % 50'000'000);
            record one = drawn(random_, tenant_, now_ps() + local.value());
            const auto bytes = one.command.sectors * FLASHLANE_SECTOR_BYTES;
            unsigned char *expected = contents_.data() + one.command.lba * FLASHLANE_SECTOR_BYTES;
            const bool writes = one.command.op == static_cast<std::uint8_t>(FLASHLANE_OP_WRITE);
            for (std::uint32_t at = 0; at < bytes; ++at) data[at] = static_cast<unsigned char>(random_());
            if (writes) std::memcpy(expected, data.data(), bytes);
            tlm::tlm_generic_payload payload;
            flashlane_tlm::request more;
            prepare(payload, one, data.data());
            payload.set_extension(&more);
            const std::size_t place = records.size();
            records.push_back(one);
            socket->b_transport(payload, local);
            payload.clear_extension(&more);
            CHECK(payload.is_response_ok());
            // The command entered at the local time, and the caller is at the time of the completion.
            CHECK(more.completion.arrival_ps == one.at_ps);
            CHECK(local == sc_core::SC_ZERO_TIME);
            CHECK(more.completion.complete_ps == now_ps());
            CHECK(writes || std::memcmp(data.data(), expected, bytes) == 0);
            records[place].complete_ps = now_ps();
            if (random_() % 4 == 0) wait(sc_core::sc_time::from_value(random_() % 100'000'000));
        }
    }

    std::uint32_t tenant_;
    int count_;
    std::mt19937_64 random_;
    std::vector<unsigned char> contents_;
};

/* Up to `depth` transactions at a time; some responses are over at once, others later. */
class non_blocking : public sc_core::sc_module, private tlm::tlm_mm_interface {
public:
    tlm_utils::simple_initiator_socket<non_blocking> socket;

    SC_HAS_PROCESS(non_blocking);
    non_blocking(sc_core::sc_module_name name, std::uint32_t tenant, int count, int depth)
        : sc_module(name), socket("socket"), tenant_(tenant), left_(count), random_(tenant + 100) {
        socket.register_nb_transport_bw(this, &non_blocking::nb_transport_bw);
        for (int n = 0; n < depth; ++n) ready_.push_back(n);
        data_.resize(static_cast<std::size_t>(depth));
        places_.resize(data_.size());
        SC_METHOD(run);
        sensitive << wake_;
    }

    ~non_blocking() override { CHECK(alive_ == 0); }

    int completed() const { return completed_; }

private:
    void run() {
        if (late_) {
            // The response that was taken without an answer is over now.
            tlm::tlm_phase phase = tlm::END_RESP;
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            auto *payload = std::exchange(late_, nullptr);
            CHECK(socket->nb_transport_fw(*payload, phase, delay) == tlm::TLM_COMPLETED);
            over(*payload);
        }
        while (left_ > 0 && !ready_.empty()) {
            const int slot = ready_.back();
            ready_.pop_back();
            --left_;
            sc_core::sc_time delay = sc_core::sc_time::from_value(random_() % 20'000'000);
            const record one = drawn(random_, tenant_, now_ps() + delay.value());
            auto &data = data_[static_cast<std::size_t>(slot)];
            data.resize(one.command.sectors * FLASHLANE_SECTOR_BYTES);
            auto *payload = new tlm::tlm_generic_payload(this);
            ++alive_;
            payload->acquire();
            prepare(*payload, one, data.data());
            slots_[payload] = slot;
            places_[static_cast<std::size_t>(slot)] = records.size();
            records.push_back(one);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            CHECK(socket->nb_transport_fw(*payload, phase, delay) == tlm::TLM_UPDATED);
            CHECK(phase == tlm::END_REQ);
        }
    }

    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                       sc_core::sc_time &delay) {
        CHECK(phase == tlm::BEGIN_RESP && delay == sc_core::SC_ZERO_TIME && !late_);
        CHECK(payload.is_response_ok());
        ++completed_;
        const auto place = places_[static_cast<std::size_t>(slots_.at(&payload))];
        if (random_() % 2) {
            records[place].complete_ps = now_ps();
            over(payload);
            wake_.notify(sc_core::SC_ZERO_TIME);
            if (random_() % 2) return tlm::TLM_COMPLETED;
            phase = tlm::END_RESP;
            return tlm::TLM_UPDATED;
        }
        records[place].complete_ps = now_ps();
        late_ = &payload;
        wake_.notify(sc_core::SC_ZERO_TIME);
        return tlm::TLM_ACCEPTED;
    }

    void over(tlm::tlm_generic_payload &payload) {
        const auto found = slots_.find(&payload);
        ready_.push_back(found->second);
        slots_.erase(found);
        payload.release();
    }

    void free(tlm::tlm_generic_payload *payload) override {
        --alive_;
        delete payload;
    }

    std::uint32_t tenant_;
    int left_;
    int completed_ = 0;
    int alive_ = 0;
    std::mt19937_64 random_;
    std::vector<int> ready_;
    std::vector<std::vector<unsigned char>> data_;
    std::vector<std::size_t> places_;
    std::map<tlm::tlm_generic_payload *, int> slots_;
    tlm::tlm_generic_payload *late_ = nullptr;
    sc_core::sc_event wake_;
};

/* What the target refuses, it refuses at once and by the response status. */
class wrong : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<wrong> socket;

    SC_HAS_PROCESS(wrong);
    explicit wrong(sc_core::sc_module_name name) : sc_module(name), socket("socket") { SC_METHOD(run); }

private:
    void run() {
        const auto answer = [&](auto change) {
            unsigned char data[512] = {};
            tlm::tlm_generic_payload payload;
            flashlane_tlm::request more;
            more.tenant = 0;
            record one{};
            one.command.sectors = 1;
            prepare(payload, one, data);
            payload.set_extension(&more);
            change(payload, more);
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            socket->b_transport(payload, delay);
            payload.clear_extension(&more);
            return payload.get_response_status();
        };
        using payload = tlm::tlm_generic_payload;
        using request = flashlane_tlm::request;
        CHECK(answer([](payload &p, request &) { p.set_address(100); }) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
        CHECK(answer([](payload &p, request &) { p.set_address(UINT64_C(1) << 50); }) ==
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
        CHECK(answer([](payload &p, request &) { p.set_data_length(100); }) == tlm::TLM_BURST_ERROR_RESPONSE);
        CHECK(answer([](payload &p, request &) { p.set_streaming_width(8); }) == tlm::TLM_BURST_ERROR_RESPONSE);
        unsigned char enable = 0xff;
        CHECK(answer([&](payload &p, request &) { p.set_byte_enable_ptr(&enable); }) ==
              tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        CHECK(answer([](payload &p, request &) { p.set_command(tlm::TLM_IGNORE_COMMAND); }) ==
              tlm::TLM_COMMAND_ERROR_RESPONSE);
        CHECK(answer([](payload &p, request &more) {
                  p.set_write();
                  more.placed = true;
              }) == tlm::TLM_COMMAND_ERROR_RESPONSE);
        CHECK(answer([](payload &, request &more) { more.tenant = 9; }) == tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
};

/* The same commands in a drive without SystemC: every one at its time, and each complete at its time. */
void compare(const flashlane_config &config) {
    flashlane_drive *drive = nullptr;
    CHECK(flashlane_drive_new(&config, &drive) == FLASHLANE_STATUS_OK);
    std::size_t over = 0;
    std::array<flashlane_completion, 64> buffer;
    const auto advance = [&](std::uint64_t until) {
        for (;;) {
            std::size_t count = 0;
            const auto status = flashlane_advance(drive, until, buffer.data(), buffer.size(), &count);
            CHECK(status >= FLASHLANE_STATUS_OK);
            for (std::size_t at = 0; at < count; ++at, ++over) {
                const auto &expected = records.at(buffer[at].cookie);
                if (expected.complete_ps != buffer[at].complete_ps) {
                    std::fprintf(stderr, "transaction %llu: %llu ps with SystemC, %llu ps without\n",
                                 static_cast<unsigned long long>(buffer[at].cookie),
                                 static_cast<unsigned long long>(expected.complete_ps),
                                 static_cast<unsigned long long>(buffer[at].complete_ps));
                    std::exit(1);
                }
            }
            if (status == FLASHLANE_STATUS_OK) return;
        }
    };
    for (std::size_t place = 0; place < records.size(); ++place) {
        record one = records[place];
        advance(one.called_ps);
        one.command.cookie = place;
        CHECK(flashlane_schedule(drive, one.at_ps, &one.command) == FLASHLANE_STATUS_OK);
    }
    advance(FLASHLANE_NEVER);
    CHECK(over == records.size());
    flashlane_drive_free(drive);
}

}  // namespace

int sc_main(int argc, char **argv) {
    const bool methods = argc > 1 && std::string(argv[1]) == "methods";
    const flashlane_tenant tenants[] = {{"first", nullptr}, {"second", nullptr}, {"third", nullptr}};
    flashlane_config config{};
    config.struct_size = sizeof config;
    config.device = "tiny";
    config.tenants = tenants;
    config.tenants_count = 3;
    config.seed = 1;
    config.flags = FLASHLANE_CHECK;
    {
        flashlane_tlm::drive drive("drive", config);
        const int each = methods ? 500 : 2500;
        std::unique_ptr<blocking> first, second;
        std::unique_ptr<non_blocking> other;
        if (methods) {
            other = std::make_unique<non_blocking>("other", 0, each, 8);
            other->socket.bind(drive.socket);
        } else {
            first = std::make_unique<blocking>("first", 0, each);
            first->socket.bind(drive.socket);
            second = std::make_unique<blocking>("second", 1, each);
            second->socket.bind(drive.socket);
        }
        non_blocking third("third", methods ? 1 : 2, 2 * each, 32);
        third.socket.bind(drive.socket);
        wrong last("last");
        last.socket.bind(drive.socket);
        sc_core::sc_start();
        CHECK(third.completed() == 2 * each);
        CHECK(records.size() == static_cast<std::size_t>(methods ? 3 * each : 4 * each));
    }
    compare(config);
    std::printf("%zu transactions\n", records.size());
    return 0;
}
