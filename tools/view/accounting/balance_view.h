// The balance of each device's memory, as text and as JSON (docs/balance.md).
#ifndef TOOLS_VIEW_ACCOUNTING_BALANCE_VIEW_H_
#define TOOLS_VIEW_ACCOUNTING_BALANCE_VIEW_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "tools/analyze/accounting/balance.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// "99.98%": never rounded up to 100.
std::string FormatExplained(double share);

// `moment`: which reading it is, "its fullest sample". Of more devices than `tables` the best explained are counted
// alone; `top` rows of a table (0: all).
struct BalanceShown {
  std::string_view moment;
  std::size_t tables = 4;
  std::size_t top = 20;
};
std::string RenderBalance(const Capture& capture, const Balance& balance, const BalanceShown& shown,
                          const Terminal& terminal);
// All devices in one line.
std::string BalanceLine(const Capture& capture, const Balance& balance);

Json BalanceJson(const Capture& capture, const Balance& balance);

}  // namespace memoir

#endif  // TOOLS_VIEW_ACCOUNTING_BALANCE_VIEW_H_
