#include "texts.hpp"

#include <algorithm>
#include <ostream>

#include "trouble.hpp"

namespace bot {

std::string reason(const std::string& what, const Json& message) {
    const std::string place = message.contains("pointer") ? " at " + message.value("pointer", "") : "";
    return what + ": " + message.value("code", "") + place + ": " + message.value("expected", "");
}

std::string result_line(const Json& start, const Json& end) try {
    std::vector<Json> teams = end.at("result").at("teams");
    std::stable_sort(teams.begin(), teams.end(),
                     [](const Json& one, const Json& other) { return one.at("rank") < other.at("rank"); });
    std::string line = start.at("game").get<std::string>() + ": ";
    std::string separator;
    for (const Json& team : teams) {
        line += separator + team.at("rank").dump() + ". ";
        separator.clear();
        for (const Json& seat : team.at("seats")) {
            line += separator + start.at("players").at(seat.get<std::size_t>()).at("name").get<std::string>();
            separator = " and ";
        }
        line += " " + team.at("points").dump();
        separator = ", ";
    }
    return line;
} catch (const Json::exception&) {
    throw not_stellwerk("end without a valid result");
}

void print_line(std::ostream& stream, std::string line) {
    std::replace_if(line.begin(), line.end(), [](char each) { return each < ' ' || each > '~'; }, '?');
    stream << line << std::endl;
}

}  // namespace bot
