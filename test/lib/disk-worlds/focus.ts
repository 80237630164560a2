/** How a volume names its disk: by where it is, by a second name of it, or by what it is. */
export type Naming = "device" | "link" | "alias" | "fields" | "label";

/**
 * What an mkfs is cut off by: it ends by itself, is killed whatever it is at, or ends in the midst of what it writes.
 */
export type Ending = "ends" | "killed" | "halfway";

/** What a world is about: of what is rare in any world there is much in this one. */
export interface Focus {
  /** Kinds of trouble (`troubles`): no others. */
  readonly troubles: readonly string[];
  /**
   * What the agent is about to do when somebody acts (kinds of ChildRequest, methods of Mounter, `plan`); absent:
   * whatever.
   */
  readonly before?: readonly string[];
  /** How volumes name their disks. */
  readonly naming?: Naming;
  /** What becomes of most mkfs. */
  readonly mkfs?: Ending;
  /** The disks that there are at first. */
  readonly disks?: readonly ("empty" | "filled")[];
  /** What somebody has on disks (`makeContents`), by name. */
  readonly content?: string;
}
