use super::*;
use crate::exact::one_sum::OneSum;
use crate::exact::oracle::{Big, FORMATS, Random, kinds};

/// The sum of a cell as `float64`.
fn f64_of(planes: &Planes, cell: usize) -> f64 {
    planes.round(cell, Format::F64)
}

/// Checks all results of all cells against large integers.
fn check(planes: &Planes, cells: &[Big], about: &str) {
    for (cell, big) in cells.iter().enumerate() {
        for format in FORMATS {
            let (got, want) = (planes.round(cell, format), big.divide(1, format));
            assert_eq!(
                got.to_bits(),
                want.to_bits(),
                "{about} {cell} {format:?} {got} {want}"
            );
        }
    }
}

/// Checks means against large integers.
fn check_means(planes: &Planes, cells: &[Big], about: &str) {
    for (cell, big) in cells.iter().enumerate() {
        for count in [1, 2, 3, 7, 1_000_000, u64::from(u32::MAX) + 2, u64::MAX] {
            for format in FORMATS {
                let (got, want) = (planes.mean(cell, count, format), big.divide(count, format));
                assert_eq!(
                    got.to_bits(),
                    want.to_bits(),
                    "{about} {cell} / {count} {format:?} {got} {want}"
                );
            }
        }
    }
}

#[test]
fn sums_and_means_are_those_of_large_integers() {
    let mut random = Random(1);
    for (name, kind) in kinds() {
        for round in 0..8 {
            let cells = 256;
            let count = [0, 1, 3, 40][round % 4] * cells;
            let mut planes = Planes::new(cells);
            // Frequent carries must not change a bit.
            planes.limit = if round < 4 { LIMIT } else { 5 };
            let mut wanted = vec![Big::default(); cells];
            for _ in 0..count {
                let cell = random.below(cells + 2);
                let value = kind(&mut random);
                planes.add(cell, value).unwrap();
                if let Some(big) = wanted.get_mut(cell) {
                    big.add(value);
                }
            }
            check(&planes, &wanted, name);
            if round % 4 != 2 {
                check_means(&planes, &wanted[..64], name);
            }
            planes.carry().unwrap();
            check(&planes, &wanted, name);
        }
    }
}

#[test]
fn every_order_and_division_gives_the_same_planes() {
    let mut random = Random(2);
    for (name, kind) in kinds() {
        let cells = 200;
        let mut rows: Vec<usize> = (0..3000).map(|_| random.below(cells)).collect();
        let mut values: Vec<f64> = rows.iter().map(|_| kind(&mut random)).collect();
        let mut whole = Planes::new(cells);
        whole.add_all(&rows, &values).unwrap();
        whole.carry().unwrap();
        for _ in 0..6 {
            random.shuffle(&mut rows, &mut values);
            // A forest of parts, which are joined two by two in random order.
            let mut parts = Vec::new();
            let mut start = 0;
            while start < rows.len() {
                let end = rows.len().min(start + 1 + random.below(700));
                let mut part = Planes::new(cells);
                part.limit = 2 + random.below(50) as u64;
                part.add_all(&rows[start..end], &values[start..end])
                    .unwrap();
                parts.push(part);
                start = end;
            }
            while parts.len() > 1 {
                let other = parts.swap_remove(random.below(parts.len()));
                let at = random.below(parts.len());
                parts[at].merge(&other).unwrap();
            }
            let mut joined = parts.pop().unwrap();
            joined.carry().unwrap();
            assert!(whole.planes().eq(joined.planes()), "{name}");
            assert_eq!(whole.flags(), joined.flags(), "{name}");
        }
    }
}

#[test]
fn ties_go_to_the_even_neighbour() {
    let mut random = Random(3);
    for format in FORMATS {
        let smallest = format.min_exponent - format.digits as i32 + 1;
        let cells = 4000;
        let mut planes = Planes::new(cells);
        let mut wanted = vec![Big::default(); cells];
        for (cell, wanted) in wanted.iter_mut().enumerate() {
            // A number of the format, half of its last bit, and a much smaller one or none.
            let exponent =
                smallest + random.below((format.max_exponent + 1 - smallest) as usize) as i32;
            let last = (exponent - format.digits as i32 + 1).max(smallest);
            let mantissa = random.next() & ((1 << (exponent - last + 1)) - 1);
            let mantissa = if random.below(4) == 0 {
                u64::MAX >> 11 >> (53 - format.digits)
            } else {
                mantissa
            };
            let mut values = Vec::new();
            let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
            values.push(sign * mantissa as f64 * crate::exact::oracle::power(last));
            if last > -1074 {
                values.push(sign * crate::exact::oracle::power(last - 1));
            }
            let tail = [0.0, 5e-324, -5e-324, 0.0][random.below(4)];
            values.push(tail);
            for value in values {
                planes.add(cell, value).unwrap();
                wanted.add(value);
            }
        }
        check(&planes, &wanted, "ties");
        for (cell, wanted) in wanted.iter().enumerate() {
            let want = wanted.divide(2, format);
            assert_eq!(planes.mean(cell, 2, format).to_bits(), want.to_bits());
        }
    }
}

