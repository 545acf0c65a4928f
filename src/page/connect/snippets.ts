/** Example code for the usual clients. */
import type { ConfigJson } from '../../dashboard/operations.js'

/** Stands in for the API key. */
export const PLACEHOLDER = 'YOUR_API_KEY'

export interface Snippet {
  readonly name: string
  readonly code: string
}

const CHAT = '/v1/chat/completions'

/** Long because the snippets are written here as users read them. */
export function snippetsFor(
  { url, auth_url, anon_key, models, endpoints }: ConfigJson,
  key: string,
): readonly Snippet[] {
  const model = models[0] ?? ''
  const chat = endpoints.find(({ path }) => path === CHAT)
  const usersMay = chat !== undefined && (chat.access === 'anyone' || chat.access.includes('user'))
  return [
    {
      name: 'curl',
      code: `curl ${url}${CHAT} \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] })}'`,
    },
    {
      name: 'openai',
      code: `import OpenAI from 'openai'

const openai = new OpenAI({
  baseURL: '${url}/v1',
  apiKey: '${key}',
})
const reply = await openai.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'hello' }],
})
console.log(reply.choices[0].message.content)`,
    },
    {
      name: 'supabase-js',
      code: `import { createClient } from '@supabase/supabase-js'

const supabase = createClient(
  '${auth_url}',
  '${anon_key}',
)
const { data, error } = await supabase.auth.signInWithPassword({ email, password })
if (error) throw error

const response = await fetch('${url}${usersMay ? CHAT : '/api/v1'}', {${
        usersMay
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
      }
})
console.log(await response.json())`,
    },
    {
      name: '.env',
      code: `PLATFORM_BASE_URL=${url}
OPENAI_BASE_URL=${url}/v1
OPENAI_API_KEY=${key}
SUPABASE_URL=${auth_url}
SUPABASE_ANON_KEY=${anon_key}`,
    },
  ]
}
