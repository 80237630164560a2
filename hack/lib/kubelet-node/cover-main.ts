// Run in the node's mount namespace: covers folders in which kubelet and containerd have fixed paths, with what must stay visible there.
import { coverWithTmpfs } from "../sandbox/cover.ts";
import { keptFolders } from "../sandbox/kept.ts";

for (const directory of process.argv.slice(2)) coverWithTmpfs(directory, keptFolders(process.env));
