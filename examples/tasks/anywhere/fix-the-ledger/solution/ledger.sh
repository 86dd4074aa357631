#!/bin/sh
# Balance of every account in a ledger file.
file=$1

awk -F, '
  { sub(/\r$/, "") }
  /^#/ || $0 == "" { next }
  {
    if ($3 == "in") balance[$2] += $4
    else balance[$2] -= $4
  }
  END {
    for (account in balance) {
      cents = balance[account]
      sign = cents < 0 ? "-" : ""
      if (cents < 0) cents = -cents
      printf "%s %s%d.%02d\n", account, sign, int(cents / 100), cents % 100
    }
  }
' "$file" | sort
