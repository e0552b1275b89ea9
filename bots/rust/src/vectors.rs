//! Recorded asks: a check that `greedy` answers each of them as the specification demands.

use crate::greedy::Greedy;
use crate::messages::{Answer, Ask, Start};
use crate::players::Player;
use serde::Deserialize;
use std::fs;

#[derive(Deserialize)]
struct Row {
    start: Option<Start>,
    ask: Option<Ask>,
    answer: Option<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    index: usize,
}

/// Returns the number of asks in a file of JSON Lines, a start and its asks with their answers; or the first
/// difference.
pub fn answer_vectors(file: &str) -> Result<usize, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let mut greedy = None;
    let mut asks = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |what: String| format!("{file}: line {number}: {what}");
        let row: Row = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        if let Some(start) = &row.start {
            greedy = Some(Greedy::new(start));
        }
        if let (Some(greedy), Some(ask), Some(expected)) = (&mut greedy, &row.ask, &row.answer) {
            asks += 1;
            let came = greedy.answer(ask);
            if came != Answer::index(expected.index) {
                return Err(wrong(format!("expected index {}; came {came:?}", expected.index)));
            }
        }
    }
    if asks > 0 { Ok(asks) } else { Err(format!("{file}: no asks")) }
}
