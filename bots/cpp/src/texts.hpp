// Texts for people.

#pragma once

#include <iosfwd>
#include <string>

#include "codec.hpp"

namespace bot {

/// Formats an error or a bye of the server.
std::string reason(const std::string& what, const Json& message);

/// The result of a match, best first: `usa: 1. greedy 97, 2. random -45`. Partners share their points.
std::string result_line(const Json& start, const Json& end);

/// Prints one line, with '?' for everything except printable ASCII, because the server's texts are not ours.
void print_line(std::ostream& stream, std::string line);

}  // namespace bot
