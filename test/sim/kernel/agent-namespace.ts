import { Dentry } from "./dentry.ts";
import { makeDirectories } from "./files.ts";
import type { Kernel } from "./kernel.ts";
import { existing } from "./lookup.ts";
import { type Mount, Namespace, plainAttributes } from "./mount.ts";
import { subtree } from "./mount-relations.ts";

/** Where the agent runs: on the host itself, or as its DaemonSet puts it. */
export type AgentPlace = "host" | "pod";

/** Where a pod sees the host's root. */
export const podHostRoot = "/host";

/**
 * The mount namespace of a container that was just started: a root of its own, the shared directories bound with
 * propagation in both directions, the host's root following the host (mountPropagation Bidirectional, HostToContainer).
 * Each start makes another one, so that mounts have other ids in it.
 */
export function podNamespace(kernel: Kernel, sharedDirectories: readonly string[]): Namespace {
  const namespace = new Namespace("agent");
  const root = kernel.memoryRoot("overlay", "overlay", []);
  kernel.tree.plant(kernel.tree.create({ root, attributes: plainAttributes, maker: "system" }), namespace);
  bindTree(kernel, namespace, "/", podHostRoot, "slave");
  for (const directory of sharedDirectories) bindTree(kernel, namespace, directory, directory, "shared");
  return namespace;
}

/** A copy of the host's namespace that does not follow it any more (unshare --mount, a container's leftovers). */
export function privateCopy(kernel: Kernel, name: string): Namespace {
  const namespace = new Namespace(name);
  const original = kernel.host.root;
  if (original === undefined) return namespace;
  const copy = kernel.tree.copyTree(original);
  for (const mount of subtree(copy)) {
    kernel.tree.groups.makePrivate(mount);
    mount.namespace = namespace;
    namespace.mounts.add(mount);
  }
  namespace.root = copy;
  return namespace;
}

/**
 * A container that has one directory of the host in a namespace of its own, private, as kubelet gives volumes to pods.
 */
export function containerWith(kernel: Kernel, name: string, hostPath: string): Namespace {
  const namespace = new Namespace(name);
  const root = kernel.memoryRoot("overlay", "overlay", []);
  kernel.tree.plant(kernel.tree.create({ root, attributes: plainAttributes, maker: "consumer" }), namespace);
  const { mount, dentry } = existing(kernel.host, hostPath);
  const point = new Dentry(root.superblock, "directory", "consumer", 0o755, "data");
  root.add(point);
  kernel.tree.attach(kernel.tree.clone(mount, dentry), { mount: rootMount(namespace), dentry: point });
  return namespace;
}

function bindTree(kernel: Kernel, namespace: Namespace, from: string, to: string, how: "slave" | "shared"): void {
  const { mount, dentry } = existing(kernel.host, from);
  const at = kernel.as("system", () => makeDirectories(kernel, namespace, to));
  const tree = kernel.tree.copyTree(mount, dentry);
  if (how === "slave") for (const each of subtree(tree)) kernel.tree.groups.makeSlave(each);
  kernel.tree.attachTree(tree, at, namespace);
  kernel.version++;
}

function rootMount(namespace: Namespace): Mount {
  if (namespace.root === undefined) throw new Error(`namespace ${namespace.name} has no root`);
  return namespace.root;
}
