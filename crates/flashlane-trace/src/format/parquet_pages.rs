//! Columns of a Parquet file, checked before they are decoded: the library panics on what it does not expect.

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::RowGroupReader;

/// Reads a column of a row group.
pub(super) fn column_reader(group: &dyn RowGroupReader, index: usize) -> Result<ColumnReader> {
    let chunk = group.metadata().column(index);
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    if start < 0 || chunk.compressed_size() < 0 {
        return Err(ParquetError::General("a column of negative place or size".to_owned()));
    }
    let pages = Checked::new(group.get_column_page_reader(index)?);
    Ok(get_column_reader(chunk.column_descr_ptr(), Box::new(pages)))
}

/// Pages of a column that refer to nothing that is not there.
struct Checked {
    pages: Box<dyn PageReader>,
    /// There was a dictionary.
    dictionary: bool,
}

impl Checked {
    fn new(pages: Box<dyn PageReader>) -> Self {
        Self { pages, dictionary: false }
    }

    fn check(&mut self, page: &Page) -> Result<()> {
        let refused = |message: &str| Err(ParquetError::General(message.to_owned()));
        match page {
            // The library makes room for the values that are announced.
            Page::DictionaryPage { buf, num_values, .. } if *num_values as usize > buf.len() => {
                return refused("a dictionary of more values than bytes");
            }
            Page::DictionaryPage { .. } => self.dictionary = true,
            Page::DataPage { .. } => {}
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                if levels > buf.len() as u64 {
                    return refused("a page that is shorter than its levels");
                }
            }
        }
        let refers =
            matches!(page.encoding(), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
        if refers && !self.dictionary {
            return refused("a page that refers to a dictionary that is not there");
        }
        Ok(())
    }
}

impl Iterator for Checked {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.as_ref().map_or(Ok(()), |page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

#[cfg(test)]
mod tests {
    use std::vec::IntoIter;

    use super::*;

    struct Pages(IntoIter<Page>);

    impl Iterator for Pages {
        type Item = Result<Page>;

        fn next(&mut self) -> Option<Self::Item> {
            self.0.next().map(Ok)
        }
    }

    impl PageReader for Pages {
        fn get_next_page(&mut self) -> Result<Option<Page>> {
            Ok(self.0.next())
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
            unreachable!("nothing looks ahead")
        }

        fn skip_next_page(&mut self) -> Result<()> {
            unreachable!("nothing is skipped")
        }
    }

    fn dictionary(num_values: u32) -> Page {
        let buf = vec![0; 8].into();
        Page::DictionaryPage { buf, num_values, encoding: Encoding::PLAIN, is_sorted: false }
    }

    fn data(encoding: Encoding, levels: u32) -> Page {
        Page::DataPageV2 {
            buf: vec![0; 8].into(),
            num_values: 1,
            encoding,
            num_nulls: 0,
            num_rows: 1,
            def_levels_byte_len: levels,
            rep_levels_byte_len: u32::MAX * u32::from(levels > 8),
            is_compressed: false,
            statistics: None,
        }
    }

    /// What is said of the pages, up to the first that is refused.
    fn said(pages: Vec<Page>) -> Option<String> {
        let pages = Checked::new(Box::new(Pages(pages.into_iter())));
        pages.into_iter().find_map(Result::err).map(|error| error.to_string())
    }

    #[test]
    fn a_dictionary_comes_before_what_refers_to_it() {
        assert_eq!(said(vec![dictionary(1), data(Encoding::RLE_DICTIONARY, 0)]), None);
        assert_eq!(said(vec![data(Encoding::PLAIN, 8)]), None);
        let message = said(vec![data(Encoding::RLE_DICTIONARY, 0), dictionary(1)]);
        assert!(message.is_some_and(|text| text.contains("dictionary that is not there")));
    }

    #[test]
    fn a_dictionary_has_what_it_announces() {
        let message = said(vec![dictionary(u32::MAX)]);
        assert!(message.is_some_and(|text| text.contains("more values than bytes")));
    }

    #[test]
    fn levels_are_inside_their_page() {
        for levels in [9, u32::MAX] {
            let message = said(vec![data(Encoding::PLAIN, levels)]);
            assert!(message.is_some_and(|text| text.contains("shorter than its levels")));
        }
    }
}