#[test]
fn special_values_and_zeros() {
    let mut planes = Planes::new(7);
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    for (cell, values) in [
        vec![-0.0, -0.0],
        vec![1.0, infinity],
        vec![-infinity, f64::MAX],
        vec![infinity, -infinity],
        vec![nan, infinity],
        vec![1e308, 1e308, -1e308],
        vec![f64::MAX, f64::MAX],
    ]
    .into_iter()
    .enumerate()
    {
        for value in values {
            planes.add(cell, value).unwrap();
        }
    }
    assert_eq!(f64_of(&planes, 0).to_bits(), 0);
    assert_eq!(planes.mean(0, 2, Format::F64).to_bits(), 0);
    assert_eq!(f64_of(&planes, 1), infinity);
    assert_eq!(planes.round(2, Format::F32), -infinity);
    assert!(f64_of(&planes, 3).is_nan() && planes.mean(4, 3, Format::F16).is_nan());
    assert_eq!(f64_of(&planes, 5), 1e308);
    assert_eq!(f64_of(&planes, 6), infinity);
    assert_eq!(planes.mean(6, 2, Format::F64), f64::MAX);
    assert!(planes.mean(5, 0, Format::F64).is_nan());
    assert_eq!(f64_of(&planes, 7).to_bits(), 0);
}

#[test]
fn float32_data_touches_few_planes() {
    let mut random = Random(4);
    let mut planes = Planes::new(10);
    for _ in 0..10_000 {
        let value = ((random.next() >> 40) + 1) as f32 / (1 << 24) as f32;
        planes.add(random.below(10), value.into()).unwrap();
    }
    planes.carry().unwrap();
    assert!(planes.planes().count() <= 2);
    assert!(planes.bytes() <= 160);
}

#[test]
fn parts_are_checked() {
    let make = |cells, planes, flags| Planes::from_parts(cells, planes, flags).map(|_| ());
    assert!(make(2, vec![(0, vec![1, -1]), (67, vec![0, 5])], vec![]).is_ok());
    assert!(make(2, vec![(68, vec![1, 1])], vec![]).is_err());
    assert!(make(2, vec![(usize::MAX, vec![1, 1])], vec![]).is_err());
    assert!(make(2, vec![(3, vec![1, 1]), (3, vec![1, 1])], vec![]).is_err());
    assert!(make(2, vec![(3, vec![1])], vec![]).is_err());
    assert!(make(2, vec![(3, vec![i64::MIN, 0])], vec![]).is_err());
    assert!(make(2, vec![(67, vec![1 << 30, 0])], vec![]).is_err());
    assert!(make(2, vec![], vec![0]).is_err());
    assert!(make(2, vec![], vec![8, 0]).is_err());
    assert!(make(usize::MAX, vec![], vec![]).is_ok());
    assert!(make(0, vec![(1, vec![])], vec![]).is_ok());
    let mut random = Random(5);
    for _ in 0..3000 {
        // Entries as large as they may be.
        let mut wanted = vec![Big::default(); 2];
        let mut parts = Vec::new();
        for number in 0..PLANES {
            if random.below(3) > 0 {
                continue;
            }
            let bits = [62, 40, 18][number.saturating_sub(PLANES - 3)];
            let plane: Vec<i64> = (0..2)
                .map(|_| match random.below(4) {
                    0 => 1 << bits,
                    1 => -(1 << bits),
                    _ => random.next() as i64 >> (63 - bits) >> random.below(bits),
                })
                .collect();
            for (big, &entry) in wanted.iter_mut().zip(&plane) {
                big.add_integer(entry.into(), 32 * number);
            }
            parts.push((number, plane));
        }
        let mut planes = Planes::from_parts(2, parts, Vec::new()).unwrap();
        check(&planes, &wanted, "parts");
        planes
            .add_all(&[0, 1, 1], &[1e300, -1e-300, f64::MAX])
            .unwrap();
        let parts = planes
            .planes()
            .map(|(p, plane)| (p, plane.to_vec()))
            .collect();
        let other = Planes::from_parts(2, parts, Vec::new()).unwrap();
        planes.merge(&other).unwrap();
        for (cell, value) in [(0, 1e300), (1, -1e-300), (1, f64::MAX)] {
            wanted[cell].add(value);
        }
        for big in &mut wanted {
            big.double();
        }
        check(&planes, &wanted, "parts");
        let parts = planes
            .planes()
            .map(|(p, plane)| (p, plane.to_vec()))
            .collect();
        let again = Planes::from_parts(2, parts, Vec::new()).unwrap();
        check(&again, &wanted, "parts");
    }
}

#[test]
fn one_sum_is_that_of_a_cell() {
    let mut random = Random(10);
    for (name, kind) in kinds() {
        for _ in 0..200 {
            let (mut planes, mut one) = (Planes::new(1), OneSum::new());
            for n in 0..random.below(50) {
                let value = kind(&mut random);
                planes.add(0, value).unwrap();
                one.add(value);
                if n % 7 == 0 {
                    one.carry();
                }
            }
            for format in FORMATS {
                let (got, want) = (one.round(format), planes.round(0, format));
                assert_eq!(got.to_bits(), want.to_bits(), "{name} {format:?}");
            }
        }
    }
}
