//! One emulated processor with its memory: a safe interface over the emulator's C interface.
//!
//! Every system call stops the machine: the handler, which the emulator calls, sets a flag and
//! nothing else. No other code of ours runs inside the emulator. The call is carried out later, at
//! its turn in virtual time.
//!
//! The handlers of system calls belong to the whole process, and making a machine overwrites them.
//! Therefore machines are made one at a time, while none runs: [`RUNNING`].

// Only this file and `guard.rs` have unsafe code in this crate.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint, c_void};
use std::ptr::NonNull;
use std::sync::{PoisonError, RwLock};

use libriscv_sys as sys;

use crate::guard::{Arena, BadAccess, space};

/// Held for reading while a machine runs, and for writing while a machine is made.
static RUNNING: RwLock<()> = RwLock::new(());

/// System calls with a lower number stop the machine.
const CALLS: c_uint = 511;

/// The number under which the emulator reports a breakpoint.
const BREAKPOINT: c_uint = 511;

/// A page. The first page stays unused, because an address in it is a null pointer. The emulator by
/// itself would use that memory.
const LOWEST: u64 = 4096;

/// Reason why a machine stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A system call: its number and arguments are in the registers.
    Call,
    /// The limit of instructions was reached.
    Limit,
    /// The program did something that a processor refuses.
    Fault(String),
}

/// Reports of the handlers.
#[derive(Debug, Default)]
struct Reports {
    called: bool,
    broke: bool,
    fault: Option<String>,
}

/// The state of a thread: 32 integer registers, 32 of floating point, the program counter.
#[derive(Clone, Copy)]
pub(crate) struct Registers(sys::RISCVRegisters);

impl std::fmt::Debug for Registers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "pc {:#x}", self.0.pc)
    }
}

impl Registers {
    /// The number of the system call.
    pub(crate) fn call(&self) -> u64 {
        self.0.r[17]
    }

    /// An argument of the system call. Range: 0 to 5.
    pub(crate) fn argument(&self, index: usize) -> u64 {
        assert!(index < 6, "a system call has six arguments");
        self.0.r[10 + index]
    }

    /// Sets the result of the system call.
    pub(crate) fn set_result(&mut self, value: i64) {
        self.0.r[10] = value.cast_unsigned();
    }

    /// Sets the stack pointer.
    pub(crate) fn set_stack(&mut self, address: u64) {
        self.0.r[2] = address;
    }

    /// The stack pointer.
    pub(crate) fn stack(&self) -> u64 {
        self.0.r[2]
    }

    /// Sets the thread pointer, which leads to the data of the thread.
    pub(crate) fn set_thread_pointer(&mut self, address: u64) {
        self.0.r[4] = address;
    }

    /// The address of the next instruction.
    pub(crate) fn pc(&self) -> u64 {
        self.0.pc
    }
}

/// A machine: one processor and its memory.
pub(crate) struct Machine {
    raw: NonNull<sys::RISCVMachine>,
    /// Reports of the handlers, which write through a pointer that the emulator keeps.
    reports: NonNull<Reports>,
    /// Memory of the program in this process; `None` if accesses are not watched.
    arena: Option<Arena>,
    /// The emulator reads the program for as long as the machine lives.
    _elf: Box<[u8]>,
}

// SAFETY: the machine owns everything that its pointers lead to, and the emulator keeps no state
// of a thread. What it shares, the table of handlers, is written under `RUNNING` only.
unsafe impl Send for Machine {}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Machine")
    }
}

impl Machine {
    /// Loads a program. Units: bytes.
    ///
    /// # Errors
    ///
    /// The message of the emulator about the program.
    pub(crate) fn new(
        elf: &[u8],
        arguments: &[String],
        memory: u64,
        stack: u32,
    ) -> Result<Self, String> {
        let elf: Box<[u8]> = elf.into();
        let size = c_uint::try_from(elf.len()).map_err(|_| "the file is too large".to_owned())?;
        let arguments: Vec<CString> = arguments
            .iter()
            .map(|one| CString::new(one.as_str()).map_err(|_| "an argument contains a zero byte"))
            .collect::<Result<_, _>>()?;
        let mut pointers: Vec<*const c_char> = arguments.iter().map(|one| one.as_ptr()).collect();
        let reports = NonNull::from(Box::leak(Box::<Reports>::default()));
        let mut options = sys::RISCVOptions {
            max_memory: space(memory),
            stack_size: stack,
            strict_sandbox: 1,
            argc: c_uint::try_from(pointers.len()).map_err(|_| "too many arguments")?,
            argv: pointers.as_mut_ptr(),
            error: Some(on_error),
            stdout: Some(on_output),
            opaque: reports.as_ptr().cast(),
        };
        let alone = RUNNING.write().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: program, arguments and options outlive the call, and the program the machine.
        let raw = unsafe { sys::libriscv_new(elf.as_ptr().cast(), size, &raw mut options) };
        let Some(raw) = NonNull::new(raw) else {
            // SAFETY: there is no machine that could use it; it came from a box.
            let reports = unsafe { Box::from_raw(reports.as_ptr()) };
            return Err(reports.fault.unwrap_or_else(|| "the program cannot be loaded".to_owned()));
        };
        for number in 0..CALLS {
            // SAFETY: no machine runs; `on_call` has the type of a handler.
            let status = unsafe { sys::libriscv_set_syscall_handler(number, Some(on_call)) };
            assert_eq!(status, 0, "the emulator has a handler for system call {number}");
        }
        // SAFETY: as above.
        let status = unsafe { sys::libriscv_set_syscall_handler(BREAKPOINT, Some(on_breakpoint)) };
        assert_eq!(status, 0, "the emulator has a handler for breakpoints");
        drop(alone);
        let mut made = Self { raw, reports, arena: None, _elf: elf };
        made.arena = made.find_arena(space(memory));
        Ok(made)
    }

