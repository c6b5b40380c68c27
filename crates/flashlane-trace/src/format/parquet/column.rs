//! Reads a column of a row group. The library finds, unpacks and describes the pages. Their content
//! is decoded here, because the decoders of the library panic on damaged pages.

use bytes::Bytes;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::errors::Result;
use parquet::file::reader::RowGroupReader;

use super::encoding::{Differences, Input, Runs, refused};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Missing,
    Integer(i64),
    Float(f64),
    Text(Bytes),
}

/// Reads a column from page to page.
pub(super) struct ColumnReader {
    pages: Box<dyn PageReader>,
    kind: Type,
    is_unsigned: bool,
    /// Definition level of a value that is not missing.
    there: u32,
    dictionary: Vec<Cell>,
    page: Option<DataPage>,
}

/// A page of values.
struct DataPage {
    /// Number of values that follow, missing values included.
    left: u32,
    /// Definition levels of the values; `None` if no value is missing.
    levels: Option<Runs>,
    values: Values,
}

enum Values {
    Plain(Input),
    Dictionary(Runs),
    Differences(Differences),
}

impl DataPage {
    /// The next value of a column of this type. `there`: the definition level of a value that is
    /// not missing.
    fn next(
        &mut self,
        (kind, is_unsigned): (Type, bool),
        there: u32,
        dictionary: &[Cell],
    ) -> Result<Cell> {
        self.left -= 1;
        if let Some(levels) = &mut self.levels
            && levels.next()? != there
        {
            return Ok(Cell::Missing);
        }
        match &mut self.values {
            Values::Plain(input) => plain(kind, is_unsigned, input),
            Values::Differences(numbers) => Ok(integer(kind, is_unsigned, numbers.next()?)),
            Values::Dictionary(places) => match dictionary.get(places.next()? as usize) {
                Some(cell) => Ok(cell.clone()),
                None => refused("a value that its dictionary lacks"),
            },
        }
    }
}

impl ColumnReader {
    pub(super) fn new(
        group: &dyn RowGroupReader,
        index: usize,
        is_unsigned: bool,
        there: i16,
    ) -> Result<Self> {
        let chunk = group.metadata().column(index);
        // The library panics on negative offsets and sizes.
        let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        if start < 0 || chunk.compressed_size() < 0 {
            return refused("a column of negative place or size");
        }
        let pages = group.get_column_page_reader(index)?;
        let kind = chunk.column_type();
        let there = u32::from(there.unsigned_abs());
        Ok(Self { pages, kind, is_unsigned, there, dictionary: Vec::new(), page: None })
    }

    /// Decodes `count` values.
    pub(super) fn fill(&mut self, count: usize, cells: &mut Vec<Cell>) -> Result<()> {
        while cells.len() < count {
            match &mut self.page {
                Some(page) if page.left > 0 => {
                    let of = (self.kind, self.is_unsigned);
                    cells.push(page.next(of, self.there, &self.dictionary)?);
                }
                _ => self.page = Some(self.next_page()?),
            }
        }
        Ok(())
    }

    /// The next page of values.
    fn next_page(&mut self) -> Result<DataPage> {
        loop {
            let Some(page) = self.pages.get_next_page()? else {
                return refused("a column that ends early");
            };
            let left = page.num_values();
            match page {
                Page::DictionaryPage { buf, .. } => self.read_dictionary(buf, left)?,
                Page::DataPage { buf, encoding, def_level_encoding, .. } => {
                    let mut input = Input::new(buf);
                    let mut levels = None;
                    if self.there > 0 {
                        if def_level_encoding != Encoding::RLE {
                            return refused(format!("levels encoded as {def_level_encoding}"));
                        }
                        let length = u32::from_le_bytes(input.array()?);
                        levels = Some(self.levels(input.take(length as usize)?)?);
                    }
                    return Ok(DataPage { left, levels, values: self.values(encoding, input)? });
                }
                Page::DataPageV2 {
                    buf,
                    encoding,
                    def_levels_byte_len,
                    rep_levels_byte_len,
                    ..
                } => {
                    let mut input = Input::new(buf);
                    input.take(rep_levels_byte_len as usize)?;
                    let bytes = input.take(def_levels_byte_len as usize)?;
                    let levels = (self.there > 0).then(|| self.levels(bytes)).transpose()?;
                    return Ok(DataPage { left, levels, values: self.values(encoding, input)? });
                }
            }
        }
    }

    fn levels(&self, bytes: Bytes) -> Result<Runs> {
        Runs::new(bytes, u32::BITS - self.there.leading_zeros())
    }

    fn values(&self, encoding: Encoding, mut input: Input) -> Result<Values> {
        match encoding {
            Encoding::PLAIN => Ok(Values::Plain(input)),
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                // A page of missing values may end here.
                let [width] = if input.is_over() { [0] } else { input.array()? };
                Ok(Values::Dictionary(Runs::new(input.rest(), width.into())?))
            }
            Encoding::DELTA_BINARY_PACKED if matches!(self.kind, Type::INT32 | Type::INT64) => {
                Ok(Values::Differences(Differences::new(input.rest())?))
            }
            other => refused(format!(
                "values encoded as {other}; plain ones, dictionaries, and differences of integers are read"
            )),
        }
    }

    fn read_dictionary(&mut self, buf: Bytes, count: u32) -> Result<()> {
        let mut input = Input::new(buf);
        self.dictionary.clear();
        for _ in 0..count {
            self.dictionary.push(plain(self.kind, self.is_unsigned, &mut input)?);
        }
        Ok(())
    }
}

/// Reads a value of the plain encoding.
fn plain(kind: Type, is_unsigned: bool, input: &mut Input) -> Result<Cell> {
    Ok(match kind {
        Type::INT32 => integer(kind, is_unsigned, i32::from_le_bytes(input.array()?).into()),
        Type::INT64 => Cell::Integer(i64::from_le_bytes(input.array()?)),
        Type::FLOAT => Cell::Float(f32::from_le_bytes(input.array()?).into()),
        Type::DOUBLE => Cell::Float(f64::from_le_bytes(input.array()?)),
        Type::BYTE_ARRAY => {
            let length = u32::from_le_bytes(input.array()?);
            Cell::Text(input.take(length as usize)?)
        }
        _ => return refused("a column that is neither number nor text"),
    })
}

/// An integer of the width of its column.
fn integer(kind: Type, is_unsigned: bool, number: i64) -> Cell {
    Cell::Integer(match (kind, is_unsigned) {
        (Type::INT32, true) => i64::from(number as u32),
        (Type::INT32, false) => i64::from(number as i32),
        _ => number,
    })
}
