//! The loop that the demo's result is checked against. No type of strew's is used here.

/// What each airport receives, feature by feature.
pub(super) struct Wanted {
    mean: Vec<f32>,
    max: Vec<f32>,
    arg: Vec<i64>,
}

/// Mean, maximum and the maximum's position over the messages to each airport, in order.
pub(super) fn receive(messages: &[f32], to: &[i64], airports: usize, features: usize) -> Wanted {
    let cells = airports * features;
    let mut count = vec![0u32; airports];
    let mut sum = vec![0f32; cells];
    let mut max = vec![0f32; cells];
    let mut arg = vec![to.len() as i64; cells];
    for (message, &airport) in to.iter().enumerate() {
        let airport = airport as usize;
        count[airport] += 1;
        for feature in 0..features {
            let value = messages[message * features + feature];
            let cell = airport * features + feature;
            sum[cell] += value;
            if count[airport] == 1 || value > max[cell] {
                max[cell] = value;
                arg[cell] = message as i64;
            }
        }
    }
    let mean = |(cell, &sum): (usize, &f32)| sum / count[cell / features].max(1) as f32;
    Wanted {
        mean: sum.iter().enumerate().map(mean).collect(),
        max,
        arg,
    }
}

/// How many values were compared, all of them equal bit for bit; or the first that differs.
pub(super) fn compare(
    mean: &[f32],
    max: &[f32],
    arg: &[i64],
    wanted: &Wanted,
) -> Result<usize, String> {
    for (name, found, wanted) in [("mean", mean, &wanted.mean), ("maximum", max, &wanted.max)] {
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        if bits(found) != bits(wanted) {
            let at = found
                .iter()
                .zip(wanted)
                .position(|(f, w)| f.to_bits() != w.to_bits());
            return Err(format!("{name} number {at:?}"));
        }
    }
    if arg != wanted.arg {
        let at = arg.iter().zip(&wanted.arg).position(|(f, w)| f != w);
        return Err(format!("position number {at:?}"));
    }
    Ok(mean.len() + max.len() + arg.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_and_its_comparison() {
        let wanted = receive(&[1.0, -5.0, 3.0, 3.0], &[1, 0, 1, 1], 3, 1);
        assert_eq!(wanted.mean, [-5.0, 7.0 / 3.0, 0.0]);
        assert_eq!(wanted.max, [-5.0, 3.0, 0.0]);
        assert_eq!(wanted.arg, [1, 2, 4]);
        let (mean, max, arg) = (&wanted.mean, &wanted.max, &wanted.arg);
        assert_eq!(compare(mean, max, arg, &wanted), Ok(9));
        let other = [-5.0, 7.0 / 3.0, -0.0];
        assert!(compare(&other, max, arg, &wanted).is_err());
        assert!(compare(mean, &other, arg, &wanted).is_err());
        assert!(compare(mean, max, &[1, 3, 4], &wanted).is_err());
    }
}
