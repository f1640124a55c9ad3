//! The numbers that decide how a run goes: which strategy, and when a second thread starts.
//!
//! Sizes are in bytes and written in those of `runtime/machine.rs`, unless a comment says what is
//! counted. Numbers that decide how statistics are shared out stand in `plan/division.rs`, and
//! those of buffers where they are used.

use strew_kernel::runtime::machine::{L1, L2, L3, PAGE, WAKE};

// Tables, and marks of touched cells.

/// Tables of up to this many bytes are always dense.
pub(crate) const DENSE_ALWAYS: usize = L2;

/// Maximum rows of the destination per row of updates for a larger dense table. With more rows, the
/// table is compact.
pub(crate) const DENSE_ROWS_PER_UPDATE: usize = 4;

/// Maximum rows of the destination per row of updates for which touched rows are marked. With more
/// rows, a second pass over the updates touches less memory than the marks.
pub(crate) const MARKS_PER_UPDATE: usize = 64;

/// Minimum rows of updates for which touched rows are marked. A second pass over fewer is faster.
pub(crate) const MARKS_FROM: usize = 1024;

/// Maximum cells per update for which every cell starts from a sentinel. With more cells, marks
/// cost less than filling and reading all cells.
pub(crate) const UNSET_PER_UPDATE: usize = 8;

/// Maximum rows of the destination per row of updates if untouched rows are to be set to zero by
/// the run. With more rows, most pages of fresh memory need no write at all.
pub(crate) const ZEROED_ROWS_PER_UPDATE: usize = 2;

/// Minimum bytes of a destination that a run begins itself. A smaller one stays in a cache.
pub(crate) const BEGUN_IN_THE_RUN: usize = L3;

// Tiles.

/// Bytes of a tile, which a first-level cache holds. A tile of [`TILE_NARROWEST`] columns may be
/// larger.
pub(crate) const TILE: usize = L1;

/// Maximum bytes of a tile of the fewest columns. A larger one would not stay in a second-level
/// cache.
pub(crate) const TILE_LARGEST: usize = L2;

/// Minimum columns of a tile.
pub(crate) const TILE_NARROWEST: usize = 128;

/// Maximum columns of a tile.
pub(crate) const TILE_WIDEST: usize = 512;

/// Minimum bytes that the rows of a column are spread over. With fewer, a cache holds them as they
/// are.
pub(crate) const TILED_SPREAD: usize = L2 / 4;

/// Maximum cells of a tile per update: it is copied to and fro for its updates.
pub(crate) const TILED_CELLS_PER_UPDATE: usize = 4;

// Lists by block of the destination.

/// Minimum bytes of a destination for which updates are listed by block. Nearly every update of one
/// that large misses the caches.
pub(crate) const LISTED_REACH: usize = 2 * L3;

/// Maximum bytes of the destination per update that is listed. With more, blocks stay almost empty.
pub(crate) const LISTED_EVERY: usize = 256;

/// Minimum threads for which updates are listed so that no thread reads the whole index. Two lists
/// and a run over them take about twice the time of one thread.
pub(crate) const LISTING_THREADS: usize = 4;

/// At most one of this many updates may go to the hottest cell of a list: one thread joins all of
/// them.
pub(crate) const LISTED_HOTTEST: usize = 8;

// Groups by row.

/// Minimum bytes of a row of updates.
pub(crate) const GROUPED_ROW: usize = 32;

/// The same for an extreme whose rows come in order.
pub(crate) const GROUPED_SORTED_ROW: usize = 16;

/// Minimum bytes of all updates.
pub(crate) const GROUPED_BYTES: usize = 4 * L2;

/// Minimum bytes of a row for which reading the source at random pays.
pub(crate) const GROUPED_LONG_ROW: usize = 256;

/// The same where grouping saves a table.
pub(crate) const GROUPED_TABLED_ROW: usize = 128;

