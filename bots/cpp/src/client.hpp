// A client: it logs in, takes a seat, and asks a player for the answers, match by match.
//
// The law: no action of the server ends in a crash. The client ignores unknown messages and fields, because servers
// gain new ones. If an answer is refused, it sends a harmless one. If the connection is lost, it connects again and
// resumes the session. If it cannot continue, it throws a Stop of one line. It does not catch errors of the player,
// because the author wants to see them.

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
    std::optional<Json> wish;  // the match to join; without one it plays wherever the server seats it, until bye
};

class Client {
public:
    explicit Client(Options options);

    /// Plays the match of the wish, or all that come. Throws Stop if it cannot.
    void run();

private:
    struct Match {
        Json start;
        std::unique_ptr<Player> player;
        int last_event = 0;
        bool asked = false;         // if true, the server knows that this seat is ready
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
