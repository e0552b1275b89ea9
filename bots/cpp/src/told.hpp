// What people read.

#pragma once

#include <iosfwd>
#include <string>

#include "codec.hpp"

namespace bot {

/// What the server said: an error or a goodbye.
std::string reason(const std::string& what, const Json& said);

/// How a match ended, best first: `usa: 1. greedy 97, 2. random -45`. Partners share their points.
std::string result_line(const Json& start, const Json& end);

/// One line, with '?' for all but printable ASCII, for the server's texts are not ours.
void tell(std::ostream& stream, std::string line);

}  // namespace bot
