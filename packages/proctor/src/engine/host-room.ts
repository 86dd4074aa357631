/** Takes room on this host before a sandbox is made, and gives it back. */
export type HostRoom = { take(need: { cpus: number | null; memoryMb: number | null }, signal: AbortSignal): Promise<() => void> };

type Waiting = { cpus: number; memoryMb: number; enter: () => void };

/** What this host can hold, by declared cpu and memory, first come first served. What declares nothing takes nothing; what is larger than the host runs alone. */
export function createHostRoom(host: { cpus: number; memoryMb: number }): HostRoom {
  const waiting: Waiting[] = [];
  const used = { cpus: 0, memoryMb: 0, sessions: 0 };
  const fits = (one: Waiting) =>
    used.sessions === 0 || (used.cpus + one.cpus <= host.cpus && used.memoryMb + one.memoryMb <= host.memoryMb);
  const admitNext = () => {
    for (let next = waiting[0]; next !== undefined && fits(next); next = waiting[0]) {
      waiting.shift();
      next.enter();
    }
  };
  return {
    take: (need, signal) =>
      new Promise((resolve, reject) => {
        const one: Waiting = {
          cpus: need.cpus ?? 0,
          memoryMb: need.memoryMb ?? 0,
          enter: () => {
            signal.removeEventListener('abort', leave);
            used.cpus += one.cpus;
            used.memoryMb += one.memoryMb;
            used.sessions += 1;
            let given = false;
            resolve(() => {
              if (given) return;
              given = true;
              used.cpus -= one.cpus;
              used.memoryMb -= one.memoryMb;
              used.sessions -= 1;
              admitNext();
            });
          },
        };
        const leave = () => {
          const at = waiting.indexOf(one);
          if (at >= 0) waiting.splice(at, 1);
          reject(signal.reason);
        };
        if (signal.aborted) return leave();
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(one);
        admitNext();
      }),
  };
}
