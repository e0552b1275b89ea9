//! A client: it logs in, takes a seat, and asks a player for the answers, match by match.
//!
//! The law: no action of the server ends in a panic. The client ignores unknown messages and fields, because servers
//! gain new ones. If an answer is refused, it sends a harmless one. If the connection is lost, it connects again and
//! resumes the session. If it cannot continue, it returns a [`Stop`] of one line. It does not catch errors of the
//! player, because the author wants to see them.

use crate::connection::{Connection, NoMessage, NotConnected, STDIO};
use crate::messages::{Answer, Ask, Error, Event, FromClient, FromServer, Join, Login, Resume, Start, Welcome};
use crate::players::{NewPlayer, Player};
use crate::texts::{printable, reason, result_line};
use crate::trouble::{Attempt, EXIT_NO_SERVER, EXIT_USAGE, Stop, Trouble, lost, refused};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::thread::sleep;
use std::time::Duration;

const PROTOCOL: u32 = 1;
const ATTEMPTS: u32 = 12; // to connect, in a row, without an accepted answer: more than half a minute
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const BUSY_PAUSE: Duration = Duration::from_secs(1);
const COME_BACK: [&str; 4] = ["server.shutting_down", "server.too_slow", "server.full", "server.busy"];
const NEEDS_NO_ANSWER: [&str; 4] = [
    "protocol.stale_ask",
    "protocol.too_fast",
    "protocol.out_of_phase",     // already ready, or in the room: an earlier connection did it
    "protocol.too_many_matches", // the same
];

pub struct Options {
    pub address: String,
    pub name: String,
    pub token: Option<String>,
    pub bot: String,
    pub new_player: NewPlayer,
    pub seed: String,
    /// The match to join. Without one it plays wherever the server seats it, until bye.
    pub wish: Option<Join>,
}

pub struct Client {
    options: Options,
    session: Option<Welcome>,
    matches: BTreeMap<String, Match>,
    over: HashSet<String>,
    acted: Option<String>, // the match whose act was sent last
    joining: bool,
    done: bool,
    attempts: u32,
}

struct Match {
    start: Box<Start>,
    player: Box<dyn Player>,
    last_event: u64,
    asked: bool, // if true, the server knows that this seat is ready
    open_ask: Option<u64>,
    answers: VecDeque<Answer>,
}

impl Client {
    pub fn new(options: Options) -> Self {
        Self {
            options,
            session: None,
            matches: BTreeMap::new(),
            over: HashSet::new(),
            acted: None,
            joining: false,
            done: false,
            attempts: 0,
        }
    }

    /// Plays the match of the wish, or all that come.
    pub fn run(&mut self) -> Result<(), Stop> {
        loop {
            let (text, pause) = match self.play_until_the_end() {
                Ok(()) => return Ok(()),
                Err(Trouble::Stop(stop)) => return Err(stop),
                Err(Trouble::Lost { text, pause }) => (text, pause),
            };
            let is_stdio = self.options.address == STDIO;
            if is_stdio && self.session.is_some() && self.options.wish.is_none() && self.matches.is_empty() {
                return Ok(()); // the end of input means bye
            }
            self.attempts += 1;
            if is_stdio || self.attempts >= ATTEMPTS {
                return Err(Stop { text, exit_code: EXIT_NO_SERVER });
            }
            self.log(&format!("{text}; trying again"));
            sleep(pause.unwrap_or(LONGEST_PAUSE.min(FIRST_PAUSE * (1 << (self.attempts - 1)))));
        }
    }

    /// Plays until the end of the match of the wish, or of the connection.
    fn play_until_the_end(&mut self) -> Attempt<()> {
        let mut connection = Connection::open(&self.options.address).map_err(|problem| match problem {
            NotConnected::Address(text) => Trouble::Stop(Stop { text, exit_code: EXIT_USAGE }),
            NotConnected::Refused(error) => {
                let text = format!("cannot connect to {}: {error}", self.options.address);
                match self.session {
                    None => Trouble::Stop(Stop { text, exit_code: EXIT_NO_SERVER }),
                    Some(_) => lost(text),
                }
            }
        })?;
        self.joining = false;
        self.log_in(&mut connection)?;
        while !self.done {
            let message = self.receive(&mut connection)?;
            self.take(&mut connection, message)?;
        }
        Ok(())
    }

