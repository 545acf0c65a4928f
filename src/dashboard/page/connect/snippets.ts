/** Example code for the usual clients. */
import type { ConfigJson } from '../../operations.js'

/** A placeholder for the API key. */
export const PLACEHOLDER = 'YOUR_API_KEY'

export interface Snippet {
  readonly name: string
  readonly code: string
}

const CHAT = '/v1/chat/completions'

interface Filled extends ConfigJson {
  readonly key: string
  readonly model: string
}

export function snippetsFor(config: ConfigJson, key: string): readonly Snippet[] {
  const filled = { ...config, key, model: config.models[0] ?? '' }
  return [
    { name: 'curl', code: curl(filled) },
    { name: 'openai', code: openai(filled) },
    { name: 'supabase-js', code: supabase(filled) },
    { name: '.env', code: env(filled) },
  ]
}

const curl = ({ url, key, model }: Filled) => `curl ${url}${CHAT} \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] })}'`

const openai = ({ url, key, model }: Filled) => `import OpenAI from 'openai'

const openai = new OpenAI({
  baseURL: '${url}/v1',
  apiKey: '${key}',
})
const reply = await openai.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'hello' }],
})
console.log(reply.choices[0].message.content)`

/** Calls the model if users are allowed to, and otherwise an endpoint that every user can call. */
function supabase({ url, auth_url, anon_key, endpoints, model }: Filled): string {
  const chat = endpoints.find(({ path }) => path === CHAT)
  const usersMay = chat !== undefined && (chat.access === 'anyone' || chat.access.includes('user'))
  const request = usersMay
    ? `
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${data.session.access_token}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({
    model: '${model}',
    messages: [{ role: 'user', content: 'hello' }],
  }),`
    : `
  headers: { Authorization: \`Bearer \${data.session.access_token}\` },`
  return `import { createClient } from '@supabase/supabase-js'

const supabase = createClient(
  '${auth_url}',
  '${anon_key}',
)
const { data, error } = await supabase.auth.signInWithPassword({ email, password })
if (error) throw error

const response = await fetch('${url}${usersMay ? CHAT : '/api/v1'}', {${request}
})
console.log(await response.json())`
}

const env = ({ url, auth_url, anon_key, key }: Filled) => `PLATFORM_BASE_URL=${url}
OPENAI_BASE_URL=${url}/v1
OPENAI_API_KEY=${key}
SUPABASE_URL=${auth_url}
SUPABASE_ANON_KEY=${anon_key}`
