type Sink = (chunk: Uint8Array) => void;

/** Takes the engine's frames apart: stream (1 byte), 3 zero bytes, length (4 bytes, big-endian), then the bytes. Payloads are passed on as they come. */
export function demultiplexer(stdout: Sink, stderr: Sink): (chunk: Buffer) => void {
  let header = Buffer.alloc(0);
  let left = 0;
  let sink = stdout;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (left > 0) {
        const part = chunk.subarray(at, at + left);
        at += part.length;
        left -= part.length;
        sink(part);
        continue;
      }
      const wanted = HEADER_BYTES - header.length;
      header = Buffer.concat([header, chunk.subarray(at, at + wanted)]);
      at += wanted;
      if (header.length < HEADER_BYTES) return;
      sink = header[0] === STDERR ? stderr : stdout;
      left = header.readUInt32BE(4);
      header = Buffer.alloc(0);
    }
  };
}

const HEADER_BYTES = 8;
const STDERR = 2;
