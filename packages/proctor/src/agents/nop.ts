import type { AgentKind } from '../agent.ts';
import { AppError } from '../domain/errors.ts';

export const nop: AgentKind = {
  summary: 'does nothing: what a check must not be satisfied by',
  async resolve(rest) {
    if (rest !== '')
      throw new AppError('invalid_configuration', `the nop agent takes nothing after its name, found ${JSON.stringify(rest)}: write nop`);
    return { kind: 'nop', settings: {}, files: [], environment_names: [] };
  },
  async make() {
    return { environment: {}, redact: [], timeLimitMs: null, speaks: { kind: 'driver', drive: async () => ({ kind: 'completed' }) } };
  },
};
