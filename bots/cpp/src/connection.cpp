#include "connection.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <regex>

#include "trouble.hpp"

namespace bot {

namespace {

constexpr int connect_seconds = 10;

template <typename Value>
void set(int socket, int level, int option, Value value) {
    setsockopt(socket, level, option, &value, sizeof value);
}

// A socket, or -1 and errno.
int connected_to(const addrinfo& place) {
    const int descriptor = ::socket(place.ai_family, place.ai_socktype, place.ai_protocol);
    if (descriptor < 0) {
        return -1;
    }
    set(descriptor, SOL_SOCKET, SO_SNDTIMEO, timeval{connect_seconds, 0});  // also limits the time to connect
    if (::connect(descriptor, place.ai_addr, place.ai_addrlen) != 0) {
        const int error = errno == EINPROGRESS ? ETIMEDOUT : errno;
        ::close(descriptor);
        errno = error;
        return -1;
    }
    set(descriptor, SOL_SOCKET, SO_SNDTIMEO, timeval{0, 0});
    set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
    set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);  // detects a peer that died silently
    return descriptor;
}

int connected_to(const std::string& address) {
    static const std::regex form(R"(tcp://(?:\[([^\]]+)\]|([^:/@\[\]]+)):(\d{1,5}))");
    std::smatch parts;
    const bool is_address = std::regex_match(address, parts, form);
    const int port = is_address ? std::stoi(parts[3]) : 0;
    if (port < 1 || port > 65'535) {
        throw Stop("not an address:  " + address + "; it is tcp://HOST:PORT or " + stdio, Exit::usage);
    }
    const std::string host = parts[1].matched ? parts[1] : parts[2];
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* places = nullptr;
    if (const int unknown = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &places)) {
        throw NotConnected("cannot connect to " + address + ": " + gai_strerror(unknown));
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(places, freeaddrinfo);
    for (const addrinfo* place = places; place != nullptr; place = place->ai_next) {
        if (const int descriptor = connected_to(*place); descriptor >= 0) {
            return descriptor;
        }
    }
    throw NotConnected("cannot connect to " + address + ": " + std::strerror(errno));
}

}  // namespace

Connection::Connection(const std::string& address) {
    if (address == stdio) {
        input_ = STDIN_FILENO;
        output_ = ::dup(STDOUT_FILENO);
        ::dup2(STDERR_FILENO, STDOUT_FILENO);  // the output of a player must not mix with the messages
    } else {
        input_ = output_ = connected_to(address);
    }
}

Connection::~Connection() { ::close(output_); }

void Connection::send(const Json& message) {
    const std::string line = encode(message);
    for (std::size_t sent = 0; sent < line.size();) {  // once, unless the system accepts only a part
        const auto count = ::write(output_, line.data() + sent, line.size() - sent);
        if (count < 0 && errno != EINTR) {
            throw Lost("the connection is lost");
        }
        sent += count < 0 ? 0 : static_cast<std::size_t>(count);
    }
}

Json Connection::receive() {
    std::array<char, 1 << 16> bytes;
    while (true) {
        if (const auto line = lines_.next()) {
            return decode(*line);
        }
        const auto count = ::read(input_, bytes.data(), bytes.size());
        if (count == 0 || (count < 0 && errno != EINTR)) {
            throw Lost("the connection is lost");  // a cut connection leaves half a line
        }
        lines_.add({bytes.data(), count < 0 ? 0 : static_cast<std::size_t>(count)});
    }
}

}  // namespace bot
