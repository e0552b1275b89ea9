#include "vectors.hpp"

#include <fstream>

#include "player.hpp"
#include "trouble.hpp"

namespace bot {

int answer_vectors(const std::string& file) {
    std::ifstream stream(file);
    std::unique_ptr<Player> greedy;
    int asks = 0;
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        number++;
        const Json row = Json::parse(line);
        if (row.contains("start")) {
            greedy = new_greedy(row["start"], "");
        } else if (greedy && row.contains("ask")) {
            asks++;
            const Answer came = greedy->answer(row["ask"]);
            if (came != row.at("answer")) {
                throw Stop(file + ": line " + std::to_string(number) + ": expected " + row["answer"].dump() +
                           "; came " + came.dump());
            }
        }
    }
    if (asks == 0) {
        throw Stop(file + ": cannot be read, or has no asks");
    }
    return asks;
}

}  // namespace bot
