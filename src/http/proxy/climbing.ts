/** Detects paths that lead outside the prefix they start with. */

// Forms that a server may read as a slash or a dot. RFC 3986 §6.2.2.3 removes dot segments; some servers first treat
// %2f, %5c and "\" as slashes, servlets cut off everything after a ";", and others everything after an encoded "#" or
// "?".
const slash = String.raw`(?:[/\\]|%2f|%5c)`
const dotted = new RegExp(`${slash}(?:\\.|%2e){1,2}(?:(?:[;#]|%3b|%23|%3f).*|${slash}.*)?$`, 'is')
/** A percent sign that was encoded several times. A server may decode it as often. */
const encodedPercent = /%(?:25)+/g

/** Whether an undecoded path contains `..` or similar segments in any encoding, or does not begin with a slash. */
export const climbs = (path: string): boolean =>
  !path.startsWith('/') || dotted.test(path.includes('%25') ? path.replace(encodedPercent, '%') : path)
