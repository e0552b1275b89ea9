// Every test is a function. A check that fails prints where, and the others go on.

#include "codec.hpp"

#include <iostream>
#include <vector>

#include "trouble.hpp"

namespace {

using namespace bot;

int failed = 0;

void check(bool condition, const char* text, int line) {
    if (!condition) {
        std::cout << __FILE__ << ":" << line << ": " << text << "\n";
        failed++;
    }
}

#define CHECK(condition) check((condition), #condition, __LINE__)

const std::string ask_line =
    R"({"type":"ask","match":"m1","ask":5,"fallback":{"type":"complete_tickets","tickets":[]},)"
    R"("weather":{"sky":["gray",-1.5e3,null]},"view":{"seat":0,"players":[{"hand":{"red":2},"yard":[]},{}]},)"
    R"("legal":[{"type":"draw_card"},{"type":"dance","steps":3}]})";

bool is_refused(const std::string& line) {
    try {
        decode(line);
        return false;
    } catch (const Stop& stop) {
        return std::string(stop.what()).find("this is not a Stellwerk server: ") == 0 && stop.exit == Exit::refused;
    }
}

std::string without(const std::string& field) {
    Json message = Json::parse(ask_line);
    message.erase(field);
    return message.dump();
}

std::string with(const std::string& field, const Json& value) {
    Json message = Json::parse(ask_line);
    message[field] = value;
    return message.dump();
}

void an_ask_is_read_and_what_is_unknown_in_it_is_ignored() {
    const Json ask = decode(ask_line);
    CHECK(ask.at("ask") == 5);
    CHECK(ask.at("view").at("players").at(0).at("hand").at("red") == 2);
    CHECK(ask.at("legal").at(1).at("type") == "dance");
}

void what_is_absent_is_told_from_what_is_empty() {
    const Json players = decode(ask_line).at("view").at("players");
    CHECK(players.at(0).contains("yard"));
    CHECK(!players.at(1).contains("yard"));
}

void a_message_of_an_unknown_type_is_no_error() {
    CHECK(decode(R"({"type":"weather","match":7,"code":null})").at("type") == "weather");
}

void what_is_no_message_is_told_as_such() {
    for (const char* line : {"", "hello", "null", "[]", "\"ask\"", "{}", R"({"type":3})", R"({"type":"ok")",
                             R"({"type":"ok"})", R"({"type":"ok","match":3})", R"({"type":"weather"} and more)",
                             "{\"type\":\"bye\",\"code\":\"\xff\"}"}) {
        CHECK(is_refused(line));
    }
    CHECK(is_refused(std::string(50'000, '[')));
    CHECK(!is_refused(without("view")));
    for (const char* field : {"match", "ask", "fallback", "legal"}) {
        CHECK(is_refused(without(field)));
    }
    CHECK(is_refused(with("legal", Json::array())));
    CHECK(is_refused(with("view", nullptr)));
    CHECK(is_refused(with("ask", -1)));
}

void a_message_is_one_line() {
    const std::string text = "a\nb\u2028\"\u00fc";
    const std::string line = encode({{"type", "act"}, {"note", text}});
    CHECK(line.find('\n') == line.size() - 1);
    CHECK(Json::parse(line).at("note") == text);
}

void what_was_read_is_written_again_with_empty_lists() {
    CHECK(encode(decode(ask_line).at("fallback")) == "{\"tickets\":[],\"type\":\"complete_tickets\"}\n");
}

void text_that_is_not_unicode_does_not_break_a_message() { CHECK(encode({{"name", "a\xff"}}) == "{\"name\":\"a\ufffd\"}\n"); }

void lines_are_the_same_however_they_arrive() {
    const std::string long_line(60'000, 'x');
    const std::string text = "first\n\u00fc\u2028second\r\n\n" + long_line + "\nhalf a line";
    const std::vector<std::string> expected = {"first", "\u00fc\u2028second\r", "", long_line};
    for (const std::size_t piece : {1, 3, 1000, 70'000}) {
        Lines lines;
        std::vector<std::string> came;
        for (std::size_t begin = 0; begin < text.size(); begin += piece) {
            lines.add(std::string_view(text).substr(begin, piece));
            while (const auto line = lines.next()) {
                came.push_back(*line);
            }
        }
        CHECK(came == expected);
    }
}

void a_line_without_an_end_is_no_server() {
    Lines lines;
    try {
        for (int i = 0; i < 100; i++) {
            lines.add(std::string(1 << 16, 'x'));
            CHECK(!lines.next());
        }
        CHECK(!"it was read");
    } catch (const Stop& stop) {
        CHECK(stop.exit == Exit::refused);
    }
}

}  // namespace

int main() {
    an_ask_is_read_and_what_is_unknown_in_it_is_ignored();
    what_is_absent_is_told_from_what_is_empty();
    a_message_of_an_unknown_type_is_no_error();
    what_is_no_message_is_told_as_such();
    a_message_is_one_line();
    what_was_read_is_written_again_with_empty_lists();
    text_that_is_not_unicode_does_not_break_a_message();
    lines_are_the_same_however_they_arrive();
    a_line_without_an_end_is_no_server();
    std::cout << (failed == 0 ? "all tests passed\n" : "some failed\n");
    return failed == 0 ? 0 : 1;
}
