//! Cases without data: whether an operator accepts shapes (`.shape_infer`) or types
//! (`.type_check`).

use super::vectors::Case;
use serde_json::Value as Json;
use strew::{Arguments, DType, DynTensor, DynView, Operator, Value};

/// The operator that such a case is about, and the check that it asks for.
pub(super) fn base(op: &str) -> Option<(&str, Check)> {
    let shapes = op.strip_suffix(".shape_infer").map(|b| (b, Check::Shapes));
    shapes.or_else(|| op.strip_suffix(".type_check").map(|b| (b, Check::Types)))
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// `NAME_shape` stands for a tensor of that shape, `out_shape` for the output's.
    Shapes,
    /// The argument that `float_input` names is given floats in an otherwise good call.
    Types,
}

/// Whether the operator accepts or refuses as the case says.
pub(super) fn run(case: &Case, operator: &'static Operator, check: Check) -> Result<(), String> {
    let answer = match check {
        Check::Shapes => shapes(case, operator)?,
        Check::Types => types(case, operator)?,
    };
    match (answer, &case.error) {
        (Ok(()), None) | (Err(_), Some(_)) => {}
        (Ok(()), Some(refusal)) => return Err(format!("accepted, expected {}", refusal.kind)),
        (Err(error), None) => return Err(format!("refused: {error:?}")),
    }
    // The operators checked this way give their output the shape of data.
    match case.expect.get("out_shape") {
        Some(raw) if raw.data != list(case, "data_shape")? => {
            Err(format!("out_shape: expected {:?}", raw.data))
        }
        _ => Ok(()),
    }
}

fn list<'c>(case: &'c Case, name: &str) -> Result<&'c [Json], String> {
    let found = case.params.get(name).and_then(Json::as_array);
    found
        .map(Vec::as_slice)
        .ok_or_else(|| format!("{name} must be a list"))
}

fn shapes(case: &Case, operator: &'static Operator) -> Result<strew::Result<()>, String> {
    // One element, repeated: shapes need no memory.
    let one = DynTensor::zeros(DType::F32, &[]).map_err(|e| e.to_string())?;
    let mut arguments = Arguments::new(operator);
    for name in case.params.keys() {
        let list = list(case, name)?.iter().map(Json::as_i64);
        let list: Vec<i64> = list.collect::<Option<_>>().ok_or("a list of integers")?;
        let (name, value) = match name.strip_suffix("_shape") {
            Some(tensor) => {
                let shape: Vec<_> = list.iter().map(|n| n.unsigned_abs() as usize).collect();
                let view = one.view().broadcast_to(&shape).ok_or("too large")?;
                (tensor, Value::Tensor(view))
            }
            None => (name.as_str(), Value::Integers(list.into())),
        };
        arguments
            .set_named(name, value)
            .map_err(|e| e.to_string())?;
    }
    Ok(arguments.lower().map(drop))
}

fn types(case: &Case, operator: &'static Operator) -> Result<strew::Result<()>, String> {
    let float = case.params.get("float_input").and_then(Json::as_str);
    let float = float.ok_or("float_input must name an argument")?;
    let lists = [("start", 0), ("stop", 1), ("step", 1), ("axes", 0)];
    let tensor = |dtype| DynTensor::zeros(dtype, &[1]).map_err(|e| e.to_string());
    let (data, wrong) = (tensor(DType::F32)?, tensor(DType::F64)?);
    let attempt = |float: &str| {
        let mut arguments = Arguments::new(operator);
        for name in ["data", "updates"] {
            arguments.set_named(name, Value::Tensor(data.view()))?;
        }
        for (name, number) in lists {
            let floats: DynView<'_> = wrong.view();
            let value = match name == float {
                true => Value::Tensor(floats),
                false => Value::Integers(vec![number].into()),
            };
            arguments.set_named(name, value)?;
        }
        arguments.lower().map(drop)
    };
    // A refusal means something only if the same call with integers is accepted.
    attempt("").map_err(|e| format!("the call with integers was refused: {e:?}"))?;
    Ok(attempt(float))
}
