//! What safe code cannot tell the machine: the only unsafe code of the simulator.

/// Asks for the cache line of an element that is needed soon. A hint: changes no result, and any index is
/// allowed. Does nothing on machines other than x86-64 and 64-bit ARM.
#[inline(always)]
#[expect(unsafe_code, reason = "the instruction takes a raw pointer")]
pub fn prefetch<T>(values: &[T], index: usize) {
    let address = values.as_ptr().wrapping_add(index);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch neither faults nor reads, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch neither faults nor reads, whatever the address, and leaves flags and stack alone.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{address}]",
            address = in(reg) address,
            options(readonly, nostack, preserves_flags),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}
