//! Keeps the index values of one range, in order, and drops the others.
//!
//! ```text
//! to = 0
//! for i, value in values:
//!     outside |= value >= limit
//!     out[to] = value - from;  positions[to] = i
//!     to += (from <= value < from + len)
//! ```
//!
//! The loop has no branch that depends on the data. AVX-512 packs eight or sixteen values at a
//! time, AVX2 eight. A run uses it when a thread owns a part of the destination and looks at all
//! updates, and when out-of-bounds values are dropped.
//!
//! | file | holds |
//! |---|---|
//! | `avx2` | 32-bit values, packed by a table of permutations |
//! | `avx512` | 32-bit and 64-bit values, packed by the compress instruction |
//!
//! # Unsafe
//!
//! - Buys: the elements that belong to the selected index values
//! - Measured: those of `walk/filter/avx2.rs` and `walk/filter/avx512.rs`, which it calls
//! - Holds: as many elements as values, which the caller promises

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;

#[cfg(target_arch = "x86_64")]
use crate::cpu::isa::{InstructionSet, instruction_set};
#[cfg(target_arch = "x86_64")]
use crate::tensor::DType;
use crate::walk::decode::Stretch;

/// The range of values to keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexFilter {
    /// A value that is not below this is out of bounds.
    pub(crate) limit: usize,
    /// The first value to keep.
    pub(crate) from: usize,
    /// The number of values to keep.
    pub(crate) len: usize,
    /// An out-of-bounds value is dropped instead of being an error.
    pub(crate) drop: bool,
}

/// The 32 bits that are kept with each value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Payload {
    /// The value's position in the run.
    Positions,
    /// The 32-bit element at the value's position, from this address on.
    Elements(*const u8),
}

impl Payload {
    /// The payload of one position.
    ///
    /// # Safety
    /// For [`Elements`](Self::Elements), the element at `place` must be readable.
    #[inline(always)]
    unsafe fn at(self, place: usize) -> u32 {
        match self {
            Self::Positions => place as u32,
            // SAFETY: the caller promises that the element at `place` is readable.
            Self::Elements(first) => unsafe { first.cast::<u32>().add(place).read_unaligned() },
        }
    }
}

impl IndexFilter {
    /// Moves the values that are wanted to the front, counted from the first one wanted, and their
    /// places into `places`. Returns how many they are; `None` if a value is out of bounds and may
    /// not be.
    ///
    /// # Panics
    /// If `places` is shorter than `values`.
    pub(crate) fn in_place(self, values: &mut [i64], places: &mut [i64]) -> Option<usize> {
        #[cfg(target_arch = "x86_64")]
        if packs() {
            // SAFETY: `packs` detected AVX-512. Without an address only the slices are read.
            return unsafe { avx512::filter::<false>(None, self, values, places) };
        }
        self.scalar(0, 0, values, places)
    }

    /// [`in_place`](Self::in_place) for values that are read from the index in the same pass.
    /// `None` also if they lie outside the index.
    ///
    /// # Panics
    /// As [`in_place`](Self::in_place), and if there is no room in `values`.
    pub(crate) fn read(
        self,
        from: Stretch<'_, '_>,
        values: &mut [i64],
        places: &mut [i64],
    ) -> Option<usize> {
        let values = &mut values[..from.count];
        #[cfg(target_arch = "x86_64")]
        if let Some((first, narrow)) = side_by_side(from).filter(|_| packs()) {
            let kernel = match narrow {
                true => avx512::filter::<true> as avx512::FilterFn,
                false => avx512::filter::<false>,
            };
            // SAFETY: `packs` detected AVX-512. `side_by_side` checked that `count` values of this
            // size lie in the index from `first` on.
            return unsafe { kernel(Some(first), self, values, places) };
        }
        if !from.index.read_integers(from.at, from.stride, values) {
            return None;
        }
        self.in_place(values, places)
    }

    /// Whether 32 bits hold every value that may be wanted, whatever their sign.
    pub(crate) fn is_narrow(&self) -> bool {
        i32::try_from(self.limit).is_ok() && self.from.saturating_add(self.len) <= self.limit
    }

