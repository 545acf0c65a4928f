/** A support desk: users sign in with a code, and a model answers their questions. */
import { createClient } from '@supabase/supabase-js'
import express, { type Request } from 'express'
import OpenAI from 'openai'
import ws from 'ws'

const { SUPABASE_URL = '', SUPABASE_ANON_KEY = '' } = process.env
const supabase = createClient(SUPABASE_URL, SUPABASE_ANON_KEY, {
  auth: { persistSession: false, autoRefreshToken: false },
  realtime: { transport: ws as never },
})
const openai = new OpenAI({ maxRetries: 1 })

const bearerOf = ({ headers }: Request) => headers.authorization?.replace(/^Bearer /, '') ?? ''

const asked = (question: string): OpenAI.ChatCompletionMessageParam[] => [
  { role: 'system', content: 'You are a friendly support desk.' },
  { role: 'user', content: question },
]

export const app = express()
app.use(express.json())

app.post('/login', async (request, response) => {
  const { email, code } = request.body
  if (code === undefined) {
    await supabase.auth.signInWithOtp({ email })
    return void response.status(202).end()
  }
  const { data, error } = await supabase.auth.verifyOtp({ email, token: code, type: 'email' })
  if (error) return void response.status(401).json({ error: error.code })
  response.json({ token: data.session?.access_token })
})

app.post('/ask', async (request, response) => {
  const { data } = await supabase.auth.getUser(bearerOf(request))
  if (!data.user) return void response.status(401).json({ error: 'Sign in first.' })
  try {
    const { choices } = await openai.chat.completions.create({
      model: 'gpt-4o-mini',
      user: data.user.id,
      messages: asked(request.body.question),
    })
    response.json({ answer: choices[0]?.message.content })
  } catch {
    response.status(503).json({ error: 'The desk is closed.' })
  }
})

app.post('/stream', async (request, response) => {
  const stream = await openai.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: asked(request.body.question),
    stream: true,
  })
  for await (const { choices } of stream) response.write(choices[0]?.delta.content ?? '')
  response.end()
})
