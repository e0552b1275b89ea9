#pragma once

#include <string>

namespace bot {

/// Lets greedy answer the asks of a file of JSON Lines: a start, and its asks with their recorded answers. Returns
/// their number. Throws Stop at the first difference.
int answer_vectors(const std::string& file);

}  // namespace bot
