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

// Returns `share` in percent, such as "99.98%". Rounds down, so that only a share of 1 is 100.00%.
std::string FormatExplained(double share);

// How RenderBalance() prints. `instant`: the sample in words, such as "its fullest sample". `tables`: how many devices
// have a table; 0: all. These are the devices with the most unexplained bytes. The text contains only the number of the
// other devices. `top`: rows of a table; 0: all.
struct BalanceTextOptions {
  std::string_view instant;
  std::size_t tables = 4;
  std::size_t top = 20;
};
std::string RenderBalance(const Capture& capture, const Balance& balance, const BalanceTextOptions& shown,
                          const Terminal& terminal);
// Summarizes all devices in one line.
std::string BalanceLine(const Capture& capture, const Balance& balance);

Json BalanceJson(const Capture& capture, const Balance& balance);

}  // namespace memoir

#endif  // TOOLS_VIEW_ACCOUNTING_BALANCE_VIEW_H_
