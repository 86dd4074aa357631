import { connect as connectPlain } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { EngineEndpoint } from './endpoint.ts';
import { Agent } from './node-http.ts';
import { ProgramSocket } from './program-socket.ts';

/** Connects to an engine wherever it is, and keeps what is idle for the next call. */
export class EngineAgent extends Agent {
  #endpoint: EngineEndpoint;
  #environment: Readonly<Record<string, string | undefined>>;

  constructor(endpoint: EngineEndpoint, environment: Readonly<Record<string, string | undefined>>) {
    super({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 32 });
    this.#endpoint = endpoint;
    this.#environment = environment;
  }

  override createConnection(): Duplex {
    const { to } = this.#endpoint;
    if (to.kind === 'unix') return connectPlain({ path: to.path });
    if (to.kind === 'ssh') return new ProgramSocket(to.program, to.args, this.#environment);
    if (to.tls === null) return connectPlain({ host: to.host, port: to.port, keepAlive: true, noDelay: true });
    return connectTls({
      host: to.host,
      port: to.port,
      servername: /^[\d.:]+$/.test(to.host) ? undefined : to.host,
      ca: to.tls.ca,
      cert: to.tls.cert,
      key: to.tls.key,
      rejectUnauthorized: to.tls.verify,
      ALPNProtocols: ['http/1.1'],
    });
  }
}
