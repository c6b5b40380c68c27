/* Brings the controller up as a host does, writes blocks, and reads them back. */
#include <flashlane_nvme.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PAGES = 64 };

struct machine {
    unsigned char memory[PAGES * PAGE];
    uint64_t at_ps;
    unsigned interrupts;
    flashlane_nvme *nvme;
    int busy;
};

static int is_memory(uint64_t address, size_t bytes)
{
    return address <= sizeof((struct machine *)0)->memory &&
           bytes <= sizeof((struct machine *)0)->memory - address;
}

static int32_t read_memory(void *context, uint64_t address, void *data, size_t bytes)
{
    struct machine *machine = context;
    uint64_t value;
    if (flashlane_nvme_mmio_read(machine->nvme, 0, 8, &value) == FLASHLANE_STATUS_BUSY)
        machine->busy = 1;
    if (!is_memory(address, bytes))
        return 1;
    memcpy(data, machine->memory + address, bytes);
    return 0;
}

static int32_t write_memory(void *context, uint64_t address, const void *data, size_t bytes)
{
    struct machine *machine = context;
    if (!is_memory(address, bytes))
        return 1;
    memcpy(machine->memory + address, data, bytes);
    return 0;
}

static void interrupt(void *context, uint64_t at_ps, uint16_t vector)
{
    struct machine *machine = context;
    machine->at_ps = at_ps;
    machine->interrupts += vector == 1;
}

/* Memory that takes time: a range is there once it was asked for. */
static int is_slow, is_there, asked;

static int32_t ready(void *context, uint64_t address, size_t bytes)
{
    (void)context, (void)address, (void)bytes;
    asked += !is_there;
    return is_there;
}

static void check(flashlane_status status)
{
    if (status == FLASHLANE_STATUS_OK)
        return;
    fprintf(stderr, "%s: %s\n", flashlane_status_name(status), flashlane_last_error());
    exit(1);
}

static struct machine machine;
static unsigned tails[2], heads[2];
static uint64_t now;

static void set(uint64_t offset, unsigned bytes, uint64_t value)
{
    check(flashlane_nvme_mmio_write(machine.nvme, now, offset, bytes, value));
    if (!is_slow || !asked)
        return;
    is_there = 1;
    check(flashlane_nvme_advance(machine.nvme, now));
    is_there = 0;
}

/* Runs a command alone, and returns its status. The queues are at pages 1 to 4. */
static unsigned run(unsigned queue, uint8_t opcode, uint64_t data, uint32_t ten, uint32_t eleven,
                    uint32_t twelve)
{
    unsigned char *entry = machine.memory + (1 + 2 * queue) * PAGE + 64 * tails[queue];
    unsigned char *done = machine.memory + (2 + 2 * queue) * PAGE + 16 * heads[queue];
    uint32_t words[3] = {ten, eleven, twelve};
    memset(entry, 0, 64);
    entry[0] = opcode;
    entry[2] = (unsigned char)tails[queue];
    entry[4] = queue > 0;
    memcpy(entry + 24, &data, 8);
    memcpy(entry + 40, words, sizeof words);
    tails[queue]++;
    set(0x1000 + 8 * queue, 4, tails[queue]);
    while (!(done[14] & 1)) {
        check(flashlane_nvme_next_event(machine.nvme, &now));
        if (now == FLASHLANE_NEVER)
            exit(2);
        check(flashlane_nvme_advance(machine.nvme, now));
    }
    heads[queue]++;
    set(0x1004 + 8 * queue, 4, heads[queue]);
    return (done[14] | done[15] << 8) >> 1;
}

int main(void)
{
    flashlane_tenant tenant = {"host", NULL};
    flashlane_config config = {0};
    flashlane_nvme_host host = {&machine, read_memory, write_memory, interrupt};
    uint64_t value;
    char *json;
    unsigned i;

    config.struct_size = sizeof config;
    config.device = "tiny";
    config.tenants = &tenant;
    config.tenants_count = 1;
    config.seed = 1;
    check(flashlane_nvme_new(&config, &host, &machine.nvme));
    set(0x24, 4, 31 | 31 << 16);
    set(0x28, 8, 1 * PAGE);
    set(0x30, 8, 2 * PAGE);
    set(0x14, 4, 0x00460001);
    check(flashlane_nvme_mmio_read(machine.nvme, 0x1c, 4, &value));
    printf("ready %u\n", (unsigned)value);
    if (run(0, 0x05, 4 * PAGE, 1 | 31 << 16, 3 | 1 << 16, 0) ||
        run(0, 0x01, 3 * PAGE, 1 | 31 << 16, 1 | 1 << 16, 0))
        return 3;
    for (i = 0; i < PAGE; i++)
        machine.memory[8 * PAGE + i] = (unsigned char)(i * 7);
    printf("write %x", run(1, 0x01, 8 * PAGE, 5, 0, 0));
    printf(", read %x", run(1, 0x02, 9 * PAGE, 5, 0, 0));
    printf(", nowhere %x\n", run(1, 0x02, (uint64_t)1 << 40, 5, 0, 0));
    printf("%s, %u interrupts\n",
           memcmp(machine.memory + 8 * PAGE, machine.memory + 9 * PAGE, PAGE) ? "other" : "same",
           machine.interrupts);
    printf("%s\n", machine.at_ps == now && now > 0 && machine.busy ? "in time" : "late");
    check(flashlane_nvme_set_ready(machine.nvme, ready));
    is_slow = 1;
    memset(machine.memory + 9 * PAGE, 0, PAGE);
    printf("slow memory: write %x", run(1, 0x01, 8 * PAGE, 6, 0, 0));
    printf(", read %x", run(1, 0x02, 9 * PAGE, 6, 0, 0));
    printf(", %s, asked %d times\n",
           memcmp(machine.memory + 8 * PAGE, machine.memory + 9 * PAGE, PAGE) ? "other" : "same",
           asked);
    check(flashlane_nvme_set_ready(machine.nvme, NULL));
    check(flashlane_nvme_summary(machine.nvme, &json));
    printf("%.29s\n", json);
    flashlane_string_free(json);
    flashlane_nvme_free(machine.nvme);
    host.write = NULL;
    printf("%d", flashlane_nvme_new(&config, &host, &machine.nvme) == FLASHLANE_STATUS_ARGUMENT);
    printf("%d", flashlane_nvme_advance(machine.nvme, 1) == FLASHLANE_STATUS_ARGUMENT);
    printf("%d\n", machine.nvme == NULL);
    flashlane_nvme_free(NULL);
    return 0;
}
