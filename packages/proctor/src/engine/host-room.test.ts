import { expect, test } from 'vitest';
import { createHostRoom } from './host-room.ts';

const never = new AbortController().signal;

test('what does not fit waits until room is given back, first come first served', async () => {
  const room = createHostRoom({ cpus: 4, memoryMb: 1000 });
  const first = await room.take({ cpus: 3, memoryMb: null }, never);
  const order: string[] = [];
  const second = room.take({ cpus: 2, memoryMb: null }, never).then(() => order.push('second'));
  const third = room.take({ cpus: 1, memoryMb: null }, never).then(() => order.push('third'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  first();
  await Promise.all([second, third]);
  expect(order).toEqual(['second', 'third']);
});

test('what is larger than the host runs alone', async () => {
  const room = createHostRoom({ cpus: 2, memoryMb: 1000 });
  const give = await room.take({ cpus: 8, memoryMb: 9000 }, never);
  give();
  await room.take({ cpus: 1, memoryMb: 10 }, never);
});

test('giving back twice counts once, and an interrupted wait leaves the line', async () => {
  const room = createHostRoom({ cpus: 1, memoryMb: 100 });
  const give = await room.take({ cpus: 1, memoryMb: null }, never);
  const stop = new AbortController();
  const waiting = room.take({ cpus: 1, memoryMb: null }, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  give();
  give();
  const next = await room.take({ cpus: 1, memoryMb: null }, never);
  const blocked = room.take({ cpus: 1, memoryMb: null }, AbortSignal.timeout(30));
  await expect(blocked).rejects.toThrow();
  next();
});
