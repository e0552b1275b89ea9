// A connection to the server: over TCP, or over this process's own standard input and output.

#pragma once

#include <optional>
#include <string>

#include "codec.hpp"

namespace bot {

inline const std::string default_address = "tcp://127.0.0.1:7878";
inline const std::string stdio = "stdio:";

/// No connection came about; one line says why.
struct NotConnected : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Connection {
public:
    /// To tcp://HOST:PORT or stdio:. NotConnected, or Stop if it is no address.
    explicit Connection(const std::string& address);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// In one write: two for one line would wait for each other on the way. Lost if the connection is gone.
    void send(const Json& message);

    /// The next message. Lost at the end, however it came about.
    Json receive();

private:
    int input_;
    int output_;
    Lines lines_;
};

}  // namespace bot
