/*
 * A reader and a writer on one drive: how much longer do reads take beside writes?
 *
 *     c++ -std=c++17 -I.. two_initiators.cpp $(pkg-config --cflags --libs flashlane systemc) -o two_initiators
 *     ./two_initiators
 */
#include "flashlane_tlm.h"

#include <cstdio>
#include <random>

#include <tlm_utils/simple_initiator_socket.h>

namespace {

/* Reads or writes 4 KiB, one after the other, until the simulation is over. */
class tenant : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<tenant> socket;

    SC_HAS_PROCESS(tenant);
    tenant(sc_core::sc_module_name name, tlm::tlm_command command, sc_core::sc_time begin)
        : sc_module(name), socket("socket"), command_(command), begin_(begin) {
        SC_THREAD(run);
    }

    /* Mean latency since the last call. Unit: microseconds. */
    double mean_us() {
        const double mean = total_.to_seconds() * 1e6 / count_;
        count_ = 0;
        total_ = sc_core::SC_ZERO_TIME;
        return mean;
    }

private:
    void run() {
        wait(begin_);
        std::mt19937_64 random(7);
        unsigned char data[4096] = {};
        for (;;) {
            tlm::tlm_generic_payload payload;
            payload.set_command(command_);
            payload.set_address(random() % 1000 * sizeof data);
            payload.set_data_ptr(data);
            payload.set_data_length(sizeof data);
            payload.set_streaming_width(sizeof data);
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            const auto before = sc_core::sc_time_stamp();
            socket->b_transport(payload, delay);
            if (payload.is_response_error()) SC_REPORT_ERROR(name(), "the drive refused a command");
            total_ += sc_core::sc_time_stamp() - before;
            ++count_;
        }
    }

    tlm::tlm_command command_;
    sc_core::sc_time begin_;
    sc_core::sc_time total_;
    int count_ = 0;
};

}  // namespace

int sc_main(int, char **) {
    const sc_core::sc_time half(20, sc_core::SC_MS);
    const flashlane_tenant tenants[] = {{"reader", nullptr}, {"writer", "cache = 'off'"}};
    flashlane_config config{};
    config.struct_size = sizeof config;
    config.device = "tiny";
    config.tenants = tenants;
    config.tenants_count = 2;
    config.seed = 1;
    flashlane_tlm::drive drive("drive", config);
    tenant reader("reader", tlm::TLM_READ_COMMAND, sc_core::SC_ZERO_TIME);
    tenant writer("writer", tlm::TLM_WRITE_COMMAND, half);
    reader.socket.bind(drive.socket);
    writer.socket.bind(drive.socket);
    sc_core::sc_start(half);
    std::printf("reads alone: %.1f us\n", reader.mean_us());
    sc_core::sc_start(half);
    std::printf("beside writes: %.1f us\n", reader.mean_us());
    return 0;
}
