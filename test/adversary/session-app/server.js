/** The server of an app for notes, whose page it opens in a browser: `server.js SETTINGS`. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServerClient, parseCookieHeader, serializeCookieHeader } from '@supabase/ssr'

const { page, browser, isWrong } = JSON.parse(process.argv[2])
const { SUPABASE_URL: url, SUPABASE_ANON_KEY: anonKey, PLATFORM_BASE_URL, OPENAI_API_KEY } = process.env
const script = readFileSync(page)

/** Who is asking: only Supabase knows whether the session still exists. */
async function userIdOf(request, response) {
  const cookies = {
    getAll: () => parseCookieHeader(request.headers.cookie ?? ''),
    setAll: set =>
      response.setHeader(
        'set-cookie',
        set.map(({ name, value, options }) => serializeCookieHeader(name, value, options)),
      ),
  }
  const { auth } = createServerClient(url, anonKey, { cookies })
  const { data: stored } = isWrong ? await auth.getSession() : {}
  const { data } = await auth.getUser()
  // Bug 7: what the cookie says is good enough.
  return data.user?.id ?? stored?.session?.user.id
}

async function profile(request, response) {
  const id = await userIdOf(request, response)
  if (!id) return response.writeHead(401).end()
  const headers = { authorization: `Bearer ${OPENAI_API_KEY}` }
  const { status } = await fetch(`${PLATFORM_BASE_URL}/profiles/${id}`, { headers })
  response.writeHead(status).end()
}

const settings = JSON.stringify({ url, anonKey, isWrong })
const html = `<!doctype html><link rel="icon" href="data:,"><script>settings = ${settings}</script><script src="/page.js"></script>`

const server = createServer((request, response) => {
  if (request.url === '/profile') return void profile(request, response)
  const isScript = request.url === '/page.js'
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html').end(isScript ? script : html)
}).listen(0, '127.0.0.1', async () => {
  const title = await fetch(`${browser}/?http://127.0.0.1:${server.address().port}`)
  console.error(await title.text())
  process.exit(0)
})
