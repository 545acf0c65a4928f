/** The headers that contain credentials. Standin never repeats their values. */

const names = new Set([
  ...['authorization', 'proxy-authorization', 'cookie'],
  // Used for keys of Supabase, Azure, Anthropic and Google.
  ...['apikey', 'api-key', 'x-api-key', 'x-goog-api-key'],
])

/** `name` must be lower-case. */
export const holdsCredential = (name: string) => names.has(name)
