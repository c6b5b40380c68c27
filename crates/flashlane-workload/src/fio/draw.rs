//! fio's random numbers: L'Ecuyer's Tausworthe generator of 2^88 numbers, and the seeds of its
//! streams.
//!
//! Source: P. L'Ecuyer, Maximally equidistributed combined Tausworthe generators, Mathematics of
//! Computation 65(213), 1996. The seeds were found from the numbers that fio 3.33 prints
//! (`--debug=random`) and from the sequences that it issues.

/// Multiplier of the congruential generator that fills the state.
const FILL: u32 = 69_069;
/// Start of that generator.
const BEGIN: u32 = 53;
/// Numbers that are discarded at the start.
const WARM_UP: usize = 6;
/// Multiplier between the seeds of two streams.
const STREAM: u64 = 0x9E37_0001;
/// Seed of the addresses of a job whose draws repeat.
const ADDRESSES: u64 = 0xB189_9BED;

/// Purpose of a number. The value is the number of its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    ReadSize = 0,
    WriteSize = 1,
    TrimSize = 2,
    Mix = 4,
    File = 5,
    Address = 6,
    IsRandom = 10,
    ReadGap = 15,
    Zone = 16,
    WriteGap = 17,
    TrimGap = 18,
    /// Not compared with fio, whose version 3.33 places nothing.
    Placement = 21,
}

/// The generator.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    state: [u32; 3],
}

impl Draw {
    /// The generator with a given seed.
    pub(super) fn new(seed: u32) -> Self {
        let fill = |before: u32, least: u32| {
            let value = before.wrapping_mul(FILL) ^ seed;
            if value < least { value + least } else { value }
        };
        let first = fill(BEGIN, 1);
        let second = fill(first, 7);
        let mut draw = Self { state: [first, second, fill(second, 15)] };
        (0..WARM_UP).for_each(|_| {
            draw.next();
        });
        draw
    }

    /// A stream of a job. `repeat`: the seed of addresses does not depend on any key.
    pub(super) fn stream(seed: u64, job: u32, repeat: bool, stream: Stream) -> Self {
        let job = u64::from(job);
        if repeat && stream == Stream::Address {
            return Self::new(ADDRESSES.wrapping_mul(job) as u32);
        }
        let number = stream as u32;
        let scaled = (0..4 + number).fold(seed, |seed, _| seed.wrapping_mul(STREAM));
        Self::new(scaled.wrapping_mul(job).wrapping_add(u64::from(number)) as u32)
    }

    /// The next number.
    pub(super) fn next(&mut self) -> u32 {
        let [a, b, c] = &mut self.state;
        *a = ((*a & !1) << 12) ^ (((*a << 13) ^ *a) >> 19);
        *b = ((*b & !7) << 4) ^ (((*b << 2) ^ *b) >> 25);
        *c = ((*c & !15) << 17) ^ (((*c << 3) ^ *c) >> 11);
        *a ^ *b ^ *c
    }

    /// A number below `count`.
    pub(super) fn below(&mut self, count: u64) -> u64 {
        ((u128::from(count) * u128::from(self.next())) >> 32) as u64
    }

    /// A number from 1 to 100.
    pub(super) fn percent(&mut self) -> u32 {
        1 + self.below(100) as u32
    }

    /// A number from an exponential distribution with mean 1.
    pub(super) fn exponential(&mut self) -> f64 {
        -libm::log((f64::from(self.next()) + 0.5) / 4_294_967_296.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_that_fio_prints() {
        // `fio --name=a --ioengine=null --rw=randread --size=64k --debug=random`, fio 3.33.
        let mut draw = Draw::stream(137, 1, true, Stream::Address);
        assert_eq!(
            [draw.next(), draw.next(), draw.next()],
            [259_043_585, 3_179_521_932, 3_621_444_214]
        );
        let mut second = Draw::stream(137, 2, true, Stream::Address);
        assert_eq!(second.next(), 1_094_293_889);
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut draw = Draw::stream(5, 1, false, Stream::Mix);
        for count in [1, 2, 100, 1 << 40] {
            assert!((0..1000).all(|_| draw.below(count) < count));
        }
        assert!((0..1000).all(|_| (1..=100).contains(&draw.percent())));
        let mean = (0..20_000).map(|_| draw.exponential()).sum::<f64>() / 20_000.0;
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
    }
}
