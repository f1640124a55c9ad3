//! The work itself: chunks into lists, lists into blocks, blocks into the output.

use super::chunk::{Chunk, Source, Unread};
use super::lists::{Blocks, Lists};
use super::pieces::{Piece, Pieces};
use super::recipe::GoingOn;
use super::updates::Updates;
use crate::failure::{Failure, Result};
use crate::outputs::{Outputs, Written};
use crate::progress::Bytes;
use crate::read::Series;
use crate::write::Growing;
use std::path::PathBuf;
use strew::{DType, DynTensor};

/// The lists' share of memory is this part of the limit while they are written.
const LISTS: u64 = 8;
/// A list that is larger than this part of the limit is not read into memory at once.
const LIST: u64 = 4;

/// A call that is done piece by piece.
pub(super) struct Job<'m> {
    pub(super) pieces: Pieces<'m>,
    pub(super) source: Source,
    /// What the result begins with.
    pub(super) target: Option<Series>,
    /// The result's name and element type.
    pub(super) name: &'static str,
    pub(super) made: DType,
    /// Whether positions are written too.
    pub(super) arg: bool,
    /// How a block's list is taken in parts.
    pub(super) going_on: Option<GoingOn>,
    /// The result's shape, and how many cells it has.
    pub(super) shape: Vec<usize>,
    pub(super) cells: usize,
    pub(super) blocks: Blocks,
    pub(super) limit: u64,
    /// Where lists are written.
    pub(super) folder: PathBuf,
}

