import { mountAttributes as shownAttributes } from "../../../src/agent/model/mount-attributes.ts";
import { findCondition } from "../../../src/api/conditions.ts";
import type { IntentMount, NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import type { MountAttributes } from "../../../src/host/ports/types.ts";
import type { Dentry } from "../kernel/dentry.ts";
import { rootOf, walk } from "../kernel/lookup.ts";
import type { Namespace } from "../kernel/mount.ts";
import { layout } from "../machine.ts";
import type { SimNode } from "../sim-node.ts";
import { leftOvers } from "./left-overs.ts";
import { openSteps } from "./open-steps.ts";
import { unmetPods } from "./pod-convergence.ts";
import { unmetSets } from "./set-convergence.ts";
import type { Expected, Settled } from "./settled.ts";
import { unmetAttachments, volumesLeft } from "./storage-convergence.ts";
import { unmetWaits } from "./waiting-convergence.ts";

/** What of the world is not as it should be, once nothing changes any more; empty if all is. */
export function unmet(world: Settled, expected: Expected): string[] {
  const { blocked = {} } = expected;
  const nodes = [...world.nodes.values()];
  const intents = world.cluster.intents();
  const others = intents.filter(({ metadata }) => blocked[metadata.name] === undefined);
  const found = [
    ...nodes.filter(({ agent }) => !agent.ready).map(({ machine }) => `agent ${machine.name} is not ready`),
    ...others.flatMap((intent) => unmetIntent(world, intent)),
    ...nodes.flatMap(({ kubelet }) => kubelet.unmet()),
    ...unmetSets(world, expected.sets ?? {}),
    ...unmetPods(world),
    ...unmetWaits(world, expected.sets ?? {}),
    ...unmetAttachments(world, others),
    // What was blocked by something that a reboot swept away may be so no longer.
    ...(world.uprooted ? [] : Object.entries(blocked).flatMap(([name, reason]) => unmetBlock(world, name, reason))),
  ];
  if (found.length > 0) return found;
  const { kept = [], mayBeKept = [] } = expected;
  const lenient = { ...expected, kept: [], mayBeKept: [...kept, ...mayBeKept, ...world.deletedOverReboot] };
  return nodes.flatMap((node) => [
    ...volumesLeft(world, node, intents, world.uprooted ? lenient : expected),
    ...leftOvers(world, node, intents, world.uprooted ? lenient : expected),
    ...openSteps(world, node, intents, Object.keys(blocked)),
  ]);
}

function unmetBlock(world: Settled, name: string, reason: string): string[] {
  const is = world.cluster.reason(name);
  return is === reason ? [] : [`${name} is to be blocked by ${reason}, but says ${is}`];
}

function unmetIntent(world: Settled, intent: NodeVolumeIntent): string[] {
  const { metadata, spec, status } = intent;
  const node = world.nodes.get(spec.nodeName);
  if (node === undefined) return [];
  if (metadata.deletionTimestamp !== undefined) return [`${metadata.name} is still being deleted (${status.state})`];
  const found: string[] = [];
  if (status.observedGeneration !== metadata.generation || status.observedUID !== metadata.uid)
    found.push("not observed");
  if (spec.mode === "Observe") {
    if (status.state !== "Observed") found.push(`state ${status.state}`);
  } else if (!spec.suspend) {
    const ready = findCondition(status.conditions, "Ready");
    if (ready?.status !== "True") found.push(`not Ready: ${ready?.reason} ${ready?.message}`);
    if (spec.mounts.length > 0 && (status.state !== "Mounted" || status.inUse !== true))
      found.push(`state ${status.state}, in use ${status.inUse}`);
    if (status.waiting !== undefined) found.push(`waits for ${status.waiting.reason}`);
    found.push(...spec.mounts.flatMap((mount) => unmetMount(world, node, intent, mount)));
  }
  return found.map((what) => `${metadata.name}: ${what}`);
}

/**
 * Exactly one mount on the path, in the agent's and in the host's namespace, that shows the source with these flags.
 */
function unmetMount(world: Settled, node: SimNode, intent: NodeVolumeIntent, wanted: IntentMount): string[] {
  const { agent, machine } = node;
  const { path } = wanted;
  const namespaces = [agent.namespace, machine.kernel.host].filter((n): n is Namespace => n !== undefined);
  return namespaces.flatMap((namespace) => {
    const layers = machine.kernel.table(namespace).filter((entry) => entry.point === path);
    const [only] = layers;
    const found = walk(rootOf(namespace), path, "keepLast");
    if (
      only === undefined ||
      found === undefined ||
      layers.length !== 1 ||
      machine.table(namespace).at(path)?.id !== only.id
    ) {
      return [`${path} has ${layers.length} layers in ${namespace.name}`];
    }
    const source = unmetSource(world, node, intent, found.dentry);
    const different = Object.entries(attributesWanted(intent, wanted)).filter(
      ([flag, value]) => shownAttributes(only)[flag as keyof MountAttributes] !== value,
    );
    return [
      ...(source === undefined ? [] : [`${path} ${source}`]),
      ...different.map(([flag]) => `${path} has another ${flag} in ${namespace.name}`),
      ...canaryProblem(world, intent, found.dentry).map((problem) => `${path}: ${problem}`),
    ];
  });
}

/** What is wrong with the file that a target shows. */
function unmetSource(
  world: Settled,
  { machine, drivers }: SimNode,
  { metadata, spec }: NodeVolumeIntent,
  shown: Dentry,
): string | undefined {
  const granted = spec.grant?.csi;
  if (granted !== undefined) {
    const filesystem = drivers.get(granted.driver)?.side.filesystem(granted.volumeHandle);
    return filesystem?.root === shown ? undefined : `shows ${shown.superblock.device}, not ${granted.volumeHandle}`;
  }
  const { hostPath, local, emptyDir, git, image, configMap, secret } = spec.source;
  const path = hostPath?.path ?? local?.path;
  if (path !== undefined) {
    const there = walk(rootOf(machine.kernel.host), path, "follow")?.dentry;
    if (there === undefined) return `shows ${shown.path}, but there is no ${path}`;
    const wanted = there.disk === undefined || spec.volumeMode === "Block" ? there : there.disk.filesystem?.root;
    return wanted === shown ? undefined : `shows ${shown.superblock.device} ${shown.path}, not ${path}`;
  }
  if (emptyDir !== undefined) {
    const inMemory = shown.superblock.fsType === "tmpfs" && shown.parent === undefined;
    if (emptyDir.medium === "Memory") return inMemory ? undefined : "is not in memory";
    return shown.path.startsWith(`${layout.stateDir}/data/`) ? undefined : `shows ${shown.path}`;
  }
  const fetched = git?.revision ?? image?.reference;
  if (fetched !== undefined) {
    const version = shown.children.get("version")?.content;
    return version === fetched ? undefined : `shows ${version}, not ${fetched}`;
  }
  const files = Object.fromEntries([...shown.children].map(([name, file]) => [name, file.content]));
  const wanted = world.cluster.content(
    configMap !== undefined ? "configMap" : "secret",
    configMap?.name ?? secret?.secretName ?? "",
  );
  return JSON.stringify(files) === JSON.stringify(wanted)
    ? undefined
    : `${metadata.name} shows ${Object.keys(files)} of an older version`;
}

function attributesWanted(
  { spec }: NodeVolumeIntent,
  { readOnly, mountOptions = [] }: IntentMount,
): Partial<MountAttributes> {
  const { configMap, secret, git, image } = spec.source;
  const shown = configMap !== undefined || secret !== undefined || (git ?? image) !== undefined;
  return {
    readOnly: readOnly || shown,
    nosuid: !mountOptions.includes("suid"),
    noexec: mountOptions.includes("noexec"),
    ...(spec.volumeMode === "Filesystem" && { nodev: !mountOptions.includes("dev") }),
  };
}

/** What consumers wrote must still be there. */
function canaryProblem(world: Settled, { metadata }: NodeVolumeIntent, shown: Dentry): string[] {
  const written = world.canaries.get(metadata.name);
  if (written === undefined) return [];
  const there = shown.children.get("canary")?.content;
  return there === written ? [] : [`the consumers' data is lost: ${there}`];
}
