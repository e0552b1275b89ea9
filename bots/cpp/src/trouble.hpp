// The errors between a client and a server.

#pragma once

#include <optional>
#include <stdexcept>
#include <string>

namespace bot {

enum class Exit { played = 0, refused = 1, usage = 2, no_server = 4 };

/// The reason why the client cannot continue, in one line.
struct Stop : std::runtime_error {
    explicit Stop(const std::string& text, Exit exit_ = Exit::refused) : std::runtime_error(text), exit(exit_) {}

    Exit exit;
};

/// A lost connection. Another one may help.
struct Lost : std::runtime_error {
    explicit Lost(const std::string& text, std::optional<int> retry_ms_ = std::nullopt)
        : std::runtime_error(text), retry_ms(retry_ms_) {}

    std::optional<int> retry_ms;  // when to come back, if the server named a time
};

/// An error for bytes that no Stellwerk server sends.
inline Stop not_stellwerk(const std::string& text) { return Stop("this is not a Stellwerk server: " + text); }

}  // namespace bot
