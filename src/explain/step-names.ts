import { label } from "../api/names.ts";
import { readableSource } from "../api/readable-source.ts";
import type { NodeVolumeIntent, WaitingOn } from "../api/types.gen.ts";

/** Names that a next step may have in braces. */
export interface StepNames {
  readonly node?: string | undefined;
  readonly intent?: string | undefined;
  readonly set?: string | undefined;
  readonly volume?: string | undefined;
  /** Host that is asked: the source's, or the one that is waited for; without the brackets of an IPv6 address. */
  readonly server?: string | undefined;
  readonly port?: string | undefined;
  /** Namespace of what is named beside it: a claim, a pod, an object whose content is mounted. */
  readonly namespace?: string | undefined;
  readonly claim?: string | undefined;
  readonly pod?: string | undefined;
  /**
   * Path on the node that the reason is about; undefined if that is not certain: commands that unmount stand before it.
   */
  readonly path?: string | undefined;
  /** Path on the node that the source names. */
  readonly source?: string | undefined;
  /** Device that is waited for. */
  readonly device?: string | undefined;
  /** Process that is waited for. */
  readonly pid?: string | undefined;
}

/** PURE. Names of an intent, and of what it waits for; those of its source only if that can be read (decision 0107). */
export function stepNamesOf(written: NodeVolumeIntent): StepNames {
  const intent = { ...written, spec: { ...written.spec, source: readableSource(written.spec.source) } };
  const { metadata, spec, status } = intent;
  const { persistentVolumeClaim: claim, hostPath, local, configMap, secret } = spec.source;
  const on = status?.waiting?.on ?? status?.attach?.on;
  const onKind = (kind: string) => (on?.kind === kind ? on.name : undefined);
  const object = objectOf(intent);
  const objectOfKind = (kind: string) => (object?.kind === kind ? object.name : undefined);
  return {
    node: spec.nodeName,
    intent: metadata.name,
    volume: spec.volumeName,
    set: metadata.labels?.[label.set],
    namespace: object?.namespace ?? claim?.namespace ?? configMap?.namespace ?? secret?.namespace,
    claim: objectOfKind("PersistentVolumeClaim") ?? claim?.claimName,
    pod: objectOfKind("Pod"),
    path: pathOf(intent),
    source: onKind("Path") ?? hostPath?.path ?? local?.path,
    device: onKind("Device") ?? (local?.path?.startsWith("/dev/") ? local.path : undefined),
    pid: /^\d+/.exec(onKind("Process") ?? "")?.[0],
    ...serverOf(intent),
  };
}

/**
 * The object that is waited for: as an agent says it, only if the controller says the same or the spec has its names.
 * Somebody with the token of an agent would otherwise choose which Secret, claim or pod a command is for.
 */
function objectOf({ spec, status }: NodeVolumeIntent): WaitingOn | undefined {
  const [said, known] = [status?.waiting?.on, status?.attach?.on];
  if (said === undefined || said.name === known?.name) return known;
  const texts = new Set(textsIn(spec));
  const isOfSpec = [said.name, said.namespace].every((name) => name === undefined || texts.has(name));
  return isOfSpec ? said : known;
}

/** Every string in it, at any depth. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The path that is waited for. That of another mount would be unmounted in its place. */
function pathOf({ spec, status }: NodeVolumeIntent): string | undefined {
  const { waiting, mounts = [] } = status ?? {};
  if (waiting?.on?.kind === "Mount") return waiting.on.name;
  if (waiting !== undefined) return mounts.find(({ reason }) => reason === waiting.reason)?.path;
  return spec.mounts?.length === 1 ? spec.mounts[0]?.path : undefined;
}

const hostAndPort = /^(?:\[([0-9a-f:.]+)\]|([^:/\s[\]]+))(?::(\d+))?$/i;

/** Where a server is asked. */
function serverOf({ spec, status }: NodeVolumeIntent): Pick<StepNames, "server" | "port"> {
  const { nfs, cifs, glusterfs, iscsi, cephfs, rbd } = spec.source;
  const on = status?.waiting?.on;
  const web = webServerOf(spec.source);
  const named = nfs?.server ?? cifs?.server ?? glusterfs?.servers[0] ?? iscsi?.targetPortal ?? web?.host;
  const monitor = cephfs?.monitors[0] ?? rbd?.monitors[0];
  // A mount names what it mounts, such as "nfs.example.com:/export": the server of that is in the spec.
  const waitedFor = on?.kind === "Server" ? hostAndPort.exec(on.name) : null;
  const [, address, host, port] = waitedFor ?? hostAndPort.exec(named ?? monitor ?? "") ?? [];
  const usual = nfs ? "2049" : cifs ? "445" : glusterfs ? "24007" : iscsi ? "3260" : cephfs || rbd ? "6789" : web?.port;
  const given = spec.mountOptions?.find((option) => option.startsWith("port="))?.slice("port=".length);
  return { server: address ?? host, port: port ?? given ?? usual };
}

/** Where a repository of git or the registry of an image is asked, and the port that is asked if it names none. */
function webServerOf({ git, image }: NodeVolumeIntent["spec"]["source"]): { host: string; port?: string } | undefined {
  if (git !== undefined) {
    if (!URL.canParse(git.repository)) return undefined;
    const { host, protocol } = new URL(git.repository);
    const ports: { readonly [protocol: string]: string } = { "https:": "443", "http:": "80", "ssh:": "22" };
    const port = ports[protocol];
    return { host, ...(port !== undefined && { port }) };
  }
  const registry = image?.reference?.split("/", 1)[0];
  if (registry === undefined) return undefined;
  return { host: registry === "docker.io" ? "registry-1.docker.io" : registry, port: "443" };
}
