//! Numbers that look random and can be had again from their seed (`SplitMix64`).

use std::time::Duration;

#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of these, each as likely as the others.
    pub(super) fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let count = u64::try_from(choices.len()).expect("a length");
        &choices[usize::try_from(self.number() % count).expect("an index")]
    }

    pub(super) fn time_up_to(&mut self, most: Duration) -> Duration {
        most.mul_f64(f64::from(u16::try_from(self.number() >> 48).expect("16 bits")) / 65536.0)
    }
}
