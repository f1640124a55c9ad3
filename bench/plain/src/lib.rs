//! The work of each of the bench's workloads as a plain loop.
//!
//! A loop here is what a good programmer writes in three lines: safe, on one thread, with bounds
//! checks, and without prefetches or vector instructions of its own. A special path in strew that
//! does not beat it is not worth having.
//!
//! [`loops`] has the loops, and [`statistics`] those of groups; [`edge`] is how Python's ctypes
//! calls them. Nothing here uses strew.

pub mod edge;
pub mod loops;
pub mod statistics;
