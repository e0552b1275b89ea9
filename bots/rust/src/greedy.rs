//! The bot `greedy`: it gives each listed move a value, and makes the first move with the highest one. The law is in
//! protocol/GREEDY.md: an answer follows from the board and the ask, in whole numbers, without random choices.

use crate::messages::{Answer, Ask, Cards, Move, PlayerView, Start, Ticket};
use crate::players::Player;
use std::cmp::Reverse;
use std::collections::HashMap;

const GOOD_ROUTE_POINTS: i64 = 7;
const LARGE_HAND: u32 = 15; // so large that any claim is good
const CARDS_TO_ASK_FOR: i64 = 56; // on the tickets of all players, if tickets require cards
const ROOM_FOR_A_TICKET: i64 = 4;
const TECHNOLOGIES: [&str; 3] = ["mechanical_stoker", "superheated_steam_boiler", "boiler_lagging"];

pub struct Greedy {
    ticket_points: HashMap<String, i64>,
    ticket_cards: HashMap<String, Cards>,
    route_points: HashMap<String, i64>,
}

impl Greedy {
    pub fn new(start: &Start) -> Self {
        let board = &start.board;
        let points_for = |length: u32| board.route_points.get(&length.to_string()).copied().unwrap_or(0);
        let cards_of = |ticket: &Ticket| (ticket.id.clone(), ticket.cards.clone());
        Self {
            ticket_points: board.tickets.iter().map(|ticket| (ticket.id.clone(), ticket.points)).collect(),
            ticket_cards: board.tickets.iter().map(cards_of).collect(),
            route_points: board.routes.iter().map(|route| (route.id.clone(), points_for(route.length))).collect(),
        }
    }

    fn worth(&self, move_: &Move, ask: &Ask) -> i64 {
        let own = ask.view.own();
        match move_ {
            Move::KeepTickets { tickets } => self.worth_of_tickets(tickets, ask),
            Move::DrawTickets if own.yard.is_some() && self.asked(&own.tickets) < limit(ask) - ROOM_FOR_A_TICKET => {
                2000
            }
            Move::DrawTickets => -1,
            Move::BuyTechnology { technology, cards } => worth_of_technology(technology, cards),
            Move::ClaimRoute { route, cards, holder_cards } => {
                let points = self.route_points.get(route).copied().unwrap_or(0);
                let is_time = own.hand_count >= LARGE_HAND || ask.view.turns_left.is_some();
                if points >= GOOD_ROUTE_POINTS || is_time {
                    1000 + 10 * points - locomotives(cards) - locomotives(holder_cards)
                } else {
                    0
                }
            }
            Move::LayCards { cards } => 500 + 10 * count(cards) - locomotives(cards),
            Move::TakeCard { card } if self.wants(card, own) => 30 + held(&own.hand, card),
            Move::TakeCard { .. } => 10,
            Move::DrawThree => 25,
            Move::DrawCard => 20,
            _ => 0,
        }
    }

    /// The value of keeping tickets: on a map few points are best; with yards many, within the limit.
    fn worth_of_tickets(&self, kept: &[String], ask: &Ask) -> i64 {
        let own = ask.view.own();
        let points = kept.iter().filter_map(|ticket| self.ticket_points.get(ticket)).sum::<i64>();
        if own.yard.is_none() {
            -points
        } else if self.asked(&own.tickets) + self.asked(kept) <= limit(ask) {
            points
        } else {
            -1
        }
    }

    fn wants(&self, color: &str, own: &PlayerView) -> bool {
        if color == "locomotive" {
            return false;
        }
        let enough = match own.yard {
            None => return held(&own.hand, color) >= 2,
            Some(_) => self.cards_of(&own.tickets).map(|cards| held(cards, color)).sum(),
        };
        held(&own.hand, color) < enough
    }

    /// The number of cards on these tickets.
    fn asked(&self, tickets: &[String]) -> i64 {
        self.cards_of(tickets).map(count).sum()
    }

    fn cards_of(&self, tickets: &[String]) -> impl Iterator<Item = &Cards> {
        tickets.iter().filter_map(|ticket| self.ticket_cards.get(ticket))
    }
}

impl Player for Greedy {
    fn answer(&mut self, ask: &Ask) -> Answer {
        let worth_most = |index: &usize| (self.worth(&ask.legal[*index], ask), Reverse(*index));
        Answer::index((0..ask.legal.len()).max_by_key(worth_most).unwrap_or(0))
    }
}

fn worth_of_technology(technology: &str, cards: &Cards) -> i64 {
    match TECHNOLOGIES.iter().position(|wanted| *wanted == technology) {
        Some(place) if count(cards) == locomotives(cards) => 3000 - place as i64,
        _ => -1,
    }
}

fn limit(ask: &Ask) -> i64 {
    CARDS_TO_ASK_FOR / ask.view.players.len() as i64
}

fn locomotives(cards: &Cards) -> i64 {
    held(cards, "locomotive")
}

fn held(cards: &Cards, color: &str) -> i64 {
    cards.get(color).copied().unwrap_or(0).into()
}

fn count(cards: &Cards) -> i64 {
    cards.values().copied().map(i64::from).sum()
}
