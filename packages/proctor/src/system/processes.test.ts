import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import {
  bootId,
  descendants,
  isAlive,
  listeningPorts,
  listProcesses,
  ownerOf,
  ownerText,
  ownProcess,
  parseOwner,
  startedAtMs,
} from './processes.ts';
import { parseProcessList } from './ps.ts';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function start(code: string): ChildProcess {
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  return child;
}

test('this process is listed with its parent, command line and user', () => {
  const own = listProcesses((one) => one.pid === process.pid)[0]!;
  expect(own).toMatchObject({ pid: process.pid, parent: process.ppid, uid: process.getuid!(), namespacePid: process.pid });
  expect(own.argv.length).toBeGreaterThan(0);
  expect(startedAtMs(own.startTicks)! / 1000).toBeCloseTo(Date.now() / 1000 - process.uptime(), -1);
});

test('a grandchild in a session of its own is a descendant', async () => {
  const child = start(`
    const {spawn}=require('node:child_process');
    const g=spawn(process.execPath,['-e','setTimeout(()=>{},30000)'],{detached:true,stdio:'ignore'});
    process.on('SIGTERM',()=>{g.kill('SIGKILL');process.exit()});
    console.log(g.pid)`);
  const [line] = await once(child.stdout!, 'data');
  expect(descendants(process.pid).map((one) => one.pid)).toContain(Number(line.toString()));
  child.kill('SIGTERM');
  await once(child, 'exit');
});

test('a listening port is told with the process that holds it', async () => {
  const child = start(`const s=require('node:net').createServer().listen(0,'127.0.0.1',()=>console.log(s.address().port))`);
  const [line] = await once(child.stdout!, 'data');
  expect(listeningPorts(child.pid!)).toEqual([Number(line.toString())]);
});

test('an owner is alive until its process ends, and another start or boot is another owner', async () => {
  const own = ownProcess();
  expect(isAlive(own)).toBe(true);
  expect(parseOwner(ownerText(own))).toEqual(own);
  expect(isAlive({ ...own, startTicks: own.startTicks + 1 })).toBe(false);
  expect(isAlive({ ...own, bootId: 'another' })).toBe(false);
  const child = start('setTimeout(()=>{},30000)');
  const owner = ownerOf(child.pid!)!;
  expect(owner.bootId).toBe(bootId());
  expect(isAlive(owner)).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isAlive(owner)).toBe(false);
});

test.for(['', 'nonsense', 'a:b:c', ':1:2'])('%j is no owner', (text) => {
  expect(parseOwner(text)).toBeNull();
});

test('the list of ps is read where there is no /proc', () => {
  const text =
    '    1     0     0 Ss   Mon Dec  1 00:28:11 2025 /sbin/launchd\n  512     1   501 S+   Mon Dec  1 10:00:00 2025 node -e x\nbroken line\n';
  expect(parseProcessList(text)).toEqual([
    expect.objectContaining({ pid: 1, parent: 0, state: 'S', argv: ['/sbin/launchd'] }),
    expect.objectContaining({ pid: 512, uid: 501, argv: ['node', '-e', 'x'], pidNamespace: null }),
  ]);
});
