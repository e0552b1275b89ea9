//! Lines and messages. A line is one JSON object, which ends with `\n` and nothing else.

use crate::messages::{FromClient, FromServer};
use std::io::{self, BufRead, Read};

const LONGEST_LINE: u64 = 1 << 20; // a server's lines stay below 60,000 bytes

/// Returns the message's line, to be written at once.
pub fn encode(message: &FromClient) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("every message is JSON");
    line.push(b'\n');
    line
}

/// Returns the message of a line, or what is wrong with it.
pub fn decode(line: &[u8]) -> Result<FromServer, String> {
    match serde_json::from_slice(line).map_err(|error| error.to_string())? {
        FromServer::Ask(ask) if ask.legal.is_empty() => Err("an ask without legal moves".into()),
        message => Ok(message),
    }
}

/// Returns the next line without its newline, or `None` at the end. A cut connection leaves half a line, which is
/// dropped. A line that does not end is [`io::ErrorKind::InvalidData`].
pub fn read_line(stream: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    stream.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    if line.pop_if(|last| *last == b'\n').is_some() {
        Ok(Some(line))
    } else if line.len() as u64 == LONGEST_LINE {
        Err(io::Error::new(io::ErrorKind::InvalidData, "a line that does not end"))
    } else {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Answer, Ask, Join, Login, Move, Resume};
    use serde_json::{Value, json};
    use std::io::BufReader;

    const ASK: &str = r#"{"type":"ask","match":"m1","ask":5,"decision":{"type":"complete_tickets","seats":[0]},
        "fallback":{"type":"complete_tickets","tickets":[]},"weather":{"sky":["gray"]},
        "view":{"seat":0,"players":[{"seat":0,"hand":{"red":2},"yard":[]},{"hand_count":3}],"turns_left":0},
        "legal":[{"type":"draw_card"},{"type":"dance","steps":3},{"type":"claim_route","route":"a-b"}]}"#;

    fn ask() -> Box<Ask> {
        match decode(ASK.as_bytes()) {
            Ok(FromServer::Ask(ask)) => ask,
            other => panic!("{other:?}"),
        }
    }

    fn encoded(message: &FromClient) -> Value {
        serde_json::from_slice(&encode(message)).unwrap()
    }

    fn act(answer: Answer) -> FromClient {
        FromClient::Act { match_id: "m1".into(), ask: 5, answer }
    }

    fn login(resume: Option<Resume>) -> FromClient {
        let (name, language) = ("bot".into(), "Rust".into());
        FromClient::Login(Login { protocol: 1, name, language, token: None, resume })
    }

    #[test]
    fn an_ask_is_read_and_what_is_unknown_in_it_is_ignored() {
        let ask = ask();
        assert_eq!((ask.match_id.as_str(), ask.ask, ask.view.own().hand["red"]), ("m1", 5, 2));
        let (cards, holder_cards) = Default::default();
        let claim = Move::ClaimRoute { route: "a-b".into(), cards, holder_cards };
        assert_eq!(ask.legal, [Move::DrawCard, Move::Unknown, claim]);
    }

    #[test]
    fn what_is_absent_is_told_from_what_is_empty() {
        let view = ask().view;
        assert_eq!(view.turns_left, Some(0));
        assert!(view.players[0].yard.is_some());
        assert!(view.players[1].yard.is_none());
    }

    #[test]
    fn a_message_of_an_unknown_type_is_no_error() {
        let message = decode(br#"{"type":"weather","match":7,"code":null}"#);
        assert!(matches!(message, Ok(FromServer::Unknown)), "{message:?}");
        let message = decode(br#"{"type":"pong","echo":17}"#);
        assert!(matches!(message, Ok(FromServer::Pong)), "{message:?}");
    }

    #[test]
    fn what_is_no_message_is_told_as_such() {
        let no_moves = ASK.replace("\"legal\":[{", "\"was\":[{").replace("]}}", "],\"legal\":[]}");
        for line in ["", "hello", "null", "[]", "{}", r#"{"type":3}"#, r#"{"type":"ok"}"#, r#"{"type":"ok""#] {
            assert!(decode(line.as_bytes()).is_err(), "{line}");
        }
        assert!(decode(no_moves.as_bytes()).is_err());
        assert!(decode(b"{\"type\":\"bye\",\"code\":\"\xff\"}").is_err());
    }

    #[test]
    fn an_act_has_an_index_or_a_move_and_may_have_a_note() {
        let expected = json!({"type": "act", "match": "m1", "ask": 5, "index": 0});
        assert_eq!(encoded(&act(Answer::index(0))), expected);
        let fallback = json!({"type": "complete_tickets", "tickets": []});
        let expected = json!({"type": "act", "match": "m1", "ask": 5, "move": fallback});
        assert_eq!(encoded(&act(Answer::to_move(ask().fallback.clone()))), expected);
        let expected = json!({"type": "act", "match": "m1", "ask": 5, "index": 1, "note": "why"});
        assert_eq!(encoded(&act(Answer::index(1).with_note("why"))), expected);
    }

    #[test]
    fn a_move_of_ones_own_keeps_empty_lists_and_leaves_out_empty_sets_of_cards() {
        let keep = Move::KeepTickets { tickets: vec![] };
        assert_eq!(serde_json::to_value(keep).unwrap(), json!({"type": "keep_tickets", "tickets": []}));
        let claim = serde_json::to_value(&ask().legal[2]).unwrap();
        assert_eq!(claim, json!({"type": "claim_route", "route": "a-b"}));
    }

    #[test]
    fn what_is_absent_is_not_written() {
        let fresh = json!({"type": "login", "protocol": 1, "name": "bot", "language": "Rust"});
        assert_eq!(encoded(&login(None)), fresh);
        let join = Join { game: "usa".into(), players: 2, ..Default::default() };
        assert_eq!(encoded(&FromClient::Join(join)), json!({"type": "join", "game": "usa", "players": 2}));
    }

    #[test]
    fn a_resumption_names_the_last_events() {
        let last_events = [("m1".to_string(), 25)].into();
        let resume = Resume { session: "s1".into(), key: "k1".into(), last_events };
        let expected = json!({"session": "s1", "key": "k1", "last_events": {"m1": 25}});
        assert_eq!(encoded(&login(Some(resume)))["resume"], expected);
    }

    #[test]
    fn a_message_is_one_line() {
        let text = "a\nb\u{2028}c\"ü🚂";
        let line = encode(&act(Answer::to_move(json!(text))));
        assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
        assert_eq!(encoded(&act(Answer::to_move(json!(text))))["move"], text);
    }

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        let long = "x".repeat(60_000);
        let text = format!("first\nü\u{2028}second\r\n\n{long}\nhalf a line");
        for capacity in [1, 3, 1 << 17] {
            let mut stream = BufReader::with_capacity(capacity, text.as_bytes());
            let came: Vec<_> = std::iter::from_fn(|| read_line(&mut stream).unwrap()).collect();
            assert_eq!(came, ["first", "ü\u{2028}second\r", "", &long].map(|line| line.as_bytes()));
        }
    }

    #[test]
    fn a_line_without_an_end_is_an_error() {
        let mut stream = BufReader::new(io::repeat(b'x'));
        assert_eq!(read_line(&mut stream).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
