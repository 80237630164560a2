// Run in the network of a node: relay-main.ts ADDRESS PORT FILE passes connections on to the socket file.
import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";
import { bringLoopbackUp } from "../syscalls.ts";

const [address = "", port = "", file = ""] = process.argv.slice(2);
bringLoopbackUp();
createServer((from) => void pipeline(from, connect(file), from, () => undefined)).listen(Number(port), address);
