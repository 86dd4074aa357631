/** Text that may hold an agent's or a task's words, with no byte that acts on a terminal but our own colours, tabs and line ends. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (_found, color: string | undefined) => color ?? '\ufffd');
}

/** One line: line ends become spaces too, and not even colours pass. For words that are not ours. */
export function printableLine(text: string): string {
  return text.replace(/[\t\n\r]+/g, ' ').replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
}

const UNSAFE = /(\u001b\[[0-9]{1,2}m)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
