//! Where the bytes of a file come from.

use crate::error::{Error, Result};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// A file, or the path of one that is opened each time that it is read.
#[derive(Debug)]
pub enum Origin {
    /// A file that is open.
    File(File),
    /// Several thousand files cannot be open at once.
    Path(PathBuf),
}

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTANDARD: &[u8] = b"\x28\xb5\x2f\xfd";

impl Origin {
    /// The file at its beginning.
    pub(crate) fn file(&self) -> Result<File> {
        let opened = match self {
            Self::File(file) => file.try_clone(),
            Self::Path(path) => File::open(path),
        };
        let rewound = opened.and_then(|mut file| file.rewind().map(|()| file));
        rewound.map_err(|error| Error::system(&error))
    }

    /// Its text from a byte on. What is compressed with gzip or Zstandard is decompressed: their
    /// first bytes begin no text.
    pub(crate) fn text(&self, from: u64) -> Result<Box<dyn Read + Send>> {
        let mut file = self.file()?;
        let text = move || -> io::Result<Box<dyn Read + Send>> {
            let mut start = Vec::new();
            (&file)
                .take(ZSTANDARD.len() as u64)
                .read_to_end(&mut start)?;
            let packed = start.starts_with(GZIP) || start == ZSTANDARD;
            file.seek(SeekFrom::Start(if packed { 0 } else { from }))?;
            if !packed {
                return Ok(Box::new(file));
            }
            let buffered = BufReader::with_capacity(1 << 16, file);
            let mut text: Box<dyn Read + Send> = match start.starts_with(GZIP) {
                true => Box::new(MultiGzDecoder::new(buffered)),
                false => Box::new(zstd::Decoder::with_buffer(buffered)?),
            };
            io::copy(&mut text.by_ref().take(from), &mut io::sink())?;
            Ok(text)
        };
        text().map_err(|error| Error::system(&error))
    }
}
