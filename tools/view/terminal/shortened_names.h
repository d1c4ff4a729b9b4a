// Shortens names for a column that is too narrow.
#ifndef TOOLS_VIEW_TERMINAL_SHORTENED_NAMES_H_
#define TOOLS_VIEW_TERMINAL_SHORTENED_NAMES_H_

#include <cstddef>
#include <string>
#include <vector>

namespace memoir {

// Shortens each name to at most `width` columns, as Shortened does, but keeps different names different. If a cut in
// the middle would make several names equal, the parts in which they differ are kept.
//
//     transformer.layers.0.mlp.weight ──► transfor….0.….weight
//     transformer.layers.1.mlp.weight ──► transfor….1.….weight
std::vector<std::string> ShortenedApart(const std::vector<std::string>& names, std::size_t width);

// Cuts names at their end if they stay different. Otherwise shortens them like ShortenedApart.
//
//     modeling_llama.py:310 LlamaMLP.forward ──► modeling_llama.py:310 LlamaM…
std::vector<std::string> CutApart(const std::vector<std::string>& names, std::size_t width);

}  // namespace memoir

#endif  // TOOLS_VIEW_TERMINAL_SHORTENED_NAMES_H_
