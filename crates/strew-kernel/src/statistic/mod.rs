//! What statistics of groups are made of.
//!
//! | file | holds |
//! |---|---|
//! | [`what`] | what statistics there are, and what is known of each |
//! | [`value`], [`point`] | the types that they are computed in, and those of means |
//! | [`cell`] | what records are made of, and their bytes |
//! | `fold` | a statistic as a running record: start, join, merge, finish |
//! | [`pass`] | the pass over single values of the commonest types |
//! | `in_order` | values of a group in ascending order |
//! | `select` | the key of a rank among many |
//! | [`read`] | where rows and values are read |
//! | [`output`] | what is wanted; results are converted to their type and written |

pub mod cell;
pub(crate) mod fold;
pub(crate) mod in_order;
pub mod output;
pub mod pass;
pub mod point;
pub mod read;
pub(crate) mod select;
pub mod value;
pub mod what;