    fn receive(&mut self, connection: &mut Connection) -> Attempt<FromServer> {
        let message = connection.receive().map_err(|problem| match problem {
            NoMessage::Ended => lost("the connection is lost".into()),
            NoMessage::Wrong(text) => refused(format!("this is not a Stellwerk server: {text}")),
        })?;
        if let FromServer::Bye(bye) = &message {
            let text = format!("the server sent bye: {}: {}", bye.code, bye.expected);
            if COME_BACK.contains(&bye.code.as_str()) {
                let pause = bye.retry_ms.map(Duration::from_millis);
                return Err(Trouble::Lost { text, pause });
            }
            let all_played = self.session.is_some() && self.matches.is_empty() && self.options.wish.is_none();
            if bye.code != "done" || !all_played {
                return Err(refused(text));
            }
            self.done = true;
        }
        Ok(message)
    }

    // -- the login

    /// Goes from `hello` to `welcome`.
    fn log_in(&mut self, connection: &mut Connection) -> Attempt<()> {
        match self.receive(connection)? {
            FromServer::Hello(hello) if hello.protocols.contains(&PROTOCOL) => {}
            FromServer::Hello(hello) => {
                return Err(refused(format!("the server speaks protocol {:?}, not {PROTOCOL}", hello.protocols)));
            }
            _ => return Err(refused("this is not a Stellwerk server: it sent no hello".into())),
        }
        let is_fresh = self.session.is_none() && self.options.token.is_none(); // otherwise it may already be in a match
        send(connection, &self.login())?;
        loop {
            match self.receive(connection)? {
                FromServer::Welcome(welcome) => return self.enter(connection, welcome, is_fresh),
                FromServer::Error(error) if error.code == "auth.bad_resume_key" && self.session.is_some() => {
                    self.session = None; // its matches are lost, unless the token brings them back with a new start
                    self.matches.clear();
                    send(connection, &self.login())?;
                }
                FromServer::Error(error) => return Err(refused(reason("the login was refused", &error))),
                _ => {}
            }
        }
    }

    fn login(&self) -> FromClient {
        let last_events = || self.matches.iter().map(|(id, played)| (id.clone(), played.last_event)).collect();
        FromClient::Login(Login {
            protocol: PROTOCOL,
            name: self.options.name.clone(),
            language: "Rust".into(),
            token: self.options.token.clone(),
            resume: self.session.as_ref().map(|session| Resume {
                session: session.session.clone(),
                key: session.resume_key.clone(),
                last_events: last_events(),
            }),
        })
    }

    /// The server sends the matches of a session before it answers a ping. Then the client knows whether to join.
    fn enter(&mut self, connection: &mut Connection, welcome: Welcome, is_fresh: bool) -> Attempt<()> {
        self.options.name.clone_from(&welcome.name); // with a seat token the server uses the seat's name
        self.session = Some(welcome);
        for (id, _) in self.matches.iter().filter(|(_, played)| !played.asked) {
            // a `ready` may have been lost; a second one is harmless
            send(connection, &FromClient::Ready { match_id: id.clone() })?;
        }
        if is_fresh { self.join(connection) } else { send(connection, &FromClient::Ping) }
    }

    // -- the matches

