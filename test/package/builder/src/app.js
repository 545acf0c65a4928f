/** A small app: its users keep projects and deploy them. */
import { createClient } from '@supabase/supabase-js'
import { EventSourceParserStream } from 'eventsource-parser/stream'

/** The platform, for one user. */
export async function signIn(email, password) {
  const { SUPABASE_URL, SUPABASE_ANON_KEY, PLATFORM_BASE_URL } = process.env
  const { auth } = createClient(SUPABASE_URL, SUPABASE_ANON_KEY)
  const { data, error } = await auth.signInWithPassword({ email, password })
  if (error) throw error

  async function call(method, path, body) {
    const response = await fetch(PLATFORM_BASE_URL + path, {
      method,
      headers: { authorization: `Bearer ${data.session.access_token}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    if (!response.ok) throw new Error((await response.json()).error)
    return response
  }

  return {
    projects: async () => (await call('GET', '/builder/projects')).json(),
    create: async name => (await call('POST', '/builder/projects', { name })).json(),
    async *deploy(id) {
      const { body } = await call('POST', `/builder/projects/${id}/deploy`)
      const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
      for await (const { data } of events) yield JSON.parse(data).text
    },
  }
}
