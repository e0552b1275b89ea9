//! The bot `random`: it makes every listed move with the same probability.

use crate::messages::{Answer, Ask, Start};
use crate::players::Player;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Its choices depend on the seed, the match and the ask, so a bot that resumes chooses the same.
pub struct Random {
    chance: DefaultHasher,
}

impl Random {
    pub fn new(start: &Start, seed: &str) -> Self {
        let mut chance = DefaultHasher::new();
        (seed, &start.match_id).hash(&mut chance);
        Self { chance }
    }
}

impl Player for Random {
    fn answer(&mut self, ask: &Ask) -> Answer {
        let mut chance = self.chance.clone();
        ask.ask.hash(&mut chance);
        let index = chance.finish() % ask.legal.len() as u64; // of 2^64: practically uniform
        Answer::index(index as usize)
    }
}
