// Gets etcd, kube-apiserver and kubectl into the cache, if they are not there, and prints where they are.
import { locateTools } from "./lib/tools/locate.ts";

const tools = await locateTools({ env: process.env, report: (line) => console.log(line) });
for (const [name, path] of Object.entries(tools)) console.log(`${name.padEnd(16)} ${path}`);
