/** The headers that hold credentials: nothing that Standin says repeats what is in them. */

const names = new Set([
  ...['authorization', 'proxy-authorization', 'cookie'],
  // In which the keys of Supabase, Azure, Anthropic and Google travel.
  ...['apikey', 'api-key', 'x-api-key', 'x-goog-api-key'],
])

/** `name` is in small letters. */
export const holdsCredential = (name: string) => names.has(name)
