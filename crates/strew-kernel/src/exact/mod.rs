//! Correctly rounded sums: the nearest float to the exact sum of a cell's values.
//!
//! They depend on the values alone, not on their order, the chunks they come in, the threads or the
//! machine. `math.fsum` of a cell's values gives the same `float64`.
//!
//! | file | holds |
//! |---|---|
//! | [`table`] | updates of a walk into exact sums, and those into the destination |
//! | [`sums`] | sums of many values, in windows and planes |
//! | `window` | sums as a few integers per cell, for values of ordinary sizes |
//! | [`planes`] | the sums as integers of all sizes: the state that is stored and merged |
//! | `cells` | the cells that values are added to |
//! | `one_sum` | the sum of one cell, on the stack |
//! | `quotient` | variances of these sums, by large integers |
//! | `digits` | what a plane holds, and how a value is cut into pieces |
//! | [`number`] | numbers longer than a float, and their rounding |

pub(crate) mod cells;
pub(crate) mod digits;
pub mod number;
pub(crate) mod one_sum;
pub mod planes;
pub(crate) mod quotient;
pub mod sums;
pub mod table;
mod window;

#[cfg(test)]
mod oracle;
