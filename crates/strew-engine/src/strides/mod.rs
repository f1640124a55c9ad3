//! A description as steps through memory.
//!
//! | file | holds |
//! |---|---|
//! | `space` | the updates as axes with steps, and the same cut into rows and windows |
//! | `request` | what a run is asked for: the input of every choice |
//! | `reader` | checked reading of the index |
//! | `order` | what a sample of an index tells: its order, and how hot its hottest row is |

pub mod order;
pub mod reader;
pub mod request;
pub mod space;
