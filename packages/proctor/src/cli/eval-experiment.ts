import { AppError } from '../domain/errors.ts';
import type { Call } from './command.ts';

export async function run({ name }: Call): Promise<number> {
  throw new AppError('capability_not_enabled', `${name} is absent from this build`);
}
