/** A chat: a page with supabase-js, a page that the server renders with the session in cookies, and a server that calls the model with its own key. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServerClient, parseCookieHeader } from '@supabase/ssr'
import { createClient } from '@supabase/supabase-js'
import OpenAI from 'openai'

const { SUPABASE_URL, SUPABASE_ANON_KEY, PORT } = process.env
const openai = new OpenAI({ maxRetries: 0 })
const supabase = createClient(SUPABASE_URL, SUPABASE_ANON_KEY)
const library = readFileSync('node_modules/@supabase/supabase-js/dist/umd/supabase.js')

const chat = `<!doctype html><title>Chat</title>
<h1></h1><button id="ask">Ask</button><button id="stop">Stop</button><output></output>
<script src="/supabase.js"></script>
<script type="module">
  const { auth } = supabase.createClient('${SUPABASE_URL}', '${SUPABASE_ANON_KEY}')
  const { data: { session } } = await auth.getSession()
  const element = name => document.querySelector(name)
  element('h1').textContent = session ? 'Hello ' + session.user.email : 'Please sign in.'
  element('#ask').onclick = async () => {
    const stop = new AbortController()
    element('#stop').onclick = () => stop.abort()
    const headers = session ? { authorization: 'Bearer ' + session.access_token } : {}
    const response = await fetch('/ask', { method: 'POST', headers, signal: stop.signal })
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) element('output').append(text)
    element('output').setAttribute('aria-busy', 'false')
  }
</script>`

const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'How is the weather?' }] }

/** Streams the answer for the user of the token. Someone without a token is known by the baggage of their request alone. */
async function ask(request, response) {
  const { authorization, baggage } = request.headers
  const { data } = authorization ? await supabase.auth.getUser(authorization.slice('Bearer '.length)) : { data: {} }
  const whose = data.user ? { safety_identifier: data.user.id } : {}
  const stream = await openai.chat.completions.create(
    { ...question, ...whose, stream: true },
    { headers: data.user ? {} : { baggage } },
  )
  response.on('close', () => stream.controller.abort())
  for await (const { choices } of stream) response.write(choices[0]?.delta.content ?? '')
  response.end()
}

/** The whole answer in a page, for the user of the cookies. */
async function rendered(request, response) {
  const cookies = { getAll: () => parseCookieHeader(request.headers.cookie ?? ''), setAll() {} }
  const { data } = await createServerClient(SUPABASE_URL, SUPABASE_ANON_KEY, { cookies }).auth.getUser()
  if (!data.user) return response.end('<h1>Please sign in.</h1>')
  const { choices } = await openai.chat.completions.create({ ...question, safety_identifier: data.user.id })
  response.end(`<h1>Hello ${data.user.email}</h1><output>${choices[0].message.content}</output>`)
}

/** Those who wait for each other, by the address of their meeting. */
const meetings = new Map()

/** Answers when as many have come as the address says. */
function meet({ url }, response) {
  const come = [...(meetings.get(url) ?? []), response]
  meetings.set(url, come)
  const people = Number(new URL(url, 'http://localhost').searchParams.get('people'))
  if (come.length === people) for (const one of come) one.end()
}

const routes = {
  '/': (_request, response) => response.end(chat),
  '/supabase.js': (_request, response) => response.setHeader('content-type', 'text/javascript').end(library),
  '/ask': ask,
  '/rendered': rendered,
  '/meet': meet,
}

const server = createServer(async (request, response) => {
  const route = routes[request.url.split('?', 1)[0]]
  if (!route) return response.writeHead(404).end()
  response.setHeader('content-type', 'text/html')
  try {
    await route(request, response)
  } catch (error) {
    response.end(String(error))
  }
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
