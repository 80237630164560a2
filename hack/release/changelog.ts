/** PURE. What a changelog says of a version, without its heading; undefined if it has no such heading. */
export function changesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.split(/\s/, 1)[0]?.replace(/^\[|\]$/g, "") === version);
  return section?.slice(section.indexOf("\n") + 1).trim();
}
