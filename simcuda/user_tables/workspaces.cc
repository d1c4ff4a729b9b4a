#include "simcuda/user_tables/workspaces.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "simcuda/user_tables/table_lines.h"

namespace memoir::simcuda {
namespace {

using Values = std::array<double, kWords>;  // exact up to 2^53 bytes, more than any card has

constexpr std::string_view kNames[kWords] = {"elements", "element", "m", "n",         "batch",
                                             "x",        "w",       "y", "converted", "taps"};

// The variables that formulas may use, by the beginning of the formula's name. The callers of Bytes provide these
// variables.
struct Library {
  std::string_view prefix;
  std::initializer_list<Word> words;
};
constexpr Library kLibraries[] = {
    {"cufft.", {Word::kCount, Word::kBatch, Word::kElement}},
    {"cusolver.", {Word::kM, Word::kN, Word::kBatch, Word::kElement}},
    {"cudnn.", {Word::kX, Word::kW, Word::kY, Word::kConverted, Word::kTaps, Word::kElement}},
};

constexpr std::string_view kFormulas[] = {"cufft.smooth",
                                          "cufft.rough",
                                          "cufft.prime",
                                          "cufft.prime_real",
                                          "cufft.large",
                                          "cusolver.geqrf",
                                          "cusolver.orgqr",
                                          "cusolver.ormqr",
                                          "cusolver.sytrf",
                                          "cusolver.syevd",
                                          "cusolver.syevj_batched",
                                          "cusolver.gesvd",
                                          "cusolver.gesvdj",
                                          "cudnn.convolution_forward",
                                          "cudnn.convolution_backward_data",
                                          "cudnn.convolution_backward_filter",
                                          "cudnn.convolution_fallback",
                                          "cudnn.attention"};

bool IsLetter(char letter) { return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'); }

// Evaluates a formula: sum = product {(+|-) product}; product = factor {(*|/) factor};
// factor = number [unit] | variable | (sum) | min(sum, sum) | max(sum, sum)
class Evaluation {
 public:
  Evaluation(std::string_view text, const Values& values, const std::vector<Word>& allowed)
      : rest_(text), values_(values), allowed_(allowed) {}

  // Evaluates the whole text. NaN if the text is not a formula; wrong() then returns the text from the error on.
  double Value() {
    const double value = Sum();
    if (!wrong_ && !Trimmed(rest_).empty()) Fail();
    return wrong_ ? std::nan("") : value;
  }
  std::string_view wrong() const { return at_; }

 private:
  static constexpr int kDeepest = 32;

  double Fail() {
    if (!wrong_) at_ = Trimmed(rest_);
    wrong_ = true;
    return 0;
  }

  bool Take(char letter) {
    rest_ = Trimmed(rest_);
    if (wrong_ || rest_.empty() || rest_.front() != letter) return false;
    rest_.remove_prefix(1);
    return true;
  }

  double Sum() {
    double value = Product();
    while (!wrong_) {
      if (Take('+')) {
        value += Product();
      } else if (Take('-')) {
        value -= Product();
      } else {
        break;
      }
    }
    return value;
  }

  double Product() {
    double value = Factor();
    while (!wrong_) {
      if (Take('*')) {
        value *= Factor();
      } else if (Take('/')) {
        const double by = Factor();
        value = by == 0 ? 0 : std::floor(value / by);
      } else {
        break;
      }
    }
    return value;
  }

  double Factor() {
    rest_ = Trimmed(rest_);
    if (wrong_ || rest_.empty() || ++depth_ > kDeepest) return Fail();
    const double value = rest_.front() == '(' ? Bracket() : IsLetter(rest_.front()) ? Name() : Number();
    --depth_;
    return value;
  }

  double Bracket() {
    Take('(');
    const double value = Sum();
    return Take(')') ? value : Fail();
  }

  double Number() {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc{}) return Fail();
    rest_ = Trimmed(rest_.substr(static_cast<std::size_t>(end - rest_.data())));
    for (const auto& [unit, bytes] : {std::pair{"KiB", 1024.0}, std::pair{"MiB", 1048576.0}}) {
      if (!rest_.starts_with(unit)) continue;
      rest_.remove_prefix(3);
      return static_cast<double>(number) * bytes;
    }
    return static_cast<double>(number);
  }

  double Name() {
    const auto end = std::ranges::find_if_not(rest_, IsLetter);
    const std::string_view name = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    if (name == "min" || name == "max") {
      rest_.remove_prefix(name.size());
      if (!Take('(')) return Fail();
      const double first = Sum();
      if (!Take(',')) return Fail();
      const double second = Sum();
      if (!Take(')')) return Fail();
      return name == "min" ? std::min(first, second) : std::max(first, second);
    }
    const auto word = static_cast<Word>(std::ranges::find(kNames, name) - std::begin(kNames));
    if (std::ranges::find(allowed_, word) == allowed_.end()) return Fail();
    rest_.remove_prefix(name.size());
    return values_[static_cast<std::size_t>(word)];
  }

  std::string_view rest_, at_;
  const Values& values_;
  const std::vector<Word>& allowed_;
  int depth_ = 0;
  bool wrong_ = false;
};

std::vector<Word> WordsOfFormula(std::string_view name) {
  for (const Library& library : kLibraries) {
    if (name.starts_with(library.prefix)) return library.words;
  }
  return {};
}

}  // namespace

std::string Workspaces::Parse(std::string_view text) {
  TableLines lines(text);
  while (lines.Next()) {
    std::string_view left, right;
    if (!lines.Split(left, right)) return lines.Error("expected name = formula");
    const std::string name(left), formula(right);
    if (std::ranges::find(kFormulas, name) == std::end(kFormulas)) return lines.Error("no workspace is called " + name);
    Values ones;
    ones.fill(1);
    const std::vector<Word> allowed = WordsOfFormula(name);
    Evaluation evaluation(formula, ones, allowed);
    if (std::isnan(evaluation.Value()))
      return lines.Error(name + " = " + formula + ": no formula at '" + std::string(evaluation.wrong()) + "'");
    formulas_[name] = formula;
  }
  return "";
}

std::uint64_t Workspaces::Bytes(std::string_view name, std::initializer_list<WorkspaceFigure> figures) const {
  const auto found = formulas_.find(name);
  if (found == formulas_.end()) return 0;
  Values values{};
  for (const WorkspaceFigure& figure : figures)
    values[static_cast<std::size_t>(figure.word)] = static_cast<double>(figure.value);
  const std::vector<Word> allowed = WordsOfFormula(name);
  const double bytes = Evaluation(found->second, values, allowed).Value();
  if (!(bytes > 0)) return 0;
  return bytes >= static_cast<double>(kMostWorkspace) ? kMostWorkspace : static_cast<std::uint64_t>(bytes);
}

}  // namespace memoir::simcuda
