/**
 * PURE. What docs/reasons.md says to people of each reason: the paragraph of its entry, behind the first sentence, which says what
 * kind of reason it is. The document is put into the bundle, so that `explain` and the documentation cannot differ.
 */
export function parseAdvice(document: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const part of document.split(/^### /m).slice(1)) {
    const [heading = "", ...lines] = (part.split(/^## /m)[0] ?? "").split("\n");
    const text = lines.join(" ").replace(/\s+/g, " ").trim();
    found.set(heading.trim(), text.replace(/^(Normal|Waiting|Blocked)[.,] ?(until[^.]*\. ?)?/, "").trim());
  }
  return found;
}
