//! What a bot is, and the bots by name.

use crate::greedy::Greedy;
use crate::messages::{Answer, Ask, Event, Start};
use crate::random::Random;

/// Plays one match for one seat. All that an answer depends on should stand in `start` and in the ask: a player that
/// remembers more would have lost it after a restart.
pub trait Player {
    fn answer(&mut self, ask: &Ask) -> Answer;

    fn event(&mut self, _event: &Event) {}
}

/// Makes the player of a match. The seed is for its chance.
pub type NewPlayer = fn(start: &Start, seed: &str) -> Box<dyn Player>;

/// Yours goes here.
pub fn new_player(name: &str) -> Option<NewPlayer> {
    match name {
        "greedy" => Some(|start, _| Box::new(Greedy::new(start))),
        "random" => Some(|start, seed| Box::new(Random::new(start, seed))),
        _ => None,
    }
}
