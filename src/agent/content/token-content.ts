import { resource } from "../../api/names.ts";
import { equalJitter } from "../../kube/backoff.ts";
import { bodyOf } from "../../kube/client/api-error.ts";
import { resourcePath } from "../../kube/client/resource-path.ts";
import { numberIn, stringIn } from "../../kube/json.ts";
import type { ObjectContent, TokenRef } from "../../plugins/api/content.ts";
import type { Cancel } from "../../ports.ts";
import type { Problem } from "../model/actual-volume.ts";
import type { ContentState } from "../model/plan-input.ts";
import type { ContentsDeps, FollowedContent } from "./followed-content.ts";
import { problemsOf } from "./problems.ts";

const retry = { baseMs: 1_000, maxMs: 60_000 };
const dayMs = 24 * 3600_000;
const spreadMs = 10_000;

/**
 * A token of a ServiceAccount that is exchanged in time: at 80 % of its life, or after a day (behaviour 79; kubelet:
 * pkg/kubelet/token). It is bound to the Node object, and so refused once that is gone. The last one stays until there
 * is another.
 */
export class TokenContent implements FollowedContent {
  readonly #ref: TokenRef;
  readonly #deps: ContentsDeps;
  #token: ObjectContent | undefined;
  #problem: Problem | undefined;
  #failures = 0;
  #next: Cancel | undefined;
  #stopped = false;

  constructor(ref: TokenRef, deps: ContentsDeps) {
    this.#ref = ref;
    this.#deps = deps;
    void this.#exchange();
  }

  state(): ContentState {
    if (this.#token === undefined) {
      return { known: false, problem: this.#problem ?? problemsOf(this.#ref).unknown };
    }
    return { known: true, version: this.#token.version, ...(this.#problem && { problem: this.#problem }) };
  }

  get(): ObjectContent | undefined {
    return this.#token;
  }

  stop(): void {
    this.#stopped = true;
    this.#next?.();
  }

  async #exchange(): Promise<void> {
    const { system, onChange } = this.#deps;
    let waitMs: number;
    try {
      const { token, expires, lifeMs } = await this.#request();
      this.#token = { version: `token-until-${expires}`, data: new Map([["token", Buffer.from(token)]]) };
      this.#problem = undefined;
      this.#failures = 0;
      waitMs = Math.max(retry.baseMs, Math.min(0.8 * lifeMs, dayMs) - system.random.next() * spreadMs);
    } catch (error) {
      this.#failures++;
      const { refused, failed } = problemsOf(this.#ref);
      this.#problem = refused(error) ?? failed(error);
      waitMs = equalJitter(this.#failures, retry, system.random);
    }
    if (this.#stopped) return;
    this.#next = system.timers.after(waitMs, () => void this.#exchange());
    onChange(this.#ref);
  }

  /** @throws ApiError, TransportError */
  async #request(): Promise<{ token: string; expires: string; lifeMs: number }> {
    const { namespace, name, nodeName, audience, expirationSeconds } = this.#ref;
    const path = `${resourcePath(resource.serviceAccounts, { namespace, name })}/token`;
    const boundObjectRef = { apiVersion: "v1", kind: "Node", name: nodeName };
    const spec = { audiences: audience === undefined ? [] : [audience], expirationSeconds, boundObjectRef };
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
    const answer = await bodyOf(this.#deps.transport, { method: "POST", path, body });
    const { spec: given, status } = answer as { spec?: unknown; status?: unknown };
    const token = stringIn(status, "token");
    if (token === undefined) throw new Error("the API server has answered without a token");
    const lifeMs = (numberIn(given, "expirationSeconds") ?? expirationSeconds) * 1000;
    return { token, expires: stringIn(status, "expirationTimestamp") ?? "", lifeMs };
  }
}
