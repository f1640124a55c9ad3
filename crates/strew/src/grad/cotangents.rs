//! Vector-Jacobian products: from the cotangent of the result to those of the arguments.

use crate::grad::field::{
    Elements, Field, Graded, elements, for_graded, for_real, no_gradient, store,
};
use crate::grad::forward::{Forward, Gradients, Own, Rule, to_positions};
use crate::grad::passes::{Spot, each_cell, each_element, each_into, each_update};
use crate::grad::products::Products;
use crate::grad::route::packed;
use strew_kernel::copy::strided::duplicate;
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::cpu::vectorized::ask_for;
use strew_kernel::error::Problem;
use strew_kernel::tensor::{DynTensor, DynView, Element, Tensor};

/// Which cotangents to compute: of what the cells held before, and of the updates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) own: bool,
    pub(super) src: bool,
}

/// The cotangents that were wanted and exist.
type Made = (Option<DynTensor>, Option<DynTensor>);

impl Forward<'_> {
    /// The vector-Jacobian product.
    pub(super) fn vjp(&self, grad: &DynView<'_>) -> Result<Gradients, Problem> {
        let both = Wanted {
            own: true,
            src: true,
        };
        let (own, src) = self.vjp_of(grad, both)?;
        let src = src.expect("it is wanted");
        Ok(Gradients { own, src })
    }

    /// The parts of the vector-Jacobian product that are wanted.
    pub(super) fn vjp_of(&self, grad: &DynView<'_>, wanted: Wanted) -> Result<Made, Problem> {
        let _floats = DefaultFloats::enter();
        let grad = packed(grad, self.route.cells())?;
        let grad = grad.view();
        match self.rule {
            Rule::Sum => Ok((
                self.passed_through(&grad, wanted)?,
                when(wanted.src, || self.route.gather_dyn(&grad))?,
            )),
            Rule::Last => {
                let src = when(wanted.src, || {
                    let mut src = self.route.gather_dyn(&grad)?;
                    self.route.clear_losers(&mut src)?;
                    Ok(src)
                })?;
                Ok((self.passed_by(&grad, wanted)?, src))
            }
            Rule::First { max } => self.first_vjp(&grad, max, wanted),
            Rule::Mean => for_graded!(grad.dtype(), T => self.mean_vjp::<T>(&grad, wanted)),
            Rule::Ties => for_real!(
                grad.dtype(),
                T => self.ties_vjp::<T>(&grad, wanted),
                other => Err(no_gradient("grad", other))
            ),
            Rule::Prod => for_graded!(grad.dtype(), T => self.prod_vjp::<T>(&grad, wanted)),
        }
    }

    /// Of a sum: what the cells held before counts as a whole, or is replaced.
    fn passed_through(
        &self,
        grad: &DynView<'_>,
        wanted: Wanted,
    ) -> Result<Option<DynTensor>, Problem> {
        match self.own {
            Own::Counted(_) => when(wanted.own, || duplicate(grad)),
            _ => self.passed_by(grad, wanted),
        }
    }

    /// What passes by the updates to what the cells held before, where updates replace that.
    fn passed_by(&self, grad: &DynView<'_>, wanted: Wanted) -> Result<Option<DynTensor>, Problem> {
        let there = !matches!(self.own, Own::Nothing);
        when(wanted.own && there, || {
            let mut own = duplicate(grad)?;
            self.route.clear_touched(&mut own)?;
            Ok(own)
        })
    }

    fn mean_vjp<T: Graded>(&self, grad: &DynView<'_>, wanted: Wanted) -> Result<Made, Problem> {
        let (route, width) = (&self.route, self.route.width());
        let counted = matches!(self.own, Own::Counted(_));
        let more = i64::from(counted);
        if !counted && !grad.layout().is_contiguous() {
            // It may be broadcast, with more cells than memory holds.
            let src = when(wanted.src, || self.mean_of_gathered::<T>(grad))?;
            return Ok((self.passed_by(grad, wanted)?, src));
        }
        let grads: Elements<'_, T> = elements(grad)?;
        let grads = &grads[..];
        // Fewer cells than updates: the cells are divided first, then gathered by the updates.
        if counted || route.size() <= route.numbers().len() {
            let counts = route.counts()?;
            let shares: Tensor<T> = each_cell(
                route,
                #[inline(always)]
                |at: Spot, to| over(to, &grads[at.cell..], (counts[at.row] + more).max(1)),
            )?;
            let shares = shares.into_dyn();
            let src = when(wanted.src, || route.gather_dyn(&shares.view()))?;
            return match counted {
                true => Ok((wanted.own.then_some(shares), src)),
                false => Ok((self.passed_by(grad, wanted)?, src)),
            };
        }
        let src = when(wanted.src, || {
            let counts = route.counts_of_updates()?;
            let made = each_update(
                route,
                #[inline(always)]
                |cell| ask_for(row(grads, cell, width)),
                #[inline(always)]
                |at: Spot, to| over(to, &grads[at.cell..], counts[at.row]),
            )?;
            Ok(made.into_dyn())
        })?;
        Ok((self.passed_by(grad, wanted)?, src))
    }

    /// Each update's share of its cell's cotangent: one of as many as the cell has updates.
    fn mean_of_gathered<T: Graded>(&self, grad: &DynView<'_>) -> Result<DynTensor, Problem> {
        let route = &self.route;
        let counts = route.counts_of_updates()?;
        let gathered = route.gather_dyn(grad)?;
        let gathered = gathered.view();
        let gathered: Elements<'_, T> = elements(&gathered)?;
        let gathered = &gathered[..];
        let made = each_update(
            route,
            #[inline(always)]
            |_| {},
            #[inline(always)]
            |at: Spot, to| over(to, &gathered[at.update..], counts[at.row]),
        )?;
        Ok(made.into_dyn())
    }

    fn ties_vjp<T: Graded>(&self, grad: &DynView<'_>, wanted: Wanted) -> Result<Made, Problem> {
        // Counts are bytes that saturate: nearly all counts fit.
        let few: Tensor<u8> = self.count_ties::<T, u8>()?;
        if few.as_slice().contains(&u8::MAX) {
            let many: Tensor<i64> = self.count_ties::<T, i64>()?;
            return self.ties_among::<T, i64>(grad, &many, wanted);
        }
        self.ties_among::<T, u8>(grad, &few, wanted)
    }

    /// How many equal the result of each cell.
    fn count_ties<T: Graded, N: Count>(&self) -> Result<Tensor<N>, Problem> {
        let (route, width) = (&self.route, self.route.width());
        let results: Elements<'_, T> = elements(self.result()?)?;
        let src: Elements<'_, T> = elements(&self.src)?;
        let (results, src) = (&results[..], &src[..]);
        let mut counts = match &self.own {
            Own::Counted(view) => {
                let own: Elements<'_, T> = elements(view)?;
                each_element(
                    route.cells(),
                    #[inline(always)]
                    |first, to: &mut [N]| {
                        to.fill(N::NONE);
                        count(to, &own[first..], &results[first..]);
                    },
                )?
            }
            Own::Nothing | Own::Replaced => Tensor::zeros(route.cells())?,
        };
        each_into(
            route,
            &mut counts,
            #[inline(always)]
            |at| {
                ask_for(row(results, at.cell, width));
                ask_for(row(src, at.update, width));
            },
            #[inline(always)]
            |counts, at| count(counts, &src[at.update..], &results[at.cell..]),
        )?;
        Ok(counts)
    }

    fn ties_among<T: Graded, N: Count>(
        &self,
        grad: &DynView<'_>,
        counts: &Tensor<N>,
        wanted: Wanted,
    ) -> Result<Made, Problem> {
        let (route, width) = (&self.route, self.route.width());
        let counts = counts.as_slice();
        let grads: Elements<'_, T> = elements(grad)?;
        let results: Elements<'_, T> = elements(self.result()?)?;
        let (grads, results) = (&grads[..], &results[..]);
        let ties = Ties {
            grads,
            results,
            counts,
        };
        let src = when(wanted.src, || {
            let src: Elements<'_, T> = elements(&self.src)?;
            let src = &src[..];
            let made = each_update(
                route,
                #[inline(always)]
                |cell| {
                    ask_for(row(grads, cell, width));
                    ask_for(row(results, cell, width));
                    ask_for(row(counts, cell, width));
                },
                #[inline(always)]
                |at: Spot, to| ties.share(to, &src[at.update..], at.cell),
            )?;
            Ok(made.into_dyn())
        })?;
        let own = match &self.own {
            Own::Counted(view) => when(wanted.own, || {
                let own: Elements<'_, T> = elements(view)?;
                let own = &own[..];
                let made = each_cell(
                    route,
                    #[inline(always)]
                    |at: Spot, to| ties.share(to, &own[at.cell..], at.cell),
                )?;
                Ok(made.into_dyn())
            })?,
            _ => self.passed_by(grad, wanted)?,
        };
        Ok((own, src))
    }

    fn prod_vjp<T: Graded>(&self, grad: &DynView<'_>, wanted: Wanted) -> Result<Made, Problem> {
        if self.src.dtype() == T::DTYPE {
            return self.prod_of::<T, T>(grad, wanted);
        }
        let (own, src) = self.prod_of::<T, T::Wide>(grad, wanted)?;
        let narrow = |src: DynTensor| {
            let src: Tensor<T::Wide> = crate::grad::typed(src);
            store(src, self.src.dtype(), self.route.updates())
        };
        Ok((own, src.map(narrow).transpose()?))
    }

    /// `S` is what the updates are read as.
    fn prod_of<T: Graded, S: Graded<Wide = T::Wide>>(
        &self,
        grad: &DynView<'_>,
        wanted: Wanted,
    ) -> Result<Made, Problem> {
        let (route, width) = (&self.route, self.route.width());
        let grads: Elements<'_, T> = elements(grad)?;
        let src: Elements<'_, S> = elements(&self.src)?;
        let own: Option<Elements<'_, T>> = match &self.own {
            Own::Counted(view) => Some(elements(view)?),
            Own::Nothing | Own::Replaced => None,
        };
        let products = match Products::known::<T>(self.result.as_ref())? {
            Some(products) => products,
            None => Products::new(route, &src, own.as_deref())?,
        };
        let (grads, src, weights) = (&grads[..], &src[..], products.weights());
        let to_src = when(wanted.src, || {
            let made = each_update(
                route,
                #[inline(always)]
                |cell| {
                    ask_for(row(grads, cell, width));
                    weights.ask(cell, width);
                },
                #[inline(always)]
                |at: Spot, to: &mut [S]| {
                    let (grads, src) = (&grads[at.cell..], &src[at.update..]);
                    weights.times(to, grads, src, at.cell);
                },
            )?;
            Ok(made.into_dyn())
        })?;
        let to_own = match own {
            Some(own) => when(wanted.own, || {
                let (own, touched) = (&own[..], route.touched()?);
                let made = each_cell(
                    route,
                    #[inline(always)]
                    |at: Spot, to: &mut [T]| {
                        let (grads, own) = (&grads[at.cell..], &own[at.cell..]);
                        // A NaN by itself is no 1 when it is divided by itself.
                        match touched[at.row] {
                            true => weights.times(to, grads, own, at.cell),
                            false => to.copy_from_slice(&grads[..to.len()]),
                        }
                    },
                )?;
                Ok(made.into_dyn())
            })?,
            None => self.passed_by(grad, wanted)?,
        };
        Ok((to_own, to_src))
    }

    fn first_vjp(&self, grad: &DynView<'_>, max: bool, wanted: Wanted) -> Result<Made, Problem> {
        let at = self.winners(max)?;
        let src = when(wanted.src, || {
            let at = at.view().into_dyn();
            to_positions(grad, &at, self.route.axis(), self.route.updates())
        })?;
        let own = match self.own {
            Own::Counted(_) => when(wanted.own, || {
                let mut own = duplicate(grad)?;
                let size = own.dtype().size();
                let cells = own.as_bytes_mut().chunks_exact_mut(size);
                for (cell, &at) in cells.zip(at.as_slice()) {
                    if at < self.route.none() as i64 {
                        cell.fill(0);
                    }
                }
                Ok(own)
            })?,
            _ => self.passed_by(grad, wanted)?,
        };
        Ok((own, src))
    }

    /// The result that a minimum or maximum is compared with.
    fn result(&self) -> Result<&DynView<'_>, Problem> {
        let result = self.result.as_ref();
        result.ok_or(Problem::Missing { argument: "result" })
    }
}

