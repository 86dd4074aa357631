import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import { serve } from './sqlite/serve.ts';

/** The thread that owns the database. A program of its own, beside main.js once built. */
if (parentPort === null) {
  process.stderr.write('this file is a thread of proctor: run proctor instead\n');
  process.exitCode = 64;
} else {
  await serve(parentPort, workerData);
}
