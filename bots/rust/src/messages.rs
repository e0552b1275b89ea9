//! The messages of protocol 1 that this client reads and writes. Fields without a declaration are ignored: declare them
//! when you need them.

#![allow(dead_code, reason = "the bots in this folder read only a part of it")]

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The numbers of cards of each color: purple, blue, orange, white, green, yellow, black, red, locomotive.
pub type Cards = BTreeMap<String, u32>;

// -- from the server

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromServer {
    Hello(Hello),
    Welcome(Welcome),
    Start(Box<Start>),
    Event(Event),
    Ask(Box<Ask>),
    Ok(About),
    Default(Default_),
    Error(Error),
    End(End),
    Pong,
    Bye(Bye),
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
pub struct Hello {
    pub protocols: Vec<u32>,
}

#[derive(Debug, Deserialize)]
pub struct Welcome {
    pub session: String,
    pub resume_key: String,
    pub name: String,
}

#[derive(Debug, Deserialize)]
pub struct Start {
    #[serde(rename = "match")]
    pub match_id: String,
    pub players: Vec<SeatedPlayer>,
    pub game: String,
    #[serde(default)]
    pub options: Vec<String>,
    pub board: Board,
    #[serde(default)]
    pub seat: usize,
}

#[derive(Debug, Deserialize)]
pub struct SeatedPlayer {
    pub seat: usize,
    pub team: usize,
    pub name: String,
}

/// One fact of a match. A player reads what it needs from the value.
#[derive(Debug, Deserialize)]
pub struct Event {
    #[serde(rename = "match")]
    pub match_id: String,
    pub number: u64,
    pub event: Value,
}

#[derive(Debug, Deserialize)]
pub struct Ask {
    #[serde(rename = "match")]
    pub match_id: String,
    pub ask: u64,
    #[serde(default)]
    pub move_ms: u64,
    #[serde(default)]
    pub bank_ms: u64,
    #[serde(default)]
    pub decision: Value,
    pub fallback: Value,
    #[serde(default)]
    pub view: View,
    pub legal: Vec<Move>,
    #[serde(default)]
    pub legal_complete: bool,
}

#[derive(Debug, Deserialize)]
pub struct About {
    #[serde(rename = "match")]
    pub match_id: String,
}

/// `default`: the server moved for this seat.
#[derive(Debug, Deserialize)]
pub struct Default_ {
    #[serde(rename = "match")]
    pub match_id: String,
    pub reason: String,
}

#[derive(Debug, Deserialize)]
pub struct Error {
    pub code: String,
    #[serde(default)]
    pub expected: String,
    pub pointer: Option<String>,
    #[serde(rename = "match")]
    pub match_id: Option<String>,
    pub ask: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub struct End {
    #[serde(rename = "match")]
    pub match_id: String,
    pub result: GameResult,
}

#[derive(Debug, Deserialize)]
pub struct GameResult {
    #[serde(default)]
    pub ranks: Vec<u32>,
    pub teams: Vec<TeamResult>,
}

#[derive(Debug, Deserialize)]
pub struct TeamResult {
    pub seats: Vec<usize>,
    pub rank: u32,
    pub points: i32,
}

#[derive(Debug, Deserialize)]
pub struct Bye {
    pub code: String,
    #[serde(default)]
    pub expected: String,
    pub retry_ms: Option<u64>,
}

// -- from the client

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromClient {
    Login(Login),
    Join(Join),
    Ready {
        #[serde(rename = "match")]
        match_id: String,
    },
    Act {
        #[serde(rename = "match")]
        match_id: String,
        ask: u64,
        #[serde(flatten)]
        answer: Answer,
    },
    Ping,
}

#[derive(Clone, Debug, Serialize)]
pub struct Login {
    pub protocol: u32,
    pub name: String,
    pub language: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Resume {
    pub session: String,
    pub key: String,
    pub last_events: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Join {
    pub game: String,
    pub players: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
}

/// The note is for the replay of the match.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    #[serde(flatten)]
    choice: Choice,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Choice {
    Index(usize),
    Move(Value),
}

impl Answer {
    /// Returns the answer that makes a listed move; the first has the index 0.
    pub fn index(index: usize) -> Self {
        Self { choice: Choice::Index(index), note: None }
    }

    /// Returns the answer that makes any legal move: a [`Move`] as a value.
    pub fn to_move(value: Value) -> Self {
        Self { choice: Choice::Move(value), note: None }
    }

    #[allow(dead_code)] // the two bots here leave no notes
    pub fn with_note(self, note: &str) -> Self {
        Self { note: Some(note.into()), ..self }
    }
}

// -- parts of messages

/// A board. A map has routes and their points, by the length as text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Board {
    pub id: String,
    pub trains: u32,
    pub route_points: BTreeMap<String, i64>,
    pub cities: Vec<City>,
    pub routes: Vec<Route>,
    pub tickets: Vec<Ticket>,
}

#[derive(Debug, Deserialize)]
pub struct City {
    pub id: String,
    pub name: String,
}

#[derive(Debug, Deserialize)]
pub struct Route {
    pub id: String,
    pub a: String,
    pub b: String,
    pub length: u32,
    pub color: String,
}

/// With the cities to connect or, in the card game, the cards to collect.
#[derive(Debug, Deserialize)]
pub struct Ticket {
    pub id: String,
    pub points: i64,
    #[serde(default)]
    pub a: String,
    #[serde(default)]
    pub b: String,
    #[serde(default)]
    pub cards: Cards,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Move {
    DrawCard,
    TakeCard {
        card: String,
    },
    DrawThree,
    PlaceCard {
        place: String,
    },
    ClaimRoute {
        route: String,
        #[serde(default, skip_serializing_if = "Cards::is_empty")]
        cards: Cards,
        #[serde(default, skip_serializing_if = "Cards::is_empty")]
        holder_cards: Cards,
    },
    PayTunnel {
        #[serde(default, skip_serializing_if = "Cards::is_empty")]
        cards: Cards,
        #[serde(default, skip_serializing_if = "Cards::is_empty")]
        holder_cards: Cards,
    },
    AbandonTunnel,
    Stop,
    DrawTickets,
    KeepTickets {
        tickets: Vec<String>,
    },
    ShareTickets {
        tickets: Vec<String>,
    },
    LayCards {
        cards: Cards,
    },
    CompleteTickets {
        tickets: Vec<String>,
    },
    BuyTechnology {
        technology: String,
        cards: Cards,
    },
    Pass,
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct View {
    pub turn: u32,
    pub market: Cards,
    pub pile: u32,
    pub discards: Cards,
    pub ticket_pile: u32,
    pub players: Vec<PlayerView>,
    pub seat: usize,
    pub teams: Vec<TeamView>,
    pub supply: BTreeMap<String, u32>,
    pub half: Option<u32>,
    /// Present in the last round.
    pub turns_left: Option<u32>,
}

/// `hand`, `tickets`, `offered` and `returned` are present for your own seat only, and the yard in the card game.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PlayerView {
    pub seat: usize,
    pub team: usize,
    pub points: i32,
    pub hand_count: u32,
    pub known_cards: Cards,
    pub ticket_count: u32,
    pub trains: u32,
    pub routes: Vec<String>,
    pub technologies: Vec<String>,
    pub yard: Option<Vec<YardStack>>,
    pub stack_count: u32,
    pub completed: Vec<String>,
    pub hand: Cards,
    pub tickets: Vec<String>,
    pub offered: Vec<String>,
    pub returned: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct YardStack {
    pub color: String,
    pub cards: u32,
    pub locomotives: u32,
}

/// A holder. Its content is present for your own team only.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TeamView {
    pub team: usize,
    pub holder_count: u32,
    pub known_holder: Cards,
    pub shared_count: u32,
    pub holder: Cards,
    pub shared_tickets: Vec<String>,
}

static NOBODY: LazyLock<PlayerView> = LazyLock::new(PlayerView::default);

impl View {
    /// The viewer's own part.
    pub fn own(&self) -> &PlayerView {
        self.players.iter().find(|player| player.seat == self.seat).unwrap_or(&NOBODY)
    }
}
