import type { ExportedSource, NoSource } from "./exported-source.ts";
import { tidy } from "./fields.ts";
import type { MountLine } from "./mount-line.ts";
import { credentialsFrom, readOnlyOf, unmountFirst } from "./network-notes.ts";

/** PURE. MONITOR,…:/PATH, or as newer kernels have it USER@FSID.NAME=/PATH with mon_addr=MONITOR/…. */
export function cephfs({ source, options }: MountLine, setName: string): ExportedSource | NoSource {
  const given = (name: string) => options.find((option) => option.startsWith(`${name}=`))?.slice(name.length + 1);
  const [, userAt, fsName, ofNew] = /^([\w.-]+)@[\w-]*\.([\w.-]+)=(\/.*)$/.exec(source) ?? [];
  const [, monitors, ofOld] = ofNew === undefined ? (/^([\w.,:[\]-]+):(\/.*)$/.exec(source) ?? []) : [];
  const named = ofNew === undefined ? monitors?.split(",") : given("mon_addr")?.split("/");
  const path = ofNew ?? ofOld;
  if (path === undefined) return { reason: "its source is neither MONITOR,…:/PATH nor USER@FSID.NAME=/PATH" };
  if (named === undefined) return { reason: "no monitor is named by mon_addr=: the set needs them" };
  const user = given("name") ?? userAt;
  const fs = given("fs") ?? given("mds_namespace") ?? fsName;
  const secretName = `${setName}-key`;
  return {
    source: {
      cephfs: {
        ...{ monitors: named, path: tidy(path), ...(user !== undefined && { user }) },
        ...{ secretRef: { namespace: "default", name: secretName }, client: "Kernel" },
        ...{ ...(fs !== undefined && { fsName: fs }), ...readOnlyOf(options) },
      },
    },
    notes: [
      `the user's key is a Secret: make default/${secretName}, or name another, with key as ${credentialsFrom(options)}`,
      unmountFirst,
    ],
    options: [],
  };
}
