import type { SELinuxOptions } from "../../api/types.gen.ts";

/**
 * PURE. The label of files that a process with these options may use: of the process it has user and level, role and
 * type are those of container files, whatever the process is (behaviour 77; go-selinux: label.InitLabels, with the
 * policy's usual container_file_t).
 */
export function fileLabel({ user = "system_u", level }: SELinuxOptions): string {
  return `${user}:object_r:container_file_t:${level}`;
}

/** PURE. The mount option that gives all files of a file system this label; quoted, as there may be a comma in it. */
export function contextOption(label: string): string {
  return `context="${label}"`;
}
