// A connection to the server: over TCP, or over this process's own standard input and output.

#pragma once

#include <optional>
#include <string>

#include "codec.hpp"

namespace bot {

inline const std::string default_address = "tcp://127.0.0.1:7878";
inline const std::string stdio = "stdio:";

/// A failed attempt to connect; the message is one line.
struct NotConnected : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Connection {
public:
    /// Connects to tcp://HOST:PORT or stdio:. Throws NotConnected, or Stop if the text is not an address.
    explicit Connection(const std::string& address);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Sends a message in one write: two for one line would wait for each other on the network. Throws Lost if the
    /// connection is lost.
    void send(const Json& message);

    /// Returns the next message. Throws Lost at the end, whatever its cause.
    Json receive();

private:
    int input_;
    int output_;
    Lines lines_;
};

}  // namespace bot
