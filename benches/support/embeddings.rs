//! Synthetic embeddings for the tests and the bench of the vector sets: unit vectors around centres, as embeddings of columns
//! cluster by topic.

/// A small generator; the same numbers for the same seed.
pub struct Random(pub u64);

impl Random {
    /// Uniform 64 bits (splitmix64).
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Close to a standard normal: the sum of four uniforms.
    pub fn normal(&mut self) -> f32 {
        let bits = self.next();
        let sum: f32 = (0..4).map(|part| (bits >> (16 * part) & 0xffff) as f32 / 65_536.0 - 0.5).sum();
        sum * 3f32.sqrt()
    }
}

/// `count` unit vectors in about √count clusters; the spread inside a cluster is as large as that of the centres.
pub fn clustered(seed: u64, count: usize, dims: usize) -> Vec<Vec<f32>> {
    let mut random = Random(seed);
    let mut gaussian = || (0..dims).map(|_| random.normal()).collect::<Vec<f32>>();
    let centres: Vec<Vec<f32>> = (0..(count as f64).sqrt().ceil() as usize).map(|_| gaussian()).collect();
    (0..count)
        .map(|at| {
            let centre = &centres[(at * 7919) % centres.len()];
            unit(gaussian().iter().zip(centre).map(|(noise, centre)| noise + centre).collect())
        })
        .collect()
}

/// Divided by its norm.
pub fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|part| *part /= norm);
    vector
}
