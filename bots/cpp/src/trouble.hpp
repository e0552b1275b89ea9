// What goes wrong between a client and a server.

#pragma once

#include <optional>
#include <stdexcept>
#include <string>

namespace bot {

enum class Exit { played = 0, refused = 1, usage = 2, no_server = 4 };

/// It cannot go on; one line says why.
struct Stop : std::runtime_error {
    explicit Stop(const std::string& text, Exit exit_ = Exit::refused) : std::runtime_error(text), exit(exit_) {}

    Exit exit;
};

/// The connection is gone, and another may help.
struct Lost : std::runtime_error {
    explicit Lost(const std::string& text, std::optional<int> retry_ms_ = std::nullopt)
        : std::runtime_error(text), retry_ms(retry_ms_) {}

    std::optional<int> retry_ms;  // when the server wants to be visited again, if it said so
};

/// What came is nothing that a Stellwerk server sends.
inline Stop not_stellwerk(const std::string& text) { return Stop("this is no Stellwerk server: " + text); }

}  // namespace bot
