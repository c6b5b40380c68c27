//! The shapes that clones are made from: everything but the means.
//!
//! Source (type correlation, variation and bursts of gaps, runs, size modes, alignment,
//! popularity): our measurements on short pieces of such traces: Financial1 (first 10,000
//! requests), an MSN file server's disk 5 (143 s), TPC-C (0.136 s), WebSearch1 (first 60 s), DTRS
//! (300 s), and two cuts of 10,000 requests of MSR Cambridge volumes. Footprints are assumptions:
//! 64 times the extents that the piece touched, at most 16 GiB.

use super::params::{CloneParams, Side};

pub(super) const NO_SIDE: Side<'static> = Side {
    mean_kib: 0.0,
    gap_ms: 0.0,
    sizes: &[],
    seq1: 0.0,
    seq32: 0.0,
    aligned: 1.0,
    theta: 0.0,
    footprint_mib: 0,
    daily: &[],
};

/// Financial1: small, unaligned, bursty, a hot set of writes.
pub(super) const FIN: CloneParams<'static> = CloneParams {
    name: "",
    summary: "",
    read_ratio: 0.0,
    kappa: 0.57,
    gap_cv: 3.21,
    batch: 0.0,
    bias: 0.645,
    levels: 10,
    leaf_log2: 0,
    idc_1s: None,
    overlap: 0.04,
    extent_kib: 64,
    read: Side {
        sizes: &[(0.5, 0.15), (1.0, 0.05), (2.0, 0.02), (3.0, 0.06), (8.0, 0.71), (64.0, 0.005)],
        seq1: 0.71,
        seq32: 0.77,
        aligned: 0.001,
        theta: 0.34,
        footprint_mib: 973,
        ..NO_SIDE
    },
    write: Side {
        sizes: &[
            (0.5, 0.13),
            (1.0, 0.17),
            (2.0, 0.05),
            (3.0, 0.30),
            (3.5, 0.13),
            (8.0, 0.05),
            (48.0, 0.01),
        ],
        seq1: 0.28,
        seq32: 0.36,
        aligned: 0.001,
        theta: 0.63,
        footprint_mib: 934,
        ..NO_SIDE
    },
};

/// MSN file server: 8 KiB with some 64 KiB, long runs of one type, no sequences, weak skew.
pub(super) const MSN: CloneParams<'static> = CloneParams {
    kappa: 0.80,
    gap_cv: 1.67,
    bias: 0.631,
    levels: 13,
    leaf_log2: 4,
    extent_kib: 256,
    read: Side {
        sizes: &[(8.0, 0.83), (16.0, 0.02), (56.0, 0.01), (64.0, 0.11), (128.0, 0.01)],
        seq1: 0.015,
        seq32: 0.043,
        aligned: 1.0,
        theta: 0.19,
        footprint_mib: 16_384,
        ..NO_SIDE
    },
    write: Side {
        sizes: &[(8.0, 0.97), (16.0, 0.02), (64.0, 0.008), (128.0, 0.002)],
        seq1: 0.0,
        seq32: 0.001,
        aligned: 1.0,
        theta: 0.28,
        footprint_mib: 10_880,
        ..NO_SIDE
    },
    ..FIN
};

/// TPC-C: 8 KiB, random, little burst.
pub(super) const TPC: CloneParams<'static> = CloneParams {
    kappa: 0.12,
    gap_cv: 1.07,
    bias: 0.56,
    levels: 12,
    leaf_log2: 4,
    extent_kib: 64,
    read: Side {
        sizes: &[(8.0, 0.998), (60.0, 0.002)],
        aligned: 0.127,
        footprint_mib: 3136,
        ..NO_SIDE
    },
    write: Side {
        sizes: &[(4.0, 0.01), (8.0, 0.91), (16.0, 0.04), (31.0, 0.02)],
        seq1: 0.02,
        seq32: 0.02,
        aligned: 0.127,
        footprint_mib: 1984,
        ..NO_SIDE
    },
    ..FIN
};

/// DTRS: interleaved sequential streams of 4 and 64 KiB.
pub(super) const DTRS: CloneParams<'static> = CloneParams {
    kappa: 0.50,
    gap_cv: 2.17,
    bias: 0.588,
    levels: 12,
    leaf_log2: 2,
    extent_kib: 1024,
    read: Side {
        sizes: &[(4.0, 0.07), (8.0, 0.03), (32.0, 0.05), (60.0, 0.04), (64.0, 0.78)],
        seq1: 0.21,
        seq32: 0.87,
        aligned: 0.974,
        theta: 0.02,
        footprint_mib: 16_384,
        ..NO_SIDE
    },
    write: Side {
        sizes: &[(4.0, 0.14), (8.0, 0.03), (32.0, 0.02), (64.0, 0.81)],
        seq1: 0.12,
        seq32: 0.64,
        aligned: 0.974,
        theta: 0.33,
        footprint_mib: 16_384,
        ..NO_SIDE
    },
    ..FIN
};

/// Sizes of the MSR Cambridge pieces.
pub(super) const MSR_SIZES: &[(f64, f64)] =
    &[(0.5, 0.12), (4.0, 0.52), (8.0, 0.13), (16.0, 0.08), (32.0, 0.08), (64.0, 0.07)];
/// Sizes of the MSR Cambridge pieces, for means that need requests above 64 KiB.
pub(super) const MSR_LARGE: &[(f64, f64)] = &[
    (4.0, 0.52),
    (8.0, 0.13),
    (16.0, 0.08),
    (32.0, 0.08),
    (64.0, 0.12),
    (128.0, 0.05),
    (256.0, 0.02),
];

/// MSR Cambridge, mostly writes: microseconds inside bursts, seconds between them, a small hot set.
pub(super) const MSR_WRITE: CloneParams<'static> = CloneParams {
    kappa: 0.70,
    gap_cv: 4.0,
    batch: 0.68,
    bias: 0.75,
    levels: 6,
    // The busiest second has 30 times the mean rate, so the bursts are long.
    leaf_log2: 8,
    extent_kib: 64,
    read: Side {
        sizes: MSR_SIZES,
        seq1: 0.005,
        seq32: 0.011,
        aligned: 0.57,
        theta: 0.57,
        footprint_mib: 416,
        ..NO_SIDE
    },
    write: Side {
        sizes: MSR_SIZES,
        seq1: 0.03,
        seq32: 0.28,
        aligned: 0.57,
        theta: 1.15,
        footprint_mib: 1453,
        ..NO_SIDE
    },
    ..FIN
};

/// MSR Cambridge, reads and writes.
pub(super) const MSR_MIXED: CloneParams<'static> = CloneParams {
    kappa: 0.67,
    read: Side {
        sizes: MSR_SIZES,
        seq1: 0.03,
        seq32: 0.12,
        aligned: 0.55,
        theta: 0.56,
        footprint_mib: 1210,
        ..NO_SIDE
    },
    write: Side {
        sizes: MSR_SIZES,
        seq1: 0.12,
        seq32: 0.34,
        aligned: 0.55,
        theta: 0.78,
        footprint_mib: 1075,
        ..NO_SIDE
    },
    ..MSR_WRITE
};

/// MSR timing with the locality of DTRS, for the source-control volumes.
pub(super) const SRC: CloneParams<'static> =
    CloneParams { extent_kib: 1024, read: DTRS.read, write: DTRS.write, ..MSR_MIXED };
