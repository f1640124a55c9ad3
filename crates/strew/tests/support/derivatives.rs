//! Operators by name, for derivatives.

use strew::{Arguments, DynTensor, Result, Value, find};

/// The arguments of a call.
pub(crate) fn arguments<'a>(
    operator: &str,
    values: impl IntoIterator<Item = (&'static str, Value<'a>)>,
) -> Result<Arguments<'a>> {
    let mut arguments = Arguments::new(find(operator).expect("it is listed"));
    for (name, value) in values {
        arguments.set_named(name, value)?;
    }
    Ok(arguments)
}

/// The gradient of one argument.
pub(crate) fn gradient(gradients: Vec<(&'static str, DynTensor)>, argument: &str) -> DynTensor {
    let found = gradients.into_iter().find(|(name, _)| *name == argument);
    found.expect("it has a derivative").1
}
