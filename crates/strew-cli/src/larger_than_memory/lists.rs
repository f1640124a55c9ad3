//! Updates listed by block of the result's cells, on disk.
//!
//! A list grows in memory and goes to the file when its share is full. The file is written from its
//! beginning to its end, and read once. It has no name, so nothing is left of it however the process ends.

use super::updates::{Entry, Updates, zeros};
use crate::failure::{Failure, Result};
use crate::mapped::Mapped;
use crate::read::Loaded;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use strew::{DType, Layout};

/// A list's share of memory is not smaller: shorter writes would cost more than they move.
const LEAST: usize = 1 << 10;

/// The updates of all blocks.
pub(super) struct Lists {
    file: File,
    /// Where the file is, for messages.
    folder: PathBuf,
    end: u64,
    /// A block is `1 << shift` cells.
    shift: u32,
    entry: Entry,
    /// Whether the number of each update is kept.
    numbered: bool,
    /// How many updates of a list stay in memory.
    room: usize,
    lists: Vec<List>,
}

/// The updates of a block, in their order.
#[derive(Default)]
struct List {
    /// The cell of each within the block, 4 bytes.
    cells: Vec<u8>,
    values: Vec<u8>,
    /// The number of each, 8 bytes.
    numbers: Vec<u8>,
    extents: Vec<Extent>,
}

/// Updates that lie together in the file.
#[derive(Clone, Copy)]
struct Extent {
    at: u64,
    count: usize,
}

/// How a block's list is laid out.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    pub(super) count: usize,
    /// A block is `1 << shift` cells.
    pub(super) shift: u32,
}

impl Lists {
    /// Empty lists, in a file in `folder`, with `memory` bytes for all of them.
    pub(super) fn new(
        folder: &Path,
        blocks: Blocks,
        entry: Entry,
        numbered: bool,
        memory: u64,
    ) -> Result<Self> {
        let each = 4 + entry.bytes() + if numbered { 8 } else { 0 };
        let share = usize::try_from(memory).unwrap_or(usize::MAX) / blocks.count.max(1);
        Ok(Self {
            file: scratch(folder)?,
            folder: folder.to_owned(),
            end: 0,
            shift: blocks.shift,
            entry,
            numbered,
            room: (share.max(LEAST) / each).max(1),
            lists: (0..blocks.count).map(|_| List::default()).collect(),
        })
    }

    /// Appends updates, each to the list of its cell's block; those without a cell are left out. The
    /// first is the update `first`.
    pub(super) fn push(&mut self, cells: &[u64], values: &[u8], first: usize) -> Result<()> {
        let pushed = match self.entry.bytes() {
            1 => self.push_of::<1>(cells, values, first),
            2 => self.push_of::<2>(cells, values, first),
            4 => self.push_of::<4>(cells, values, first),
            8 => self.push_of::<8>(cells, values, first),
            bytes => cells.iter().enumerate().try_for_each(|(n, &cell)| {
                self.one(cell, &values[n * bytes..(n + 1) * bytes], first + n)
            }),
        };
        pushed.map_err(|error| unwritten(&self.folder, &error))
    }

