import { VolumeError } from "../../../errors.ts";
import type { LogicalVolumeInfo } from "../../ports/block-layers.ts";
import type { ProgramResult } from "../../ports/programs.ts";
import { outputExcerpt } from "../child/output-excerpt.ts";

interface Report {
  readonly report: readonly { readonly lv?: readonly { readonly [column: string]: string }[] }[];
}

/** PURE. What lvs(8) has reported, by name. @throws Error if it is no report */
export function parseVolumes(stdout: string): ReadonlyMap<string, LogicalVolumeInfo> {
  const { report } = JSON.parse(stdout) as Report;
  const volumes = report.flatMap(({ lv = [] }) => lv);
  return new Map(
    volumes.map(({ lv_name = "", lv_size = "", lv_active = "", lv_role = "", lv_tags = "", vg_uuid, lv_uuid }) => {
      const tags = lv_tags.split(",").filter((tag) => tag !== "");
      const shown = lv_role.split(",").includes("public");
      const identity = vg_uuid && lv_uuid ? { identity: `${vg_uuid} ${lv_uuid}` } : {};
      return [lv_name, { sizeBytes: Number(lv_size), active: lv_active !== "", shown, tags, ...identity }];
    }),
  );
}

/**
 * PURE. What became of a call of lvm(8) that failed; its exit code says nothing.
 * @param what group or volume that it was called for
 */
export function lvmFailure(what: string, doing: string, { code, stdout, stderr }: ProgramResult): VolumeError {
  const said = stderr || stdout;
  const words = outputExcerpt(said);
  const on = { kind: "LogicalVolume", name: what };
  const [group = ""] = what.split("/");
  if (/volume group "?\S*"? (not found|doesn't exist)|cannot process volume group/i.test(said)) {
    const message = `the node has no volume group ${group}: make it (vgcreate ${group} DEVICE), or correct local.lvm.volumeGroup`;
    return new VolumeError("SourceNotFound", "final", message, { on });
  }
  if (/insufficient (free space|suitable|free extents)|has insufficient|not enough free/i.test(said)) {
    const message = `the volume group ${group} has no room for ${what} (${words}): add a disk (vgextend), or lower capacity`;
    return new VolumeError("VolumeGroupFull", "final", message, { on });
  }
  if (/in use|contains a filesystem in use/i.test(said)) {
    return new VolumeError("DeviceBusy", "transient", `${what} is in use: ${words}`, { on });
  }
  const reason = doing === "deactivate" ? "TearDownFailed" : "SetUpFailed";
  return new VolumeError(reason, "transient", `lvm: ${doing} of ${what} ended with ${code}: ${words}`, { on });
}
