/** Example code for the usual clients, with a key that works. */
import type { ConfigJson } from '../../operations.js'
import { useConfig } from '../config.jsx'
import { freshKey } from '../session/session.js'

const PLACEHOLDER = 'YOUR_API_KEY'
const CHAT = '/v1/chat/completions'

/** The key for examples: the one that was just created, or the development key if it works here. */
export function useExampleKey() {
  const fresh = freshKey.use()
  const { development_key } = useConfig()
  return { fresh, key: fresh?.key ?? development_key ?? PLACEHOLDER }
}

interface Filled extends ConfigJson {
  readonly key: string
  readonly model: string
}

/** The code of each client by its name. */
export function snippetsFor(config: ConfigJson, key: string) {
  const filled = { ...config, key, model: config.models[0] ?? '' }
  return {
    curl: curl(filled),
    openai: openai(filled),
    Python: python(filled),
    'supabase-js': supabase(filled),
    '.env': env(filled),
  }
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

const python = ({ url, key, model }: Filled) => `from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key="${key}")
reply = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "hello"}],
)
print(reply.choices[0].message.content)`

/** Calls the model if users are allowed to, and otherwise an endpoint that every user can call. */
function supabase({ url, auth_url, anon_key, endpoints, model, sign_in }: Filled): string {
  const { access = [] } = endpoints.find(({ callsModel }) => callsModel) ?? {}
  const usersMay = access === 'anyone' || access.includes('user')
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
  const known = sign_in ? `\n  email: '${sign_in.email}',\n  password: '${sign_in.password}',\n` : ' email, password '
  return `import { createClient } from '@supabase/supabase-js'

const supabase = createClient(
  '${auth_url}',
  '${anon_key}',
)
const { data, error } = await supabase.auth.signInWithPassword({${known}})
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
