//! How `ufunc.at` runs: by loops of a scatter, or one step after the other.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::{Call, Work};
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::custom::{Steps, Stepwise};
use crate::dialect::framework::indexing::indexed;
use crate::dialect::framework::scatter_forms::in_place;
use crate::dialect::numpy::call;
use crate::dialect::numpy::casting::computed_in;
use strew_engine::describe::destinations::row_ids::RowNumbers;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Output, Scatter, Start, Target};
use strew_kernel::elementwise::ufunc::{Ufunc, apply};
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::cast::{converted, same_values};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::{DType, DynTensor, DynView, DynViewMut, Held, overlap_each_other};

pub(super) fn lower<'a>(
    operator: &'static str,
    ufunc: Ufunc,
    a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: Option<DynView<'a>>,
) -> Result<Call<'a>> {
    call(operator, describe(ufunc, a, indices, b))
}

fn describe<'a>(
    ufunc: Ufunc,
    mut a: DynViewMut<'a>,
    indices: &[Option<DynView<'a>>],
    b: Option<DynView<'a>>,
) -> Result<Work<'a>, Problem> {
    let own = a.dtype();
    let of = b.as_ref().map_or(own, DynView::dtype);
    let via = computed_in(ufunc, own, of).ok_or_else(|| Problem::Unsupported {
        what: format!("the function, given {of},"),
        dtype: own,
    })?;
    let places = indexed(a.shape(), "indices", indices, WRAP)?;
    let operands: Held<'a> = match b {
        None => DynTensor::zeros(via, &[])?.into(),
        Some(b) => {
            let (at, layout) = (b.as_ptr().addr(), b.layout());
            // As in NumPy, operands are read before the first write.
            let shared = overlap_each_other(a.as_mut_ptr().addr(), a.layout(), at, layout);
            match b.dtype() == via && !shared {
                true => b.into(),
                false => converted(&b, via)?.into(),
            }
        }
    };
    let operands = match own == via {
        true => operands,
        false => narrowed(ufunc, operands, own)?,
    };
    let wanted = places.updates_shape();
    let found = operands.view().shape().to_vec();
    let operands = operands.map(|operands| operands.broadcast_to(wanted));
    let operands = operands.ok_or_else(|| Problem::Shape {
        argument: "b",
        found,
        expected: format!("it must broadcast to what is indexed, {wanted:?}"),
    })?;
    if operands.view().dtype() == own
        && let Some(combine) = loops_of(ufunc, own)
    {
        let reduction = Reduction::into_self(combine);
        return Ok(in_place(("a", a), places, reduction, "b", operands)?.into());
    }
    // This scatter only checks the arguments. It is never run.
    let dtype = operands.view().dtype();
    let start = Start::Zero;
    let copy = Reduction::into_self(Combine::Assign);
    let checks = Scatter::new(places, copy, "b", operands, Target::New { dtype, start })?;
    Ok(Stepwise::new(OneByOne { ufunc, checks, a }).into())
}

/// The engine's reduction with the same results, if there is one. Not for sums of 16-bit floats:
/// the engine rounds those once, NumPy at each step.
fn loops_of(ufunc: Ufunc, dtype: DType) -> Option<Combine> {
    let ordered = !dtype.is_complex();
    let stepwise = dtype.accumulator() != dtype;
    match ufunc {
        Ufunc::Add | Ufunc::Subtract | Ufunc::Multiply | Ufunc::Divide if stepwise => None,
        Ufunc::Add => Some(Combine::Sum),
        Ufunc::Subtract => Some(Combine::Sub),
        Ufunc::Multiply => Some(Combine::Prod),
        Ufunc::Divide if dtype.is_float() => Some(Combine::Div),
        Ufunc::Maximum if ordered => Some(Combine::Max(Nan::Propagate)),
        Ufunc::Minimum if ordered => Some(Combine::Min(Nan::Propagate)),
        _ => None,
    }
}

/// The operands converted to the cells' type where that changes no result. Integers modulo 2^k are
/// the same in any wider type. Floats that convert exactly are too: a result of twice the digits
/// rounds to that of half of them.
fn narrowed<'a>(ufunc: Ufunc, operands: Held<'a>, own: DType) -> Result<Held<'a>, Problem> {
    let via = operands.view().dtype();
    let wraps = own.is_integer() && via.is_integer();
    let modular = matches!(
        ufunc,
        Ufunc::Add
            | Ufunc::Subtract
            | Ufunc::Multiply
            | Ufunc::BitwiseAnd
            | Ufunc::BitwiseOr
            | Ufunc::BitwiseXor
    );
    let rounds = matches!(
        ufunc,
        Ufunc::Add
            | Ufunc::Subtract
            | Ufunc::Multiply
            | Ufunc::Divide
            | Ufunc::Maximum
            | Ufunc::Minimum
            | Ufunc::Fmax
            | Ufunc::Fmin
    );
    let floats = own.is_float() && via.is_float() && rounds;
    if !(wraps && modular || floats) {
        return Ok(operands);
    }
    let narrow = converted(operands.view(), own)?;
    match wraps || same_values(&narrow.view(), operands.view()) {
        true => Ok(narrow.into()),
        false => Ok(operands),
    }
}

/// Cells and operands that go one by one.
#[derive(Debug)]
struct OneByOne<'a> {
    ufunc: Ufunc,
    /// Where the operands go, and what they are.
    checks: Scatter<'a>,
    a: DynViewMut<'a>,
}

impl Steps for OneByOne<'_> {
    fn elements(&self) -> usize {
        let updates = self.checks.destinations().updates_shape().iter();
        updates.fold(1, |all, &len| all.saturating_mul(len))
    }

    fn perform(&mut self) -> Result<Output, Problem> {
        self.checks.check_overlap("a", &mut self.a)?;
        let operands = self.checks.updates();
        if self.ufunc == Ufunc::Power {
            expect_no_negative(operands)?;
        }
        let RowNumbers { numbers, width, .. } = self.checks.destinations().row_numbers()?;
        apply(self.ufunc, &mut self.a, &numbers, width, operands);
        Ok(Output::default())
    }
}

/// Integers have no negative powers.
fn expect_no_negative(exponents: &DynView<'_>) -> Result<(), Problem> {
    if !exponents.dtype().is_integer() || exponents.dtype() == DType::U64 {
        return Ok(());
    }
    let mut found = None;
    exponents.without_repeats().all_integers(|block| {
        found = block.iter().copied().find(|&value| value < 0);
        found.is_none()
    });
    match found {
        None => Ok(()),
        Some(value) => Err(wrong_value(
            "b",
            value,
            "Integers to negative integer powers are not allowed",
        )),
    }
}
