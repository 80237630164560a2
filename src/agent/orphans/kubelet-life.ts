import type { KubeObject } from "../../api/meta.ts";
import { resource } from "../../api/names.ts";
import { messageOf } from "../../errors.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import { recordIn, stringIn } from "../../kube/json.ts";
import type { Clock } from "../../ports.ts";
import { asAgentOrNode } from "../content/impersonate-node.ts";

/** Where kubelet renews its sign of life, every ten seconds (kubelet: nodeLeaseDurationSeconds, a quarter of it). */
const leases = "kube-node-lease";
/** Milliseconds without a renewal after which kubelet may have been down, or slow, for all that is known. */
const pauseMs = 60_000;

/**
 * How long kubelet has been alive without a pause, by its Lease and this agent's clock; timestamps in the Lease do not
 * count. Leftovers that kubelet has not removed in all that time are unknown to it. An unreadable Lease is a pause.
 */
export class KubeletLife {
  readonly #deps: { readonly clock: Clock; readonly client: Pick<KubeClient, "get">; readonly nodeName: string };
  #renewed: string | undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #since: number | undefined;
  #trouble: string | undefined;

  constructor(deps: { readonly clock: Clock; readonly client: Pick<KubeClient, "get">; readonly nodeName: string }) {
    this.#deps = deps;
  }

  /** Milliseconds for which it is known to have been alive; or why it is not known to be. */
  get alive(): number | string {
    const now = this.#deps.clock.monotonic();
    if (this.#since !== undefined && now - this.#renewedAt <= pauseMs) return now - this.#since;
    return this.#trouble ?? "kubelet has not renewed its Lease: it may be down, and cleans up when it is back";
  }

  /** To be called more often than kubelet may pause. */
  async look(): Promise<void> {
    const { clock, client, nodeName } = this.#deps;
    let lease: KubeObject | undefined;
    try {
      const ref = { namespace: leases, name: nodeName };
      lease = await asAgentOrNode(nodeName, (options) => client.get<KubeObject>(resource.leases, ref, options));
      this.#trouble = undefined;
    } catch (error) {
      this.#trouble = `whether kubelet lives cannot be read: ${messageOf(error)}`;
      return;
    }
    const now = clock.monotonic();
    const renewed = stringIn(recordIn(lease, "spec"), "renewTime");
    const known = this.#renewed;
    if (renewed === undefined || renewed === known) return;
    this.#renewed = renewed;
    if (known === undefined) return; // it may be an old one: the next tells
    if (now - this.#renewedAt > pauseMs) this.#since = now;
    this.#renewedAt = now;
  }
}
