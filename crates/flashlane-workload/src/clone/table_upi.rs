//! The clones of UPI's Table 2: published counts, mean sizes and peaks, measured or borrowed
//! shapes.
//!
//! Source: the table with the workload characteristics of UPI's tenants, 24 hours of three
//! Microsoft production servers:
//!
//! | | DAS-AS | DTRS | LM-TBE |
//! |---|---|---|---|
//! | writes, million | 0.1 | 5.8 | 9.2 |
//! | reads, million | 1.3 | 12.0 | 34.7 |
//! | mean write, KB | 7.2 | 31.9 | 61.9 |
//! | mean read, KB | 31.5 | 21.8 | 53.2 |
//! | peak writes per second | 53.2 | 408.8 | 589.1 |
//! | peak reads per second | 89.9 | 745.3 | 4173.8 |
//!
//! Mean gaps follow from the counts over 24 hours, split between the types as in the piece whose
//! shape is taken. Days: the peak is the published one, over windows of one minute (the paper names
//! no window; 300 s of DTRS have busier seconds than its peaks, so that it is longer than a
//! second). A peak is short: it rises and falls within some minutes, for the paper gives it as one
//! number and says nothing of hours at that rate. Hours of the peaks and the rest of the day are
//! assumptions, but that the writes of LM-TBE rise from hour 17 on, as in UPI's section 4.2.
//!
//! Section 4.1 folds addresses into 50 GB a tenant. LM-TBE and DTRS move ten and four times that in
//! a day. DAS-AS reads 41 GB. The paper does not say how much of its 50 GB these reads touch: the
//! footprint of the clone is 10 GiB, an assumption. What a tenant holds is the workload's
//! `occupancy`.

use super::params::{CloneParams, Side};
use super::shapes::{DTRS, MSN};

/// Display advertisement server: mostly reads, few requests. No request is larger than 64 KiB. The
/// larger sizes of msnfs are not among the published facts, and would dominate its tail on a few
/// chips.
pub(super) const DAS_AS: CloneParams<'static> = CloneParams {
    name: "das-as",
    summary: "synthetic, UPI Table 2 DAS-AS; shape borrowed from msnfs, sizes to 64 KiB, day assumed",
    read_ratio: 0.9286,
    // Bursts as long in time as those of msnfs, at a 65th of its rate.
    levels: 7,
    overlap: 1.0,
    read: placed(MSN.read, 9_216)
        .sized(&[(8.0, 0.83), (16.0, 0.02), (32.0, 0.01), (56.0, 0.01), (64.0, 0.11)])
        .with(31.5, 64.99)
        .daily(&[
            (0.0, 0.81),
            (3.0, 0.50),
            (6.0, 0.50),
            (9.0, 1.00),
            (13.0, 1.20),
            (18.0, 1.31),
            (20.0, 1.31),
            (20.1, 5.68),
            (20.15, 5.68),
            (20.25, 1.27),
            (23.0, 1.00),
        ]),
    write: placed(MSN.write, 1_024)
        .sized(&[(4.0, 0.35), (8.0, 0.60), (16.0, 0.04), (64.0, 0.01)])
        .with(7.2, 19.126)
        .daily(&[
            (0.0, 0.45),
            (2.85, 0.29),
            (3.0, 43.67),
            (3.1, 43.67),
            (3.25, 0.28),
            (6.0, 0.28),
            (9.0, 0.56),
            (13.0, 0.67),
            (18.0, 0.73),
            (21.0, 0.73),
            (23.0, 0.56),
        ]),
    ..MSN
};

/// Release server of developer tools.
pub(super) const DTRS_DAY: CloneParams<'static> = CloneParams {
    name: "dtrs",
    summary: "synthetic, UPI Table 2 DTRS; shape of 300 s of it, day assumed",
    read_ratio: 0.6742,
    read: DTRS.read.with(21.8, 5.703).daily(&[
        (0.0, 0.48),
        (4.0, 0.35),
        (7.0, 0.72),
        (10.0, 1.55),
        (13.0, 1.67),
        (14.4, 1.64),
        (14.5, 5.10),
        (14.55, 5.10),
        (14.65, 1.56),
        (16.0, 1.55),
        (19.0, 0.95),
        (22.0, 0.60),
    ]),
    write: DTRS.write.with(31.9, 3.097).daily(&[
        (0.0, 0.47),
        (2.0, 0.43),
        (2.1, 5.79),
        (2.15, 5.79),
        (2.25, 0.38),
        (4.0, 0.35),
        (7.0, 0.70),
        (10.0, 1.53),
        (13.0, 1.65),
        (16.0, 1.53),
        (19.0, 0.95),
        (22.0, 0.59),
    ]),
    ..DTRS
};

/// Streams of reads and streams of writes, each of some thousand requests, over the whole space:
/// UPI says that LM-TBE "sequentially accesses the device". Their length is an assumption.
const fn sequential(side: Side<'static>) -> Side<'static> {
    Side { seq1: 0.0, seq32: 0.999, ..placed(side, 25_600) }
}

/// This side with a set of extents of another size.
const fn placed(side: Side<'static>, footprint_mib: u32) -> Side<'static> {
    Side { footprint_mib, ..side }
}

/// Map tiles: sequential, intense.
pub(super) const LM_TBE: CloneParams<'static> = CloneParams {
    name: "lm-tbe",
    summary: "synthetic, UPI Table 2 LM-TBE; shape borrowed from DTRS but streams, day assumed",
    read_ratio: 0.7904,
    // Reads and writes come from separate streams, in any order.
    kappa: 0.0,
    read: sequential(DTRS.read).with(53.2, 2.177).daily(&[
        (0.0, 0.77),
        (3.0, 0.48),
        (6.0, 0.48),
        (9.0, 0.97),
        (10.9, 1.04),
        (11.0, 9.87),
        (11.05, 9.87),
        (11.15, 1.11),
        (13.0, 1.16),
        (18.0, 1.25),
        (21.0, 1.25),
        (23.0, 0.97),
    ]),
    write: sequential(DTRS.write).with(61.9, 1.182).daily(&[
        (0.0, 0.78),
        (3.0, 0.48),
        (6.0, 0.48),
        (9.0, 0.98),
        (13.0, 1.17),
        (17.0, 1.25),
        (17.25, 5.26),
        (17.3, 5.26),
        (17.55, 1.26),
        (21.0, 1.26),
        (23.0, 0.98),
    ]),
    ..DTRS
};
