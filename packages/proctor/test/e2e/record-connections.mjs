// Loaded before a program (node --import): every address that it or a Node child of its asks for goes into the file CONNECTIONS_FILE.
import dgram from 'node:dgram';
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const record = (kind, target) => appendFileSync(process.env.CONNECTIONS_FILE, `${JSON.stringify({ kind, target })}\n`);

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const options =
    typeof first === 'object' && first !== null
      ? first
      : typeof first === 'string' && Number.isNaN(Number(first))
        ? { path: first }
        : { port: first, host: second };
  if (options.path === undefined || options.path === null) record('tcp', `${options.host ?? 'localhost'}:${options.port}`);
  else record('unix', String(options.path));
  return connect.apply(this, args);
};

for (const name of ['send', 'connect']) {
  const original = dgram.Socket.prototype[name];
  dgram.Socket.prototype[name] = function (...args) {
    record('udp', args.filter((one) => typeof one === 'string' || typeof one === 'number').join(' '));
    return original.apply(this, args);
  };
}

for (const place of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
  for (const name of Object.getOwnPropertyNames(place)) {
    const original = place[name];
    if (typeof original !== 'function' || !/^(lookup|resolve|reverse)/.test(name)) continue;
    place[name] = function (...args) {
      record('dns', String(args[0]));
      return original.apply(this, args);
    };
  }
}
syncBuiltinESMExports();
