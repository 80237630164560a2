// Makes an answer as long as a test wants it: with a field that no version of the specification has, which every reader
// passes over.

type Serialize = (value: object) => Buffer;

const wanted = new WeakMap<object, number>();

/** Orders that this answer gets so many bytes more. */
export function lengthen(answer: object, bytes: number): object {
  wanted.set(answer, bytes);
  return answer;
}

export function withMoreBytes(serialize: Serialize): Serialize {
  return (value) => {
    const bytes = wanted.get(value);
    return bytes === undefined ? serialize(value) : Buffer.concat([serialize(value), field(bytes)]);
  };
}

/** Field 1000, length-delimited. */
function field(bytes: number): Buffer {
  return Buffer.concat([varint((1000 << 3) | 2), varint(bytes), Buffer.alloc(bytes)]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}
