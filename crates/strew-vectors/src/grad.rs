//! Cases of gradients: `framework.operator.grad`, whose input `grad_out` is the gradient of the result, and whose
//! `expect` has `grad_` and the name of an input.

use super::compare::{difference, tolerance};
use super::tensor::{Arrangement, values};
use super::vectors::Case;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use strew::grad::tensorflow as tf;
use strew::tensorflow::BadIndicesPolicy::Error as Strict;
use strew::{DynTensor, DynView};

/// What a gradient function makes, by the inputs' names.
type Gradients = Vec<(&'static str, DynTensor)>;
type Function = fn(&Inputs<'_>) -> Result<Gradients, String>;

/// Operators whose gradients are known here.
const FUNCTIONS: &[(&str, Function)] = &[
    ("tf.scatter_nd", |of| {
        let made = tf::scatter_nd_vjp_dyn(of.get("grad_out")?, of.get("indices")?, Strict);
        Ok(vec![("updates", made.map_err(|e| e.to_string())?)])
    }),
    ("tf.tensor_scatter_nd_update", |of| {
        joined(of, tf::Join::Update)
    }),
    ("tf.tensor_scatter_nd_add", |of| joined(of, tf::Join::Add)),
    ("tf.tensor_scatter_nd_sub", |of| joined(of, tf::Join::Sub)),
    ("tf.tensor_scatter_nd_min", |of| joined(of, tf::Join::Min)),
    ("tf.tensor_scatter_nd_max", |of| joined(of, tf::Join::Max)),
    ("tf.math.unsorted_segment_sum", |of| {
        folded(of, tf::Fold::Sum)
    }),
    ("tf.math.unsorted_segment_mean", |of| {
        folded(of, tf::Fold::Mean)
    }),
    ("tf.math.unsorted_segment_prod", |of| {
        folded(of, tf::Fold::Prod)
    }),
    ("tf.math.unsorted_segment_min", |of| {
        folded(of, tf::Fold::Min)
    }),
    ("tf.math.unsorted_segment_max", |of| {
        folded(of, tf::Fold::Max)
    }),
    ("tf.math.unsorted_segment_sqrt_n", |of| {
        folded(of, tf::Fold::SqrtN)
    }),
];

fn joined(of: &Inputs<'_>, join: tf::Join) -> Result<Gradients, String> {
    let (grad, tensor) = (of.get("grad_out")?, of.get("tensor")?);
    let (indices, updates) = (of.get("indices")?, of.get("updates")?);
    let made = tf::tensor_scatter_nd_vjp_dyn(grad, tensor, indices, updates, join, Strict);
    let (tensor, updates) = made.map_err(|e| e.to_string())?;
    Ok(vec![("tensor", tensor), ("updates", updates)])
}

fn folded(of: &Inputs<'_>, fold: tf::Fold) -> Result<Gradients, String> {
    let (grad, data) = (of.get("grad_out")?, of.get("data")?);
    let made = tf::unsorted_segment_vjp_dyn(grad, data, of.get("segment_ids")?, fold);
    Ok(vec![("data", made.map_err(|e| e.to_string())?)])
}

pub(super) struct Inputs<'i> {
    views: BTreeMap<&'i str, DynView<'i>>,
}

impl<'i> Inputs<'i> {
    fn get(&self, name: &str) -> Result<&DynView<'i>, String> {
        self.views
            .get(name)
            .ok_or_else(|| format!("there is no input {name}"))
    }
}

/// The gradient function of such a case, if it is one that is known.
pub(super) fn function(op: &str) -> Option<Function> {
    let of = op.strip_suffix(".grad")?;
    FUNCTIONS
        .iter()
        .find(|(name, _)| *name == of)
        .map(|(_, function)| *function)
}

/// Runs a case in all arrangements of its arrays; tells how often more than once.
pub(super) fn run(case: &Case, function: Function) -> Result<usize, String> {
    if let Some(refusal) = &case.error {
        return Err(format!("gradients have no errors here: {}", refusal.kind));
    }
    for arrangement in Arrangement::ALL {
        let mut held = BTreeMap::new();
        for (name, raw) in &case.inputs {
            held.insert(
                name.as_str(),
                raw.hold(arrangement).map_err(|e| format!("{name}: {e}"))?,
            );
        }
        let views = held
            .iter()
            .map(|(name, held)| (*name, held.view()))
            .collect();
        let inputs = Inputs { views };
        sizes_fit(case, &inputs)?;
        as_expected(case, &function(&inputs)?).map_err(|e| format!("{arrangement:?}: {e}"))?;
    }
    Ok(Arrangement::ALL.len() - 1)
}

/// Sizes of results, which gradient functions take from `grad_out`, must be those of the case.
fn sizes_fit(case: &Case, inputs: &Inputs<'_>) -> Result<(), String> {
    let shape = inputs.get("grad_out")?.shape();
    let fits = case
        .params
        .iter()
        .all(|(name, value)| match (name.as_str(), value) {
            ("shape", Json::Array(sizes)) => {
                let sizes = sizes.iter().map(|n| n.as_u64().map(|n| n as usize));
                sizes.eq(shape.iter().map(|&n| Some(n)))
            }
            ("num_segments", count) => count.as_u64() == shape.first().map(|&n| n as u64),
            _ => false,
        });
    fits.then_some(())
        .ok_or_else(|| format!("grad_out of shape {shape:?} does not fit"))
}

fn as_expected(case: &Case, made: &Gradients) -> Result<(), String> {
    for (name, raw) in &case.expect {
        let input = name.strip_prefix("grad_").unwrap_or(name);
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
