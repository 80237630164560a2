import type { ResourceEvent } from "@dot-i/k8s-operator";
import OperatorModule, { ResourceEventType } from "@dot-i/k8s-operator";
import { KubeConfig } from "@kubernetes/client-node";
import { apiVersion, finalizer, resource } from "../../api/names.ts";
import { resourcePath } from "../../kube/client/resource-path.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { Logger } from "../../ports.ts";
import type { SetEntry } from "../model/projections.ts";
import type {
  CreateFinalizerController,
  FinalizerController,
  FinalizerControllerDeps,
  StillInUse,
} from "./finalizer-controller.ts";

/** The library is CommonJS, whose default export arrives one level down. */
const Operator = OperatorModule.default;

/**
 * The finalizer controller by @dot-i/k8s-operator: its lifecycle and finalizer decision, everything else overridden,
 * because as it is (1.3.9, with client-node 2) it ends the process when a watch breaks, loses deletions, and only logs
 * a finalizer that could not be written.
 */
export function createOperatorFinalizerController(log: Logger): CreateFinalizerController {
  return (deps): FinalizerController => {
    const operator = new SetOperator(log, deps);
    return { start: () => operator.start(), stop: () => operator.stop() };
  };
}

/**
 * The library's constructor loads the kubeconfig of whoever starts it, which we neither use nor want: how to reach the
 * API server is given by flags, and somebody's broken ~/.kube/config must not end the controller.
 */
class NoKubeconfig extends KubeConfig {
  override loadFromDefault(): void {
    this.loadFromClusterAndUser(
      { name: "unused", server: "https://unused.invalid", skipTLSVerify: false },
      { name: "" },
    );
  }
}

class SetOperator extends Operator {
  static {
    // What the library's constructor sets, and loads at once. An accessor in place of its property TypeScript refuses.
    const kubeConfig = new NoKubeconfig();
    Object.defineProperty(SetOperator.prototype, "kubeConfig", { get: () => kubeConfig, set: () => {} });
  }

  readonly #deps: FinalizerControllerDeps;
  #stopped = false;

  constructor(log: Logger, deps: FinalizerControllerDeps) {
    super({
      debug: (message) => log.debug(message),
      info: (message) => log.info(message),
      warn: (message) => log.warn(message),
      error: (message) => log.error(message),
    });
    this.#deps = deps;
  }

  protected override async init(): Promise<void> {
    const { group, version, plural } = resource.sets;
    await this.watchResource(group, version, plural, async (event) => {
      const set = entryOf(event);
      const handled = await this.handleResourceFinalizer(event, finalizer.unmount, async () => {
        const stillInUse = await this.#deps.release(set);
        if (stillInUse !== undefined) throw new NotReleased(stillInUse);
      });
      return handled ? undefined : this.#deps.reconcile(set);
    });
  }

  /** Sets arrive from our reflector and queue, which survive what the library's watch does not. */
  protected override watchResource(
    _group: string,
    _version: string,
    _plural: string,
    onEvent: (event: ResourceEvent) => Promise<RequeueAfter | undefined> | Promise<void>,
  ): Promise<void> {
    this.#deps.watchSets(async (set) => {
      if (this.#stopped) return undefined;
      try {
        const requeueAfter = await onEvent(new SetSeen(set));
        return typeof requeueAfter === "number" ? requeueAfter : undefined;
      } catch (error) {
        if (error instanceof NotReleased) return error.requeueAfter;
        throw error;
      }
    });
    return Promise.resolve();
  }

  protected override async setResourceFinalizers(meta: ResourceEvent["meta"], finalizers: string[]): Promise<void> {
    if (!(meta instanceof SetMeta)) throw new Error(`no finalizers are written for ${meta.id}`);
    await this.#deps.writeFinalizers(meta.set, finalizers);
  }

  /** Of the library's own, only messages would use it; it would say "undefined/apis/…" with client-node 1 and later. */
  protected override getCustomResourceApiUri(group: string, version: string, plural: string): string {
    return resourcePath({ group, version, plural, kind: "" });
  }

  override stop(): void {
    this.#stopped = true;
  }
}

/** No failure: by rejecting, a release tells the library to leave the finalizer, and there is no other way to. */
class NotReleased extends Error {
  readonly requeueAfter: RequeueAfter | undefined;

  constructor({ why, requeueAfter }: StillInUse) {
    super(why);
    this.requeueAfter = requeueAfter;
  }
}

class SetMeta {
  readonly id = `${resource.sets.plural}.${apiVersion}`;
  readonly kind = resource.sets.kind;
  readonly apiVersion = apiVersion;
  readonly name: string;
  readonly resourceVersion: string;
  readonly set: SetEntry;

  constructor(set: SetEntry) {
    this.set = set;
    this.name = set.metadata.name;
    this.resourceVersion = set.metadata.resourceVersion ?? "";
  }
}

/** A set as the library's event. The library changes the list of finalizers in place, so it gets one of its own. */
class SetSeen implements ResourceEvent {
  readonly type = ResourceEventType.Modified;
  readonly meta: SetMeta;
  readonly object: ResourceEvent["object"];

  constructor(set: SetEntry) {
    this.meta = new SetMeta(set);
    const { name, uid, deletionTimestamp, finalizers } = set.metadata;
    this.object = {
      apiVersion,
      kind: resource.sets.kind,
      metadata: {
        name,
        ...(uid !== undefined && { uid }),
        ...(finalizers !== undefined && { finalizers: [...finalizers] }),
        ...(deletionTimestamp !== undefined && { deletionTimestamp: new Date(deletionTimestamp) }),
      },
    };
  }
}

function entryOf({ meta }: ResourceEvent): SetEntry {
  if (!(meta instanceof SetMeta)) throw new Error(`an event of ${meta.id} is not ours`);
  return meta.set;
}
