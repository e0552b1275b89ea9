#include "client.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

#include "texts.hpp"

namespace bot {

namespace {

constexpr int protocol = 1;
constexpr int most_attempts = 12;  // to connect, in a row, without an accepted answer: more than half a minute
constexpr int first_pause_ms = 100;  // between two of them, doubled each time
constexpr int longest_pause_ms = 5000;
constexpr int busy_pause_ms = 1000;
const std::set<std::string> come_back = {"server.shutting_down", "server.too_slow", "server.full", "server.busy"};
const std::set<std::string> needs_no_answer = {
    "protocol.stale_ask",
    "protocol.too_fast",
    "protocol.out_of_phase",      // already ready, or in the room: an earlier connection did it
    "protocol.too_many_matches",  // the same
};

void sleep_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

Json ready(const std::string& match) { return {{"type", "ready"}, {"match", match}}; }

}  // namespace

Client::Client(Options options) : options_(std::move(options)) {}

void Client::run() {
    while (!done_) {
        try {
            play_until_the_end();
        } catch (const Lost& lost) {
            if (!comes_back(lost)) {
                return;
            }
        }
    }
}

/// Waits before the next connection. False if the last one ended with bye.
bool Client::comes_back(const Lost& lost) {
    const bool is_stdio = options_.address == stdio;
    if (is_stdio && session_ && !options_.wish && matches_.empty()) {
        return false;
    }
    attempts_++;
    if (is_stdio || attempts_ >= most_attempts) {
        throw Stop(lost.what(), Exit::no_server);
    }
    log(std::string(lost.what()) + "; trying again");
    sleep_ms(lost.retry_ms.value_or(std::min(first_pause_ms << (attempts_ - 1), longest_pause_ms)));
    return true;
}

/// Plays until the end of the match of the wish, or of the connection.
void Client::play_until_the_end() {
    connection_ = nullptr;  // closed before the next one opens
    connection_ = connect();
    joining_ = false;
    log_in();
    while (!done_) {
        take(receive());
    }
}

std::unique_ptr<Connection> Client::connect() const try {
    return std::make_unique<Connection>(options_.address);
} catch (const NotConnected& error) {
    if (!session_) {
        throw Stop(error.what(), Exit::no_server);
    }
    throw Lost(error.what());
}

Json Client::receive() {
    Json message = connection_->receive();
    if (message["type"] == "bye") {
        leave(message);
    }
    return message;
}

void Client::leave(const Json& bye) {
    const std::string text = reason("the server sent bye", bye);
    if (come_back.count(bye.at("code"))) {
        throw bye.contains("retry_ms") ? Lost(text, bye.at("retry_ms").get<int>()) : Lost(text);
    }
    const bool all_played = session_ && matches_.empty() && !options_.wish;
    if (bye.at("code") != "done" || !all_played) {
        throw Stop(text);
    }
    done_ = true;
}

// -- the login

/// Goes from hello to welcome.
void Client::log_in() {
    const Json hello = receive();
    if (hello["type"] != "hello") {
        throw not_stellwerk("it sent no hello");
    }
    const Json& versions = hello["protocols"];
    if (std::find(versions.begin(), versions.end(), protocol) == versions.end()) {
        throw Stop("the server speaks protocol " + versions.dump() + ", not " + std::to_string(protocol));
    }
    const bool is_fresh = !session_ && !options_.token;  // otherwise it may already be in a match
    send(login());
    while (true) {
        const Json message = receive();
        if (message["type"] == "welcome") {
            return enter(message, is_fresh);
        }
        if (message["type"] == "error") {
            if (!session_ || message["code"] != "auth.bad_resume_key") {
                throw Stop(reason("the login was refused", message));
            }
            session_.reset();  // its matches are lost, unless the token brings them back with a new start
            matches_.clear();
            send(login());
        }
    }
}

Json Client::login() const {
    Json login = {{"type", "login"}, {"protocol", protocol}, {"name", options_.name}, {"language", "C++"}};
    if (options_.token) {
        login["token"] = *options_.token;
    }
    if (session_) {
        Json last_events = Json::object();
        for (const auto& [id, match] : matches_) {
            last_events[id] = match.last_event;
        }
        login["resume"] = {
            {"session", session_->at("session")}, {"key", session_->at("resume_key")}, {"last_events", last_events}};
    }
    return login;
}

/// The server sends the matches of a session before it answers a ping. Then the client knows whether to join.
void Client::enter(const Json& welcome, bool is_fresh) {
    session_ = welcome;
    options_.name = welcome.at("name");  // with a seat token the server uses the seat's name
    for (const auto& [id, match] : matches_) {
        if (!match.asked) {  // a `ready` may have been lost; a second one is harmless
            send(ready(id));
        }
    }
    if (is_fresh) {
        join();
    } else {
        send({{"type", "ping"}});
    }
}

// -- the matches

Client::Match* Client::match_of(const Json& message) {
    const auto id = message.find("match");
    const auto found = id != message.end() && id->is_string() ? matches_.find(id->get<std::string>()) : matches_.end();
    return found == matches_.end() ? nullptr : &found->second;
}

void Client::take(const Json& message) {
    const std::string type = message.at("type");
    if (type == "pong") {
        join();
    } else if (type == "start") {
        start(message);
    } else if (type == "error") {
        mend(message);
    } else if (Match* match = match_of(message)) {
        take(*match, message);
    }
}

void Client::take(Match& match, const Json& message) {
    const std::string type = message.at("type");
    if (type == "event") {
        match.last_event = message.at("number");
        match.player->event(message.at("event"));
    } else if (type == "ask") {
        answer(match, message);
    } else if (type == "ok") {
        attempts_ = 0;
        match.ask.reset();
    } else if (type == "default") {
        match.ask.reset();
        log("the server moved for this seat: " + message.at("reason").get<std::string>());
    } else if (type == "end") {
        finish(message.at("match"), result_line(match.start, message));
    }
}

void Client::join() {
    if (options_.wish && matches_.empty()) {
        joining_ = true;
        send(*options_.wish);
    }
}

/// Begins a new match, or continues one of a resumed session.
void Client::start(const Json& start) {
    const std::string id = start.at("match");
    joining_ = false;
    if (over_.count(id) == 0 && matches_.count(id) == 0) {
        Match& match = matches_[id];
        match.start = start;
        match.player = options_.new_player(start, options_.seed);
        send(ready(id));
    }
}

/// Sends the player's answer. If the server refuses it, the first listed move follows, then the fallback.
void Client::answer(Match& match, const Json& ask) {
    match.ask = ask;
    match.asked = true;
    match.answers = {match.player->answer(ask), choose(0), {{"move", ask.at("fallback")}}};
    act(match);
}

void Client::act(Match& match) {
    if (!match.ask || match.answers.empty()) {
        return;
    }
    Json message = {{"type", "act"}, {"match", match.ask->at("match")}, {"ask", match.ask->at("ask")}};
    message.update(match.answers.front());
    acted_ = match.ask->at("match");
    send(message);
}

void Client::finish(const std::string& id, const std::string& result) {
    print_line(std::cout, result);
    over_.insert(id);
    matches_.erase(id);
    done_ = options_.wish.has_value();
}

/// Handles an error. Errors come in the order of the lines that they are about, so one without a match is about the
/// last act.
void Client::mend(const Json& error) {
    const std::string code = error.at("code");
    const std::string id = error.value("match", acted_);
    Match* match = matches_.count(id) != 0 ? &matches_.at(id) : nullptr;
    const bool is_open = match && match->ask && error.value("ask", match->ask->at("ask")) == match->ask->at("ask");
    if (needs_no_answer.count(code)) {
        return;
    }
    if (match && code == "server.failed") {
        finish(id, match->start.at("game").get<std::string>() + ": no result, server.failed");
    } else if (is_open && code == "server.busy") {
        sleep_ms(busy_pause_ms);
        act(*match);
    } else if (joining_) {
        throw Stop(reason("the join was refused", error));
    } else if (is_open) {
        log(reason("the answer was refused", error));
        if (!match->answers.empty()) {
            match->answers.pop_front();
        }
        act(*match);
    } else {
        log(reason("the server refused a message", error));
    }
}

void Client::log(const std::string& text) const { print_line(std::cerr, options_.bot + ": " + text); }

}  // namespace bot
