// Lines and messages. A line is one JSON object, ended by "\n" and by nothing else.

#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace bot {

using Json = nlohmann::json;

/// The message's line with its newline, to be written at once.
std::string encode(const Json& message);

/// The message of a line. Stop if it is none that a client can rely upon.
Json decode(std::string_view line);

/// Cuts a stream of bytes into lines.
class Lines {
public:
    void add(std::string_view bytes);

    /// The next line without its newline, if it is complete. Stop if it is too long to be one.
    std::optional<std::string> next();

private:
    std::string bytes_;
    std::size_t begin_ = 0;
    std::size_t searched_ = 0;
};

}  // namespace bot
