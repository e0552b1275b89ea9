// A client: it logs in, takes a seat, and asks a player for the answers, match by match.
//
// The law: what the server does never ends in a crash. Unknown messages and fields are ignored, for servers grow; a
// refused answer is followed by a harmless one; a lost connection is made anew, and the session goes on where it was.
// What cannot be mended is a Stop of one line. A mistake of the player's own is not caught: its author wants to see
// it.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "connection.hpp"
#include "player.hpp"
#include "trouble.hpp"

namespace bot {

struct Options {
    std::string bot;
    NewPlayer new_player;
    std::string address;
    std::string name;
    std::optional<std::string> token;
    std::string seed;
    std::optional<Json> wish;  // the match to ask for; without one it plays where the server seats it, until bye
};

class Client {
public:
    explicit Client(Options options);

    /// Plays the match of the wish, or all that come. Stop if that cannot be.
    void run();

private:
    struct Match {
        Json start;
        std::unique_ptr<Player> player;
        int last_event = 0;
        bool asked = false;         // since then the server knows that this seat is ready
        std::optional<Json> ask;    // the open one
        std::deque<Json> answers;   // the one sent, then those to try after it
    };

    void play_until_the_end();
    std::unique_ptr<Connection> connect() const;
    bool comes_back(const Lost& lost);
    void send(const Json& message) { connection_->send(message); }
    Json receive();
    void leave(const Json& bye);

    void log_in();
    Json login() const;
    void enter(const Json& welcome, bool is_fresh);

    Match* match_of(const Json& message);
    void take(const Json& message);
    void take(Match& match, const Json& message);
    void join();
    void start(const Json& start);
    void answer(Match& match, const Json& ask);
    void act(Match& match);
    void mend(const Json& error);
    void finish(const std::string& id, const std::string& result);
    void log(const std::string& text) const;

    Options options_;
    std::unique_ptr<Connection> connection_;
    std::optional<Json> session_;  // the newest welcome
    std::map<std::string, Match> matches_;
    std::set<std::string> over_;
    std::string acted_;  // the match whose act was sent last
    bool joining_ = false;
    bool done_ = false;
    int attempts_ = 0;
};

}  // namespace bot
