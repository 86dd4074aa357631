import type { Store } from '../store.ts';
import { openSqliteStore, type StoreOptions } from './sqlite.ts';

/** Every Store there is, by the name that configuration gives it. */
export const STORES = {
  sqlite: openSqliteStore,
} satisfies Record<string, (options: StoreOptions) => Promise<Store>>;
