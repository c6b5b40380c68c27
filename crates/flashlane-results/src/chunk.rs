//! A column in a group of rows, in the form of a Parquet file.

use std::io::Write;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use crate::encode::{self, Dictionary};

/// A page of rows, perhaps after a page with the dictionary. It is not compressed, because that
/// would gain nothing.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    rows: usize,
    page: Vec<u8>,
    encoding: Encoding,
    /// Plain values, and their number.
    dictionary: Option<(Vec<u8>, usize)>,
}

impl Chunk {
    /// Whole numbers below 2^63, as a dictionary or as differences. `dictionary`: working memory.
    pub(crate) fn integers(column: &[u64], dictionary: &mut Dictionary) -> Self {
        let rows = column.len();
        if dictionary.fill(column) {
            let values = &dictionary.values;
            let page = encode::places(&dictionary.places, values.len());
            let dictionary = Some((encode::plain(values), values.len()));
            return Self { rows, page, encoding: Encoding::RLE_DICTIONARY, dictionary };
        }
        let page = encode::differences(column);
        Self { rows, page, encoding: Encoding::DELTA_BINARY_PACKED, dictionary: None }
    }

    /// Names by their indices in a list.
    pub(crate) fn names<'a>(places: &[u16], names: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let (rows, count) = (places.len(), names.len());
        let page = encode::places(places, count);
        let dictionary = Some((encode::texts(names), count));
        Self { rows, page, encoding: Encoding::RLE_DICTIONARY, dictionary }
    }

    /// True or false.
    pub(crate) fn flags(column: &[bool]) -> Self {
        let page = encode::bits(column);
        Self { rows: column.len(), page, encoding: Encoding::PLAIN, dictionary: None }
    }

    /// Adds the column to a group of rows, as the next one.
    pub(crate) fn append_to<W: Write + Send>(
        self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        about: ColumnDescPtr,
    ) -> Result<(), ParquetError> {
        let mut out = TrackedWrite::new(Vec::with_capacity(self.page.len() + 1024));
        let mut pages = SerializedPageWriter::new(&mut out);
        let mut encodings = vec![self.encoding, Encoding::RLE];
        let mut put = |page: Page| {
            let size = page.buffer().len();
            Ok::<_, ParquetError>(pages.write_page(CompressedPage::new(page, size))?.offset as i64)
        };
        let mut dictionary_at = None;
        if let Some((values, count)) = self.dictionary {
            encodings.push(Encoding::PLAIN);
            dictionary_at = Some(put(Page::DictionaryPage {
                buf: values.into(),
                num_values: count as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            })?);
        }
        let page_at = put(Page::DataPage {
            buf: self.page.into(),
            num_values: self.rows as u32,
            encoding: self.encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        })?;
        let bytes = Bytes::from(out.into_inner()?);
        let size = bytes.len() as i64;
        let metadata = ColumnChunkMetaData::builder(about)
            .set_compression(Compression::UNCOMPRESSED)
            .set_encodings(encodings)
            .set_num_values(self.rows as i64)
            .set_total_compressed_size(size)
            .set_total_uncompressed_size(size)
            .set_dictionary_page_offset(dictionary_at)
            .set_data_page_offset(page_at)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: size as u64,
            rows_written: self.rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        group.append_column(&bytes, close)
    }
}
