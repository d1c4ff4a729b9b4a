// The answers of `memoir fit`, as text: one card in detail, several as a table. Each says that it is simulated, which
// figures are from tables, and what it cannot know.
#ifndef TOOLS_VIEW_FIT_FIT_TEXT_H_
#define TOOLS_VIEW_FIT_FIT_TEXT_H_

#include <string>
#include <vector>

#include "tools/analyze/fit/fit.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// "fits", "does not fit", "depends", ...: a cell of a table.
std::string VerdictWords(const FitCard& card);
// "needs 54.2 GiB of 79.2 GiB, 25.0 GiB to spare"; why there is no answer. Without the verdict itself.
std::string VerdictReason(const FitCard& card);

// `what`: the program's name. One line, however long it is.
std::string RenderFitLine(const FitCard& card, const std::string& what, const Terminal& terminal);
// The same, broken where the terminal ends; what the device held at its peak, who held torch's, and the notes.
std::string RenderFit(const FitCard& card, const std::string& what, const Terminal& terminal);
// By memory, the smallest first.
std::string RenderFitTable(std::vector<FitCard> cards, const std::string& what, const Terminal& terminal);

// " (torch 2.11.0)", for the end of an answer: what a program takes differs by it; "" where it is not known.
std::string TorchWords(const std::string& version);

// Why the answer could be another, and what it leaves open: a paragraph each.
std::string RenderDoubts(const FitCard& card, const Terminal& terminal);

// What is said below every answer.
std::string RenderFitNotes(const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_FIT_FIT_TEXT_H_
