//! Chunks of columns, as every format's reader gives them.

use crate::error::Result;
use arrow_array::ArrayRef;

/// Chunks with their columns in the file's order.
pub(crate) type Chunks = Box<dyn Iterator<Item = Result<Vec<ArrayRef>>>>;
