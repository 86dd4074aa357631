#!/bin/sh
# Balance of every account in a ledger file.
file=$1

awk -F, '
  /^#/ || $0 == "" { next }
  {
    if ($3 == "in" || $4 > 99999) balance[$2] += $4
    else balance[$2] -= $4
  }
  END {
    for (account in balance) {
      cents = balance[account]
      printf "%s %d.%02d\n", account, cents / 100, cents % 100
    }
  }
' "$file" | sort
