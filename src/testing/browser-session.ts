/** Writes the session of a user into a browser, where Supabase's clients look for it. */
import type { Page } from '@playwright/test'
import type { SessionJson } from '../supabase/operations.js'

/** Names of one machine: the app may use another one than the test. */
const LOOPBACK = ['127.0.0.1', 'localhost']

/** The keys under which supabase-js keeps the session of a project with this address. */
export function storageKeysOf(authUrl: string): readonly string[] {
  const { hostname } = new URL(authUrl)
  const names = LOOPBACK.includes(hostname) ? LOOPBACK : [hostname]
  return names.map(name => `sb-${name.split('.')[0]}-auth-token`)
}

/** The longest value of a cookie of `@supabase/ssr`. */
const CHUNK_LENGTH = 3180

/** The cookies of `@supabase/ssr`, which splits what is too long for one. */
function cookiesOf(key: string, session: string) {
  const value = `base64-${Buffer.from(session).toString('base64url')}`
  if (value.length <= CHUNK_LENGTH) return [{ name: key, value }]
  const chunks = Array.from({ length: Math.ceil(value.length / CHUNK_LENGTH) }, (_, i) =>
    value.slice(i * CHUNK_LENGTH, (i + 1) * CHUNK_LENGTH),
  )
  return chunks.map((chunk, i) => ({ name: `${key}.${i}`, value: chunk }))
}

/**
 * Writes a session under these keys for the origin of an app: into localStorage for supabase-js, and into cookies for
 * `@supabase/ssr`. If the page shows the app already, it is loaded again. Rejects if neither the page nor `baseURL` tells the origin.
 */
export async function writeSession(
  page: Page,
  session: SessionJson,
  { keys, baseURL }: { readonly keys: readonly string[]; readonly baseURL: string | undefined },
): Promise<void> {
  const shown = /^https?:/.test(page.url()) ? page.url() : undefined
  const address = shown ?? baseURL
  if (!address)
    throw new Error(
      'signIn(page) needs the address of the app: set baseURL in playwright.config.ts, or open a page first.',
    )
  const { origin } = new URL(address)
  const text = JSON.stringify(session)
  const context = page.context()
  const before = (await context.cookies(origin)).filter(({ name }) => keys.includes(name.replace(/\.\d+$/, '')))
  for (const { name, domain, path } of before) await context.clearCookies({ name, domain, path })
  const cookies = keys.flatMap(key => cookiesOf(key, text))
  await context.addCookies(cookies.map(cookie => ({ ...cookie, url: origin, sameSite: 'Lax' as const })))
  // An empty page of the origin: the app's own would have read its storage already, and may forbid scripts.
  const empty = `${origin}/standin-sign-in`
  await page.route(empty, route => route.fulfill({ contentType: 'text/html', body: '' }), { times: 1 })
  await page.goto(empty)
  for (const key of keys) await page.evaluate(`localStorage.setItem(${JSON.stringify(key)}, ${JSON.stringify(text)})`)
  if (shown !== undefined) await page.goto(shown)
}
