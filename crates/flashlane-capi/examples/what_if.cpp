/*
 * One drive, several futures: how long a reader waits beside neighbours that keep more and more writes outstanding.
 * Every future starts from the same snapshot of a drive that has been written to for a while.
 *
 *     c++ -std=c++17 what_if.cpp $(pkg-config --cflags --libs flashlane) -o what_if
 *     ./what_if [device]
 */

#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>

#include <flashlane.hpp>

namespace {

constexpr std::uint32_t reader = 0, writer = 1;

/** Both tenants as closed loops: the next command of a tenant follows a completion. */
class Load {
public:
    explicit Load(flashlane::Drive &drive) : drive_(drive) {}

    void submit(std::uint32_t tenant) {
        const std::uint64_t lba = random_() % (drive_.sectors(tenant) / 8) * 8;
        const auto command = tenant == reader ? flashlane::read(tenant, lba, 8) : flashlane::write(tenant, lba, 8);
        drive_.submit(drive_.now(), command);
    }

    /** Mean latency of the reads up to a time. Unit: picoseconds. */
    double run(std::uint64_t until_ps) {
        std::uint64_t reads = 0, total = 0;
        while (const auto done = drive_.next_completion(until_ps)) {
            if (done->tenant == reader) {
                reads++;
                total += done->complete_ps - done->submit_ps;
            }
            submit(done->tenant);
        }
        return reads == 0 ? 0.0 : static_cast<double>(total) / static_cast<double>(reads);
    }

private:
    flashlane::Drive &drive_;
    std::mt19937_64 random_{1};
};

} // namespace

int main(int argc, char **argv) try {
    flashlane::Config config;
    config.device = argc > 1 ? argv[1] : "tiny";
    config.tenants = {{"reader"}, {"writer"}};
    config.blame = true;
    flashlane::Drive drive(config);

    // The past of all futures: 1000 writes, one every 100 us.
    for (std::uint64_t i = 0; i < 1000; i++) {
        drive.submit(i * 100 * FLASHLANE_US, flashlane::write(writer, i * 8 * 7 % drive.sectors(writer) / 8 * 8, 8));
    }
    drive.advance();
    const flashlane::Snapshot snapshot = drive.snapshot();

    for (const int depth : {0, 1, 2, 4, 8}) {
        drive.restore(snapshot);
        Load future(drive);
        future.submit(reader);
        for (int writes = 0; writes < depth; writes++) {
            future.submit(writer);
        }
        const double mean = future.run(drive.now() + 20 * FLASHLANE_MS);
        std::printf("%2d writes outstanding: a read takes %.1f us\n", depth, mean / 1e6);
    }
    std::printf("%s\n", drive.blame().c_str());
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
