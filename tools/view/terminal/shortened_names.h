// Names in a column that is too narrow for them.
#ifndef TOOLS_VIEW_TERMINAL_SHORTENED_NAMES_H_
#define TOOLS_VIEW_TERMINAL_SHORTENED_NAMES_H_

#include <cstddef>
#include <string>
#include <vector>

namespace memoir {

// Each cut to at most `width` columns, as Shortened does, but so that those which differ still do: where a cut in the
// middle would make several names one, the parts in which they differ are kept.
//
//     transformer.layers.0.mlp.weight ──► transfor….0.….weight
//     transformer.layers.1.mlp.weight ──► transfor….1.….weight
std::vector<std::string> ShortenedApart(const std::vector<std::string>& names, std::size_t width);

// Cut at their end, where that leaves those apart which differ; else as ShortenedApart.
//
//     modeling_llama.py:310 LlamaMLP.forward ──► modeling_llama.py:310 LlamaM…
std::vector<std::string> CutApart(const std::vector<std::string>& names, std::size_t width);

}  // namespace memoir

#endif  // TOOLS_VIEW_TERMINAL_SHORTENED_NAMES_H_
