/** One row for each way of refusing or failing: the HTTP status and the process's exit code that a caller sees. */
export const ERROR_CODES = {
  usage: { http: 400, exit: 64 },
  invalid_task: { http: 422, exit: 2 },
  invalid_configuration: { http: 400, exit: 2 },
  no_tasks: { http: 400, exit: 2 },
  not_found: { http: 404, exit: 2 },
  conflict: { http: 409, exit: 2 },
  session_busy: { http: 409, exit: 2 },
  platform_wait: { http: 409, exit: 2 },
  image_required: { http: 400, exit: 2 },
  capability_not_enabled: { http: 403, exit: 2 },
  grader_unavailable: { http: 403, exit: 2 },
  retention_zero: { http: 403, exit: 2 },
  not_granted: { http: 403, exit: 2 },
  cannot_enforce: { http: 422, exit: 2 },
  sandbox_unavailable: { http: 503, exit: 2 },
  sandbox_lost: { http: 503, exit: 3 },
  image_build_failed: { http: 422, exit: 3 },
  image_unavailable: { http: 503, exit: 3 },
  store_unavailable: { http: 503, exit: 2 },
  store_full: { http: 507, exit: 3 },
  stale_writer: { http: 409, exit: 3 },
  corrupt: { http: 500, exit: 3 },
  unsettled: { http: 409, exit: 3 },
  unsupported_runtime: { http: 500, exit: 69 },
  interrupted: { http: 499, exit: 130 },
  internal: { http: 500, exit: 70 },
} as const satisfies Record<string, { http: number; exit: number }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** A refusal or failure with a code of the table. Its message says what was expected, what was found, what to do. */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** Facts for a program that reads the error, e.g. `{ capability: 'allowlist' }` or a list of issues. JSON only. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; details?: Record<string, unknown> } = {}) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.details = options.details ?? {};
  }

  get exitCode(): number {
    return ERROR_CODES[this.code].exit;
  }
}

/** The sentence of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