    /// The same for values of a size that is known here: copying one is one move then.
    fn push_of<const BYTES: usize>(
        &mut self,
        cells: &[u64],
        values: &[u8],
        first: usize,
    ) -> io::Result<()> {
        let (values, _) = values.as_chunks::<BYTES>();
        for (n, (&cell, value)) in cells.iter().zip(values).enumerate() {
            self.one(cell, value, first + n)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn one(&mut self, cell: u64, value: &[u8], number: usize) -> io::Result<()> {
        let block = (cell >> self.shift) as usize;
        // An update that is left out has a cell beyond all blocks.
        let Some(list) = self.lists.get_mut(block) else {
            return Ok(());
        };
        let local = (cell & ((1 << self.shift) - 1)) as u32;
        list.cells.extend_from_slice(&local.to_ne_bytes());
        list.values.extend_from_slice(value);
        if self.numbered {
            let number = number as u64;
            list.numbers.extend_from_slice(&number.to_ne_bytes());
        }
        match list.cells.len() / 4 < self.room {
            true => Ok(()),
            false => self.flush(block),
        }
    }

    /// Writes what waits in memory.
    fn flush(&mut self, block: usize) -> io::Result<()> {
        let Some(list) = self.lists.get_mut(block) else {
            return Ok(());
        };
        let count = list.cells.len() / 4;
        if count == 0 {
            return Ok(());
        }
        let at = self.end;
        list.extents.push(Extent { at, count });
        for part in [&mut list.cells, &mut list.values, &mut list.numbers] {
            self.file.write_all(part)?;
            self.end += part.len() as u64;
            part.clear();
        }
        Ok(())
    }

    /// Ends the lists: writes what is left, and gives the memory back.
    pub(super) fn finish(&mut self) -> Result<()> {
        for block in 0..self.lists.len() {
            self.flush(block)
                .map_err(|error| unwritten(&self.folder, &error))?;
            if let Some(list) = self.lists.get_mut(block) {
                (list.cells, list.values, list.numbers) = Default::default();
            }
        }
        Ok(())
    }

    /// How many updates a block has.
    pub(super) fn count(&self, block: usize) -> usize {
        self.extents(block).iter().map(|e| e.count).sum()
    }

    /// The updates of a block, some at a time: as many extents of the file as have no more than `most`
    /// updates, and at least one.
    pub(super) fn parts(
        &self,
        block: usize,
        most: usize,
    ) -> impl Iterator<Item = Result<Updates>> + '_ {
        let mut left = self.extents(block);
        std::iter::from_fn(move || {
            let first = left.first()?;
            let (mut parts, mut count) = (1, first.count);
            while let Some(next) = left.get(parts).filter(|next| count + next.count <= most) {
                (parts, count) = (parts + 1, count + next.count);
            }
            let (now, later) = left.split_at(parts);
            left = later;
            Some(self.in_memory(now, count))
        })
    }

    /// All updates of a block, in memory.
    pub(super) fn whole(&self, block: usize) -> Result<Updates> {
        self.in_memory(self.extents(block), self.count(block))
    }

    fn extents(&self, block: usize) -> &[Extent] {
        self.lists.get(block).map_or(&[][..], |list| &list.extents)
    }

    fn in_memory(&self, extents: &[Extent], count: usize) -> Result<Updates> {
        let mut cells = zeros(DType::I64, &[count])?;
        let mut values = zeros(self.entry.dtype, &self.entry.times(count))?;
        let (mut local, mut at) = (Vec::new(), 0);
        for extent in extents {
            let now = at..at + extent.count;
            at = now.end;
            self.cells_of(extent, &mut local)?;
            let places = cells.as_bytes_mut()[now.start * 8..now.end * 8].as_chunks_mut::<8>();
            for (place, cell) in places.0.iter_mut().zip(local.as_chunks::<4>().0) {
                *place = i64::from(u32::from_ne_bytes(*cell)).to_ne_bytes();
            }
            let size = self.entry.bytes();
            let to = &mut values.as_bytes_mut()[now.start * size..now.end * size];
            self.read(extent.at + 4 * extent.count as u64, to)?;
        }
        Ok(Updates {
            cells: Loaded::owned(cells),
            values: Loaded::owned(values),
            numbers: self.numbers(extents)?,
        })
    }

    /// All updates of a block that is more than memory should hold: in a file of their own, and mapped.
    pub(super) fn on_disk(&self, block: usize) -> Result<Updates> {
        let (extents, count) = (self.extents(block), self.count(block));
        let mut file = scratch(&self.folder)?;
        let mut buffer = Vec::new();
        let mut wide = Vec::new();
        let failed = |error: io::Error| unwritten(&self.folder, &error);
        for extent in extents {
            self.cells_of(extent, &mut buffer)?;
            wide.clear();
            for cell in buffer.as_chunks::<4>().0 {
                wide.extend_from_slice(&i64::from(u32::from_ne_bytes(*cell)).to_ne_bytes());
            }
            file.write_all(&wide).map_err(failed)?;
        }
        let values = (count * 8) as u64;
        for extent in extents {
            buffer.clear();
            buffer.resize(extent.count * self.entry.bytes(), 0);
            self.read(extent.at + 4 * extent.count as u64, &mut buffer)?;
            file.write_all(&buffer).map_err(failed)?;
        }
        let mapped = |at, dtype, shape: &[usize]| {
            let layout =
                Layout::contiguous(dtype, shape).map_err(|p| Failure::new(p.to_string()))?;
            let mapped = Mapped::new(&file, at, layout).map_err(|e| unread(&self.folder, &e))?;
            mapped
                .map(Loaded::mapped)
                .ok_or_else(|| unread(&self.folder, &io::ErrorKind::UnexpectedEof.into()))
        };
        Ok(Updates {
            cells: mapped(0, DType::I64, &[count])?,
            values: mapped(values, self.entry.dtype, &self.entry.times(count))?,
            numbers: self.numbers(extents)?,
        })
    }

    fn cells_of(&self, extent: &Extent, to: &mut Vec<u8>) -> Result<()> {
        to.clear();
        to.resize(extent.count * 4, 0);
        self.read(extent.at, to)
    }

    fn numbers(&self, extents: &[Extent]) -> Result<Vec<u64>> {
        let mut numbers = Vec::new();
        if !self.numbered {
            return Ok(numbers);
        }
        let mut buffer = Vec::new();
        for extent in extents {
            buffer.clear();
            buffer.resize(extent.count * 8, 0);
            let before = (4 + self.entry.bytes()) * extent.count;
            self.read(extent.at + before as u64, &mut buffer)?;
            let some = buffer.as_chunks::<8>().0.iter();
            numbers.extend(some.map(|bytes| u64::from_ne_bytes(*bytes)));
        }
        Ok(numbers)
    }

    fn read(&self, at: u64, to: &mut [u8]) -> Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.read_exact(to))
            .map_err(|error| unread(&self.folder, &error))
    }
}

