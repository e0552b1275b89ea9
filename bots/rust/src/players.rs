//! The interface of a bot, and the bots by name.

use crate::greedy::Greedy;
use crate::messages::{Answer, Ask, Event, Start};
use crate::random::Random;

/// Plays one match for one seat. An answer should depend only on `start` and on the ask: a restart loses everything
/// that a player remembers.
pub trait Player {
    fn answer(&mut self, ask: &Ask) -> Answer;

    fn event(&mut self, _event: &Event) {}
}

/// Returns the player of a match. The seed is for its random choices.
pub type NewPlayer = fn(start: &Start, seed: &str) -> Box<dyn Player>;

/// Add yours here.
pub fn new_player(name: &str) -> Option<NewPlayer> {
    match name {
        "greedy" => Some(|start, _| Box::new(Greedy::new(start))),
        "random" => Some(|start, seed| Box::new(Random::new(start, seed))),
        _ => None,
    }
}
