//! explain.

pub mod text;
pub mod traffic;
