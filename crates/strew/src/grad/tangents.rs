//! Jacobian-vector products: from tangents of the arguments to the tangent of the result.

use crate::grad::field::{Field, for_field, load, store};
use crate::grad::forward::{Forward, Own, Rule, copy};
use crate::grad::route::{Packed, packed, rows};
use strew_engine::plan::reduce::Reduce;
use strew_kernel::copy::strided::duplicate;
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::error::Problem;
use strew_kernel::tensor::{DynTensor, DynView, Tensor};

impl Forward<'_> {
    /// The tangent of the result, given those of what the cells held before, if that was the
    /// caller's, and of the updates.
    pub(super) fn jvp(
        &self,
        own: Option<&DynView<'_>>,
        src: &DynView<'_>,
    ) -> Result<DynTensor, Problem> {
        let _floats = DefaultFloats::enter();
        let (cells, updates) = (self.route.cells(), self.route.updates());
        let own = own.map(|own| packed(own, cells)).transpose()?;
        let own = own.as_ref().map(Packed::view);
        let src = packed(src, updates)?;
        let src = src.view();
        match self.rule {
            Rule::Sum => self.linear(own.as_ref(), &src, Reduce::Sum),
            Rule::Mean => self.linear(own.as_ref(), &src, Reduce::Mean),
            Rule::Last => self.linear(own.as_ref(), &src, Reduce::Assign),
            Rule::First { max } => self.first_jvp(own.as_ref(), &src, max),
            Rule::Ties => for_field!(src.dtype(), A => self.ties_jvp::<A>(own.as_ref(), &src)),
            Rule::Prod => {
                let dtype = own.as_ref().map_or(src.dtype(), DynView::dtype);
                for_field!(dtype, A => self.prod_jvp::<A>(own.as_ref(), &src))
            }
        }
    }

    /// Of a linear reduction: the reduction itself.
    fn linear(
        &self,
        own: Option<&DynView<'_>>,
        src: &DynView<'_>,
        reduce: Reduce,
    ) -> Result<DynTensor, Problem> {
        let Some(own) = own else {
            return self.route.scatter_dyn(src, reduce);
        };
        let mut made = duplicate(own)?;
        let counted = matches!(self.own, Own::Counted(_));
        self.route
            .scatter_into_dyn(src, reduce, made.view_mut(), counted)?;
        Ok(made)
    }

    fn prod_jvp<A: Field>(
        &self,
        own: Option<&DynView<'_>>,
        src: &DynView<'_>,
    ) -> Result<DynTensor, Problem> {
        let dtype = own.map_or(src.dtype(), DynView::dtype);
        let src: Tensor<A> = load(src, self.route.updates())?;
        let own: Option<Tensor<A>> = own.map(|own| load(own, self.route.cells())).transpose()?;
        let moved = self.moved(&self.factors::<A>()?, own.as_ref(), &src)?;
        store(moved, dtype, self.route.cells())
    }

    fn ties_jvp<A: Field>(
        &self,
        own: Option<&DynView<'_>>,
        src: &DynView<'_>,
    ) -> Result<DynTensor, Problem> {
        let (route, dtype) = (&self.route, src.dtype());
        let ties = self.ties::<A>()?;
        let chosen = |t: &mut Tensor<A>, marks: &Tensor<i64>| {
            let pairs = t.as_mut_slice().iter_mut().zip(marks.as_slice());
            pairs.for_each(|(t, &mark)| *t = if mark == 1 { *t } else { A::ZERO });
        };
        let mut src: Tensor<A> = load(src, route.updates())?;
        chosen(&mut src, &ties.src);
        let own: Option<Tensor<A>> = own.map(|own| load(own, route.cells())).transpose()?;
        let mut cells = match (&own, &ties.own) {
            (Some(own), Some(marks)) => {
                let mut own = copy(own)?;
                chosen(&mut own, marks);
                own
            }
            _ => Tensor::zeros(route.cells())?,
        };
        route.join(&src, Reduce::Sum, &mut cells)?;
        let counts = ties.counts.as_slice();
        for (cell, &count) in cells.as_mut_slice().iter_mut().zip(counts) {
            // 0 where no update goes, or where the result is that of other updates.
            *cell = if count > 0 { cell.over(count) } else { A::ZERO };
        }
        if let Some(own) = &own {
            route.keep_untouched(&mut cells, |at| own.as_slice()[at])?;
        }
        store(cells, dtype, route.cells())
    }

    fn first_jvp(
        &self,
        own: Option<&DynView<'_>>,
        src: &DynView<'_>,
        max: bool,
    ) -> Result<DynTensor, Problem> {
        let at = self.winners(max)?;
        let mut made = match (own, &self.own) {
            (Some(own), Own::Counted(_)) => duplicate(own)?,
            (Some(own), _) => {
                let mut made = duplicate(own)?;
                self.route.clear_touched(&mut made)?;
                made
            }
            (None, _) => DynTensor::zeros(src.dtype(), self.route.cells())?,
        };
        from_positions(src, &at.view().into_dyn(), self.route.axis(), &mut made)?;
        Ok(made)
    }
}

/// Sets each cell that has a position along `axis` to the element there; the others stay as they
/// are. Positions are not negative.
pub(super) fn from_positions(
    src: &DynView<'_>,
    at: &DynView<'_>,
    axis: usize,
    cells: &mut DynTensor,
) -> Result<(), Problem> {
    let shape = cells.shape().to_vec();
    let along = src.shape()[axis];
    let inner: usize = shape[axis + 1..].iter().product();
    let size = src.dtype().size();
    let (src, at) = (duplicate(src)?, duplicate(at)?);
    let at = at.typed::<i64>().map_err(|at| Problem::DType {
        argument: "arg",
        found: at.dtype(),
        expected: "it must be int64".into(),
    })?;
    let (from, to) = (src.as_bytes(), cells.as_bytes_mut());
    let mut stretch = 0;
    rows(&shape, axis, |_, range| {
        let outer = stretch / shape[axis];
        stretch += 1;
        for (column, cell) in range.enumerate() {
            let row = usize::try_from(at.as_slice()[cell]).unwrap_or(usize::MAX);
            if row < along {
                let place = ((outer * along + row) * inner + column) * size;
                to[cell * size..][..size].copy_from_slice(&from[place..][..size]);
            }
        }
    });
    Ok(())
}
