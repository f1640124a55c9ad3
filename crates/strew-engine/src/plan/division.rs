//! How threads divide a pass that computes statistics of groups.
//!
//! ```text
//! several outer coordinates, or results for each value:  by outer coordinates
//! no statistic depends on the order, and few groups:     by updates
//! rows of several columns, or far records:               by rows
//! moments of sorted rows:                                by rows
//! else:                                                  one thread does it all
//! ```

use strew_kernel::group_stats::parts::Division;
use strew_kernel::group_stats::stream::Stream;
use strew_kernel::runtime::machine::L3;
use strew_kernel::runtime::threads::available;
use strew_kernel::statistic::output::Wanted;
use strew_kernel::statistic::value::Value;
use strew_kernel::statistic::what::Statistic;
use strew_kernel::tensor::DType;

/// Values that each record of a part must have on average, so that merging the parts' records costs
/// little beside.
const MERGED: usize = 8;

/// From this size on records are so far away that a part with fewer of them finds them faster,
/// although it looks at all row numbers: 4M means in 4M groups took 88 ms alone, and 59 in one of
/// two parts; into 100,000 groups 11 and 16.
const FAR: usize = L3;

/// From this many columns on, reading all row numbers costs little compared with the values.
const WIDE: usize = 4;

/// From this number of cells on, a scatter writes them faster than records are made and finished:
/// maxima of 4M sorted float64 values into 4M groups took 48 ms in records, and 19 as a scatter;
/// into 1,000 groups both take 4.
const MANY: usize = if cfg!(test) { 4 } else { 1 << 16 };

/// Whether one sum, product, mean or extreme of the values' own type is faster as a scatter:
/// statistics convert values of fewer bytes. Maxima of 4M float32 values into 1,000 groups took
/// 11 ms in records, and 2.1 as a scatter.
pub(crate) fn is_faster_as_scatter(element: usize, cells: usize) -> bool {
    element < size_of::<f64>() || cells >= MANY
}

/// Whether one thread with a loop of its own is at least as fast as `threads` that share a
/// statistic out: where they do not, or are two that share the updates out.
pub(crate) fn suits_one(statistic: Statistic, dtype: DType, cells: usize, threads: usize) -> bool {
    let ordered = match dtype.is_float() {
        true => statistic.depends_on_order::<f64>(),
        false => statistic.depends_on_order::<i64>(),
    };
    let far = cells.saturating_mul(size_of::<f64>()) > FAR;
    threads == 1 || statistic.is_of_each() || (!far && (ordered || threads == 2))
}

/// From this number of cells on, extremes are faster as a scatter on one thread, too: their own
/// loop goes over the cells twice more. 4M float32 values into 4M groups: 48 ms as a scatter, 55 by
/// it.
const MANY_EXTREMES: usize = if cfg!(test) { 8 } else { 1 << 20 };

/// Whether extremes that have a loop of their own are faster as a scatter, which has several
/// threads. `repeats`: whether most values have the row of the one before.
pub(crate) fn is_faster_as_extreme(
    element: usize,
    cells: usize,
    repeats: impl FnOnce() -> bool,
) -> bool {
    let narrow = element < size_of::<f64>();
    cells >= MANY_EXTREMES || ((narrow || available() > 1) && !repeats())
}

/// Which parts to make, and how many at most.
pub(crate) fn division<T: Value>(
    stream: &Stream<'_, T>,
    wanted: &[&Wanted],
    threads: usize,
) -> (Division, usize) {
    let (updates, inner) = (stream.rows.updates(), stream.inner);
    let cells = stream.size.saturating_mul(inner);
    let of_each = wanted.iter().any(|wanted| wanted.statistic.is_of_each());
    if threads <= 1 || stream.outer != 1 || of_each {
        return (Division::Outer, threads);
    }
    let in_order = wanted
        .iter()
        .any(|wanted| wanted.statistic.depends_on_order::<T>());
    let few = cells.saturating_mul(threads) <= updates.saturating_mul(inner) / MERGED;
    if !in_order && few {
        return (Division::Updates, threads);
    }
    let far = cells.saturating_mul(size_of::<T>()) > FAR;
    // In sorted rows all but one of the parts skip a block. That pays for variances: 22 ms alone and
    // 14 on two threads, of 4M values in 1,000 groups. Sums took 3.7 ms alone and 4.8.
    let of_moments = wanted.iter().any(|wanted| is_moment(wanted.statistic));
    match far || inner >= WIDE || (of_moments && stream.repeats()) {
        true => (Division::Rows, threads),
        false => (Division::Outer, 1),
    }
}

/// Whether a value takes a division to join.
fn is_moment(statistic: Statistic) -> bool {
    matches!(
        statistic,
        Statistic::Var { .. }
            | Statistic::Std { .. }
            | Statistic::Sem { .. }
            | Statistic::Skew
            | Statistic::Kurt
    )
}

#[cfg(test)]
mod tests {
    use super::division;
    use strew_kernel::group_stats::parts::Division;
    use strew_kernel::group_stats::stream::Stream;
    use strew_kernel::statistic::output::Wanted;
    use strew_kernel::statistic::read::{ReadRows, ReadValues};
    use strew_kernel::statistic::what::Statistic;
    use strew_kernel::tensor::{DType, DynTensor};

    /// A million updates, whose rows a function gives.
    struct Million(fn(usize) -> i64);

    impl ReadRows for Million {
        fn updates(&self) -> usize {
            1_000_000
        }

        fn read_rows<'r>(&'r self, from: usize, room: &'r mut [i64]) -> Option<&'r [i64]> {
            let updates = from..;
            room.iter_mut()
                .zip(updates)
                .for_each(|(row, update)| *row = (self.0)(update));
            Some(room)
        }
    }

    impl ReadValues<f64> for Million {
        fn copy_values(&self, _: usize, to: &mut [f64]) {
            to.fill(1.0);
        }
    }

    /// How two threads divide a statistic of a million rows of `inner` values in `size` groups.
    fn of_two(statistic: Statistic, rows: fn(usize) -> i64, size: usize, inner: usize) -> Division {
        let million = Million(rows);
        let stream = Stream {
            rows: &million,
            size,
            values: &million,
            outer: 1,
            inner,
        };
        let fill = DynTensor::zeros(DType::F64, &[1]).unwrap();
        let wanted = Wanted { statistic, fill };
        assert_eq!(division(&stream, &[&wanted], 1), (Division::Outer, 1));
        division(&stream, &[&wanted], 2).0
    }

    #[test]
    fn the_order_the_width_and_the_distance_of_records_decide() {
        let (mixed, sorted) = (|n| (n * 7919 % 1000) as i64, |n| (n / 1000) as i64);
        assert_eq!(of_two(Statistic::Max, mixed, 1000, 1), Division::Updates);
        assert_eq!(of_two(Statistic::Sum, mixed, 1000, 1), Division::Outer);
        assert_eq!(of_two(Statistic::Sum, sorted, 1000, 1), Division::Outer);
        assert_eq!(of_two(Statistic::Skew, sorted, 1000, 1), Division::Rows);
        assert_eq!(of_two(Statistic::Skew, mixed, 1000, 1), Division::Outer);
        assert_eq!(of_two(Statistic::Sum, mixed, 1000, 8), Division::Rows);
        assert_eq!(of_two(Statistic::Max, mixed, 1_000_000, 8), Division::Rows);
        assert_eq!(of_two(Statistic::Sum, mixed, 10_000_000, 1), Division::Rows);
        assert_eq!(of_two(Statistic::CumSum, sorted, 1000, 8), Division::Outer);
    }
}
