//! torch_scatter's `scatter_std`, `scatter_logsumexp`, `scatter_softmax` and `scatter_log_softmax`.

use super::number::{finite_extremes, read, write};
use super::torch_scatter::expand;
use super::{Array, Num, Outcome, coordinates};
use strew::DType;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    Std { unbiased: bool },
    LogSumExp { eps: f64 },
    Softmax,
    LogSoftmax { eps: f64 },
}

impl What {
    pub(crate) fn reduces(self) -> bool {
        matches!(self, Self::Std { .. } | Self::LogSumExp { .. })
    }
}

/// `dim` is not negative here. Of integers the result is `float32`, computed in `float64`.
pub(crate) fn composite(
    what: What,
    src: &Array,
    index: &Array,
    dim: usize,
    out: Option<&Array>,
    dim_size: Option<usize>,
) -> Outcome {
    let index = expand(index, src, dim);
    let mut shape = src.shape.clone();
    shape[dim] = dim_size.unwrap_or_else(|| {
        let values = (0..index.data.len()).map(|at| index.int(at) as usize + 1);
        values.max().unwrap_or(0)
    });
    let to = match src.dtype.is_integer() {
        true => DType::F32,
        false => src.dtype,
    };
    let cells = Array::filled(to, &shape, 0);
    let mut groups = vec![Vec::new(); cells.data.len()];
    for (at, c) in coordinates(&src.shape).enumerate() {
        let mut cell = c.clone();
        cell[dim] = index.int(at) as usize;
        groups[cells.flat(&cell)].push(at);
    }
    let made = if what.reduces() {
        cells
    } else {
        Array::filled(to, &src.shape, 0)
    };
    let mut all = Outcome::untouched(made);
    all.touched.fill(true);
    let (_, high) = finite_extremes(to);
    let wide = src.dtype.is_integer() || to == DType::F64;
    for (cell, group) in groups.iter().enumerate() {
        let own = out.map(|out| read(to, out.data[cell]));
        let results: Vec<Num> = if wide {
            let values = group
                .iter()
                .map(|&at| double(read(src.dtype, src.data[at])));
            let made = f64s::group(
                what,
                &values.collect::<Vec<_>>(),
                own.map(double),
                [f64::MIN, double(read(to, high))],
            );
            let narrow = |v: f64| match to {
                DType::F32 => Num::F32(v as f32),
                _ => Num::F64(v),
            };
            made.into_iter().map(narrow).collect()
        } else {
            let values = group.iter().map(|&at| float(read(src.dtype, src.data[at])));
            let made = f32s::group(
                what,
                &values.collect::<Vec<_>>(),
                own.map(float),
                [f32::MIN, float(read(to, high))],
            );
            made.into_iter().map(Num::F32).collect()
        };
        let places = if what.reduces() { &[cell][..] } else { group };
        assert_eq!(places.len(), results.len());
        for (&at, result) in places.iter().zip(results) {
            all.array.data[at] = write(to, result);
        }
    }
    all
}

fn float(num: Num) -> f32 {
    match num {
        Num::F32(v) => v,
        other => panic!("{other:?}"),
    }
}

fn double(num: Num) -> f64 {
    match num {
        Num::F32(v) => v.into(),
        Num::F64(v) => v,
        Num::Int(v) => v as f64,
        other => panic!("{other:?}"),
    }
}

macro_rules! groups {
    ($name:ident, $t:ident, $exp:path, $log:path) => {
        mod $name {
            use super::What;

            /// The largest: NaN never is, and what does not beat the start is not.
            fn most(values: &[$t], start: $t) -> $t {
                values
                    .iter()
                    .fold(start, |most, &v| if most < v { v } else { most })
            }

            /// One value for the group, or one for each of its own; `ends` are the lowest finite value of the type it
            /// is computed in and the highest of the result's.
            pub(super) fn group(
                what: What,
                values: &[$t],
                out: Option<$t>,
                ends: [$t; 2],
            ) -> Vec<$t> {
                let count = values.len() as $t;
                let at_least_1 = |n: $t| if n < 1.0 { 1.0 } else { n };
                match what {
                    What::Std { unbiased } => {
                        let mut sum: $t = 0.0;
                        values.iter().for_each(|v| sum += v);
                        let mean = sum / at_least_1(count);
                        let mut squares = out.unwrap_or(0.0);
                        values
                            .iter()
                            .for_each(|v| squares += (v - mean) * (v - mean));
                        let less = if unbiased { 1.0 } else { 0.0 };
                        let count = at_least_1(at_least_1(count) - less);
                        vec![(squares / (count + 1e-6)).sqrt()]
                    }
                    What::LogSumExp { eps } => {
                        let most = most(values, $t::NEG_INFINITY);
                        let mut sum: $t = out.map_or(0.0, |out| $exp(out - most));
                        for v in values {
                            let share = v - most;
                            sum += $exp(if share.is_nan() {
                                $t::NEG_INFINITY
                            } else {
                                share
                            });
                        }
                        let value = $log(sum + eps as $t) + most;
                        vec![match out {
                            _ if value.is_finite() => value,
                            Some(out) => out,
                            None if value == $t::INFINITY => ends[1],
                            None => 0.0,
                        }]
                    }
                    What::Softmax | What::LogSoftmax { .. } => {
                        // Nobody has beaten the lowest finite value.
                        let most = match most(values, ends[0]) {
                            most if most == ends[0] => 0.0,
                            most => most,
                        };
                        let mut sum: $t = 0.0;
                        values.iter().for_each(|v| sum += $exp(v - most));
                        let each = |v: &$t| match what {
                            What::LogSoftmax { eps } => v - most - $log(sum + eps as $t),
                            _ => $exp(v - most) / sum,
                        };
                        values.iter().map(each).collect()
                    }
                }
            }
        }
    };
}

groups!(f32s, f32, libm::expf, libm::logf);
groups!(f64s, f64, libm::exp, libm::log);