    /// [`read`](Self::read) in 32 bits, with a [`Payload`] instead of positions. `None` if a value
    /// is out of bounds, or outside the index.
    ///
    /// # Safety
    /// If the payload is elements, as many as index values must be readable.
    ///
    /// # Panics
    /// If the range [does not fit](Self::is_narrow) 32 bits, if out-of-bounds values are dropped,
    /// or if either slice is shorter than the stretch.
    pub(crate) unsafe fn narrow(
        self,
        from: Stretch<'_, '_>,
        payload: Payload,
        values: &mut [u32],
        payloads: &mut [u32],
    ) -> Option<usize> {
        assert!(self.is_narrow() && !self.drop);
        let (values, payloads) = (&mut values[..from.count], &mut payloads[..from.count]);
        #[cfg(target_arch = "x86_64")]
        if let Some((first, narrow)) = side_by_side(from)
            && let Some(kernel) = by_machine(narrow, payload)
        {
            // SAFETY: `by_machine` detected the instructions. `side_by_side` checked that `count`
            // values of this size are readable. The caller promises as many elements.
            return unsafe { kernel(first, self, payload, values, payloads) };
        }
        // SAFETY: the caller promises as many elements as index values.
        unsafe { self.narrow_scalar(from, payload, values, payloads) }
    }

    /// [`narrow`](Self::narrow) on any machine.
    ///
    /// # Safety
    /// If the payload is elements, as many as index values must be readable.
    unsafe fn narrow_scalar(
        self,
        from: Stretch<'_, '_>,
        payload: Payload,
        values: &mut [u32],
        payloads: &mut [u32],
    ) -> Option<usize> {
        let (mut to, mut outside) = (0, false);
        let each = |place, value: i64| {
            let here = value.wrapping_sub(self.from as i64);
            outside |= value.cast_unsigned() >= self.limit as u64;
            // SAFETY: the caller promises an element for each value, and `place` is below their
            // count.
            (values[to], payloads[to]) = (here as u32, unsafe { payload.at(place) });
            to += usize::from(here.cast_unsigned() < self.len as u64);
        };
        let read = from
            .index
            .each_integer(from.at, from.stride, from.count, each);
        (read && !outside).then_some(to)
    }

    /// Filters the last values, from `whole` on. `to` values were kept before.
    ///
    /// # Safety
    /// `values.len()` values must be readable from `from` on, of 32 bits if `NARROW`, else of 64.
    /// If the payload is elements, as many must be readable.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn narrow_rest<const NARROW: bool>(
        self,
        from: *const u8,
        payload: Payload,
        whole: usize,
        mut to: usize,
        values: &mut [u32],
        payloads: &mut [u32],
    ) -> Option<usize> {
        let mut outside = false;
        for at in whole..values.len() {
            // SAFETY: `at < values.len()`, and the caller promises as many readable values and
            // elements.
            let (value, payload) = unsafe {
                let value = match NARROW {
                    true => from.cast::<i32>().add(at).read().into(),
                    false => from.cast::<i64>().add(at).read(),
                };
                (value, payload.at(at))
            };
            let here = value.wrapping_sub(self.from as i64);
            outside |= value.cast_unsigned() >= self.limit as u64;
            (values[to], payloads[to]) = (here as u32, payload);
            to += usize::from(here.cast_unsigned() < self.len as u64);
        }
        (!outside).then_some(to)
    }

    /// Filters the values from element `from` on. `to` values were kept before.
    fn scalar(
        self,
        from: usize,
        mut to: usize,
        values: &mut [i64],
        places: &mut [i64],
    ) -> Option<usize> {
        let mut outside = false;
        for at in from..values.len() {
            let value = values[at].cast_unsigned();
            let here = value.wrapping_sub(self.from as u64);
            let inside = value < self.limit as u64;
            outside |= !inside;
            (values[to], places[to]) = (here.cast_signed(), at as i64);
            to += usize::from(inside && here < self.len as u64);
        }
        (!outside || self.drop).then_some(to)
    }
}