    /// The memory of the program, if it is contiguous in this process.
    fn find_arena(&mut self, length: u64) -> Option<Arena> {
        let stack = self.registers().stack();
        let base = |address: u64| {
            // SAFETY: the machine is alive.
            let view = unsafe { sys::libriscv_memview(self.raw.as_ptr(), address, 1) };
            (view as usize).checked_sub(usize::try_from(address).ok()?)
        };
        let found = base(stack)?;
        let (same, length) = (base(stack - 65_536)?, usize::try_from(length).ok()?);
        (found == same).then(|| Arena::new(found, length))
    }

    /// Gives these bytes to the program.
    pub(crate) fn open(&mut self, address: u64, length: u64) {
        if let Some(arena) = &self.arena {
            arena.open(address, length);
        }
    }

    /// Takes these bytes away from the program.
    pub(crate) fn close(&mut self, address: u64, length: u64) {
        if let Some(arena) = &self.arena {
            arena.close(address, length);
        }
    }

    /// Takes the memory from an address on away from the program.
    pub(crate) fn close_from(&mut self, address: u64) {
        self.close(address, u64::MAX - address);
    }

    /// Does work with the memory of the program. Also returns the first access to memory that the
    /// program does not have.
    fn watched<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (T, Option<BadAccess>) {
        let arena = self.arena.take();
        let (done, wild) = match &arena {
            Some(arena) => arena.watched(|| work(self)),
            None => (work(self), None),
        };
        self.arena = arena;
        (done, wild)
    }

