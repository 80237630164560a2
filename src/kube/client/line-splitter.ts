import { StringDecoder } from "node:string_decoder";

/** Cuts a byte stream into lines. Throws if a line is longer than `maxLength` characters. */
export function createLineSplitter(maxLength: number, onLine: (line: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder("utf8");
  const parts: string[] = [];
  let length = 0;

  return (chunk) => {
    let text = decoder.write(chunk);
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      const line = parts.join("") + text.slice(0, end);
      parts.length = 0;
      length = 0;
      text = text.slice(end + 1);
      if (line !== "") onLine(line);
    }
    length += text.length;
    if (length > maxLength) throw new Error(`a line is longer than ${maxLength} characters`);
    if (text !== "") parts.push(text);
  };
}
