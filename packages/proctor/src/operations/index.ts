import type { Client } from '../api/client.ts';
import { OPERATIONS, type OperationInput, type OperationName, type OperationOutput, type ParsedInput } from '../api/operations.ts';
import { AppError } from '../domain/errors.ts';
import { agentOperations } from './agents.ts';
import { environmentOperations } from './environments.ts';
import { experimentOperations } from './experiments.ts';
import { followLive } from './follow.ts';
import type { OperationParts } from './parts.ts';
import { sessionOperations } from './sessions.ts';
import { storeOperations } from './store.ts';

export type Answers = { [N in OperationName]: (input: ParsedInput<N>) => Promise<OperationOutput<N>> };

/** The operations answered in this process. One that is declared and not answered here does not compile. */
export function createOperations(parts: OperationParts): Client {
  const answers = {
    ...agentOperations(parts),
    ...environmentOperations(parts),
    ...sessionOperations(parts),
    ...experimentOperations(parts),
    ...storeOperations(parts),
  } satisfies Answers;
  return {
    async call<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>> {
      const parsed = OPERATIONS[name].input.safeParse(input);
      if (!parsed.success) {
        const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`);
        throw new AppError('invalid_configuration', `${name}: ${problems.join('; ')}`);
      }
      const answer = answers[name] as (value: unknown) => Promise<OperationOutput<N>>;
      return answer(parsed.data);
    },
    follow: (sessionId, options) => followLive(parts, sessionId, options),
    onPhase: (listener) => parts.sessions.onPhase(listener),
    blob: (sha256) => parts.store.blob(sha256),
  };
}
