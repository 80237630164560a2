import { parseArgs } from "node:util";

export interface Flags {
  /** Path of the socket. */
  readonly endpoint: string;
  readonly nodeID: string;
  /** The storage: a folder that the drivers of all nodes share. */
  readonly data: string;
  readonly name: string;
  /** Whether a volume must be published to a node before it can be used there: PUBLISH_UNPUBLISH_VOLUME. */
  readonly attach: boolean;
  /** STAGE_UNSTAGE_VOLUME. */
  readonly stage: boolean;
  /** VOLUME_MOUNT_GROUP. */
  readonly mountGroup: boolean;
  /** File with the faults that are ordered, see ../lib/faults.ts. */
  readonly control?: string;
  readonly mkfs: string;
  readonly growfs: string;
  /** Volumes that a node may have: max_volumes_per_node; 0 is no limit. */
  readonly maxVolumes: number;
}

/** @throws Error naming the flag that is wrong or missing */
export function flagsOf(args: readonly string[]): Flags {
  const string = { type: "string" } as const;
  const boolean = { type: "boolean" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      endpoint: string,
      "node-id": string,
      data: string,
      name: { ...string, default: "loop-xfs.csi.nodevolume.test" },
      "no-attach": boolean,
      "no-stage": boolean,
      "no-mount-group": boolean,
      control: string,
      mkfs: { ...string, default: "mkfs.xfs" },
      growfs: { ...string, default: "xfs_growfs" },
      "max-volumes": { ...string, default: "0" },
    },
  });
  const given = (flag: "endpoint" | "node-id" | "data") => {
    const value = values[flag];
    if (value === undefined || value === "") throw new Error(`--${flag} is needed`);
    return value;
  };
  return {
    endpoint: given("endpoint").replace(/^unix:(\/\/)?/, ""),
    nodeID: given("node-id"),
    data: given("data"),
    name: values.name,
    attach: values["no-attach"] !== true,
    stage: values["no-stage"] !== true,
    mountGroup: values["no-mount-group"] !== true,
    ...(values.control === undefined ? {} : { control: values.control }),
    mkfs: values.mkfs,
    growfs: values.growfs,
    maxVolumes: Number(values["max-volumes"]),
  };
}
