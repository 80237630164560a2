// Sets that use claims, as pods would, and what stories see of them: in the objects, in the driver's record, in the
// kernel.
import { allowing } from "../../../hack/lib/allowing.ts";
import { readRecord } from "../../drivers/lib/record.ts";
import { handleOf, type Stories, type StoryNode, storageClass } from "./csi-stories.ts";

export interface MadeClaim {
  readonly name: string;
  /** Its PersistentVolume. */
  readonly volume: string;
  /** The driver's name of it. */
  readonly handle: string;
}

export interface ClaimWish {
  readonly size?: string;
  readonly accessModes?: readonly string[];
  readonly volumeMode?: "Filesystem" | "Block";
}

export interface UserWish {
  readonly volumeMode?: "Filesystem" | "Block";
  readonly paths?: readonly string[];
  readonly readOnly?: boolean;
  /** What else its mounts ask for. */
  readonly mount?: object;
}

export const attachments = "/apis/storage.k8s.io/v1/volumeattachments";
export const claims = "/api/v1/namespaces/default/persistentvolumeclaims";

export interface Attachment {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName: string; readonly source: { readonly persistentVolumeName?: string } };
}

/** The smallest file system of xfs is 300 MiB; a file of that size takes next to no room. */
const smallest = "320Mi";

export class ClaimStories {
  readonly #stories: Stories;

  constructor(stories: Stories) {
    this.#stories = stories;
  }

  /** A claim with its volume. */
  async claim(name: string, wish: ClaimWish = {}): Promise<MadeClaim> {
    const { objects } = this.#stories.world;
    const size = wish.volumeMode === "Block" ? "20Mi" : smallest;
    await objects.claim(name, { storageClass, size, ...wish });
    const volume = await objects.bound(name);
    return { name, volume: volume.metadata.name, handle: handleOf(volume) };
  }

  /** A set that uses a claim on one node: what a pod would be. @returns where it has it first */
  async use(user: string, claim: MadeClaim, node: string, wish: UserWish = {}): Promise<string> {
    const { volumeMode, readOnly, mount, paths = [pathOf(user)] } = wish;
    const source = { persistentVolumeClaim: { namespace: "default", claimName: claim.name } };
    if (user !== claim.name) {
      await this.#stories.world.objects.patch(`${claims}/${claim.name}`, { metadata: { labels: allowing(user) } });
    }
    await this.#stories.apply(user, {
      nodeSelector: { "kubernetes.io/hostname": node },
      volume: { source, ...(volumeMode && { volumeMode }) },
      mounts: paths.map((path, index) => ({ name: `m${index}`, path, ...(readOnly && { readOnly }), ...mount })),
    });
    return paths[0] as string;
  }

  /** The same, and it is there. */
  async used(user: string, claim: MadeClaim, node: string, wish: UserWish = {}): Promise<string> {
    const path = await this.use(user, claim, node, wish);
    await this.#stories.objects.ready(user, 1, 60_000);
    return path;
  }

  /** Has a set deleted, and does not wait for it. */
  async leave(...users: string[]): Promise<void> {
    await this.#stories.kubectl.run(["delete", "nodevolumesets", "--wait=false", ...users]);
  }

  intent(user: string, node: string) {
    return this.#stories.objects.intentOn(user, node);
  }

  /** Waits until a user's volume on a node waits for this. @returns what it says */
  async waits(user: string, node: string, reason: string, ms = 30_000): Promise<string> {
    const waiting = () => this.intent(user, node)?.status?.waiting;
    const what = `${user} on ${node} to wait: ${reason}`;
    await this.#stories.objects.until(what, ms, () => waiting()?.reason === reason);
    return waiting()?.message ?? "";
  }

  /** What is told of an object by Events, as "reason: message (count)", in no order. */
  async told(name: string): Promise<string[]> {
    const of = `fieldSelector=involvedObject.name=${name}`;
    const list = await this.#stories.world.objects.get(`/api/v1/namespaces/default/events?${of}`);
    const { items } = list as unknown as { items: { reason: string; message: string; count: number }[] };
    return items.map(({ reason, message, count }) => `${reason}: ${message} (${count})`);
  }

  /** Waits until claim and intent are told this by Events, and then what they were told of this kind: each once. */
  async bothTold(claim: MadeClaim, intent: string, reason: string): Promise<readonly [string[], string[]]> {
    const of = async (name: string) => (await this.told(name)).filter((one) => one.startsWith(`${reason}: `));
    await this.#stories.objects.until(`${claim.name} and ${intent} to be told ${reason}`, 30_000, async () => {
      return (await of(claim.name)).length > 0 && (await of(intent)).length > 0;
    });
    return [await of(claim.name), await of(intent)];
  }

  /** Has users, claims and their volumes deleted, and waits until they are gone. */
  async end(users: readonly string[], ...made: readonly MadeClaim[]): Promise<void> {
    if (users.length > 0) await this.#stories.remove(...users);
    for (const { name } of made) await this.#stories.world.objects.remove(`${claims}/${name}`);
  }

  /** The VolumeAttachments of a claim's volume, whosever they are. */
  async attachmentsOf({ volume }: MadeClaim): Promise<readonly Attachment[]> {
    const list = (await this.#stories.world.objects.get(attachments)) as unknown as { items: Attachment[] };
    return list.items.filter(({ spec }) => spec.source.persistentVolumeName === volume);
  }

  /** The nodes that a claim's volume is attached to, by its VolumeAttachments. */
  async attachedTo(claim: MadeClaim): Promise<string[]> {
    return (await this.attachmentsOf(claim)).map(({ spec }) => spec.nodeName).sort();
  }

  /**
   * The RPCs that the drivers of all nodes, or of one, were called with for a volume, in their order; also those that
   * were not answered. Without NodeGetVolumeStats, which comes with the time.
   */
  calls({ handle }: MadeClaim, node?: StoryNode): string[] {
    const lines = readRecord(this.#stories.world.storage.record);
    return lines
      .filter(({ kind, volume, what }) => kind === "call" && volume === handle && what !== "NodeGetVolumeStats")
      .filter((line) => node === undefined || line.node === node.driver.nodeID)
      .map(({ what }) => what);
  }

  effects({ handle }: MadeClaim): string[] {
    return this.#stories.effects(handle);
  }

  /** Waits until a driver was called with this RPC, and perhaps has not answered. */
  async called(claim: MadeClaim, rpc: string, times = 1): Promise<void> {
    await this.#stories.objects.until(`${times} calls of ${rpc} for ${claim.name}`, 60_000, () => {
      return this.calls(claim).filter((what) => what === rpc).length >= times;
    });
  }
}

export function pathOf(user: string): string {
  return `/mnt/nodevolume/${user}`;
}

/** Mount ids of lines of mountinfo. */
export function idsOf(lines: readonly string[]): string[] {
  return lines.map((line) => line.split(" ")[0] ?? "");
}
