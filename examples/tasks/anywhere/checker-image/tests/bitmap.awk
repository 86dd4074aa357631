# Reads one byte a line and says what is wrong with the image; says nothing when all is right.
{ byte[NR - 1] = $1 }
function number(at, width,   value, i) { value = 0; for (i = width - 1; i >= 0; i--) value = value * 256 + byte[at + i]; return value }
function expect(what, found, wanted) { if (found != wanted) print what " is " found ", not " wanted }
END {
  expect("file length", NR, 246)
  expect("first letter", byte[0], 66)
  expect("second letter", byte[1], 77)
  expect("file size field", number(2, 4), 246)
  expect("reserved field", number(6, 4), 0)
  expect("pixel offset", number(10, 4), 54)
  expect("header size", number(14, 4), 40)
  expect("width", number(18, 4), 8)
  expect("height", number(22, 4), 8)
  expect("planes", number(26, 2), 1)
  expect("bits per pixel", number(28, 2), 24)
  expect("compression", number(30, 4), 0)
  expect("image size field", number(34, 4), 192)
  expect("colours used", number(46, 4), 0)
  expect("important colours", number(50, 4), 0)
  for (row = 0; row < 8; row++) for (column = 0; column < 8; column++) for (part = 0; part < 3; part++)
    expect("pixel " column "," row, byte[54 + row * 24 + column * 3 + part], (row + column) % 2 ? 255 : 0)
}
