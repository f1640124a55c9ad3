//! For whom a problem is reported: the operator's name, and the exception class of its framework.

use std::borrow::Cow;
use strew_kernel::error::{Class, Error, Problem};

/// Who a problem is reported for.
#[derive(Clone, Debug)]
pub struct Context {
    pub operator: Cow<'static, str>,
    /// The framework's class for a problem.
    pub class: fn(&Problem) -> Class,
}

impl Context {
    pub fn error(&self, problem: Problem) -> Error {
        let class = match &problem {
            Problem::Memory { .. } => Class::Memory,
            Problem::Interrupted => Class::Interrupt,
            Problem::ReadOnly { .. } => Class::Value,
            other => (self.class)(other),
        };
        Error::new(self.operator.clone(), class, problem)
    }
}
