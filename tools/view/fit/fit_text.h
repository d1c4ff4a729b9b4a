// The results of `memoir fit` as text: one card in detail, several as a table. Each result is labelled as simulated,
// and lists the figures that come from tables and the unknown figures.
#ifndef TOOLS_VIEW_FIT_FIT_TEXT_H_
#define TOOLS_VIEW_FIT_FIT_TEXT_H_

#include <string>
#include <vector>

#include "tools/analyze/fit/fit.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Returns "fits", "does not fit", "depends", ...: a cell of a table.
std::string VerdictWords(const FitCard& card);
// Returns "needs 54.2 GiB of 79.2 GiB, 25.0 GiB to spare", or why there is no result. Does not contain the verdict.
std::string VerdictReason(const FitCard& card);

// Returns the verdict in one line, not wrapped. `what`: the program's name.
std::string RenderFitLine(const FitCard& card, const std::string& what, const Terminal& terminal);
// Returns the verdict as RenderFitLine() does, but wrapped at the terminal's width. Also returns the composition of the
// device's peak, the owners of torch's part, and the notes.
std::string RenderFit(const FitCard& card, const std::string& what, const Terminal& terminal);
// Returns a table of the cards, sorted by memory, the smallest first.
std::string RenderFitTable(std::vector<FitCard> cards, const std::string& what, const Terminal& terminal);

// Returns " (torch 2.11.0)" for the end of a sentence, because a program's memory depends on torch's version. Empty if
// the version is unknown.
std::string TorchWords(const std::string& version);

// Returns a paragraph for each fact that qualifies the verdict: where memory ran out, little spare memory, unknowns.
std::string RenderDoubts(const FitCard& card, const Terminal& terminal);

// Returns the notes below every result.
std::string RenderFitNotes(const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_FIT_FIT_TEXT_H_
