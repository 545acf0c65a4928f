/** Finds paths that would lead outside of where they claim to be. */

// What a server behind may take for a slash or a dot: RFC 3986 §6.2.2.3 takes the dots away, some take %2f, %5c and "\" for a slash
// before, and servlets cut off what stands behind a ";", and others what stands behind a "#" or "?" that was encoded.
const slash = String.raw`(?:[/\\]|%2f|%5c)`
const dotted = new RegExp(`${slash}(?:\\.|%2e){1,2}(?:(?:[;#]|%3b|%23|%3f).*|${slash}.*)?$`, 'is')
/** A percent sign that was encoded any number of times: a server may decode it as often. */
const encodedPercent = /%(?:25)+/g

/** Whether a path, not decoded, has parts such as `..` in it, in any disguise, or does not begin with a slash. */
export const climbs = (path: string): boolean =>
  !path.startsWith('/') || dotted.test(path.includes('%25') ? path.replace(encodedPercent, '%') : path)
