import type { ApiClient } from "../lib/api-client.ts";
import type { Kubectl } from "../lib/kubectl.ts";
import type { PretendHost } from "../lib/pretend-node/node.ts";
import type { RunningProcess } from "../lib/process.ts";
import type { KeptProcess } from "./kept-process.ts";

/** A cluster with controller and agents running, however it came to be: what the demonstration works on. */
export interface Demo {
  /** As somebody who runs the platform. */
  readonly kubectl: Kubectl;
  readonly client: ApiClient;
  readonly hosts: readonly PretendHost[];
  /** The agent of each host, in their order. */
  readonly agents: readonly KeptProcess[];
  /** Everything that has to keep running, by the order in which it was started. */
  readonly processes: readonly RunningProcess[];
  /** Manifests of the sample, as kubectl takes them. */
  readonly sample: string;
  /** The set that cannot be mounted, in the same way. */
  readonly failing: string;
  /** Removes what this run made, and ends what it started. */
  remove(): Promise<void>;
}

export const sampleFolder = "config/samples/quickstart";
export const failingFolder = "config/samples/quickstart/failing";
export const csiSampleFolder = "config/samples/quickstart-csi";
/** Where volumes are mounted on every node. */
export const prefix = "/var/lib/nodevolume/mounts/";
