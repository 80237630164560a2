import * as P from "./protocol.ts";
import type { FuseTree } from "./tree.ts";

const { opcodes, errno } = P;

/** What the test server answers: a body, the number of an error (0: only that it worked), or nothing at all. */
export function answerTo(request: P.FuseRequest, tree: FuseTree): Buffer | number | undefined {
  const { opcode, node, body } = request;
  switch (opcode) {
    case opcodes.INIT:
      return P.initAnswer(body);
    case opcodes.FORGET:
    case opcodes.BATCH_FORGET:
    case opcodes.INTERRUPT: // a server may ignore it: what was asked is answered all the same
      return undefined;
    case opcodes.LOOKUP:
      return entry(tree.lookup(node, P.nameIn(body)) ?? errno.ENOENT);
    case opcodes.GETATTR:
    case opcodes.SETATTR: {
      const attributes = tree.attributes(node);
      return attributes === undefined ? errno.ENOENT : P.attributesAnswer(attributes);
    }
    case opcodes.MKDIR:
      return entry(tree.make(node, P.nameIn(body, 8), "directory"));
    case opcodes.MKNOD:
      return entry(tree.make(node, P.nameIn(body, 16), "file"));
    case opcodes.CREATE: {
      const made = tree.make(node, P.nameIn(body, 16), "file");
      return typeof made === "number" ? made : Buffer.concat([P.entryAnswer(made), P.openAnswer()]);
    }
    case opcodes.UNLINK:
    case opcodes.RMDIR:
      return tree.remove(node, P.nameIn(body));
    case opcodes.OPEN:
    case opcodes.OPENDIR:
      return P.openAnswer();
    case opcodes.READ:
      return tree.read(node, Number(body.readBigUInt64LE(8)), body.readUInt32LE(16));
    case opcodes.READDIR:
      return P.directoryAnswer(tree.entries(node), Number(body.readBigUInt64LE(8)), body.readUInt32LE(16));
    case opcodes.STATFS:
      return P.statfsAnswer();
    case opcodes.RELEASE:
    case opcodes.RELEASEDIR:
    case opcodes.FLUSH:
    case opcodes.DESTROY:
    case opcodes.ACCESS:
      return 0;
    default:
      return errno.ENOSYS;
  }
}

function entry(found: P.FuseAttributes | number): Buffer | number {
  return typeof found === "number" ? found : P.entryAnswer(found);
}
