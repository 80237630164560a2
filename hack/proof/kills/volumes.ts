import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { NodeVolumeIntentSpec } from "../../../src/api/types.gen.ts";
import { FuseServer } from "../../lib/agent-on-kernel/fuse/fuse-server.ts";
import type { KernelAgent } from "../../lib/agent-on-kernel/kernel-agent.ts";
import { loopDevice } from "../../lib/loop-device.ts";

/** A volume that comes and goes, always of the same source. */
export interface VolumeKind {
  readonly name: string;
  readonly spec: Pick<NodeVolumeIntentSpec, "source"> & Partial<NodeVolumeIntentSpec>;
}

export const secret = { namespace: "fire", name: "secret", values: { a: "a".repeat(2000), b: "b".repeat(2000) } };

/**
 * Of a path, of ours, in memory, of an object; and of what takes children, which cost as much as an agent: ext4, xfs, a
 * FUSE server, where there are.
 */
export async function makeVolumes(
  agent: KernelAgent,
  { fuse, children }: { readonly fuse: string; readonly children: boolean },
  kept: AsyncDisposableStack,
): Promise<readonly VolumeKind[]> {
  const source = (name: string) => {
    mkdirSync(`${agent.path}/src/${name}`);
    writeFileSync(`${agent.path}/src/${name}/file`, name);
    return { hostPath: { path: `${agent.path}/src/${name}` } };
  };
  const memory = { emptyDir: { medium: "Memory" as const, sizeLimit: "1Mi" } };
  const { namespace, name: secretName } = secret;
  const kinds: VolumeKind[] = [
    { name: "bind-0", spec: { source: source("bind-0") } },
    { name: "bind-1", spec: { source: source("bind-1") } },
    { name: "directory", spec: { source: { emptyDir: {} } } },
    { name: "memory-0", spec: { source: memory } },
    { name: "memory-1", spec: { source: memory } },
    { name: "secret", spec: { source: { secret: { secretName, namespace } } } },
  ];
  if (!children) return kinds;
  for (const fsType of ["ext4", "xfs"] as const) {
    if (!canMake(fsType)) continue;
    const disk = kept.use(loopDevice(agent.path, `disk-${fsType}`, fsType === "ext4" ? 16 : 320));
    execFileSync(`mkfs.${fsType}`, ["-q", disk.path]);
    kinds.push({ name: fsType, spec: { source: { local: { path: disk.path } }, fsType } });
  }
  if (existsSync("/dev/fuse")) {
    mkdirSync(`${agent.path}/src/fuse`);
    const server = await FuseServer.start(`${agent.path}/src/fuse`, fuse);
    kept.defer(() => server[Symbol.asyncDispose]());
    kinds.push({ name: "fuse", spec: { source: { hostPath: { path: `${server.point}/data` } } } });
  }
  return kinds;
}

function canMake(fsType: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const known = readFileSync("/proc/filesystems", "utf8").includes(`\t${fsType}\n`);
  return known && existsSync("/dev/loop-control") && folders.some((it) => existsSync(join(it, `mkfs.${fsType}`)));
}
