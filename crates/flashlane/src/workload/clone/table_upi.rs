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
//! second). Hours of the peaks and the rest of the day are assumptions, but that the writes of
//! LM-TBE rise from hour 17 on, as in UPI's section 4.2. The paper's addresses were folded into 50
//! GB; footprints are those of the shapes.

use super::params::{CloneParams, Side};
use super::shapes::{DTRS, MSN};

/// Display advertisement server: mostly reads, few.
pub(super) const DAS_AS: CloneParams<'static> = CloneParams {
    name: "das-as",
    summary: "synthetic, UPI Table 2 DAS-AS; shape borrowed from msnfs, day assumed",
    read_ratio: 0.9286,
    // Bursts as long in time as those of msnfs, at a 65th of its rate.
    levels: 7,
    read: MSN.read.with(31.5, 64.99).daily(&[
        (0.0, 0.63),
        (3.0, 0.39),
        (6.0, 0.39),
        (9.0, 0.78),
        (13.0, 0.94),
        (18.0, 1.02),
        (19.25, 1.02),
        (20.0, 5.56),
        (20.5, 5.56),
        (21.25, 0.99),
        (23.0, 0.78),
    ]),
    write: MSN
        .write
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
        (0.0, 0.39),
        (4.0, 0.29),
        (7.0, 0.59),
        (10.0, 1.27),
        (13.0, 1.37),
        (13.75, 1.34),
        (14.5, 5.10),
        (15.0, 5.10),
        (15.75, 1.28),
        (16.0, 1.27),
        (19.0, 0.78),
        (22.0, 0.49),
    ]),
    write: DTRS.write.with(31.9, 3.097).daily(&[
        (0.0, 0.35),
        (1.25, 0.32),
        (2.0, 5.79),
        (2.5, 5.79),
        (3.25, 0.28),
        (4.0, 0.26),
        (7.0, 0.52),
        (10.0, 1.13),
        (13.0, 1.22),
        (16.0, 1.13),
        (19.0, 0.70),
        (22.0, 0.44),
    ]),
    ..DTRS
};

/// Longer runs than those of DTRS: UPI says that LM-TBE "sequentially accesses the device". How
/// long is an assumption.
const fn sequential(side: Side<'static>) -> Side<'static> {
    Side { seq1: 0.50, seq32: 0.95, ..side }
}

/// Map tiles: sequential, intense.
pub(super) const LM_TBE: CloneParams<'static> = CloneParams {
    name: "lm-tbe",
    summary: "synthetic, UPI Table 2 LM-TBE; shape borrowed from DTRS with longer runs, day assumed",
    read_ratio: 0.7904,
    read: sequential(DTRS.read).with(53.2, 2.177).daily(&[
        (0.0, 0.58),
        (3.0, 0.36),
        (6.0, 0.36),
        (9.0, 0.73),
        (10.5, 0.78),
        (11.0, 10.08),
        (11.25, 10.08),
        (11.75, 0.83),
        (13.0, 0.87),
        (18.0, 0.94),
        (21.0, 0.94),
        (23.0, 0.73),
    ]),
    write: sequential(DTRS.write).with(61.9, 1.182).daily(&[
        (0.0, 0.60),
        (3.0, 0.37),
        (6.0, 0.37),
        (9.0, 0.75),
        (13.0, 0.90),
        (17.0, 0.96),
        (18.0, 5.26),
        (18.5, 5.26),
        (19.5, 0.97),
        (21.0, 0.97),
        (23.0, 0.75),
    ]),
    ..DTRS
};
