//! Texts for people.

use crate::messages::{Error, GameResult, Start, TeamResult};

pub fn reason(what: &str, error: &Error) -> String {
    let place = error.pointer.as_ref().map_or(String::new(), |pointer| format!(" at {pointer}"));
    format!("{what}: {}{place}: {}", error.code, error.expected)
}

/// The result of a match, best first: `usa: 1. greedy 97, 2. random -45`. Partners share their points.
pub fn result_line(start: &Start, result: &GameResult) -> String {
    let name = |seat: &usize| start.players.get(*seat).map_or("?", |player| player.name.as_str());
    let place = |team: &&TeamResult| {
        let names: Vec<_> = team.seats.iter().map(name).collect();
        format!("{}. {} {}", team.rank, names.join(" and "), team.points)
    };
    let mut teams: Vec<_> = result.teams.iter().collect();
    teams.sort_by_key(|team| team.rank);
    format!("{}: {}", start.game, teams.iter().map(place).collect::<Vec<_>>().join(", "))
}

/// Prepares a text for a terminal: one line, without control characters, because the server's texts are not ours.
pub fn printable(text: &str) -> String {
    text.replace(|each: char| each.is_control() || "\u{2028}\u{2029}".contains(each), "\u{fffd}")
}
