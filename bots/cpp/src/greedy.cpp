// The bot `greedy`: it gives each listed move a value, and makes the first move with the highest one. The law is in
// protocol/GREEDY.md: an answer follows from the board and the ask, in whole numbers, without random choices.

#include <algorithm>
#include <array>
#include <unordered_map>

#include "player.hpp"

namespace bot {

namespace {

using Cards = std::map<std::string, int>;

constexpr int good_route_points = 7;
constexpr int large_hand = 15;       // so large that any claim is good
constexpr int cards_to_ask_for = 56;  // on the tickets of all players, if tickets require cards
constexpr int room_for_a_ticket = 4;
const std::string locomotive = "locomotive";
const std::array<std::string, 3> technologies = {"mechanical_stoker", "superheated_steam_boiler", "boiler_lagging"};

int held(const Json& cards, const std::string& color) { return cards.value(color, 0); }

int count(const Cards& cards) {
    int sum = 0;
    for (const auto& [color, number] : cards) {
        sum += number;
    }
    return sum;
}

Cards cards_of(const Json& object) { return object.value("cards", Cards()); }

int locomotives(const Json& move) {
    const Json none = Json::object();
    return held(move.value("cards", none), locomotive) + held(move.value("holder_cards", none), locomotive);
}

int worth_of_technology(const Json& move) {
    const auto place = std::find(technologies.begin(), technologies.end(), move.at("technology"));
    const bool is_wanted = place != technologies.end() && count(cards_of(move)) == locomotives(move);
    return is_wanted ? 3000 - static_cast<int>(place - technologies.begin()) : -1;
}

/// The other inputs of a value, besides the board and the move.
struct Position {
    explicit Position(const Json& ask) : view(ask.value("view", Json::object())), own(Json::object()) {
        for (const Json& player : view.value("players", Json::array())) {
            if (player.at("seat") == view.at("seat")) {
                own = player;
            }
        }
        hand = own.value("hand", Json::object());
        tickets = own.value("tickets", std::vector<std::string>());
    }

    bool has_yards() const { return own.contains("yard"); }
    int limit() const { return cards_to_ask_for / static_cast<int>(view.at("players").size()); }

    Json view;
    Json own;
    Json hand;
    std::vector<std::string> tickets;
};

class Greedy : public Player {
public:
    explicit Greedy(const Json& start) {
        const Json& board = start.at("board");
        for (const Json& ticket : board.at("tickets")) {
            tickets_[ticket.at("id")] = {ticket.at("points"), cards_of(ticket)};
        }
        for (const Json& route : board.value("routes", Json::array())) {
            route_points_[route.at("id")] = board.at("route_points").at(route.at("length").dump());
        }
    }

    Answer answer(const Json& ask) override {
        const Position position(ask);
        std::vector<int> worths;
        for (const Json& move : ask.at("legal")) {
            worths.push_back(worth(move, position));
        }
        return choose(std::max_element(worths.begin(), worths.end()) - worths.begin());
    }

private:
    struct Ticket {
        int points;
        Cards cards;
    };

    int worth(const Json& move, const Position& position) const {
        const std::string type = move.at("type");
        if (type == "keep_tickets") {
            return worth_of_tickets(move.at("tickets"), position);
        } else if (type == "draw_tickets") {
            const bool has_room =
                position.has_yards() && asked(position.tickets) < position.limit() - room_for_a_ticket;
            return has_room ? 2000 : -1;
        } else if (type == "buy_technology") {
            return worth_of_technology(move);
        } else if (type == "claim_route") {
            return worth_of_route(move, position);
        } else if (type == "lay_cards") {
            return 500 + 10 * count(cards_of(move)) - locomotives(move);
        } else if (type == "take_card") {
            return wants(move.at("card"), position) ? 30 + held(position.hand, move.at("card")) : 10;
        } else if (type == "draw_three") {
            return 25;
        }
        return type == "draw_card" ? 20 : 0;
    }

    int worth_of_route(const Json& move, const Position& position) const {
        const int points = route_points_.at(move.at("route"));
        const bool is_time = position.own.value("hand_count", 0) >= large_hand || position.view.contains("turns_left");
        return points >= good_route_points || is_time ? 1000 + 10 * points - locomotives(move) : 0;
    }

    /// The value of keeping tickets: on a map few points are best; with yards many, within the limit.
    int worth_of_tickets(const std::vector<std::string>& kept, const Position& position) const {
        int points = 0;
        for (const std::string& id : kept) {
            points += tickets_.at(id).points;
        }
        if (!position.has_yards()) {
            return -points;
        }
        return asked(position.tickets) + asked(kept) <= position.limit() ? points : -1;
    }

    bool wants(const std::string& color, const Position& position) const {
        if (color == locomotive) {
            return false;
        }
        if (!position.has_yards()) {
            return held(position.hand, color) >= 2;
        }
        int on_tickets = 0;
        for (const std::string& id : position.tickets) {
            const Cards& cards = tickets_.at(id).cards;
            const auto found = cards.find(color);
            on_tickets += found == cards.end() ? 0 : found->second;
        }
        return held(position.hand, color) < on_tickets;
    }

    /// The number of cards on these tickets.
    int asked(const std::vector<std::string>& ids) const {
        int sum = 0;
        for (const std::string& id : ids) {
            sum += count(tickets_.at(id).cards);
        }
        return sum;
    }

    std::unordered_map<std::string, Ticket> tickets_;
    std::unordered_map<std::string, int> route_points_;
};

}  // namespace

std::unique_ptr<Player> new_greedy(const Json& start, const std::string&) { return std::make_unique<Greedy>(start); }

}  // namespace bot
