//! Derivatives, typed from their rules: for every cell, a loop over what goes there.

use super::number::{extremes, finite_extremes, read, write};
use super::{Array, Num};
use strew::DType;

/// Which cell each element of the source goes to; none for those that are not read, or are left out.
#[derive(Clone, Debug)]
pub(crate) struct Road {
    pub(crate) to: Vec<Option<usize>>,
    /// The source's coordinate along the scattered axis.
    pub(crate) position: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    Sum,
    Mean,
    Prod,
    /// amin and amax.
    Ties,
    Min,
    Max,
    Assign,
}

/// What the cells held before.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Own<'a> {
    Nothing,
    Replaced(&'a Array),
    Counted(&'a Array),
}

/// A forward computation.
#[derive(Clone, Debug)]
pub(crate) struct Forward<'a> {
    pub(crate) road: Road,
    pub(crate) rule: Rule,
    pub(crate) own: Own<'a>,
    pub(crate) src: &'a Array,
    pub(crate) result: &'a Array,
}

/// One cell: its own number if it counts, and the source's elements that go there, in their order.
struct Cell {
    own: Option<Num>,
    elements: Vec<usize>,
    numbers: Vec<Num>,
}

/// Who a share goes to.
#[derive(Clone, Copy, PartialEq)]
enum Winner {
    Nobody,
    Own,
    Element(usize),
}