/// A part of the result, if it is wanted.
fn when<R>(wanted: bool, make: impl FnOnce() -> Result<R, Problem>) -> Result<Option<R>, Problem> {
    wanted.then(make).transpose()
}

/// The row of `width` elements that begins there.
#[inline(always)]
fn row<T>(all: &[T], from: usize, width: usize) -> &[T] {
    &all[from..from + width]
}

/// Each element divided by `count`.
#[inline(always)]
fn over<T: Graded>(to: &mut [T], from: &[T], count: i64) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = T::narrow(from.widen().over(count));
    }
}

/// The gradients of the values that equal their cell's result: equal shares of the cell's gradient.
struct Ties<'t, T, N> {
    grads: &'t [T],
    results: &'t [T],
    counts: &'t [N],
}

impl<T: Graded, N: Count> Ties<'_, T, N> {
    /// The share of each of the values, whose cells begin there.
    #[inline(always)]
    fn share(&self, to: &mut [T], values: &[T], cell: usize) {
        let results = self.results[cell..].iter().zip(&self.counts[cell..]);
        let cells = self.grads[cell..].iter().zip(results);
        for ((to, value), (grad, (result, count))) in to.iter_mut().zip(values).zip(cells) {
            let share = T::narrow(grad.widen().over(count.number()));
            let tied = value.widen().ties(result.widen());
            *to = if tied { share } else { T::nothing() };
        }
    }
}

/// Adds 1 to the counts of those that equal the result.
#[inline(always)]
fn count<T: Graded, N: Count>(counts: &mut [N], values: &[T], results: &[T]) {
    for (count, (value, result)) in counts.iter_mut().zip(values.iter().zip(results)) {
        *count = count.plus(value.widen().ties(result.widen()));
    }
}

/// A number of updates.
trait Count: Element {
    const NONE: Self;
    /// One more, or not.
    fn plus(self, one: bool) -> Self;
    fn number(self) -> i64;
}

impl Count for u8 {
    const NONE: Self = 0;
    #[inline(always)]
    fn plus(self, one: bool) -> Self {
        self.saturating_add(u8::from(one))
    }
    #[inline(always)]
    fn number(self) -> i64 {
        self.into()
    }
}

impl Count for i64 {
    const NONE: Self = 0;
    #[inline(always)]
    fn plus(self, one: bool) -> Self {
        self + i64::from(one)
    }
    #[inline(always)]
    fn number(self) -> i64 {
        self
    }
}