/// Minimum bytes of a destination that no cache holds: for one thread, and for several.
pub(crate) const GROUPED_FAR: [usize; 2] = [L3, L3 / 2];

/// Minimum updates per row, on average: in general, and for sums on one thread, which gain less.
pub(crate) const GROUPED_SHARE: [usize; 2] = [4, 8];

/// The groups may take one byte of memory per this many bytes of updates.
pub(crate) const GROUPED_ROOM: usize = 4;

/// Maximum size of the sample of the index that tells its order.
pub(crate) const GROUPED_SAMPLE: usize = 4096;

/// Index values per value of the sample, at least.
pub(crate) const GROUPED_SAMPLED: usize = 64;

/// Minimum bytes of updates whose rows come in order. The source is read in order either way. With
/// fewer bytes, writing each row of the destination once gains nothing.
pub(crate) const GROUPED_STREAM: usize = 4 * L3;

/// A row is hot if the sample names it this many times as often as the average row. A cache holds
/// hot rows.
pub(crate) const HOT_ROW: usize = 4;

/// At most one of this many values of the sample may name a hot row.
pub(crate) const HOT_ROWS_PART: usize = 4;

/// At most one of this many values may name the hottest row.
pub(crate) const HOTTEST_ROW_PART: usize = 8;

// When a second thread starts.

/// Minimum bytes of updates per part by axis.
pub(crate) const BY_AXIS: usize = WAKE;

/// Minimum bytes of all updates per part by owner. Each part also reads the whole index.
pub(crate) const BY_OWNER: usize = 12 * WAKE;

/// The same for parts of which each reads a stretch of the index.
pub(crate) const BY_STRETCH: usize = 4 * WAKE;

/// Minimum bytes of updates per part of a run whose updates are listed. No part reads what another
/// does, but more parts have shorter lists, and more of the room in them stays empty.
pub(crate) const BY_LIST: usize = 4 * WAKE;

/// Minimum bytes of updates per part by updates. Each part but one has a table of its own.
pub(crate) const BY_UPDATES: usize = 2 * WAKE;

/// Maximum bytes of such a table, so that the cache of a core holds it.
pub(crate) const UPDATES_TABLE: usize = L2;

/// Minimum bytes of a part's updates per byte of its table.
pub(crate) const UPDATES_PER_TABLE: usize = 8;

/// The same for exact sums: 16M of float32 into 1M cells take 77 ms by owner, as on one thread.
pub(crate) const UPDATES_PER_EXACT_TABLE: usize = 2;

/// Maximum bytes of a row that is shared out by updates.
pub(crate) const NARROW_ROW: usize = 64;

/// Maximum bytes of a short row that several threads, which each read the whole index, join. It
/// pays only into a destination of [`OWNED_REACH`]: 16M float32 sums as rows of 1 to 16 into 1,000
/// to 30,000 rows take two threads 0.9 to 2.0 of one thread's time, rows of 32 take 0.65 to 0.8.
/// Extremes take longer to join, and gain into any destination: 0.6 to 0.97. A table counts as a
/// destination: 16M float16 sums into a table of 4 MB took two threads 2.3 times as long as one.
pub(crate) const OWNED_SHORT_ROW: usize = 64;

/// Minimum bytes of the destination of short rows. Most of the updates then wait for memory: into
/// 12 to 48 MB two threads take 0.58 to 0.81 of one thread's time, into 5 to 10 MB 0.98 to 1.06.
pub(crate) const OWNED_REACH: usize = 8 << 20;

/// At most one of this many updates of short rows may go to the hottest row. With more, one thread
/// joins most of them: two took 0.9 to 1.9 of one thread's time.
pub(crate) const OWNED_SHORT_HOTTEST: usize = 8;

/// The same of rows of up to [`OWNED_HOT_ROW`] bytes. On some processors two cores break up each
/// other's stream of the source: on a Zen 4 server 2M rows of 64 float32, zipf 2, took 27 ms alone
/// and 68 on two threads. On an Intel server two took 0.6 to 0.8 of one thread's time.
pub(crate) const OWNED_HOTTEST: usize = 4;

