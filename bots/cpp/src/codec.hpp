// Lines and messages. A line is one JSON object, which ends with "\n" and nothing else.

#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace bot {

using Json = nlohmann::json;

/// Returns the message's line with its newline, to be written at once.
std::string encode(const Json& message);

/// Returns the message of a line. Throws Stop if a client cannot rely on it.
Json decode(std::string_view line);

/// Cuts a stream of bytes into lines.
class Lines {
public:
    void add(std::string_view bytes);

    /// Returns the next line without its newline, if it is complete. Throws Stop if it is too long.
    std::optional<std::string> next();

private:
    std::string bytes_;
    std::size_t begin_ = 0;
    std::size_t searched_ = 0;
};

}  // namespace bot
