import type { KubeObject } from "../../api/meta.ts";
import { messageOf } from "../../errors.ts";
import { createKubeClient, type KubeClient } from "../../kube/client/client.ts";
import type { Transport } from "../../kube/client/transport.ts";
import { createReflector, type Reflector } from "../../kube/watch/reflector.ts";
import type { ContentRef, ObjectContent, TokenRef } from "../../plugins/api/content.ts";
import type { Problem } from "../model/actual-volume.ts";
import type { ContentState } from "../model/plan-input.ts";
import { contentParser, type ReadContent } from "./content-parser.ts";
import type { ContentsDeps, FollowedContent } from "./followed-content.ts";
import { isForbidden } from "./impersonate-node.ts";
import { problemsOf } from "./problems.ts";
import { digestOf } from "./salted-digest.ts";

type WatchedRef = Exclude<ContentRef, TokenRef>;

/** Content that a watch of its own follows. */
export class WatchedContent implements FollowedContent {
  readonly #ref: WatchedRef;
  readonly #deps: ContentsDeps;
  readonly #reading: ReadContent;
  readonly #either: EitherTransport | undefined;
  readonly #client: KubeClient;
  readonly #reflector: Reflector<KubeObject>;
  /** Why it cannot be read, be it from the start or since. */
  #denied: Problem | undefined;
  /** As it was last seen; undefined: not there, or not seen yet. */
  #last: ObjectContent | undefined;

  constructor(ref: WatchedRef, deps: ContentsDeps) {
    this.#ref = ref;
    this.#deps = deps;
    this.#reading = contentParser(ref);
    const { system, onChange } = deps;
    this.#either = ref.kind === "Node" ? asNodeOrAgent(deps.transport, ref.name) : undefined;
    const transport = this.#either ?? deps.transport;
    this.#client = createKubeClient({ transport, fieldManager: "" });
    this.#reflector = createReflector<KubeObject>({
      system,
      transport,
      ...this.#reading.selection,
      project: (raw) => this.#reading.project(raw),
      onRestart: (why) => {
        if (why === "failed") void this.#askWhy();
      },
    });
    const changed = () => {
      this.#denied = undefined;
      this.#take();
      onChange(ref);
    };
    this.#reflector.store.subscribe({ onAdd: changed, onUpdate: changed, onDelete: changed, onState: changed });
    this.#reflector.start();
  }

  state(optional: boolean): ContentState {
    const content = this.get(optional);
    if (content !== undefined) {
      const digest = this.#ref.kind === "Secret" && { digest: (salt: string) => digestOf(content.data, salt) };
      return { known: true, version: content.version, ...digest, ...(this.#denied && { problem: this.#denied }) };
    }
    const { missing, unknown } = problemsOf(this.#ref);
    const { synced } = this.#reflector.store.state();
    return { known: false, problem: this.#denied ?? (synced ? missing : unknown) };
  }

  get(optional: boolean): ObjectContent | undefined {
    if (this.#last !== undefined) return this.#last;
    return optional && this.#reflector.store.state().synced ? { version: "none", data: new Map() } : undefined;
  }

  stop(): void {
    this.#reflector.stop();
  }

  /**
   * The content, under the version that it had first: a label or annotation that is touched writes nothing. While the
   * store is not connected, a list may be half taken in: then what was known stays.
   */
  #take(): void {
    const { store } = this.#reflector;
    const { synced, connected } = store.state();
    if (!synced || !connected) return;
    const content = this.#reading.content([...store.list()]);
    const known = this.#last;
    const same = known !== undefined && content !== undefined && sameData(known.data, content.data);
    this.#last = same ? known : content;
  }

  /** The error of a failed watch is unspecific: a plain read shows whether access is forbidden. */
  async #askWhy(): Promise<void> {
    const { system, onChange } = this.#deps;
    try {
      await this.#reading.ask(this.#client);
    } catch (error) {
      if (isForbidden(error)) this.#either?.change(); // the watch that is tried again tries the other
      const refused = problemsOf(this.#ref).refused(error);
      if (refused === undefined) {
        const { kind, name } = this.#ref;
        system.log.debug("content cannot be read", { kind, name, error: messageOf(error) });
        return;
      }
      if (this.#denied !== undefined) return;
      this.#denied = refused;
      onChange(this.#ref);
    }
  }
}

function sameData(a: ObjectContent["data"], b: ObjectContent["data"]): boolean {
  if (a === b) return true;
  return a.size === b.size && [...a].every(([key, bytes]) => isEqual(bytes, b.get(key)));
}

function isEqual(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && Buffer.compare(a, b) === 0;
}

/** Requests as the agent's own node, or as the agent itself: what the one may not, the other may be granted. */
interface EitherTransport extends Transport {
  /** The other one from now on. */
  change(): void;
}

/**
 * Begins as the node: the API server lets it read what is of this node alone (KEP-5284, on by default since Kubernetes
 * 1.36), so that an agent needs no right to read that of others.
 */
function asNodeOrAgent(transport: Transport, nodeName: string): EitherTransport {
  let asNode = true;
  const who = () => (asNode ? { asUser: `system:node:${nodeName}` } : {});
  return {
    request: (request) => transport.request({ ...request, ...who() }),
    stream: (request, handlers) => transport.stream({ ...request, ...who() }, handlers),
    change() {
      asNode = !asNode;
    },
  };
}
