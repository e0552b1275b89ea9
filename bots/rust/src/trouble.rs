//! The errors between a client and a server.

use std::time::Duration;

pub const EXIT_REFUSED: u8 = 1;
pub const EXIT_USAGE: u8 = 2;
pub const EXIT_NO_SERVER: u8 = 4;

/// The reason why the client cannot continue, in one line.
pub struct Stop {
    pub text: String,
    pub exit_code: u8,
}

pub enum Trouble {
    Stop(Stop),
    /// A lost connection. Another one may help, after a pause if the server named one.
    Lost {
        text: String,
        pause: Option<Duration>,
    },
}

pub type Attempt<T> = Result<T, Trouble>;

pub fn lost(text: String) -> Trouble {
    Trouble::Lost { text, pause: None }
}

pub fn refused(text: String) -> Trouble {
    Trouble::Stop(Stop { text, exit_code: EXIT_REFUSED })
}
