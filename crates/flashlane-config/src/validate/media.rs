//! Rules of the two kinds of memory: flash, and memory that is written in place.

use super::OPERATION_PS;
use crate::{DeviceConfig, FlashConfig, FtlConfig, MappingKind, Technology};
use flashlane_device::flash::config::{CommandBus, SuspendConfig};
use flashlane_reading::Rules;
use flashlane_units::Span;

/// Rules of the keys that only one of the two kinds of memory has.
pub(super) fn check(rules: &mut Rules, flash: &FlashConfig) {
    let units = [("read_unit", flash.read_unit), ("write_unit", flash.write_unit)];
    if flash.technology != Technology::InPlace {
        rules.span("flash.erase_time", flash.erase_time, &OPERATION_PS);
        for (name, _) in units.iter().filter(|(_, unit)| unit.is_some()) {
            rules.refuse(
                format!("flash.{name}"),
                "found with flash, whose unit is the page; allowed: only with technology \"in-place\"",
            );
        }
        return;
    }
    rules.require(flash.erase_time == Span(0), "flash.erase_time", || {
        format!(
            "found {}, allowed: nothing; memory written in place has no erase",
            flash.erase_time
        )
    });
    rules.require(flash.small_read.is_none(), "flash.small_read", || {
        "found with memory that is written in place, which takes read_unit; allowed: only with flash"
            .to_owned()
    });
    for (name, unit) in units {
        let unit = unit.unwrap_or(flash.page_size);
        rules.bytes(format!("flash.{name}"), unit, 16..=flash.page_size.0.max(16));
        rules.require(
            unit.0.is_power_of_two() || unit == flash.page_size,
            format!("flash.{name}"),
            || format!("found {unit}, allowed: powers of two, or the page ({})", flash.page_size),
        );
    }
}

/// Rules of the translation layer over memory that is written in place, where a logical page never
/// changes its place.
pub(super) fn check_translation(rules: &mut Rules, ftl: &FtlConfig) {
    rules.require(
        (0.0..=*super::OVER_PROVISIONING.end()).contains(&ftl.over_provisioning.0),
        "ftl.over_provisioning",
        || format!("found {}, allowed: 0 to 10 (0% to 1000%)", ftl.over_provisioning),
    );
    rules.require(ftl.mapping.kind == MappingKind::Page, "ftl.mapping.kind", || {
        "found hybrid, allowed: page; memory written in place has no mapping table".to_owned()
    });
    rules.require(ftl.mapping.ideal, "ftl.mapping.ideal", || {
        "found false, allowed: true; memory written in place has no mapping table".to_owned()
    });
    rules.require(ftl.read_scrubbing.limit == 0, "ftl.read_scrubbing.limit", || {
        let limit = ftl.read_scrubbing.limit;
        format!("found {limit}, allowed: 0; memory written in place moves no page")
    });
    rules.require(!ftl.allocation.is_dynamic(), "ftl.allocation", || {
        format!(
            "found {}, allowed: the static orders; memory written in place moves no page",
            ftl.allocation.name()
        )
    });
}

/// Rules of cache program.
pub(super) fn check_cache_program(rules: &mut Rules, device: &DeviceConfig) {
    let (flash, compat) = (&device.flash, &device.compat);
    if !flash.cache_program {
        return;
    }
    for (found, with) in [
        (flash.technology == Technology::InPlace, "memory that is written in place"),
        (flash.suspend.program, "flash.suspend.program, whose reads need the register"),
        (device.ftl.gc.copyback, "ftl.gc.copyback, whose pages need the register"),
        (compat.class_rotation, "compat.class_rotation"),
        (compat.one_die_per_dispatch, "compat.one_die_per_dispatch"),
        (compat.scan_at_once, "compat.scan_at_once"),
    ] {
        rules.require(!found, "flash.cache_program", || {
            format!("found true, allowed: false with {with}")
        });
    }
    if !rules.problems.is_empty() {
        return;
    }
    let fills = device.scheduler.fills_registers(device.geometry(), 1);
    rules.require(fills, "flash.cache_program", || {
        format!(
            "found true, allowed: false with scheduler {}, which gives a die its next program when \
             it is idle; true with fcfs, host-first, read-priority, out-of-order and \
             priority-out-of-order",
            device.scheduler.name()
        )
    });
}

/// Rules of independent reads of planes, and of cache read.
pub(super) fn check_plane_reads(rules: &mut Rules, device: &DeviceConfig) {
    let (flash, compat) = (&device.flash, &device.compat);
    rules.require(flash.independent_plane_reads || !flash.cache_read, "flash.cache_read", || {
        "found true, allowed: true with flash.independent_plane_reads = true only, since each plane \
         has a cache register of its own"
            .to_owned()
    });
    if !flash.independent_plane_reads {
        return;
    }
    for (found, with) in [
        (flash.technology == Technology::InPlace, "memory that is written in place"),
        (device.ftl.gc.copyback, "ftl.gc.copyback, whose dies read as a whole"),
        (device.errors.is_some(), "[errors], whose dies read pages again as a whole"),
        (compat.class_rotation, "compat.class_rotation"),
        (compat.one_die_per_dispatch, "compat.one_die_per_dispatch"),
        (compat.scan_at_once, "compat.scan_at_once"),
    ] {
        rules.require(!found, "flash.independent_plane_reads", || {
            format!("found true, allowed: false with {with}")
        });
    }
    if !rules.problems.is_empty() {
        return;
    }
    let fills = device.scheduler.reads_beside(device.geometry(), 1);
    rules.require(fills, "flash.independent_plane_reads", || {
        format!(
            "found true, allowed: false with scheduler {}, which gives a die its next read when it \
             is idle; true with fcfs, host-first, read-priority, out-of-order and \
             priority-out-of-order",
            device.scheduler.name()
        )
    });
}

/// Rules of a command bus of its own.
pub(super) fn check_command_bus(rules: &mut Rules, device: &DeviceConfig) {
    let compat = &device.compat;
    if device.flash.command_bus == CommandBus::Shared {
        return;
    }
    for (found, with) in [
        (compat.class_rotation, "class_rotation"),
        (compat.one_die_per_dispatch, "one_die_per_dispatch"),
        (compat.scan_at_once, "scan_at_once"),
        (compat.data_before_commands, "data_before_commands"),
    ] {
        rules.require(!found, "flash.command_bus", || {
            format!(
                "found separate, allowed: shared with compat.{with}; the released MQSim has one bus"
            )
        });
    }
}

/// Rules of the suspension of programs and erases.
pub(super) fn check_suspension(rules: &mut Rules, suspend: &SuspendConfig) {
    for (name, time) in [
        ("program_time", suspend.program_time),
        ("erase_time", suspend.erase_time),
        ("program_min_left", suspend.program_min_left),
        ("erase_min_left", suspend.erase_min_left),
        ("erase_min_left_for_write", suspend.erase_min_left_for_write),
    ] {
        rules.span(format!("flash.suspend.{name}"), time, &(0..=*OPERATION_PS.end()));
    }
    if let Some(most) = suspend.max_per_operation {
        rules.range("flash.suspend.max_per_operation", most, &(1..=65_535));
    }
    rules.range("flash.suspend.min_progress", suspend.min_progress.0, &(0.001..=1.0));
}
