//! Statistics of groups of single values, as plain loops.
//!
//! Floats are accumulated in `f64`. The results of a group without values are those of the loop.

/// A type of values.
pub trait Value: Copy + PartialOrd {
    /// No value is less.
    const LOWEST: Self;
    /// No value is greater.
    const HIGHEST: Self;
    /// What sums are made in.
    type Sum: Copy;
    /// A sum of nothing.
    const ZERO: Self::Sum;
    /// A product of nothing.
    const ONE: Self::Sum;
    /// The sum and the value.
    fn add(self, sum: Self::Sum) -> Self::Sum;
    /// The product and the value.
    fn multiply(self, product: Self::Sum) -> Self::Sum;
    /// The sum and the square of the value.
    fn add_square(self, sum: Self::Sum) -> Self::Sum;
    /// A sum as a value.
    fn narrow(sum: Self::Sum) -> Self;
    /// What means are made of.
    fn float(self) -> f64;
    /// Whether it is zero.
    fn is_zero(self) -> bool;
}

macro_rules! floats {
    ($($t:ident),*) => {$(
        impl Value for $t {
            const LOWEST: Self = Self::NEG_INFINITY;
            const HIGHEST: Self = Self::INFINITY;
            type Sum = f64;
            const ZERO: f64 = 0.0;
            const ONE: f64 = 1.0;
            fn add(self, sum: f64) -> f64 {
                sum + f64::from(self)
            }
            fn multiply(self, product: f64) -> f64 {
                product * f64::from(self)
            }
            fn add_square(self, sum: f64) -> f64 {
                sum + f64::from(self) * f64::from(self)
            }
            #[allow(clippy::cast_possible_truncation)]
            fn narrow(sum: f64) -> Self {
                sum as Self
            }
            fn float(self) -> f64 {
                self.into()
            }
            fn is_zero(self) -> bool {
                self == 0.0
            }
        }
    )*};
}

floats!(f32, f64);

impl Value for i64 {
    const LOWEST: Self = Self::MIN;
    const HIGHEST: Self = Self::MAX;
    type Sum = Self;
    const ZERO: Self = 0;
    const ONE: Self = 1;
    fn add(self, sum: Self) -> Self {
        sum.wrapping_add(self)
    }
    fn multiply(self, product: Self) -> Self {
        product.wrapping_mul(self)
    }
    fn add_square(self, sum: Self) -> Self {
        sum.wrapping_add(self.wrapping_mul(self))
    }
    fn narrow(sum: Self) -> Self {
        sum
    }
    #[allow(clippy::cast_precision_loss)]
    fn float(self) -> f64 {
        self as f64
    }
    fn is_zero(self) -> bool {
        self == 0
    }
}

/// The statistics whose results are of the values' type, by the number that `edge` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Same {
    /// Sums.
    Sum,
    /// Products.
    Prod,
    /// Sums of squares.
    SumSquares,
    /// The smallest values.
    Min,
    /// The largest.
    Max,
    /// The first.
    First,
    /// The last.
    Last,
}

impl Same {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Sum,
        Self::Prod,
        Self::SumSquares,
        Self::Min,
        Self::Max,
        Self::First,
        Self::Last,
    ];
}

/// One of the statistics whose results are of the values' type.
pub fn same<V: Value>(out: &mut [V], index: &[i64], src: &[V], statistic: Same) {
    match statistic {
        Same::Sum => folded(out, index, src, V::ZERO, V::add),
        Same::Prod => folded(out, index, src, V::ONE, V::multiply),
        Same::SumSquares => folded(out, index, src, V::ZERO, V::add_square),
        Same::Min => best(out, index, src, V::HIGHEST, |value, cell| value < cell),
        Same::Max => best(out, index, src, V::LOWEST, |value, cell| value > cell),
        Same::First => {
            let mut seen = vec![false; out.len()];
            for (&at, &value) in index.iter().zip(src) {
                let at = at as usize;
                if !seen[at] {
                    seen[at] = true;
                    out[at] = value;
                }
            }
        }
        Same::Last => {
            for (&at, &value) in index.iter().zip(src) {
                out[at as usize] = value;
            }
        }
    }
}

fn folded<V: Value>(
    out: &mut [V],
    index: &[i64],
    src: &[V],
    start: V::Sum,
    join: impl Fn(V, V::Sum) -> V::Sum,
) {
    let mut sums = vec![start; out.len()];
    for (&at, &value) in index.iter().zip(src) {
        let sum = &mut sums[at as usize];
        *sum = join(value, *sum);
    }
    for (out, &sum) in out.iter_mut().zip(&sums) {
        *out = V::narrow(sum);
    }
}

