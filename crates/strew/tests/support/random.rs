//! Random numbers, elements and indices, from a seed.

use crate::naive::number::{extremes, finite_extremes, write};
use crate::naive::{Array, Num};
use strew::DType;

/// What an index is made of, in nearly all dialects.
pub(crate) const INTEGERS: [DType; 8] = [
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
];

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub u64);

/// What elements look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Of everyday size, with fractions, so that the order of a sum shows.
    Tame,
    /// Any bits: NaN of every kind, subnormals, huge numbers.
    Bits,
    /// Zeros of both signs, ones, infinities, NaN, the ends of the range, and a few others.
    Special,
}

/// How indices are spread over their axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    Uniform,
    Sorted,
    Constant,
    /// Most go to one cell.
    Skewed,
    /// Every cell in turn, so that neighbours never meet.
    Round,
}

impl Style {
    pub(crate) const ALL: [Self; 3] = [Self::Tame, Self::Bits, Self::Special];
}

impl Spread {
    pub(crate) const ALL: [Self; 5] = [
        Self::Uniform,
        Self::Sorted,
        Self::Constant,
        Self::Skewed,
        Self::Round,
    ];
}

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Bits of one element.
    pub(crate) fn element(&mut self, dtype: DType, style: Style) -> u128 {
        match dtype {
            DType::C64 => self.element(DType::F32, style) | self.element(DType::F32, style) << 32,
            DType::C128 => self.element(DType::F64, style) | self.element(DType::F64, style) << 64,
            // Bytes beside 0 and 1 are true as well.
            DType::Bool => match style {
                Style::Tame => self.below(2) as u128,
                _ => self.pick(&[0, 0, 0, 1, 1, 2, 127, 128, 255]),
            },
            _ => self.real(dtype, style),
        }
    }

    fn real(&mut self, dtype: DType, style: Style) -> u128 {
        let float = |v: f64| match dtype {
            DType::F64 => write(dtype, Num::F64(v)),
            _ => write(dtype, Num::F32(v as f32)),
        };
        match style {
            Style::Bits => u128::from(self.next()) & ((1 << (8 * dtype.size())) - 1),
            Style::Tame if dtype.is_float() => {
                float((self.next() % 200_001) as f64 / 7777.0 - 12.0)
            }
            Style::Tame => write(dtype, Num::Int(self.below(23) as i128 - 11)),
            Style::Special if dtype.is_float() => {
                let (low, high) = finite_extremes(dtype);
                let tiny = [1, 1 << (8 * dtype.size() - 1) | 1];
                match self.below(12) {
                    0 | 1 => float(0.0),
                    2 | 3 => float(-0.0),
                    4 => float(1.0),
                    5 => float(f64::INFINITY),
                    6 => float(f64::NEG_INFINITY),
                    7 => float(f64::NAN),
                    8 => self.pick(&[low, high]),
                    9 => self.pick(&tiny),
                    _ => self.real(dtype, Style::Tame),
                }
            }
            Style::Special => {
                let (low, high) = extremes(dtype);
                match self.below(5) {
                    0 => low,
                    1 => high,
                    2 => self.below(3) as u128,
                    3 => self.real(dtype, Style::Bits),
                    _ => self.real(dtype, Style::Tame),
                }
            }
        }
    }

    pub(crate) fn array(&mut self, dtype: DType, shape: &[usize], style: Style) -> Array {
        let mut array = Array::filled(dtype, shape, 0);
        for bits in &mut array.data {
            *bits = self.element(dtype, style);
        }
        array
    }

    /// `count` indices below `size`, as a spread says.
    pub(crate) fn indices(&mut self, count: usize, size: usize, spread: Spread) -> Vec<i64> {
        let favourite = self.below(size.max(1));
        let mut all: Vec<i64> = (0..count)
            .map(|n| match spread {
                Spread::Uniform | Spread::Sorted => self.below(size),
                Spread::Constant => favourite,
                Spread::Skewed if !self.chance(5) => favourite,
                Spread::Skewed => self.below(size),
                Spread::Round => n % size,
            } as i64)
            .collect();
        if spread == Spread::Sorted {
            all.sort_unstable();
        }
        all
    }

    pub(crate) fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        for k in (1..n).rev() {
            all.swap(k, self.below(k + 1));
        }
        all
    }
}
