/** Fetches from a live backend; its certificate may be untrusted where that was asked for. */
/** Node's own fetch, or one for `upstream.insecure`; its requests have a text for a body or none. */
export const fetchFrom = ({ insecure }: { readonly insecure: boolean }): typeof fetch => (insecure ? trusting : fetch)

/** Node's fetch has no option to trust a certificate; its requests do. */
const trusting: typeof fetch = async (input, init = {}) => {
  const url = new URL(input instanceof Request ? input.url : input)
  if (url.protocol !== 'https:') return fetch(input, init)
  // Few ever need it, and it takes a while to load.
  const [{ request: open }, { Readable }] = await Promise.all([import('node:https'), import('node:stream')])
  const { method = 'GET', body, signal } = init
  return new Promise((resolve, reject) => {
    const headers = Object.fromEntries(new Headers(init.headers))
    const request = open(url, { method, headers, rejectUnauthorized: false, signal: signal ?? undefined })
    request.once('error', cause => reject(signal?.aborted ? signal.reason : new TypeError('fetch failed', { cause })))
    request.once('response', answer => {
      const { statusCode: status = 0 } = answer
      if (init.redirect === 'error' && status >= 300 && status < 400) {
        answer.destroy()
        return reject(new TypeError('fetch failed', { cause: new Error('unexpected redirect') }))
      }
      const hasBody = ![204, 205, 304].includes(status)
      const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
        [value ?? []].flat().map((one): [string, string] => [name, one]),
      )
      resolve(new Response(hasBody ? (Readable.toWeb(answer) as ReadableStream) : null, { status, headers }))
    })
    request.end(body)
  })
}
