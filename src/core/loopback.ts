/** Tells whether a host is this machine. */

const address = /^(127(\.\d{1,3}){3}|::1|::ffff:(127(\.\d{1,3}){3}|7f[\da-f]{2}:[\da-f]{1,4}))$/

/** A name, or an address with or without the brackets that it has in a URL. */
export function isLoopback(host: string): boolean {
  const bare = host.startsWith('[') ? host.slice(1, -1) : host
  // Names that lead to this machine whatever a DNS server says. No pattern finds their end: a long header must not cost a search.
  return bare === 'localhost' || address.test(bare) || (bare.endsWith('.localhost') && /^[\w.-]+$/.test(bare))
}
