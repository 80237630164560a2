// Run in a pretended node's mount namespace: covers folders of the machine in which a node has fixed paths, with what
// must stay visible there.
import { coverWithTmpfs } from "./cover.ts";
import { keptFolders } from "./kept.ts";

for (const directory of process.argv.slice(2)) coverWithTmpfs(directory, keptFolders(process.env));
