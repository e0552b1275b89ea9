//! A bot for Stellwerk. With --game it joins a match. Without it, it plays wherever the server seats it; a server
//! starts bots that way. Exit codes: 0 played, 1 refused, 2 usage, 4 no server.

mod client;
mod codec;
mod connection;
mod greedy;
mod messages;
mod players;
mod random;
mod texts;
mod trouble;
mod vectors;

use client::{Client, Options};
use connection::DEFAULT_ADDRESS;
use messages::Join;
use players::new_player;
use std::env;
use std::hash::{BuildHasher, RandomState};
use std::process::ExitCode;
use std::str::FromStr;
use trouble::{EXIT_REFUSED, EXIT_USAGE, Stop};

const USAGE: &str = "\
usage: stellwerk-bot NAME [--address tcp://127.0.0.1:7878] [--name N] [--token T]
                     [--game G --players N --option X --against a,b,c --seed S --room R --seat K]
       stellwerk-bot vectors FILE

NAME is random or greedy. --option may be repeated. An address is tcp://HOST:PORT or stdio:. Defaults come
from STELLWERK_ADDRESS, STELLWERK_NAME, STELLWERK_TOKEN; what the bot leaves to chance follows from STELLWERK_BOT_SEED.";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop { text, exit_code }) => {
            eprintln!("{}", texts::printable(&text));
            if exit_code == EXIT_USAGE {
                eprintln!("{USAGE}");
            }
            ExitCode::from(exit_code)
        }
    }
}

fn run(words: &[String]) -> Result<(), Stop> {
    match words {
        [] => Err(usage("which bot?")),
        [help] if help == "-h" || help == "--help" => {
            println!("{USAGE}");
            Ok(())
        }
        [vectors, file] if vectors == "vectors" => {
            let asks = vectors::answer_vectors(file).map_err(|text| Stop { text, exit_code: EXIT_REFUSED })?;
            println!("{file}: {asks} asks answered as recorded");
            Ok(())
        }
        [bot, rest @ ..] => Client::new(options(bot, rest)?).run(),
    }
}

fn options(bot: &str, words: &[String]) -> Result<Options, Stop> {
    let mut join = Join::default();
    let mut options = Options {
        address: variable("ADDRESS").unwrap_or_else(|| DEFAULT_ADDRESS.into()),
        name: variable("NAME").unwrap_or_else(|| format!("{bot}-{:06x}", random() & 0xff_ffff)),
        token: variable("TOKEN"),
        bot: bot.into(),
        new_player: new_player(bot).ok_or_else(|| usage(&format!("not a bot: {bot}")))?,
        seed: variable("BOT_SEED").unwrap_or_else(|| random().to_string()),
        wish: None,
    };
    for pair in words.chunks(2) {
        let [option, value] = pair else { return Err(usage(&format!("{} needs a value", pair[0]))) };
        match option.as_str() {
            "--address" => options.address.clone_from(value),
            "--name" => options.name.clone_from(value),
            "--token" => options.token = Some(value.clone()),
            "--game" => join.game.clone_from(value),
            "--players" => join.players = number(value)?,
            "--option" => join.options.push(value.clone()),
            "--against" => join.against = value.split_terminator(',').map(String::from).collect(),
            "--seed" => join.seed = Some(value.clone()),
            "--room" => join.room = Some(value.clone()),
            "--seat" => join.seat = Some(number(value)?),
            _ => return Err(usage(&format!("not an option: {option}"))),
        }
    }
    if join.players == 0 {
        join.players = (join.against.len() + 1).max(2);
    }
    options.wish = Some(join).filter(|join| !join.game.is_empty());
    Ok(options)
}

fn variable(name: &str) -> Option<String> {
    env::var(format!("STELLWERK_{name}")).ok().filter(|value| !value.is_empty())
}

fn number<N: FromStr>(text: &str) -> Result<N, Stop> {
    text.parse().map_err(|_| usage(&format!("not a number: {text}")))
}

fn usage(text: &str) -> Stop {
    Stop { text: text.into(), exit_code: EXIT_USAGE }
}

/// The keys of a new `RandomState` are random, which is enough for a name.
fn random() -> u64 {
    RandomState::new().hash_one(())
}
