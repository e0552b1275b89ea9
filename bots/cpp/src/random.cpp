// The bot `random`: it makes every listed move with the same probability.

#include <random>

#include "player.hpp"

namespace bot {

namespace {

/// Its choices depend on the seed, the match and the ask, so a bot that resumes chooses the same.
class Random : public Player {
public:
    Random(const Json& start, const std::string& seed) : chance_(seed + "/" + start.at("match").get<std::string>()) {}

    Answer answer(const Json& ask) override {
        const std::string text = chance_ + "/" + ask.at("ask").dump();
        std::seed_seq seed(text.begin(), text.end());
        return choose(std::mt19937_64(seed)() % ask.at("legal").size());  // of 2^64: practically uniform
    }

private:
    std::string chance_;
};

}  // namespace

std::unique_ptr<Player> new_random(const Json& start, const std::string& seed) {
    return std::make_unique<Random>(start, seed);
}

}  // namespace bot
