//! Encodings of the values of a page. Source: Parquet format, "Parquet encoding definitions".

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};

pub(super) fn refused<T>(message: impl Into<String>) -> Result<T> {
    Err(ParquetError::General(message.into()))
}

/// Bytes of a page, read from the front.
pub(super) struct Input {
    bytes: Bytes,
    at: usize,
}

impl Input {
    pub(super) fn new(bytes: Bytes) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<Bytes> {
        let from = self.at;
        if count > self.bytes.len() - from {
            return refused("a page that ends early");
        }
        self.at += count;
        Ok(self.bytes.slice(from..self.at))
    }

    /// The next bytes, as many as the array has.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.bytes[self.at..].first_chunk() {
            Some(found) => {
                self.at += N;
                Ok(*found)
            }
            None => refused("a page that ends early"),
        }
    }

    /// The remaining bytes.
    pub(super) fn rest(self) -> Bytes {
        self.bytes.slice(self.at..)
    }

    /// True if no bytes are left.
    pub(super) fn is_over(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// A number of variable length: seven bits a byte, the lowest first.
    fn varint(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let [byte] = self.array()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        refused("a number without end")
    }

    /// A number of variable length with its sign in the lowest bit.
    fn zigzag(&mut self) -> Result<i64> {
        let number = self.varint()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Steps over a field of `count` numbers of `width` bits. Returns the place of its first bit.
    /// The last bytes of a field at the end of a page may be absent.
    fn field(&mut self, count: u64, width: u32) -> Result<u64> {
        let first = self.at as u64 * 8;
        let Some(bits) = count.checked_mul(u64::from(width)) else {
            return refused("a page that ends early");
        };
        self.at =
            (self.at as u64).saturating_add(bits.div_ceil(8)).min(self.bytes.len() as u64) as usize;
        Ok(first)
    }

    /// The number of `width` bits (at most 64) that starts at bit `first`, the lowest bit first.
    fn bits(&self, first: u64, width: u32) -> Result<u64> {
        let (start, end) = (first / 8, (first + u64::from(width)).div_ceil(8));
        let Some(bytes) = self.bytes.get(start as usize..end as usize) else {
            return refused("a page that ends early");
        };
        let mut number = 0_u128;
        for (byte, shift) in bytes.iter().zip((0..).step_by(8)) {
            number |= u128::from(*byte) << shift;
        }
        Ok((number >> (first % 8) & ((1 << width) - 1)) as u64)
    }
}

/// Small numbers in runs, of one number or packed.
pub(super) struct Runs {
    input: Input,
    /// Bits of a number. Range: 0..=32.
    width: u32,
    /// Number of values left in the current run.
    left: u64,
    run: Run,
}

enum Run {
    Same(u32),
    /// Packed numbers; the next one starts at this bit.
    Packed(u64),
}

impl Runs {
    pub(super) fn new(bytes: Bytes, width: u32) -> Result<Self> {
        if width > u32::BITS {
            return refused(format!("numbers of {width} bits"));
        }
        Ok(Self { input: Input::new(bytes), width, left: 0, run: Run::Same(0) })
    }

    pub(super) fn next(&mut self) -> Result<u32> {
        while self.left == 0 {
            self.open()?;
        }
        self.left -= 1;
        match &mut self.run {
            Run::Same(number) => Ok(*number),
            Run::Packed(bit) => {
                let first = *bit;
                *bit += u64::from(self.width);
                Ok(self.input.bits(first, self.width)? as u32)
            }
        }
    }

    /// The next run.
    fn open(&mut self) -> Result<()> {
        let head = self.input.varint()?;
        if head & 1 == 0 {
            let mut number = [0; 4];
            let bytes = self.input.take(self.width.div_ceil(8) as usize)?;
            number[..bytes.len()].copy_from_slice(&bytes);
            (self.run, self.left) = (Run::Same(u32::from_le_bytes(number)), head >> 1);
        } else {
            let Some(count) = (head >> 1).checked_mul(8) else {
                return refused("a page that ends early");
            };
            (self.run, self.left) = (Run::Packed(self.input.field(count, self.width)?), count);
        }
        Ok(())
    }
}

/// Integers by their differences, in blocks of fields of equal length.
pub(super) struct Differences {
    input: Input,
    /// Numbers of a field, and fields of a block.
    field: u64,
    fields: usize,
    /// Numbers that are left, and the last number.
    left: u64,
    last: i64,
    /// Values of the current block: the least difference, and the widths of the numbers in its
    /// remaining fields, the last field first.
    least: i64,
    widths: Vec<u8>,
    /// Values of the current field: the numbers that are left, their width in bits, and the place
    /// of the next.
    in_field: u64,
    width: u32,
    bit: u64,
    is_first: bool,
}

impl Differences {
    pub(super) fn new(bytes: Bytes) -> Result<Self> {
        let mut input = Input::new(bytes);
        let (block, fields, left) = (input.varint()?, input.varint()?, input.varint()?);
        let last = input.zigzag()?;
        if fields == 0 || block == 0 || !block.is_multiple_of(fields) {
            return refused(format!("blocks of {block} numbers in {fields} parts"));
        }
        Ok(Self {
            input,
            field: block / fields,
            fields: usize::try_from(fields).unwrap_or(usize::MAX),
            left,
            last,
            least: 0,
            widths: Vec::new(),
            in_field: 0,
            width: 0,
            bit: 0,
            is_first: true,
        })
    }

    pub(super) fn next(&mut self) -> Result<i64> {
        if self.left == 0 {
            return refused("a page that ends early");
        }
        self.left -= 1;
        if !std::mem::take(&mut self.is_first) {
            if self.in_field == 0 {
                self.open()?;
            }
            self.in_field -= 1;
            let more = self.input.bits(self.bit, self.width)?;
            self.bit += u64::from(self.width);
            self.last = self.last.wrapping_add(self.least).wrapping_add(more as i64);
        }
        Ok(self.last)
    }

    /// The next field.
    fn open(&mut self) -> Result<()> {
        if self.widths.is_empty() {
            self.least = self.input.zigzag()?;
            self.widths = self.input.take(self.fields)?.to_vec();
            self.widths.reverse();
        }
        self.width = u32::from(self.widths.pop().expect("a block has fields"));
        if self.width > u64::BITS {
            return refused(format!("numbers of {} bits", self.width));
        }
        self.bit = self.input.field(self.field, self.width)?;
        self.in_field = self.field;
        Ok(())
    }
}