impl Forward<'_> {
    fn dtype(&self) -> DType {
        self.result.dtype
    }

    fn zero(&self) -> Num {
        Num::zero(self.dtype())
    }

    fn cells(&self) -> Vec<Cell> {
        let mut all: Vec<Cell> = (0..self.result.data.len())
            .map(|cell| Cell {
                own: match self.own {
                    Own::Counted(input) => Some(input.num(cell)),
                    _ => None,
                },
                elements: Vec::new(),
                numbers: Vec::new(),
            })
            .collect();
        for (element, to) in self.road.to.iter().enumerate() {
            if let Some(cell) = to {
                all[*cell].elements.push(element);
                all[*cell]
                    .numbers
                    .push(self.src.num(element).widened(self.dtype()));
            }
        }
        all
    }

    fn zeros(&self) -> (Array, Array) {
        let cells = Array::filled(self.dtype(), &self.result.shape, 0);
        (cells, Array::filled(self.src.dtype, &self.src.shape, 0))
    }

    /// P, z and the weight of each factor: the own one, and those of the elements.
    fn weights(&self, cell: &Cell) -> (Option<Num>, Vec<Num>) {
        let dtype = self.dtype();
        let one = Num::one(dtype);
        let factors: Vec<Num> = cell.own.iter().chain(&cell.numbers).copied().collect();
        let zeros = factors.iter().filter(|f| f.is_zero()).count();
        let filled = |f: Num| if f.is_zero() { one } else { f };
        let mut product = cell.own.map_or(one, filled);
        for &f in &cell.numbers {
            product = product.mul(dtype, filled(f));
        }
        let weight = |f: Num| match (zeros, f.is_zero()) {
            (0, _) => product.quotient(f),
            (1, true) => product,
            _ => Num::zero(dtype),
        };
        let own = cell.own.map(weight);
        (own, cell.numbers.iter().copied().map(weight).collect())
    }

    /// How those weights change in a direction.
    fn turned(&self, cell: &Cell, own: Option<Num>, elements: &[Num]) -> (Option<Num>, Vec<Num>) {
        let dtype = self.dtype();
        let (zero, one) = (Num::zero(dtype), Num::one(dtype));
        let own = cell.own.zip(own);
        let pairs: Vec<(Num, Num)> = cell
            .numbers
            .iter()
            .copied()
            .zip(elements.iter().copied())
            .collect();
        let quotient = |(f, t): (Num, Num)| if f.is_zero() { zero } else { t.quotient(f) };
        let at_zero = |(f, t): (Num, Num)| if f.is_zero() { t } else { zero };
        let filled = |f: Num| if f.is_zero() { one } else { f };
        let mut product = own.map_or(one, |(f, _)| filled(f));
        let mut sum = own.map_or(zero, quotient);
        let mut rest = own.map_or(zero, at_zero);
        let mut zeros = usize::from(own.is_some_and(|(f, _)| f.is_zero()));
        for &pair in &pairs {
            product = product.mul(dtype, filled(pair.0));
            sum = sum.add(dtype, quotient(pair));
            rest = rest.add(dtype, at_zero(pair));
            zeros += usize::from(pair.0.is_zero());
        }
        let turn = |(f, t): (Num, Num)| match (f.is_zero(), zeros) {
            (false, 0) => product.quotient(f).mul(dtype, sum.minus(t.quotient(f))),
            (false, 1) => product.quotient(f).mul(dtype, rest),
            (true, 1) => product.mul(dtype, sum),
            (true, 2) => product.mul(dtype, rest.minus(t)),
            _ => zero,
        };
        (own.map(turn), pairs.into_iter().map(turn).collect())
    }

    /// Who of a cell's own value and its elements equals the result, and how many do.
    fn tied(&self, cell: &Cell, result: Num) -> (bool, Vec<bool>, u64) {
        let own = cell.own.is_some_and(|own| own.ties(result));
        let elements: Vec<bool> = cell.numbers.iter().map(|n| n.ties(result)).collect();
        let count = elements.iter().filter(|&&tied| tied).count() + usize::from(own);
        (own, elements, count as u64)
    }

    /// The first that no other beats strictly.
    fn winner(&self, cell: &Cell) -> Winner {
        let (dtype, max) = (self.dtype(), self.rule == Rule::Max);
        let edge = |(low, high): (u128, u128)| read(dtype, if max { low } else { high });
        let (mut best, mut winner) = match (cell.own, self.own) {
            (Some(own), _) => (own, Winner::Own),
            (None, Own::Nothing) => (edge(finite_extremes(dtype)), Winner::Nobody),
            (None, _) => (edge(extremes(dtype)), Winner::Nobody),
        };
        for (&number, &element) in cell.numbers.iter().zip(&cell.elements) {
            let beats = match max {
                true => best.less(number),
                false => number.less(best),
            };
            if beats {
                (best, winner) = (number, Winner::Element(element));
            }
        }
        winner
    }

    /// Gradients with respect to what the cells held before, and to the source.
    pub(crate) fn vjp(&self, grad: &Array) -> (Array, Array) {
        let (mut to_own, mut to_src) = self.zeros();
        let (dtype, src_dtype) = (self.dtype(), self.src.dtype);
        for (at, cell) in self.cells().iter().enumerate() {
            let bits = grad.data[at];
            let g = grad.num(at);
            if cell.elements.is_empty() {
                to_own.data[at] = bits;
                continue;
            }
            let n = cell.elements.len() as u64 + u64::from(cell.own.is_some());
            match self.rule {
                Rule::Sum => {
                    cell.elements.iter().for_each(|&e| to_src.data[e] = bits);
                    if cell.own.is_some() {
                        to_own.data[at] = bits;
                    }
                }
                Rule::Mean => {
                    let share = write(dtype, g.divide(n));
                    cell.elements.iter().for_each(|&e| to_src.data[e] = share);
                    if cell.own.is_some() {
                        to_own.data[at] = share;
                    }
                }
                Rule::Prod => {
                    let (own, weights) = self.weights(cell);
                    let times = |w: &Num| g.mul(dtype, w.conj());
                    for (&e, w) in cell.elements.iter().zip(&weights) {
                        to_src.data[e] = times(w).written(src_dtype);
                    }
                    if let Some(w) = own {
                        to_own.data[at] = write(dtype, times(&w));
                    }
                }
                Rule::Ties => {
                    let (own, tied, count) = self.tied(cell, self.result.num(at));
                    for (&e, _) in cell.elements.iter().zip(&tied).filter(|(_, tied)| **tied) {
                        to_src.data[e] = write(dtype, g.divide(count));
                    }
                    if own {
                        to_own.data[at] = write(dtype, g.divide(count));
                    }
                }
                Rule::Min | Rule::Max => match self.winner(cell) {
                    Winner::Own => to_own.data[at] = bits,
                    Winner::Element(e) => to_src.data[e] = bits,
                    Winner::Nobody => {}
                },
                Rule::Assign => to_src.data[*cell.elements.last().unwrap()] = bits,
            }
        }
        (to_own, to_src)
    }

    /// The tangent of the result.
    pub(crate) fn jvp(&self, own_tangent: Option<&Array>, src_tangent: &Array) -> Array {
        let dtype = self.dtype();
        let (mut made, _) = self.zeros();
        for (at, cell) in self.cells().iter().enumerate() {
            let own = own_tangent.map(|t| t.num(at));
            if cell.elements.is_empty() {
                made.data[at] = own_tangent.map_or(0, |t| t.data[at]);
                continue;
            }
            let counted = own.filter(|_| cell.own.is_some());
            let tangent = |e: usize| src_tangent.num(e).widened(dtype);
            let sum = |start: Num, each: &mut dyn Iterator<Item = Num>| {
                each.fold(start, |sum, t| sum.add(dtype, t))
            };
            let zero = self.zero();
            let mut elements = cell.elements.iter().map(|&e| tangent(e));
            let number = match self.rule {
                Rule::Sum => sum(counted.unwrap_or(zero), &mut elements),
                Rule::Mean => {
                    let n = cell.elements.len() as u64 + u64::from(counted.is_some());
                    sum(counted.unwrap_or(zero), &mut elements).divide(n)
                }
                Rule::Prod => {
                    let (own, weights) = self.weights(cell);
                    let start = counted.zip(own).map_or(zero, |(t, w)| t.mul(dtype, w));
                    let each = elements.zip(&weights);
                    sum(start, &mut each.map(|(t, w)| t.mul(dtype, *w)))
                }
                Rule::Ties => {
                    let (own, tied, count) = self.tied(cell, self.result.num(at));
                    let start = counted.filter(|_| own).unwrap_or(zero);
                    let chosen = elements.zip(&tied);
                    let mut chosen = chosen.map(|(t, tied)| if *tied { t } else { zero });
                    let total = sum(start, &mut chosen);
                    if count == 0 {
                        zero
                    } else {
                        total.divide(count)
                    }
                }
                Rule::Min | Rule::Max | Rule::Assign => {
                    let winner = match self.rule {
                        Rule::Assign => Winner::Element(*cell.elements.last().unwrap()),
                        _ => self.winner(cell),
                    };
                    made.data[at] = match winner {
                        Winner::Own => own_tangent.unwrap().data[at],
                        Winner::Element(e) => src_tangent.data[e],
                        Winner::Nobody => 0,
                    };
                    continue;
                }
            };
            made.data[at] = write(dtype, number);
        }
        made
    }

    /// The double backward of a product.
    pub(crate) fn double_vjp(
        &self,
        grad: &Array,
        own_cotangent: Option<&Array>,
        src_cotangent: &Array,
    ) -> (Array, Array, Array) {
        let dtype = self.dtype();
        let to_grad = self.jvp(own_cotangent, src_cotangent);
        let (mut to_own, mut to_src) = self.zeros();
        for (at, cell) in self.cells().iter().enumerate() {
            if cell.elements.is_empty() {
                continue;
            }
            let own = own_cotangent.map(|t| t.num(at));
            let tangents: Vec<Num> = cell
                .elements
                .iter()
                .map(|&e| src_cotangent.num(e).widened(dtype))
                .collect();
            let (own, turned) = self.turned(cell, own, &tangents);
            let g = grad.num(at);
            for (&e, w) in cell.elements.iter().zip(&turned) {
                to_src.data[e] = g.mul(dtype, w.conj()).written(self.src.dtype);
            }
            if let Some(w) = own {
                to_own.data[at] = write(dtype, g.mul(dtype, w.conj()));
            }
        }
        (to_grad, to_own, to_src)
    }
}