/// Maximum bytes of a row of which a hot one keeps other threads waiting. Columns of longer rows
/// are shared.
pub(crate) const OWNED_HOT_ROW: usize = 256;

/// Bytes of updates that a thread must have: fewer are done before another one has woken up.
pub(crate) const BY_GROUP: usize = WAKE;

/// A stretch shorter than this in bytes would share its cache lines with its neighbours.
pub(crate) const AXIS_LINE: usize = 64;

/// A piece of a row shorter than this is not worth a thread of its own: the hardware's
/// prefetching brings in the rest of the row as well, so every thread reads all of the source.
pub(crate) const PIECE_OF_ROW: usize = PAGE;

/// Minimum bytes of a row for which a part that reads the whole index gets its time back.
pub(crate) const OWNED_ROW: usize = 32;

/// Minimum bytes of a destination for which it gets its time back with shorter rows, too: most
/// updates miss a core's caches.
pub(crate) const OWNED_TABLE: usize = L2;

/// Values of the sample of an index that says whether it ascends.
pub(crate) const ASCENDING_SAMPLE: usize = 1024;

/// Bytes of an index that a thread must have which does nothing but look at it.
pub(crate) const LOOKED_AT: usize = 4 * WAKE;

/// Bytes of rows that a thread must have: fewer are done before another one has woken up.
pub(crate) const BY_RUN: usize = WAKE;

// Planned runs: in order or grouped.

/// Runs with fewer bytes are over before anything could be gained.
pub(crate) const PLANNED_WORTH: usize = L2;

/// Minimum bytes of a row that is read at random once for several reductions.
pub(crate) const PLANNED_SHARED: usize = 128;

/// Rows in order that are longer than this are only grouped where their running row stays in
/// registers.
pub(crate) const PLANNED_LONG: usize = 256;

/// Rows in order of so many bytes, none of which a cache still holds, are grouped to write each row
/// of the destination once.
pub(crate) const PLANNED_STREAM: usize = 4 * L3;

/// A destination of so many bytes is not in the nearest caches.
pub(crate) const PLANNED_APART: usize = L2;

/// A destination of so many bytes is hardly in any cache.
pub(crate) const PLANNED_OUTSIDE: usize = L3 / 2;

/// A destination, or a source, of so many bytes is in no cache: each update reads and writes what
/// lies far away.
pub(crate) const PLANNED_NOWHERE: usize = L3;

/// Rows at random as long as this are read as fast as those one after the other.
pub(crate) const PLANNED_WIDE: usize = 256;

/// Rows at random as long as this are worth it where grouping saves a table of counts.
pub(crate) const PLANNED_TABLED: usize = 64;

/// At most one of this many updates may go to one row: one thread joins all of them.
pub(crate) const PLANNED_SHARE: usize = 8;

/// Rows that take a larger part of the updates than one of so many, and are not
/// [`PLANNED_OUTSIDE`], stay in a cache of one thread.
pub(crate) const PLANNED_HOT_PART: usize = 4;

/// Minimum updates of a row, on average, for which a running row in registers pays.
pub(crate) const PLANNED_FEW: usize = 4;

/// The same where there would be a table.
pub(crate) const PLANNED_PAIR: usize = 2;

/// So many single elements of a row, one after the other, are reduced faster where it is known that
/// they are. In fewer, where a row ends is foreseen wrongly too often; the loops that read an index
/// do not care.
pub(crate) const PLANNED_MANY: usize = 48;

/// A table of this many bytes stays in the nearest caches.
pub(crate) const PLANNED_NEAR: usize = L2 / 4;

/// The table of a destination of so many bytes is in no cache. Below that, to read single updates
/// at random costs up to six times as much as to write into the table at random.
pub(crate) const PLANNED_FAR: usize = 2 * L3;