    fn take(&mut self, connection: &mut Connection, message: FromServer) -> Attempt<()> {
        match message {
            FromServer::Pong if self.matches.is_empty() => self.join(connection)?,
            FromServer::Start(start) => self.start(connection, start)?,
            FromServer::Event(event) => self.note(&event),
            FromServer::Ask(ask) => self.answer(connection, &ask)?,
            FromServer::Ok(ok) => {
                self.attempts = 0;
                self.close_ask(&ok.match_id);
            }
            FromServer::Default(default) => {
                self.close_ask(&default.match_id);
                self.log(&format!("the server moved for this seat: {}", default.reason));
            }
            FromServer::Error(error) => self.mend(connection, &error)?,
            FromServer::End(end) => {
                if let Some(played) = self.matches.remove(&end.match_id) {
                    self.finish(end.match_id, &result_line(&played.start, &end.result));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn join(&mut self, connection: &mut Connection) -> Attempt<()> {
        self.joining = self.options.wish.is_some();
        self.options.wish.iter().try_for_each(|wish| send(connection, &FromClient::Join(wish.clone())))
    }

    /// Begins a new match, or continues one of a resumed session.
    fn start(&mut self, connection: &mut Connection, start: Box<Start>) -> Attempt<()> {
        self.joining = false;
        let match_id = start.match_id.clone();
        if self.over.contains(&match_id) || self.matches.contains_key(&match_id) {
            return Ok(());
        }
        let player = (self.options.new_player)(&start, &self.options.seed);
        let played = Match { start, player, last_event: 0, asked: false, open_ask: None, answers: VecDeque::new() };
        self.matches.insert(match_id.clone(), played);
        send(connection, &FromClient::Ready { match_id })
    }

    fn note(&mut self, event: &Event) {
        if let Some(played) = self.matches.get_mut(&event.match_id) {
            played.last_event = event.number;
            played.player.event(event);
        }
    }

    /// Sends the player's answer. If the server refuses it, the first listed move follows, then the fallback.
    fn answer(&mut self, connection: &mut Connection, ask: &Ask) -> Attempt<()> {
        let Some(played) = self.matches.get_mut(&ask.match_id) else { return Ok(()) };
        played.asked = true;
        played.open_ask = Some(ask.ask);
        played.answers = [played.player.answer(ask), Answer::index(0), Answer::to_move(ask.fallback.clone())].into();
        self.acted = Some(ask.match_id.clone());
        act(connection, played)
    }

    fn close_ask(&mut self, match_id: &str) {
        if let Some(played) = self.matches.get_mut(match_id) {
            played.open_ask = None;
        }
    }

    fn finish(&mut self, match_id: String, text: &str) {
        self.over.insert(match_id);
        self.done = self.options.wish.is_some();
        if self.options.address == STDIO {
            eprintln!("{}", printable(text));
        } else {
            println!("{}", printable(text));
        }
    }

    /// Handles an error. Errors come in the order of the lines that they are about, so one without a match is about the
    /// last act.
    fn mend(&mut self, connection: &mut Connection, error: &Error) -> Attempt<()> {
        let match_id = error.match_id.clone().or(self.acted.clone()).unwrap_or_default();
        let code = error.code.as_str();
        let is_about = |played: &&mut Match| played.open_ask.is_some_and(|open| error.ask.unwrap_or(open) == open);
        if NEEDS_NO_ANSWER.contains(&code) {
            return Ok(());
        }
        if code == "server.failed" {
            if let Some(played) = self.matches.remove(&match_id) {
                self.finish(match_id, &format!("{}: no result, server.failed", played.start.game));
            }
        } else if let Some(played) = self.matches.get_mut(&match_id).filter(is_about) {
            if code == "server.busy" {
                sleep(BUSY_PAUSE);
            } else {
                played.answers.pop_front();
                log(&self.options.bot, &reason("the answer was refused", error));
            }
            return act(connection, played);
        } else if self.joining {
            return Err(refused(reason("the join was refused", error)));
        } else {
            self.log(&reason("the server refused a message", error));
        }
        Ok(())
    }

    fn log(&self, text: &str) {
        log(&self.options.bot, text);
    }
}

fn act(connection: &mut Connection, played: &Match) -> Attempt<()> {
    let (Some(ask), Some(answer)) = (played.open_ask, played.answers.front()) else { return Ok(()) };
    let match_id = played.start.match_id.clone();
    send(connection, &FromClient::Act { match_id, ask, answer: answer.clone() })
}

fn send(connection: &mut Connection, message: &FromClient) -> Attempt<()> {
    connection.send(message).map_err(|_| lost("the connection is lost".into()))
}

fn log(bot: &str, text: &str) {
    eprintln!("{bot}: {}", printable(text));
}
