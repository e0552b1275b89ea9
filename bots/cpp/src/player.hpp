// The interface of a bot, and the bots by name.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "codec.hpp"

namespace bot {

/// {"index": n}, or {"move": {...}}
using Answer = Json;

/// Plays one match for one seat. An answer should depend only on `start` and on the ask: a restart loses everything
/// that a player remembers.
class Player {
public:
    virtual ~Player() = default;

    virtual Answer answer(const Json& ask) = 0;

    /// One fact of the match.
    virtual void event(const Json&) {}
};

/// Returns the player of a match from its `start`. The seed is for its random choices.
using NewPlayer = std::function<std::unique_ptr<Player>(const Json& start, const std::string& seed)>;

std::unique_ptr<Player> new_random(const Json& start, const std::string& seed);
std::unique_ptr<Player> new_greedy(const Json& start, const std::string& seed);

/// Add yours here.
inline const std::map<std::string, NewPlayer> players = {
    {"greedy", new_greedy},
    {"random", new_random},
};

/// Returns the answer that makes a listed move; the first has the index 0.
inline Answer choose(std::size_t index) { return {{"index", index}}; }

}  // namespace bot