    /// Does work with the memory of the program on behalf of the kernel. `None` if it touched
    /// memory that the program does not have, which the kernel refuses.
    fn for_call<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let (done, wild) = self.watched(work);
        if let Some(wild) = wild {
            self.close(wild.address / LOWEST * LOWEST, LOWEST);
            return None;
        }
        Some(done)
    }

    fn reports(&mut self) -> &mut Reports {
        // SAFETY: it lives as long as the machine; handlers use it only while the machine runs or
        // looks at memory, and those calls hold `self` mutably without this reference.
        unsafe { self.reports.as_mut() }
    }

    /// Runs until a system call, a fault, or about `limit` instructions. Returns the number of
    /// instructions.
    pub(crate) fn run(&mut self, limit: u64) -> (u64, Stop) {
        assert!(limit > 0, "a run without a limit counts no instructions");
        *self.reports() = Reports::default();
        let shared = RUNNING.read().unwrap_or_else(PoisonError::into_inner);
        let (status, wild) = self.watched(|machine| {
            // SAFETY: the machine is alive and this is the only reference to it.
            unsafe { sys::libriscv_run(machine.raw.as_ptr(), limit) }
        });
        drop(shared);
        // SAFETY: as above.
        let instructions = unsafe { sys::libriscv_instruction_counter(self.raw.as_ptr()) };
        if let Some(BadAccess { address, what }) = wild {
            let message = format!("{what} memory that the program does not have, at {address:#x}");
            return (instructions, Stop::Fault(message));
        }
        let reports = self.reports();
        let stop = match reports {
            Reports { fault: Some(fault), .. } => Stop::Fault(std::mem::take(fault)),
            Reports { broke: true, .. } => Stop::Fault("a breakpoint instruction".to_owned()),
            Reports { called: true, .. } => Stop::Call,
            // A positive status means that the limit was reached.
            _ if status > 0 => Stop::Limit,
            _ => Stop::Fault(format!("the emulator stopped with status {status}")),
        };
        (instructions, stop)
    }

    /// The registers.
    pub(crate) fn registers(&self) -> Registers {
        // SAFETY: the machine is alive; the pointer leads into it.
        let registers = unsafe { sys::libriscv_get_registers(self.raw.as_ptr()) };
        // SAFETY: the emulator lays its registers out as this type.
        Registers(unsafe { *registers })
    }

    /// Sets all registers.
    pub(crate) fn set_registers(&mut self, registers: &Registers) {
        // SAFETY: the machine is alive; the pointer leads into it.
        let place = unsafe { sys::libriscv_get_registers(self.raw.as_ptr()) };
        // SAFETY: the emulator lays its registers out as this type, and does not run.
        unsafe { *place = registers.0 };
    }

    /// Copies memory of the program. `None` if the program may not read it.
    pub(crate) fn read(&mut self, address: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.read_into(address, &mut bytes).then_some(bytes)
    }

    /// Copies memory of the program into `bytes`. False if the program may not read it.
    #[must_use]
    pub(crate) fn read_into(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        if address < LOWEST {
            return false;
        }
        let Ok(length) = c_uint::try_from(bytes.len()) else { return false };
        let to = bytes.as_mut_ptr().cast();
        let status = self.for_call(|machine| {
            // SAFETY: the machine is alive, `to` has room for `length` bytes.
            unsafe { sys::libriscv_copy_from_guest(machine.raw.as_ptr(), to, address, length) }
        });
        self.reports().fault = None;
        status == Some(0)
    }

    /// Copies to memory of the program. False if the program may not write there.
    #[must_use]
    pub(crate) fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        if address < LOWEST {
            return false;
        }
        let Ok(length) = c_uint::try_from(bytes.len()) else { return false };
        let written = self.for_call(|machine| {
            let raw = machine.raw.as_ptr();
            // SAFETY: the machine is alive.
            let view = unsafe { sys::libriscv_writable_memview(raw, address, length) };
            if view.is_null() {
                return false;
            }
            // SAFETY: the view is `length` bytes of the program's memory, apart from `bytes`.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), view.cast(), bytes.len()) };
            true
        });
        self.reports().fault = None;
        written == Some(true)
    }

    /// A text of the program that ends in a zero byte. `None` if it is unreadable, too long, or not
    /// UTF-8.
    pub(crate) fn text(&mut self, address: u64, most: u32) -> Option<String> {
        let mut length = 0;
        let view = self.for_call(|machine| {
            let raw = machine.raw.as_ptr();
            // SAFETY: the machine is alive.
            unsafe { sys::libriscv_memstring(raw, address, most, &raw mut length) }
        });
        self.reports().fault = None;
        let view = view?;
        if view.is_null() || length >= most {
            return None;
        }
        // SAFETY: the view is `length` bytes of the program's memory.
        let bytes = unsafe { std::slice::from_raw_parts(view.cast::<u8>(), length as usize) };
        String::from_utf8(bytes.to_vec()).ok()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: the machine is alive, and nobody uses it afterwards.
        let status = unsafe { sys::libriscv_delete(self.raw.as_ptr()) };
        assert_eq!(status, 0, "the emulator frees the machine");
        // SAFETY: it came from a box, and the machine that pointed to it is gone.
        drop(unsafe { Box::from_raw(self.reports.as_ptr()) });
    }
}

/// The `Reports` of the machine that calls a handler.
fn reports_of(machine: *mut sys::RISCVMachine) -> *mut Reports {
    // SAFETY: handlers are called with a machine that is alive.
    unsafe { sys::libriscv_opaque(machine) }.cast()
}

unsafe extern "C" fn on_call(machine: *mut sys::RISCVMachine) {
    let reports = reports_of(machine);
    // SAFETY: `Reports` lives as long as the machine, and nobody else uses it while it runs.
    unsafe { (*reports).called = true };
    // SAFETY: the machine is in a system call.
    unsafe { sys::libriscv_stop(machine) };
}

unsafe extern "C" fn on_breakpoint(machine: *mut sys::RISCVMachine) {
    let reports = reports_of(machine);
    // SAFETY: as in `on_call`.
    unsafe { (*reports).broke = true };
    // SAFETY: the machine is in a breakpoint.
    unsafe { sys::libriscv_stop(machine) };
}

unsafe extern "C" fn on_error(opaque: *mut c_void, _: c_int, message: *const c_char, data: c_long) {
    if opaque.is_null() || message.is_null() {
        return;
    }
    // SAFETY: the emulator passes a text that ends in a zero byte.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy();
    let reports: *mut Reports = opaque.cast();
    // SAFETY: it is the `Reports` of the machine, which nobody else uses during the call.
    unsafe { (*reports).fault = Some(format!("{text} ({data:#x})")) };
}

/// Unused: output goes through system calls.
unsafe extern "C" fn on_output(_: *mut c_void, _: *const c_char, _: c_uint) {}