fn best<V: Value>(
    out: &mut [V],
    index: &[i64],
    src: &[V],
    start: V,
    is_better: impl Fn(V, V) -> bool,
) {
    out.fill(start);
    for (&at, &value) in index.iter().zip(src) {
        let cell = &mut out[at as usize];
        if is_better(value, *cell) {
            *cell = value;
        }
    }
}

/// Means.
pub fn mean<V: Value, M>(out: &mut [M], index: &[i64], src: &[V], narrow: impl Fn(f64) -> M) {
    let mut sums = vec![0.0; out.len()];
    let mut counts = vec![0i64; out.len()];
    for (&at, &value) in index.iter().zip(src) {
        sums[at as usize] += value.float();
        counts[at as usize] += 1;
    }
    for ((out, sum), &count) in out.iter_mut().zip(&sums).zip(&counts) {
        *out = narrow(sum / count as f64);
    }
}

/// Variances by Welford's update, or their square roots.
pub fn var<V: Value, M>(
    out: &mut [M],
    index: &[i64],
    src: &[V],
    root: bool,
    narrow: impl Fn(f64) -> M,
) {
    let mut moments = vec![[0.0f64; 3]; out.len()];
    for (&at, &value) in index.iter().zip(src) {
        let [count, mean, squares] = &mut moments[at as usize];
        *count += 1.0;
        let apart = value.float() - *mean;
        *mean += apart / *count;
        *squares += apart * (value.float() - *mean);
    }
    for (out, [count, _, squares]) in out.iter_mut().zip(&moments) {
        let var = squares / count;
        *out = narrow(if root { var.sqrt() } else { var });
    }
}

/// Whether a value is not zero, or none is.
pub fn flags<V: Value>(out: &mut [u8], index: &[i64], src: &[V], all: bool) {
    out.fill(all.into());
    for (&at, &value) in index.iter().zip(src) {
        let cell = &mut out[at as usize];
        let set = u8::from(!value.is_zero());
        *cell = if all { *cell & set } else { *cell | set };
    }
}

/// The places of the largest values.
pub fn places<V: Value>(out: &mut [i64], index: &[i64], src: &[V]) {
    let mut largest = vec![V::LOWEST; out.len()];
    for (place, (&at, &value)) in (0..).zip(index.iter().zip(src)) {
        if value > largest[at as usize] {
            largest[at as usize] = value;
            out[at as usize] = place;
        }
    }
}

/// Running sums.
pub fn running<V: Value>(out: &mut [V], index: &[i64], src: &[V], cells: usize) {
    let mut sums = vec![V::ZERO; cells];
    for (out, (&at, &value)) in out.iter_mut().zip(index.iter().zip(src)) {
        let sum = &mut sums[at as usize];
        *sum = value.add(*sum);
        *out = V::narrow(*sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: [i64; 4] = [2, 0, 2, 2];
    const SRC: [f32; 4] = [1.0, 2.0, 4.0, 0.0];

    #[test]
    fn statistics_of_small_groups() {
        let of = |statistic| {
            let mut out = [9.0; 3];
            same(&mut out, &INDEX, &SRC, statistic);
            [out[0], out[2]]
        };
        let expected = [
            [2.0, 5.0],
            [2.0, 0.0],
            [4.0, 17.0],
            [2.0, 0.0],
            [2.0, 4.0],
            [2.0, 1.0],
            [2.0, 0.0],
        ];
        assert_eq!(Same::ALL.map(of), expected);
        let mut out = [0.0; 3];
        mean(&mut out, &INDEX, &SRC, |mean| mean);
        assert_eq!((out[0], out[2]), (2.0, 5.0 / 3.0));
        var(&mut out, &INDEX, &[1i64, 2, 4, 4], false, |var| var);
        assert_eq!((out[0], out[2]), (0.0, 2.0));
        let mut bytes = [7; 3];
        flags(&mut bytes, &INDEX, &SRC, true);
        assert_eq!(bytes, [1, 1, 0]);
        flags(&mut bytes, &INDEX, &SRC, false);
        assert_eq!(bytes, [1, 0, 1]);
        let mut at = [-1; 3];
        places(&mut at, &INDEX, &SRC);
        assert_eq!(at, [1, -1, 2]);
        let mut sums = [0.0; 4];
        running(&mut sums, &INDEX, &SRC, 3);
        assert_eq!(sums, [1.0, 2.0, 5.0, 5.0]);
    }
}
