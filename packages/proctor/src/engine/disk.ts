import { statfs } from 'node:fs/promises';
import { EnvironmentFailure } from './frozen.ts';

/** A fact outside the sandbox's reach: below the watermark no new sandbox is made, since what runs would fail for want of space. */
export async function requireDiskSpace(directory: string, watermarkBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free >= watermarkBytes) return;
  const mib = (bytes: number) => Math.floor(bytes / 1_048_576);
  throw new EnvironmentFailure(
    'provision',
    'infrastructure',
    'disk_watermark',
    `${mib(free)} MiB are free at ${directory} and at least ${mib(watermarkBytes)} MiB are needed: free some with proctor gc, or set PROCTOR_DISK_WATERMARK_MB`,
  );
}
