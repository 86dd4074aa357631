/** The few colours of a report. Each gives its text back unchanged when colour is off, so that no escape is written. */
export type Palette = { good: Paint; bad: Paint; odd: Paint; dim: Paint; strong: Paint };
type Paint = (text: string) => string;

export function paletteOf(color: boolean): Palette {
  const paint =
    (open: number, close: number): Paint =>
    (text) =>
      color && text !== '' ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return { good: paint(32, 39), bad: paint(31, 39), odd: paint(33, 39), dim: paint(2, 22), strong: paint(1, 22) };
}