/// Whether the machine has the compress instruction.
#[cfg(target_arch = "x86_64")]
fn packs() -> bool {
    instruction_set() == InstructionSet::Avx512
}

/// The first address of a dense stretch of `i32` or `i64`, and whether it is `i32`. `None` for any
/// other stretch.
#[cfg(target_arch = "x86_64")]
fn side_by_side(from: Stretch<'_, '_>) -> Option<(*const u8, bool)> {
    let dtype = from.index.dtype();
    let narrow = match dtype {
        DType::I64 => false,
        DType::I32 => true,
        _ => return None,
    };
    let dense = from.stride == dtype.size().cast_signed();
    let first = from.index.stretch(from.at, from.stride, from.count);
    first.filter(|_| dense).map(|first| (first, narrow))
}

/// [`IndexFilter::narrow`] by a machine's instructions, for one kind of values.
#[cfg(target_arch = "x86_64")]
type Narrow = unsafe fn(*const u8, IndexFilter, Payload, &mut [u32], &mut [u32]) -> Option<usize>;

/// The one for this machine, for values of 32 bits or of 64, if it has any.
#[cfg(target_arch = "x86_64")]
fn by_machine(narrow: bool, payload: Payload) -> Option<Narrow> {
    macro_rules! kinds {
        ($isa:ident) => {
            match (narrow, payload) {
                (true, Payload::Positions) => $isa::narrow::<true, false> as Narrow,
                (true, Payload::Elements(_)) => $isa::narrow::<true, true>,
                (false, Payload::Positions) => $isa::narrow::<false, false>,
                (false, Payload::Elements(_)) => $isa::narrow::<false, true>,
            }
        };
    }
    match instruction_set() {
        InstructionSet::Avx512 => Some(kinds!(avx512)),
        InstructionSet::Avx2 => Some(kinds!(avx2)),
        InstructionSet::Baseline => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{DynView, TensorView};

    type Way<'w> = &'w dyn Fn(&mut [i64], &mut [i64]) -> Option<usize>;
    type NarrowWay<'w> = &'w dyn Fn(&mut [u32], &mut [u32]) -> Option<usize>;

    /// Values from 0 to 99, or from -3 on.
    fn random(len: usize, least: i64) -> Vec<i64> {
        let mut state = 7u64;
        (0..len)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 33) as i64 % 100 + least
            })
            .collect()
    }

    /// What is picked in 32 bits, by every way that this machine has: elements as places.
    fn of_narrow(filter: IndexFilter, index: &DynView<'_>) -> Option<(Vec<i64>, Vec<i64>)> {
        let count = index.len();
        let from = Stretch {
            index,
            at: 0,
            stride: index.dtype().size().cast_signed(),
            count,
        };
        let elements: Vec<u32> = (0..count as u32).map(|n| n * 3 + 1).collect();
        let pick = |payload: Payload, way: NarrowWay<'_>| {
            let (mut values, mut payloads) = (vec![0; count], vec![0; count]);
            let kept = way(&mut values, &mut payloads)?;
            let wide = |list: &[u32]| list[..kept].iter().map(|&n| n.into()).collect();
            let payloads: Vec<i64> = wide(&payloads);
            let places = match payload {
                Payload::Positions => payloads,
                Payload::Elements(_) => payloads.iter().map(|n| (n - 1) / 3).collect(),
            };
            Some((wide(&values), places))
        };
        let mut found = Vec::new();
        for payload in [
            Payload::Positions,
            Payload::Elements(elements.as_ptr().cast()),
        ] {
            // SAFETY: there are as many elements as index values. Every machine with AVX-512 has
            // AVX2.
            unsafe {
                let scalar =
                    |v: &mut [u32], b: &mut [u32]| filter.narrow_scalar(from, payload, v, b);
                found.push(pick(payload, &scalar));
                let chosen = |v: &mut [u32], b: &mut [u32]| filter.narrow(from, payload, v, b);
                found.push(pick(payload, &chosen));
                #[cfg(target_arch = "x86_64")]
                if let (Some((first, narrow)), true) =
                    (side_by_side(from), by_machine(true, payload).is_some())
                {
                    let kernel = match (narrow, payload) {
                        (true, Payload::Positions) => avx2::narrow::<true, false> as Narrow,
                        (true, Payload::Elements(_)) => avx2::narrow::<true, true>,
                        (false, Payload::Positions) => avx2::narrow::<false, false>,
                        (false, Payload::Elements(_)) => avx2::narrow::<false, true>,
                    };
                    let avx2 = |v: &mut [u32], b: &mut [u32]| kernel(first, filter, payload, v, b);
                    found.push(pick(payload, &avx2));
                }
            }
        }
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{found:?}");
        found.pop().flatten()
    }

    #[test]
    fn every_way_keeps_the_same() {
        for len in [0, 1, 7, 8, 9, 15, 16, 17, 64, 511, 512] {
            for (limit, from, of, drop) in [
                (100, 0, 50, false),
                (100, 40, 60, false),
                (100, 30, 40, true),
                (5, 2, 3, true),
            ] {
                let given = random(len, if drop { -3 } else { 0 });
                let narrow: Vec<i32> = given.iter().map(|&v| i32::try_from(v).unwrap()).collect();
                let filter = IndexFilter {
                    limit,
                    from,
                    len: of,
                    drop,
                };
                let way = |way: Way<'_>| {
                    let (mut values, mut places) = (given.clone(), vec![0; len]);
                    let kept = way(&mut values, &mut places).unwrap();
                    values.truncate(kept);
                    places.truncate(kept);
                    (values, places)
                };
                let stretch = |view: DynView<'_>, values: &mut [i64], places: &mut [i64]| {
                    let stride = view.dtype().size().cast_signed();
                    let from = Stretch {
                        index: &view,
                        at: 0,
                        stride,
                        count: len,
                    };
                    filter.read(from, values, places)
                };
                let expected = way(&|values, places| filter.scalar(0, 0, values, places));
                for (value, place) in expected.0.iter().zip(&expected.1) {
                    assert_eq!(value + from as i64, given[*place as usize]);
                }
                let inside = |v: &&i64| (from as i64..(from + of).min(limit) as i64).contains(*v);
                assert_eq!(expected.0.len(), given.iter().filter(inside).count());
                assert_eq!(
                    way(&|values, places| filter.in_place(values, places)),
                    expected
                );
                let view = || TensorView::from(&given).into_dyn();
                assert_eq!(
                    way(&|values, places| stretch(view(), values, places)),
                    expected
                );
                let narrow_view = || TensorView::from(&narrow).into_dyn();
                assert_eq!(
                    way(&|values, places| stretch(narrow_view(), values, places)),
                    expected
                );
                if filter.is_narrow() && !drop {
                    for view in [view(), narrow_view()] {
                        assert_eq!(of_narrow(filter, &view).unwrap(), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_refused_unless_it_may_be() {
        for at in [0, 7, 8, 15, 16] {
            for bad in [-1, 100, 1 << 32, i64::MIN, i64::MAX] {
                let mut values = random(17, 0);
                values[at] = bad;
                for drop in [false, true] {
                    let filter = IndexFilter {
                        limit: 100,
                        from: 0,
                        len: 100,
                        drop,
                    };
                    let kept = filter.in_place(&mut values.clone(), &mut [0; 17]);
                    assert_eq!(kept, drop.then_some(16));
                    let view = TensorView::from(&values).into_dyn();
                    assert!(drop || of_narrow(filter, &view).is_none());
                    if let Ok(bad) = i32::try_from(bad) {
                        let mut narrow: Vec<i32> = values.iter().map(|&v| v as i32).collect();
                        narrow[at] = bad;
                        let view = TensorView::from(&narrow).into_dyn();
                        assert!(drop || of_narrow(filter, &view).is_none());
                    }
                }
            }
        }
    }
}
