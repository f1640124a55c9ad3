//! Cases of gradients: `framework.operator.grad`, whose input `grad_out` is the gradient of the result, and whose
//! `expect` has `grad_` and the name of an input.

use super::compare::{difference, tolerance};
use super::names;
use super::run::{Failure, arguments, hold};
use super::tensor::{Arrangement, values};
use super::vectors::Case;
use strew::Operator;
use strew::grad::{Gradients, vjp};

/// The operator whose gradients such a case is about.
pub(super) fn base(op: &str) -> Option<&str> {
    op.strip_suffix(".grad")
}

/// Runs a case in all arrangements of its arrays; tells how often more than once.
pub(super) fn run(case: &Case, operator: &'static Operator) -> Result<usize, String> {
    if let Some(refusal) = &case.error {
        return Err(format!("gradients have no errors here: {}", refusal.kind));
    }
    for arrangement in Arrangement::ALL {
        let mut inputs = hold(case, operator, arrangement)?;
        let grad = inputs.iter().position(|input| input.name == "grad_out");
        let grad = inputs.swap_remove(grad.ok_or("there is no input grad_out")?);
        let arguments =
            arguments(case, operator, &mut inputs).map_err(|failure| match failure {
                Failure::Refused(error) => error.to_string(),
                Failure::Malformed(why) => why,
            })?;
        let made = vjp(arguments, &grad.held.view()).map_err(|e| e.to_string())?;
        as_expected(case, operator, &made).map_err(|e| format!("{arrangement:?}: {e}"))?;
    }
    Ok(Arrangement::ALL.len() - 1)
}

fn as_expected(case: &Case, operator: &Operator, made: &Gradients) -> Result<(), String> {
    for (name, raw) in &case.expect {
        let input = name.strip_prefix("grad_").unwrap_or(name);
        let input = names::argument(operator.name, input);
        let found = made.iter().find(|(of, _)| *of == input);
        let (_, found) = found.ok_or_else(|| format!("there is no gradient {name}"))?;
        let wanted = raw.values().map_err(|e| format!("expect {name}: {e}"))?;
        let tol = case.tol.unwrap_or_else(|| tolerance(wanted.dtype));
        if let Some(difference) = difference(&values(&found.view())?, &wanted, tol) {
            return Err(format!("{name}{difference}"));
        }
    }
    Ok(())
}
