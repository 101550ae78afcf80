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

/// Directions in which embeddings really vary; the remaining dimensions hold little noise.
const LATENT_DIMS: usize = 24;

/// `count` unit vectors in about √count clusters, as wide as their centres are apart, within [`LATENT_DIMS`] directions that
/// depend on `dims` only, plus a tenth of noise in all dimensions.
pub fn clustered(seed: u64, count: usize, dims: usize) -> Vec<Vec<f32>> {
    let mut fixed = Random(dims as u64);
    let directions: Vec<Vec<f32>> = (0..LATENT_DIMS).map(|_| normals(&mut fixed, dims)).collect();
    let mut random = Random(seed);
    let clusters = (count as f64).sqrt().ceil() as usize;
    let centres: Vec<Vec<f32>> = (0..clusters).map(|_| normals(&mut random, LATENT_DIMS)).collect();
    (0..count)
        .map(|at| {
            let mut vector = normals(&mut random, dims);
            vector.iter_mut().for_each(|part| *part *= 0.1 * (LATENT_DIMS as f32).sqrt());
            let inside = normals(&mut random, LATENT_DIMS);
            for ((direction, inside), centre) in directions.iter().zip(inside).zip(&centres[(at * 7919) % clusters]) {
                vector.iter_mut().zip(direction).for_each(|(part, along)| *part += (centre + inside) * along);
            }
            unit(vector)
        })
        .collect()
}

fn normals(random: &mut Random, dims: usize) -> Vec<f32> {
    (0..dims).map(|_| random.normal()).collect()
}

/// Divided by its norm.
pub fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|part| *part /= norm);
    vector
}