/// `dim` is not negative here; 0-d arrays count as 1-d. Only the corner of `src` that `index` covers is read.
pub(crate) fn torch_road(input: &Array, dim: usize, index: &Array, src: &Array) -> Road {
    let one = |a: &Array| {
        let mut a = a.clone();
        if a.shape.is_empty() {
            a.shape.push(1);
        }
        a
    };
    let (input, index, src) = (one(input), one(index), one(src));
    let mut road = Road {
        to: vec![None; src.data.len()],
        position: vec![0; src.data.len()],
    };
    for c in super::coordinates(&index.shape) {
        let mut cell = c.clone();
        cell[dim] = index.int(index.flat(&c)) as usize;
        let at = src.flat(&c);
        road.to[at] = Some(input.flat(&cell));
        road.position[at] = c[dim];
    }
    road
}

/// `index` has one value for each coordinate of `src` along `dim`; values beyond `cells.shape[dim]` are left out.
pub(crate) fn plan_road(cells: &Array, dim: usize, index: &[i64], src: &Array) -> Road {
    let mut road = Road {
        to: vec![None; src.data.len()],
        position: vec![0; src.data.len()],
    };
    for (at, mut c) in super::coordinates(&src.shape).enumerate() {
        road.position[at] = c[dim];
        let row = usize::try_from(index[c[dim]]).unwrap_or(usize::MAX);
        if row < cells.shape[dim] {
            c[dim] = row;
            road.to[at] = Some(cells.flat(&c));
        }
    }
    road
}
