// Unsaved YAML of an object that changes meanwhile.

export const versionLine = /^( {2}resourceVersion:\s*)(.*)$/m;
const statusBlock = /^status:.*\n(?:[ \-#].*\n|\n)*/m;

/**
 * Returns our text with the resourceVersion and the status of the newer one, if
 * the object did not change otherwise: an operator writes the status all the time.
 * @param {string} text ours
 * @param {string} base what ours began with
 * @param {string} newer
 * @returns {string|null}
 */
export function rebase(text, base, newer) {
  const stable = (yaml) => yaml.replace(versionLine, '').replace(statusBlock, '');
  if (stable(base) !== stable(newer)) return null;
  const version = newer.match(versionLine)?.[2] ?? '';
  const status = newer.match(statusBlock)?.[0] ?? '';
  return text.replace(versionLine, (_, key) => key + version).replace(statusBlock, () => status);
}