impl Job<'_> {
    /// How it goes, as the rest of a sentence.
    pub(super) fn describe(&self) -> String {
        if self.blocks.count == 1 && self.going_on.is_some() {
            return "takes its tensors chunk by chunk, because they are larger than the memory limit"
                .to_owned();
        }
        let (folder, blocks) = (self.folder.display(), self.blocks.count);
        format!(
            "lists the updates in {folder} and makes the result in {blocks} blocks, because its tensors \
             are larger than the memory limit"
        )
    }

    /// Does it, and writes the outputs.
    pub(super) fn run(&mut self, outputs: &Outputs) -> Result<Vec<Written>> {
        let mut written = vec![(self.name, self.made)];
        if self.arg {
            written.push(("arg", DType::I64));
        }
        let begun = written.iter().filter_map(|&(name, dtype)| {
            let file = outputs.npy(name)?;
            Some(Growing::new(file, dtype, &self.shape))
        });
        let mut files = begun.collect::<Result<Vec<_>>>()?;
        let result: u64 = files.iter().map(Growing::bytes).sum();
        let mut bar = Bytes::new(self.source.bytes().saturating_add(result));
        match self.going_on {
            Some(how) if self.blocks.count == 1 => self.straight(how, &mut files, &mut bar)?,
            _ => self.by_lists(&mut files, &mut bar)?,
        }
        let whole = files.into_iter().map(Growing::finish);
        for file in whole.collect::<Result<Vec<_>>>()? {
            file.appear()?;
        }
        let shape = &self.shape;
        let written = written.into_iter().map(|(name, dtype)| Written {
            name,
            dtype,
            shape: shape.clone(),
        });
        Ok(written.collect())
    }

    /// The result fits into memory, and takes chunk after chunk.
    fn straight(&mut self, how: GoingOn, files: &mut [Growing], bar: &mut Bytes) -> Result<()> {
        let entry = self.pieces.entry().clone();
        let mut target = self.target_of(0, self.cells)?;
        let mut block: Option<DynTensor> = None;
        let mut at = 0;
        while let Some(chunk) = self.chunk(at)? {
            at += chunk.cells.len();
            let bytes = chunk.bytes;
            let updates = chunk.updates(&entry)?;
            let piece = match block.take() {
                None => self.pieces.first(self.cells, &updates, target.take())?,
                Some(block) => self.pieces.next(how, block, &updates)?,
            };
            block = Some(piece.out);
            bar.add(bytes);
        }
        if let (Some(block), Some(file)) = (block, files.first_mut()) {
            file.append(block.as_bytes())?;
            bar.add(block.as_bytes().len() as u64);
        }
        Ok(())
    }

    /// The result is made block by block.
    fn by_lists(&mut self, files: &mut [Growing], bar: &mut Bytes) -> Result<()> {
        let entry = self.pieces.entry().clone();
        let memory = self.limit / LISTS;
        let mut lists = Lists::new(&self.folder, self.blocks, entry, self.arg, memory)?;
        let mut at = 0;
        while let Some(chunk) = self.chunk(at)? {
            at += chunk.cells.len();
            lists.push(&chunk.cells, chunk.values.as_bytes(), chunk.first)?;
            bar.add(chunk.bytes);
        }
        lists.finish()?;
        for block in 0..self.blocks.count {
            let piece = self.block(&lists, block)?;
            let parts = [Some(piece.out), piece.arg].into_iter().flatten();
            for (file, part) in files.iter_mut().zip(parts) {
                file.append(part.as_bytes())?;
                bar.add(part.as_bytes().len() as u64);
            }
        }
        Ok(())
    }

    /// A block of the result.
    fn block(&mut self, lists: &Lists, block: usize) -> Result<Piece> {
        let first = block << self.blocks.shift.min(63);
        let cells = match self.blocks.count {
            1 => self.cells,
            _ => (1usize << self.blocks.shift).min(self.cells - first),
        };
        let target = self.target_of(first, cells)?;
        let each = self.pieces.entry().bytes() + 8;
        let most = usize::try_from(self.limit / LIST).unwrap_or(usize::MAX) / each;
        let count = lists.count(block);
        let Some(how) = self.going_on.filter(|_| count > most) else {
            let updates = match count > most {
                false => lists.whole(block)?,
                true => lists.on_disk(block)?,
            };
            let mut piece = self.pieces.first(cells, &updates, target)?;
            if let Some(arg) = &mut piece.arg {
                self.places(arg, &updates)?;
            }
            return Ok(piece);
        };
        let mut parts = lists.parts(block, most);
        let Some(updates) = parts.next() else {
            return Err(Failure::new("a list of updates is lost"));
        };
        let mut piece = self.pieces.first(cells, &updates?, target)?;
        for updates in parts {
            piece = self.pieces.next(how, piece.out, &updates?)?;
        }
        Ok(piece)
    }

    /// Positions within a list become those along the axis of the values.
    fn places(&self, arg: &mut DynTensor, updates: &Updates) -> Result<()> {
        if arg.dtype() != DType::I64 {
            return Err(Failure::new(format!("positions are {}", arg.dtype())));
        }
        let none = self.source.len() as u64;
        for place in arg.as_bytes_mut().as_chunks_mut::<8>().0 {
            let within = usize::try_from(i64::from_ne_bytes(*place)).ok();
            let update = within.and_then(|n| updates.numbers.get(n));
            let at = update.map_or(none, |&update| self.source.place(update));
            *place = at.to_ne_bytes();
        }
        Ok(())
    }

    /// What some cells of the result begin with.
    fn target_of(&self, first: usize, cells: usize) -> Result<Option<DynTensor>> {
        let Some(target) = &self.target else {
            return Ok(None);
        };
        let entry = self.pieces.entry();
        let each: usize = entry.shape.iter().product();
        let block = target.elements(first * each, cells * each)?;
        let shaped = block.reshape(&entry.times(cells));
        let shaped = shaped.map_err(|_| Failure::new("a block has no such shape"))?;
        Ok(Some(shaped))
    }

    /// The updates from `first` on.
    fn chunk(&mut self, first: usize) -> Result<Option<Chunk>> {
        match self.source.chunk(first).transpose() {
            Ok(chunk) => Ok(chunk),
            Err(Unread::Failed(failure)) => Err(failure),
            Err(Unread::Beyond(beyond)) => {
                let at = self.source.position(beyond.at);
                Err(self.pieces.refuse(&beyond, at))
            }
        }
    }
}
