import type { Client } from '../api/client.ts';
import { AppError } from '../domain/errors.ts';
import type { Call } from './command.ts';

/** Runs `work` with a client over this call's store, and closes the store whatever happens. */
export async function withClient<T>(call: Pick<Call, 'home'>, work: (client: Client) => Promise<T>): Promise<T> {
  const opened = await open(call.home);
  try {
    return await work(opened.client);
  } finally {
    await opened.close();
  }
}

/** Until the parts are composed, commands that need them say so. */
async function open(home: string): Promise<{ client: Client; close(): Promise<void> }> {
  throw new AppError('capability_not_enabled', `this build has no engine yet, so the store ${home} cannot be opened`);
}
