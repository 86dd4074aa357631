import { arrayOf, fail, recordOf, text } from './lax-values.ts';
import type { Read, TableReader } from './table-reader.ts';

export type HarborMcpServer = {
  name: string;
  transport: 'sse' | 'streamable-http' | 'stdio';
  url: string | null;
  command: string | null;
  args: string[];
  headers?: Record<string, string>;
};

export function readMcpServer(reader: TableReader): HarborMcpServer | null {
  const name = reader.require('name', text, 'the name of the server');
  const transport = reader.take('transport', transportName, 'sse');
  const url = reader.take<string | null>('url', text, null);
  const command = reader.take<string | null>('command', text, null);
  const args = reader.take('args', arrayOf(text, 'an array of strings'), []);
  const headers = reader.take('headers', headerTable, {});
  const needed = transport === 'stdio' ? 'command' : 'url';
  if (!(transport === 'stdio' ? command : url)) {
    reader.log.error(reader.at(needed), `a ${transport} server needs its ${needed}`, { expected: `a ${needed}`, found: 'nothing' });
  }
  if (transport === 'stdio' && Object.keys(headers).length > 0) {
    reader.log.error(reader.at('headers'), 'a stdio server has no headers', { expected: 'no headers', found: 'headers' });
  }
  if (name === undefined) return null;
  return { name, transport, url, command, args, ...(Object.keys(headers).length === 0 ? {} : { headers }) };
}

const transportName: Read<HarborMcpServer['transport']> = (cell) => {
  const value = cell.value === 'http' ? 'streamable-http' : cell.value;
  return value === 'sse' || value === 'streamable-http' || value === 'stdio' ? value : fail(cell, '"sse", "streamable-http" or "stdio"');
};

const headerTable: Read<Record<string, string>> = (cell) => {
  const headers = recordOf(text, 'a table of strings')(cell);
  if (headers === undefined) return undefined;
  for (const [name, value] of Object.entries(headers)) {
    const problem = headerProblem(name, value);
    if (problem !== null) return fail({ ...cell, value }, problem);
  }
  return headers;
};

const SECRET_NAME = /KEY|SECRET|TOKEN(?!S)|PASSWORD|CREDENTIAL|AUTH|^COOKIE$|^SET-COOKIE$/i;
const REFERENCE = String.raw`\$\{[A-Za-z_][A-Za-z0-9_]*\}`;

function headerProblem(name: string, value: string): string | null {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return `a header name instead of ${JSON.stringify(name)}`;
  if (/[\r\n]/.test(value)) return `a value of ${name} without newlines`;
  const rest = value.replaceAll(/\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}/g, '');
  if (rest.includes('${')) return `templates \${NAME} or \${NAME:-default} in ${name}`;
  if (!SECRET_NAME.test(name)) return null;
  return new RegExp(`^([A-Za-z][A-Za-z0-9-]*\\s+)?(${REFERENCE})+$`).test(value.trim())
    ? null
    : `only \${NAME} references in ${name}, after an optional scheme word`;
}
