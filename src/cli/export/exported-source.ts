import type { VolumeSource } from "../../api/types.gen.ts";

/** What a line names as a volume. */
export interface ExportedSource {
  readonly source: VolumeSource;
  readonly notes: readonly string[];
  /** Options that the type of the line stands for. */
  readonly options: readonly string[];
  /** What mountOptions of a device need beside it. */
  readonly fsType?: string;
  /** Whether an agent can take over what is mounted. */
  readonly adoptable?: boolean;
}

/** Why a line is no source. It never repeats the line: that may hold a password. */
export interface NoSource {
  readonly reason: string;
}
