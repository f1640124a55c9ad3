//! How a run is shared out among threads, and the threads that run its parts.
//!
//! | file | holds |
//! |---|---|
//! | `share` | whether and how a run is shared out: when a second thread begins |
//! | `split` | the split that suits the axes of a run |
//! | `ascending` | whether each of several threads reads only a stretch of the index |
//! | `lookers` | how many threads check an index |
//! | `owners` | which rows of the destination each thread owns |
//! | `pass` | the parts of a run, and a walk over the blocks of one |
//! | `stretches` | the stretch of an ascending index that each thread reads |
//! | `check_index` | the check of a whole index before the first write |
//! | `groups` | groups of updates, shared out by destination |
//! | `crew` | the threads of a run |
//! | `meter` | progress of loops that do not know the monitor |

pub(crate) mod ascending;
pub mod check_index;
pub mod crew;
pub mod groups;
pub mod lookers;
pub(crate) mod meter;
pub mod owners;
pub mod pass;
pub mod share;
pub mod split;
pub(crate) mod stretches;
