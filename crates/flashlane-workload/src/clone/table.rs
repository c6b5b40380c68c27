//! The clones of FLIN's Table 2: published means, measured or borrowed shapes.
//!
//! Source of read ratios, mean sizes and mean gaps: FLIN (ISCA 2018) Table 2. A row without a
//! measured piece of its own borrows a shape by analogy, as its summary says.

use super::params::{CloneParams, Side};
use super::shapes::{DTRS, FIN, MSN, MSR_LARGE, MSR_MIXED, MSR_WRITE, NO_SIDE, SRC, TPC};
use super::table_upi::{DAS_AS, DTRS_DAY, LM_TBE};

/// The clones of FLIN's Table 2 in its order, then those of UPI's Table 2.
pub(super) const CLONES: &[CloneParams<'static>] = &[
    CloneParams {
        name: "dev",
        summary: "synthetic, Table 2 dev; shape borrowed from DTRS",
        read_ratio: 0.68,
        read: DTRS.read.with(21.4, 4.1),
        write: DTRS.write.with(31.5, 6.1),
        ..DTRS
    },
    CloneParams {
        name: "exch",
        summary: "synthetic, Table 2 exch; shape borrowed from msnfs",
        read_ratio: 0.66,
        levels: 12,
        read: MSN.read.with(9.7, 1.0),
        write: MSN.write.with(14.8, 1.3),
        ..MSN
    },
    CloneParams {
        name: "fin1",
        summary: "synthetic, Table 2 fin1; shape of its first 10,000 requests",
        read_ratio: 0.23,
        idc_1s: Some(21.6),
        read: FIN.read.with(2.3, 14.3),
        write: FIN.write.with(3.7, 6.4),
        ..FIN
    },
    CloneParams {
        name: "fin2",
        summary: "synthetic, Table 2 fin2; shape borrowed from fin1",
        read_ratio: 0.82,
        read: FIN.read.with(2.3, 11.1),
        write: FIN.write.with(2.9, 10.8),
        ..FIN
    },
    CloneParams {
        name: "msncfs",
        summary: "synthetic, Table 2 msncfs; shape borrowed from msnfs",
        read_ratio: 0.74,
        levels: 10,
        read: MSN.read.with(8.7, 6.2),
        write: MSN.write.with(12.6, 1.0),
        ..MSN
    },
    CloneParams {
        name: "msnfs",
        summary: "synthetic, Table 2 msnfs; shape of 143 s of one of its disks",
        read_ratio: 0.67,
        idc_1s: Some(754.0),
        read: MSN.read.with(10.7, 0.9),
        write: MSN.write.with(11.2, 0.4),
        ..MSN
    },
    CloneParams {
        name: "prn-0",
        summary: "synthetic, Table 2 prn-0; shape borrowed from an MSR cut",
        read_ratio: 0.11,
        read: MSR_WRITE.read.with(22.8, 34.2),
        write: MSR_WRITE.write.with(9.7, 117.2),
        ..MSR_WRITE
    },
    CloneParams {
        name: "prn-1",
        summary: "synthetic, Table 2 prn-1; shape borrowed from an MSR cut",
        read_ratio: 0.75,
        levels: 4,
        read: MSR_MIXED.read.with(22.5, 30.0),
        write: MSR_MIXED.write.with(11.7, 126.7),
        ..MSR_MIXED
    },
    CloneParams {
        name: "prxy-0",
        summary: "synthetic, Table 2 prxy-0; shape borrowed from an MSR cut",
        read_ratio: 0.03,
        read: MSR_WRITE.read.with(8.3, 9.1),
        write: MSR_WRITE.write.with(4.6, 49.4),
        ..MSR_WRITE
    },
    CloneParams {
        name: "prxy-1",
        summary: "synthetic, Table 2 prxy-1; shape borrowed from an MSR cut",
        read_ratio: 0.65,
        read: MSR_MIXED.read.with(24.6, 3.7),
        write: MSR_MIXED.write.with(26.1, 3.4),
        ..MSR_MIXED
    },
    CloneParams {
        name: "rad-be",
        summary: "synthetic, Table 2 rad-be; space borrowed from DTRS, time between DTRS and MSR",
        read_ratio: 0.18,
        kappa: 0.70,
        gap_cv: 3.0,
        bias: 0.65,
        levels: 11,
        leaf_log2: 0,
        read: DTRS.read.sized(MSR_LARGE).with(106.2, 3.6),
        write: DTRS.write.with(11.7, 13.5),
        ..DTRS
    },
    CloneParams {
        name: "rad-ps",
        summary: "synthetic, Table 2 rad-ps; shape borrowed from fin1",
        read_ratio: 0.10,
        levels: 9,
        read: FIN.read.with(10.3, 54.2),
        write: FIN.write.with(8.2, 21.5),
        ..FIN
    },
    CloneParams {
        name: "src1-0",
        summary: "synthetic, Table 2 src1-0; time borrowed from an MSR cut, space from DTRS",
        read_ratio: 0.56,
        read: SRC.read.with(36.2, 11.8),
        write: SRC.write.sized(MSR_LARGE).with(52.0, 21.7),
        ..SRC
    },
    CloneParams {
        name: "src1-1",
        summary: "synthetic, Table 2 src1-1; time borrowed from the busiest MSR cut, space from DTRS",
        read_ratio: 0.95,
        // The means of the types alone give a variation of 3.3; the busiest cut has 7.2.
        gap_cv: 7.23,
        levels: 1,
        read: SRC.read.with(35.8, 3.2),
        write: SRC.write.with(14.7, 213.9),
        ..SRC
    },
    CloneParams {
        name: "src1-2",
        summary: "synthetic, Table 2 src1-2; shape borrowed from an MSR cut",
        read_ratio: 0.25,
        levels: 5,
        read: MSR_WRITE.read.with(19.1, 56.5),
        write: MSR_WRITE.write.with(32.5, 405.6),
        ..MSR_WRITE
    },
    CloneParams {
        name: "stg-0",
        summary: "synthetic, Table 2 stg-0; shape borrowed from an MSR cut",
        read_ratio: 0.15,
        levels: 5,
        read: MSR_WRITE.read.with(24.9, 4.6),
        write: MSR_WRITE.write.with(9.2, 350.3),
        ..MSR_WRITE
    },
    CloneParams {
        name: "stg-1",
        summary: "synthetic, Table 2 stg-1; shape borrowed from an MSR cut",
        read_ratio: 0.64,
        levels: 2,
        read: MSR_MIXED.read.sized(MSR_LARGE).with(59.5, 7.4),
        write: MSR_MIXED.write.with(7.9, 746.2),
        ..MSR_MIXED
    },
    CloneParams {
        name: "tpcc",
        summary: "synthetic, Table 2 tpcc; shape of a cut of 0.136 s",
        read_ratio: 0.65,
        read: TPC.read.with(8.1, 0.1),
        write: TPC.write.with(9.4, 0.1),
        ..TPC
    },
    CloneParams {
        name: "tpce",
        summary: "synthetic, Table 2 tpce; shape borrowed from tpcc",
        read_ratio: 0.92,
        read: TPC.read.with(8.0, 0.1),
        write: TPC.write.with(12.6, 0.1),
        ..TPC
    },
    CloneParams {
        name: "wsrch",
        summary: "synthetic, Table 2 wsrch; shape of its first 60 s",
        read_ratio: 0.99,
        // There are too few writes to measure how types follow each other.
        kappa: 0.0,
        gap_cv: 1.33,
        batch: 0.0,
        bias: 0.545,
        levels: 15,
        leaf_log2: 0,
        idc_1s: Some(17.9),
        overlap: 0.04,
        extent_kib: 64,
        read: Side {
            mean_kib: 15.1,
            gap_ms: 3.0,
            sizes: &[(8.0, 0.60), (16.0, 0.12), (24.0, 0.08), (32.0, 0.20)],
            seq1: 0.10,
            seq32: 0.29,
            aligned: 0.999,
            theta: 0.0,
            footprint_mib: 16_384,
            daily: &[],
        },
        write: Side {
            mean_kib: 8.6,
            gap_ms: 1.2,
            sizes: &[(8.0, 0.95), (16.0, 0.05)],
            aligned: 0.999,
            footprint_mib: 64,
            ..NO_SIDE
        },
    },
    DAS_AS,
    DTRS_DAY,
    LM_TBE,
];
