//! framework.

pub(crate) mod call;
pub(crate) mod composite;
pub(crate) mod custom;
pub(crate) mod gather_forms;
pub(crate) mod index_tuples;
pub(crate) mod indexing;
pub(crate) mod into_out;
pub(crate) mod operator;
