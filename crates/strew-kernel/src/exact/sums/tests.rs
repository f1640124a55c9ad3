use super::*;
use crate::exact::oracle::{FORMATS, Random, kinds};

/// The canonical planes of values.
fn planes(cells: usize, rows: &[usize], values: &[f64]) -> Planes {
    let mut planes = Planes::new(cells);
    planes.add_all(rows, values).unwrap();
    planes.carry().unwrap();
    planes
}

fn assert_same(mut exact: Exact, wanted: &Planes, about: &str) {
    exact.settle().unwrap();
    for format in FORMATS {
        for (first, len) in [(0, exact.cells()), (1, exact.cells() - 1)] {
            for count in [None, Some(3), Some(1 << 40)] {
                let mut got = vec![0.0; len];
                exact.results(first, count, format, &mut got);
                for (cell, got) in (first..).zip(got) {
                    let want = match count {
                        None => wanted.round(cell, format),
                        Some(count) => wanted.mean(cell, count, format),
                    };
                    assert_eq!(got.to_bits(), want.to_bits(), "{about} {cell} {format:?}");
                }
            }
        }
    }
    let mut got = exact.into_planes().unwrap();
    got.carry().unwrap();
    assert!(got.planes().eq(wanted.planes()), "{about}");
    assert_eq!(got.flags(), wanted.flags(), "{about}");
}

#[test]
fn few_values_outside_the_window_leave_it_to_the_other_cells() {
    let mut random = Random(9);
    let rows: Vec<usize> = (0..9000).map(|_| random.below(1000)).collect();
    let mut values: Vec<f64> = rows.iter().map(|&row| row as f64 / 3.0 + 1.0).collect();
    values[7000..7005].copy_from_slice(&[1e-300, f64::NAN, -1e300, f64::INFINITY, 2e-200]);
    let wanted = planes(1000, &rows, &values);
    let mut exact = Exact::new(1000);
    exact.add_all(&rows, &values).unwrap();
    exact.settle().unwrap();
    let mut mixed = rows[7000..7005].to_vec();
    mixed.sort_unstable();
    assert_eq!(exact.mixed, mixed);
    assert_same(exact, &wanted, "few");
}

#[test]
fn windows_change_no_sum() {
    let mut random = Random(6);
    for (name, kind) in kinds() {
        for (cells, count) in [(1, 1000), (3, 40), (300, 30_000), (1000, 3_000)] {
            let mut rows: Vec<usize> = (0..count).map(|_| random.below(cells + 1)).collect();
            let mut values: Vec<f64> = rows.iter().map(|_| kind(&mut random)).collect();
            let wanted = planes(cells, &rows, &values);
            for _ in 0..3 {
                let mut exact = Exact::new(cells);
                let mut start = 0;
                while start < count {
                    let end = count.min(start + 1 + random.below(9000));
                    let part = (&rows[start..end], &values[start..end]);
                    if random.below(2) == 0 {
                        exact.add_all(part.0, part.1).unwrap();
                    } else {
                        let mut other = Exact::new(cells);
                        other.add_all(part.0, part.1).unwrap();
                        exact.merge(other).unwrap();
                    }
                    start = end;
                }
                assert_same(exact, &wanted, name);
                random.shuffle(&mut rows, &mut values);
            }
        }
    }
}

#[test]
fn every_kind_after_every_other() {
    let mut random = Random(7);
    let mut exact = Exact::new(50);
    let mut wanted = Planes::new(50);
    for turn in 0..40 {
        let (_, kind) = kinds()[random.below(kinds().len())];
        if turn % 10 == 0 {
            // A new state: the window of one kind must bear the others.
            let new = Exact::new(50);
            let old = std::mem::replace(&mut exact, new);
            exact.merge(old).unwrap();
        }
        let rows: Vec<usize> = (0..5000).map(|_| random.below(50)).collect();
        let values: Vec<f64> = rows.iter().map(|_| kind(&mut random)).collect();
        exact.add_all(&rows, &values).unwrap();
        wanted.add_all(&rows, &values).unwrap();
    }
    wanted.carry().unwrap();
    assert_same(exact, &wanted, "kinds");
}

#[test]
fn sums_that_overflow() {
    for sign in [1.0, -1.0] {
        let mut exact = Exact::new(2);
        let mut wanted = Planes::new(2);
        let rows: Vec<usize> = (0..400_000).map(|i| i % 2).collect();
        let values: Vec<f64> = rows.iter().map(|_| sign * 4095.75).collect();
        // The sample's values are small, so that the others take all bits of the window.
        exact.add_all(&[0, 1], &[1025.0, 1024.0 * sign]).unwrap();
        wanted.add_all(&[0, 1], &[1025.0, 1024.0 * sign]).unwrap();
        for _ in 0..2 {
            exact.add_all(&rows, &values).unwrap();
            exact.add_rows(&rows[..2], 1, &values).unwrap();
            wanted.add_all(&rows, &values).unwrap();
            wanted.add_all(&rows[..2], &values).unwrap();
        }
        assert!(matches!(exact.tier, Tier::One(_)) && exact.planes.bytes() > 0);
        wanted.carry().unwrap();
        assert_same(exact, &wanted, "overflow");
    }
}

#[test]
fn rows_of_several_values() {
    let mut random = Random(8);
    for (name, kind) in kinds() {
        for width in [1, 2, 7, 64, 100, 300] {
            let (rows_of_table, updates) = (5, 1 + 3000 / width);
            let rows: Vec<usize> = (0..updates)
                .map(|_| random.below(rows_of_table + 1))
                .collect();
            let values: Vec<f64> = (0..updates * width).map(|_| kind(&mut random)).collect();
            let cells: Vec<usize> = rows
                .iter()
                .flat_map(|row| (0..width).map(move |j| row * width + j))
                .collect();
            let wanted = planes(rows_of_table * width, &cells, &values);
            let mut exact = Exact::new(rows_of_table * width);
            exact.add_rows(&rows, width, &values).unwrap();
            assert_same(exact, &wanted, name);
        }
    }
    let mut exact = Exact::new(5);
    exact
        .add_rows(&[usize::MAX, 1], 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        .unwrap();
    exact.add_rows(&[1], 0, &[1.0]).unwrap();
    let planes = exact.into_planes().unwrap();
    assert_eq!(
        [3, 4].map(|cell| planes.round(cell, Format::F64)),
        [4.0, 5.0]
    );
}

#[test]
fn tiers_fit_the_data() {
    let mut random = Random(9);
    let rows = vec![0; 5000];
    let mut tier = |kind: &dyn Fn(&mut Random) -> f64| {
        let values: Vec<f64> = rows.iter().map(|_| kind(&mut random)).collect();
        let mut exact = Exact::new(1);
        exact.add_all(&rows, &values).unwrap();
        match exact.tier {
            Tier::Unset => 0,
            Tier::One(_) => 1,
            Tier::Two(_) => 2,
            Tier::Three(_) => 3,
            Tier::Direct => 4,
        }
    };
    assert_eq!(tier(&|_| -0.0), 0);
    assert_eq!(tier(&|r| f64::from(r.uniform() as f32)), 1);
    assert_eq!(tier(&|r| f64::from(r.normal() as f32)), 1);
    assert_eq!(tier(&|r| f64::from((6.0 * r.normal()).exp() as f32)), 2);
    assert_eq!(tier(&|r| r.normal()), 2);
    assert_eq!(tier(&|r| (8.0 * r.normal()).exp()), 3);
    assert_eq!(tier(&|r| f64::from_bits(r.next() & !(1 << 62))), 4);
}
