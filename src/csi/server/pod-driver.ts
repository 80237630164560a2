import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { cut } from "../../api/conditions.ts";
import { podDriver } from "../../api/names.ts";
import { messageOf } from "../../errors.ts";
import type { Cancel, System } from "../../ports.ts";
import { quiet } from "../client/grpc-connection.ts";
import { retryMs } from "../client/retry.ts";
import { DriverObjectState, type DriverObjectStateDeps } from "./driver-object-state.ts";
import { PodCalls } from "./pod-calls.ts";
import type { PodVolumes } from "./ports.ts";
import { RecreatedSocket } from "./recreated-socket.ts";
import { csiServer, registrationServer } from "./services.ts";
import { driverSocket, registrationSocket } from "./socket-paths.ts";
import type { OnCall } from "./unary.ts";

/**
 * Milliseconds that an agent which ends waits for volumes that kubelet is giving back: together with its operations
 * less than its pod is given.
 */
export const longestEndMs = 10_000;
/** And for the last answers to be sent. */
const longestAnswerMs = 1_000;
/** Milliseconds between looks whether the sockets are still there; half as many again at most. */
const lookMs = 20_000;

/** Dependencies of the CSI server for kubelet: its sockets, its registration and its calls. */
export interface PodDriverDeps extends Pick<DriverObjectStateDeps, "read"> {
  readonly system: System;
  readonly volumes: PodVolumes;
  readonly nodeName: string;
  readonly version: string;
  readonly kubeletDir: string;
  /** A directory of ours that kubelet sees at the same path. */
  readonly csiDir: string;
  /** kubelet's plugins_registry. */
  readonly registrationDir: string;
  /** Whether the agent has what it needs to give volumes to pods. */
  readonly ready: () => boolean;
  readonly onCall: OnCall;
  /** Called with whether kubelet has registered the driver, and with the problem if someone must act. */
  onRegistration(registered: boolean, problem: string | undefined): void;
}

/**
 * The driver csi.nodevolume.dev of this node: its socket, and once that answers, the one by which kubelet finds it.
 * Both are looked after until `stop`, which leaves the files: to kubelet, a registration socket that goes is a driver
 * that is gone, and pods could not even be ended until the next agent is there (decision 0035).
 */
export class PodDriver {
  readonly #deps: PodDriverDeps;
  readonly #object: DriverObjectState;
  readonly #calls: PodCalls;
  readonly #csi: RecreatedSocket;
  readonly #registration: RecreatedSocket;
  #failures = 0;
  #told = "";
  #again: Cancel = () => {};
  #stopped = false;

  constructor(deps: PodDriverDeps) {
    quiet();
    this.#deps = deps;
    const { system, volumes, kubeletDir, nodeName, version, ready, onCall } = deps;
    const { clock, log } = system;
    this.#object = new DriverObjectState(deps);
    this.#calls = new PodCalls({
      ...{ system, volumes, kubeletDir },
      mayPublish: () => this.#object.mayPublish(),
      tokensInContext: () => this.#object.tokensInContext(),
    });
    const server = { clock, log, onCall };
    const endpoint = driverSocket(deps.csiDir);
    this.#csi = new RecreatedSocket(endpoint, () =>
      csiServer({ ...server, calls: this.#calls, nodeName, version, ready }),
    );
    this.#registration = new RecreatedSocket(registrationSocket(deps.registrationDir), () =>
      registrationServer({
        ...server,
        endpoint,
        onStatus: ({ pluginRegistered, error }) => this.#registered(pluginRegistered, error),
      }),
    );
  }

  start(): this {
    this.#object.start();
    void this.#keep();
    return this;
  }

  /** Calls under way. */
  get underWay(): { readonly publish: number; readonly unpublish: number } {
    return this.#calls.underWay;
  }

  /** As `stop`, after NodeUnpublishVolume calls under way have ended. */
  async end(): Promise<void> {
    await this.#calls.end(longestEndMs);
    const { promise, resolve } = Promise.withResolvers<void>();
    const forget = this.#deps.system.timers.after(longestAnswerMs, resolve);
    void this.#csi.answered().then(resolve);
    await promise;
    forget();
    this.stop();
  }

  /** Ends all waits, and answers no more. Mounts and the files of the sockets stay. */
  stop(): void {
    this.#stopped = true;
    this.#again();
    this.#object.stop();
    this.#calls.stop();
    this.#registration.stop();
    this.#csi.stop();
  }

  async #keep(): Promise<void> {
    const { system, csiDir, registrationDir } = this.#deps;
    try {
      mkdirSync(dirname(this.#csi.path), { recursive: true, mode: 0o700 });
      await this.#csi.keep();
      if (statSync(registrationDir, { throwIfNoEntry: false }) === undefined)
        throw new Error(`there is no ${registrationDir}: --csi-registration-dir must be kubelet's plugins_registry`);
      await this.#registration.keep();
      this.#failures = 0;
      this.#told = "";
    } catch (error) {
      this.#failures += 1;
      const why = messageOf(error);
      if (why !== this.#told) system.log.warn("pods are not served", { driver: podDriver, csiDir, error: why });
      this.#told = why;
    }
    if (this.#stopped) {
      this.stop();
      return;
    }
    const { timers, random } = system;
    const waitMs = this.#failures > 0 ? retryMs(this.#failures, random) : lookMs * (1 + random.next() / 2);
    this.#again = timers.after(waitMs, () => void this.#keep());
  }

  #registered(registered: boolean, error: string): void {
    const { system, onRegistration } = this.#deps;
    if (registered) {
      system.log.info("kubelet has registered the driver for pods", { driver: podDriver });
      onRegistration(true, undefined);
      return;
    }
    const why = cut(error, 512);
    system.log.warn("kubelet refuses the driver for pods", { driver: podDriver, error: why });
    onRegistration(false, `kubelet refuses the driver ${podDriver}: ${why}`);
  }
}