/// A file without a name.
fn scratch(folder: &Path) -> Result<File> {
    tempfile::tempfile_in(folder).map_err(|error| unwritten(folder, &error))
}

fn unwritten(folder: &Path, error: &io::Error) -> Failure {
    Failure::file(
        folder,
        format!(
            "the lists of updates cannot be written there: {error} (--scratch names another folder)"
        ),
    )
}

fn unread(folder: &Path, error: &io::Error) -> Failure {
    Failure::file(
        folder,
        format!("the lists of updates cannot be read there: {error}"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::key::LEFT_OUT;
    use super::*;

    /// Updates as (cell, value, number).
    fn listed(updates: &Updates, bytes: usize) -> Vec<(i64, Vec<u8>, u64)> {
        let cells = updates.cells.view().unwrap().to_integers().unwrap();
        let values = updates.values.view().unwrap().to_tensor().unwrap();
        let values = values.as_bytes().chunks_exact(bytes);
        let all = cells.into_iter().zip(values).zip(&updates.numbers);
        all.map(|((cell, value), &number)| (cell, value.to_vec(), number))
            .collect()
    }

    #[test]
    fn each_block_has_its_updates_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let cells: Vec<u64> = (0..5000u64)
            .map(|n| match n % 7 {
                0 => LEFT_OUT,
                _ => n * n % 48,
            })
            .collect();
        for bytes in [1, 2, 3, 4, 8, 16] {
            for memory in [0, 1 << 20] {
                let entry = Entry {
                    dtype: DType::U8,
                    shape: vec![bytes],
                };
                let blocks = Blocks { count: 3, shift: 4 };
                let mut lists = Lists::new(folder.path(), blocks, entry, true, memory).unwrap();
                let values: Vec<u8> = (0..5000 * bytes).map(|n| n as u8).collect();
                let (first, second) = cells.split_at(1234);
                lists.push(first, &values[..1234 * bytes], 0).unwrap();
                lists.push(second, &values[1234 * bytes..], 1234).unwrap();
                lists.finish().unwrap();
                for block in 0..3 {
                    let expected: Vec<_> = (0..5000)
                        .filter(|&n| cells[n] >> 4 == block as u64)
                        .map(|n| {
                            let value = values[n * bytes..(n + 1) * bytes].to_vec();
                            ((cells[n] & 15) as i64, value, n as u64)
                        })
                        .collect();
                    assert_eq!(lists.count(block), expected.len());
                    assert_eq!(listed(&lists.whole(block).unwrap(), bytes), expected);
                    assert_eq!(listed(&lists.on_disk(block).unwrap(), bytes), expected);
                    for most in [1, 300, usize::MAX] {
                        let parts = lists.parts(block, most);
                        let all: Vec<_> = parts.flat_map(|p| listed(&p.unwrap(), bytes)).collect();
                        assert_eq!(all, expected);
                    }
                }
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
