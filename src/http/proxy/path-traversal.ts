/** Detects paths that lead outside the prefix they start with. */

// RFC 3986 §6.2.2.3 removes dot segments. Before that, some servers treat %2f, %5c and "\" as slashes, servlets cut off
// everything after a ";", and others cut off everything after an encoded "#" or "?".
const slash = String.raw`(?:[/\\]|%2f|%5c)`
const dotSegment = new RegExp(`${slash}(?:\\.|%2e){1,2}(?:(?:[;#]|%3b|%23|%3f).*|${slash}.*)?$`, 'is')
/** A percent sign that was encoded several times. A server may decode it as often. */
const encodedPercent = /%(?:25)+/g

/** Whether an undecoded path contains `..` or similar segments in any encoding, or does not begin with a slash. */
export const isTraversal = (path: string): boolean =>
  !path.startsWith('/') || dotSegment.test(path.includes('%25') ? path.replace(encodedPercent, '%') : path)
