// A bot for Stellwerk. With --game it joins a match. Without it, it plays wherever the server seats it; a server starts
// bots that way. Exit codes: 0 played, 1 refused, 2 usage, 4 no server.

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>

#include "client.hpp"
#include "texts.hpp"
#include "trouble.hpp"
#include "vectors.hpp"

namespace {

using namespace bot;

const char* const usage_text = R"(usage: stellwerk-bot NAME [--address tcp://127.0.0.1:7878] [--name N] [--token T]
                     [--game G --players N --option X --against a,b,c --seed S --room R --seat K]
       stellwerk-bot vectors FILE

NAME is random or greedy. --option may be repeated. An address is tcp://HOST:PORT or stdio:. Defaults come
from STELLWERK_ADDRESS, STELLWERK_NAME, STELLWERK_TOKEN; what the bot leaves to chance follows from STELLWERK_BOT_SEED.
)";

Stop usage(const std::string& text) { return Stop(text, Exit::usage); }

int number_of(const std::string& text) {
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) {
        throw usage("not a number: " + text);
    }
    return std::stoi(text);
}

std::vector<std::string> names_of(const std::string& list) {
    std::vector<std::string> names;
    std::istringstream stream(list);
    for (std::string name; std::getline(stream, name, ',');) {
        names.push_back(name);
    }
    return names;
}

std::optional<std::string> variable(const std::string& name) {
    const char* value = std::getenv(("STELLWERK_" + name).c_str());
    return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

std::string by_chance() {
    std::ostringstream text;
    text << std::hex << std::random_device()();
    return text.str();
}

Options options_of(const std::string& name, const std::vector<std::string>& words) {
    Options options{
        name,
        players.at(name),
        variable("ADDRESS").value_or(default_address),
        variable("NAME").value_or(name + "-" + by_chance()),
        variable("TOKEN"),
        variable("BOT_SEED").value_or(by_chance()),
        std::nullopt,
    };
    Json wish = {{"type", "join"}};
    for (std::size_t i = 0; i < words.size(); i += 2) {
        if (i + 1 == words.size()) {
            throw usage(words[i] + " needs a value");
        }
        const std::string& option = words[i];
        const std::string& value = words[i + 1];
        if (option == "--address") {
            options.address = value;
        } else if (option == "--name") {
            options.name = value;
        } else if (option == "--token") {
            options.token = value;
        } else if (option == "--game" || option == "--seed" || option == "--room") {
            wish[option.substr(2)] = value;
        } else if (option == "--players" || option == "--seat") {
            wish[option.substr(2)] = number_of(value);
        } else if (option == "--option") {
            wish["options"].push_back(value);
        } else if (option == "--against") {
            wish["against"] = names_of(value);
        } else {
            throw usage("not an option: " + option);
        }
    }
    if (!wish.contains("players")) {
        wish["players"] = wish.contains("against") ? wish["against"].size() + 1 : 2;
    }
    if (wish.contains("game")) {
        options.wish = wish;
    }
    return options;
}

void run(const std::vector<std::string>& words) {
    const std::string name = words.empty() ? "" : words[0];
    if (name == "-h" || name == "--help") {
        std::cout << usage_text;
    } else if (name == "vectors" && words.size() == 2) {
        const int asks = answer_vectors(words[1]);
        std::cout << words[1] << ": " << asks << " asks answered as recorded\n";
    } else if (players.count(name) != 0) {
        Client(options_of(name, {words.begin() + 1, words.end()})).run();
    } else {
        throw usage("not a bot: " + name);
    }
}

}  // namespace

int main(int count, char** words) {
    std::signal(SIGPIPE, SIG_IGN);  // write reports a lost connection
    try {
        run({words + 1, words + count});
        return static_cast<int>(Exit::played);
    } catch (const Stop& stop) {
        print_line(std::cerr, stop.what());
        if (stop.exit == Exit::usage) {
            std::cerr << usage_text;
        }
        return static_cast<int>(stop.exit);
    }
}
