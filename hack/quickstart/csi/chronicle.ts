// Writes down when what came true, as watches and the kernel's mount table show it.
import { statfsSync } from "node:fs";
import type { JsonObject } from "../../lib/api-client.ts";
import { follow } from "../../lib/follow.ts";
import { StepError } from "../../lib/process.ts";
import { type Demo, prefix } from "../demo.ts";
import { openMountLines, placeOf } from "../mount-lines.ts";
import { namespace } from "./beside.ts";
import { changesBetween, type Fact, factsOf, type World } from "./facts.ts";

export interface Chronicle extends Disposable {
  /** What follows is told, and counted in milliseconds, from now on. */
  begin(): void;
  /** Lines about what came true since then: milliseconds, who says it, what. */
  lines(): string[];
  /** What is now. */
  world(): World;
  /** @throws StepError if it does not come true within `ms` milliseconds; Error if everything is to stop */
  until(what: string, ms: number, check: (world: World) => boolean): Promise<void>;
}

/** Milliseconds between two looks at the mount table, for what no event tells this process of. */
const lookEvery = 5;

const paths = {
  claims: `/api/v1/namespaces/${namespace}/persistentvolumeclaims`,
  volumes: "/api/v1/persistentvolumes",
  attachments: "/apis/storage.k8s.io/v1/volumeattachments",
  intents: "/apis/nodevolume.dev/v1alpha1/nodevolumeintents",
} as const;
type Table = keyof typeof paths;

/** Follows the claim of a name, what it is bound to, and what the demonstration's first host has mounted of it. */
export function openChronicle(demo: Demo, claimName: string, signal: AbortSignal): Chronicle {
  const host = demo.hosts[0];
  if (host === undefined) throw new Error("a demonstration has a node");
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const tables = new Map<Table, ReadonlyMap<string, JsonObject>>();
  const waiting = new Set<() => void>();
  const told: { readonly ms: number; readonly by: Fact["by"]; readonly text: string }[] = [];
  const mountLines = openMountLines(host.pid);
  let facts: ReadonlyMap<string, Fact> = new Map();
  let began = performance.now();

  const find = (table: Table, has: (object: never) => boolean) =>
    [...(tables.get(table)?.values() ?? [])].find(has as (object: JsonObject) => boolean);
  const gather = (): World => {
    const claim = tables.get("claims")?.get(claimName);
    const name = (claim?.["spec"] as { volumeName?: string } | undefined)?.volumeName;
    const { mounts, bytes } = mounted(mountLines.read(), host.pid);
    return {
      claim,
      volume: tables.get("volumes")?.get(name ?? ""),
      attachment: find("attachments", ({ spec }: Attachment) => spec.source.persistentVolumeName === name),
      intent: find("intents", ({ spec }: Intent) => spec.source.persistentVolumeClaim !== undefined),
      mounts,
      bytes,
    };
  };
  let current = gather();
  const look = () => {
    if (either.aborted) return;
    current = gather();
    const next = factsOf(current);
    const ms = performance.now() - began;
    for (const change of changesBetween(facts, next)) told.push({ ms, ...change });
    facts = next;
    for (const wake of waiting) wake();
  };
  for (const table of Object.keys(paths) as Table[]) {
    const onChange = ({ objects }: { objects: ReadonlyMap<string, JsonObject> }) => {
      tables.set(table, new Map(objects));
      look();
    };
    void follow(demo.client, paths[table], onChange, either);
  }
  const timer = setInterval(look, lookEvery);
  return {
    begin() {
      told.length = 0;
      began = performance.now();
    },
    lines: () => told.map(({ ms, by, text }) => `${ms.toFixed(0).padStart(6)} ms  ${by.padEnd(7)}  ${text}`),
    world: () => current,
    until: (what, ms, check) =>
      new Promise<void>((resolve, reject) => {
        const wake = () => {
          if (check(current)) end(resolve);
        };
        const timeout = setTimeout(() => end(() => reject(inVain(what, ms))), ms);
        const abort = () => end(() => reject(new Error("stopped")));
        const end = (settle: () => void) => {
          clearTimeout(timeout);
          either.removeEventListener("abort", abort);
          waiting.delete(wake);
          settle();
        };
        waiting.add(wake);
        either.addEventListener("abort", abort);
        wake();
      }),
    [Symbol.dispose]() {
      clearInterval(timer);
      stop.abort();
      mountLines.close();
    },
  };
}

/** The lines of the file system that is published beneath our prefix, or staged for it, and its size. */
function mounted(lines: readonly string[], pid: number): Pick<World, "mounts" | "bytes"> {
  const mounts = lines.filter((line) => / - xfs \/dev\/loop/.test(line) && isOurs(placeOf(line)));
  const published = mounts.map(placeOf).find((place) => place.startsWith(prefix));
  if (published === undefined) return { mounts, bytes: undefined };
  try {
    const { type, blocks, bsize } = statfsSync(`/proc/${pid}/root${published}`);
    return { mounts, bytes: type === xfsMagic ? blocks * bsize : undefined };
  } catch {
    return { mounts, bytes: undefined }; // unmounted since the table was read, and its directory gone
  }
}

/** XFS_SUPER_MAGIC, statfs(2). */
const xfsMagic = 0x58465342;

const isOurs = (place: string) => place.startsWith(prefix) || place.includes("/plugins/nodevolume.dev/");

function inVain(what: string, ms: number): StepError {
  return new StepError(`waited ${ms / 1000} s for ${what}`, {
    details: [],
    remedy: "the logs beneath the logs folder say more; docs/reasons.md explains what an intent waits for",
  });
}

interface Attachment {
  readonly spec: { readonly source: { readonly persistentVolumeName?: string } };
}

interface Intent {
  readonly spec: { readonly source: { readonly persistentVolumeClaim?: object } };
}
