import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";
import type { HostPorts, Mounter } from "../../../src/host/ports/host-ports.ts";
import type { PersonOperation, Place } from "./operations.ts";

/** A file as somebody in a namespace finds it. */
export interface SeenFile {
  readonly path: string;
  readonly kind: "directory" | "file" | "symlink" | "other";
  readonly mode: number;
  /** Of a file: what is in it; of a link: where it leads. */
  readonly content: string;
}

/** A node with its kernel, real or simulated, on which operations of both kinds are carried out. */
export interface DifferentialWorld extends AsyncDisposable {
  /** Before every path that the ports are given: where this node's root directory is. */
  readonly base: string;
  readonly mounter: Mounter;
  readonly directories: HostPorts["directories"];
  readonly evidence: HostPorts["evidence"];
  readonly mountTable: HostPorts["mountTable"];
  /** Whose mount namespace a process is in. */
  placeOf(pid: number): Place;
  /** Lets what was begun go to its end. */
  done<T>(begun: Promise<T>): Promise<T>;
  person(operation: PersonOperation): Promise<void>;
  startContainer(path: string | undefined): void;
  endContainer(): Promise<void>;
  /** Mounts of a namespace, in the order of its table, with paths from the node's root. Undefined: there is none. */
  table(place: Place): readonly MountEntry[] | undefined;
  /** Whether whoever watches that table was told of a change since this was last asked. */
  wasTold(place: Place): boolean;
  files(place: Place): readonly SeenFile[];
}
