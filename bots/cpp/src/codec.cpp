#include "codec.hpp"

#include <map>

#include "trouble.hpp"

namespace bot {

namespace {

constexpr std::size_t longest_line = 1 << 20;  // a server's lines stay below 60,000 bytes

using Type = Json::value_t;
using Fields = std::map<std::string, Type>;

// The fields that the client relies on. Other messages and fields may have any form.
const std::map<std::string, Fields> needed = {
    {"hello", {{"protocols", Type::array}}},
    {"welcome", {{"session", Type::string}, {"resume_key", Type::string}, {"name", Type::string}}},
    {"start", {{"match", Type::string}, {"game", Type::string}, {"players", Type::array}, {"board", Type::object}}},
    {"event", {{"match", Type::string}, {"number", Type::number_unsigned}, {"event", Type::object}}},
    {"ask",
     {{"match", Type::string},
      {"ask", Type::number_unsigned},
      {"fallback", Type::object},
      {"legal", Type::array}}},
    {"ok", {{"match", Type::string}}},
    {"default", {{"match", Type::string}, {"reason", Type::string}}},
    {"error", {{"code", Type::string}}},
    {"end", {{"match", Type::string}, {"result", Type::object}}},
    {"bye", {{"code", Type::string}}},
};

// The fields that may be absent from these messages.
const Fields optional = {
    {"match", Type::string},
    {"ask", Type::number_unsigned},
    {"pointer", Type::string},
    {"expected", Type::string},
    {"retry_ms", Type::number_unsigned},
    {"view", Type::object},
};

void check(const Json& message, const Fields& fields, bool is_needed) {
    for (const auto& [name, type] : fields) {
        const auto field = message.find(name);
        if (field == message.end() ? is_needed : field->type() != type) {
            throw not_stellwerk(message["type"].get<std::string>() + " without a valid " + name);
        }
    }
}

}  // namespace

std::string encode(const Json& message) {
    return message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json decode(std::string_view line) {
    Json message = Json::parse(line, nullptr, false);
    if (!message.is_object() || !message.contains("type") || !message["type"].is_string()) {
        throw not_stellwerk("no object with a type: " + std::string(line.substr(0, 80)));
    }
    const auto fields = needed.find(message["type"].get<std::string>());
    if (fields != needed.end()) {
        check(message, fields->second, true);
        check(message, optional, false);
    }
    if (message["type"] == "ask" && message["legal"].empty()) {
        throw not_stellwerk("an ask without legal moves");
    }
    return message;
}

void Lines::add(std::string_view bytes) {
    bytes_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
    bytes_ += bytes;
}

std::optional<std::string> Lines::next() {
    const auto newline = bytes_.find('\n', searched_);
    if (newline == std::string::npos) {
        searched_ = bytes_.size();
        if (bytes_.size() - begin_ >= longest_line) {
            throw not_stellwerk("a line that does not end");
        }
        return std::nullopt;
    }
    std::string line = bytes_.substr(begin_, newline - begin_);
    begin_ = searched_ = newline + 1;
    return line;
}

}  // namespace bot
