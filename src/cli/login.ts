/** `standin login` and `standin logout`: a session at the live auth backend, for the modes that use the live platform. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { AuthClient, type AuthError, isAuthRetryableFetchError } from '@supabase/auth-js'
import { StartError, UsageError } from '../check/problem.js'
import type { LiveBackend } from '../supabase/live-session.js'
import { readSession, saveSession, sessionsFile } from '../supabase/session-file.js'
import { type CommandLine, command, text, toggle } from './command.js'
import { load } from './load.js'

const loginFlags = {
  email: text('ADDRESS', 'Email address of the user'),
  'password-stdin': toggle('Read the password from standard input'),
}

const login = command({
  flags: loginFlags,
  async run(line) {
    const live = liveOf(line)
    const file = sessionsFile()
    // If the session file is unusable, this fails before a password is asked for.
    readSession(file, live.authUrl)
    const { client, reasonOf } = clientOf(live)
    const { data, error } = await client.signInWithPassword(await credentialsFor(line.flags))
    if (error) throw new StartError(`Signing in to ${live.authUrl} failed: ${reasonOf(error)}`)
    const { session, user } = data
    const email = user.email ?? ''
    saveSession(file, live.authUrl, {
      email,
      accessToken: session.access_token,
      refreshToken: session.refresh_token,
      expiresAt: new Date(Date.now() + session.expires_in * 1000).toISOString(),
    })
    return `Signed in to ${live.authUrl} as ${email}. The session is stored in ${file}.\n`
  },
})

/** Works even if the live backend does not answer. */
const logout = command({
  flags: {},
  async run(line) {
    const live = liveOf(line)
    const file = sessionsFile()
    const session = readSession(file, live.authUrl)
    if (!session) return `You are not signed in to ${live.authUrl}.\n`
    saveSession(file, live.authUrl, undefined)
    const { client, reasonOf } = clientOf(live)
    const { error } = await client.admin.signOut(session.accessToken, 'local')
    if (error) console.error(`${live.authUrl} could not end the session (${reasonOf(error)}). It will expire there.`)
    return `Signed out of ${live.authUrl}, where ${session.email} was signed in.\n`
  },
})

export const commands = { login, logout }

function liveOf(line: CommandLine): LiveBackend {
  const { authUrl, anonKey, timeoutMs } = load(line).config.upstream
  const missing = Object.entries({ authUrl, anonKey }).flatMap(([name, value]) => (value ? [] : [`upstream.${name}`]))
  if (missing.length === 0) return { authUrl: authUrl.replace(/\/+$/, ''), anonKey, timeoutMs }
  throw new UsageError(
    `standin ${line.name} needs ${missing.join(' and ')} in the configuration: the live auth backend.`,
  )
}

/**
 * The auth part of Supabase's client (the full client needs a WebSocket on Node 20), and a function that explains its
 * errors.
 */
function clientOf({ authUrl, anonKey, timeoutMs }: LiveBackend) {
  let unreachable: string | undefined
  const client = new AuthClient({
    url: `${authUrl}/auth/v1`,
    headers: { apikey: anonKey, Authorization: `Bearer ${anonKey}` },
    persistSession: false,
    autoRefreshToken: false,
    detectSessionInUrl: false,
    async fetch(input, init) {
      try {
        return await fetch(input, {
          ...init,
          signal: AbortSignal.timeout(timeoutMs),
          redirect: 'error',
        })
      } catch (error) {
        unreachable = reasonIn(error as Error)
        // If this threw, the client would print a stack trace.
        return new Response(null, { status: 503 })
      }
    },
  })
  // For an answer that did not come from the backend itself, the client keeps only the status.
  const reasonOf = (error: AuthError) =>
    unreachable ?? (isAuthRetryableFetchError(error) ? `status ${error.status}` : error.message)
  return { client, reasonOf }
}

/** The system's error code, if there is one. Undici's codes (`UND_ERR_SOCKET`) say less than its messages (`other side closed`). */
function reasonIn({ message, cause }: Error): string {
  const { code, message: reason } = (cause ?? {}) as Partial<NodeJS.ErrnoException>
  if (code !== undefined && !code.startsWith('UND_ERR')) return code
  return reason ?? message
}

/** Throws a UsageError when a credential is missing and there is no terminal to ask on. */
async function credentialsFor({ email, 'password-stdin': isPiped }: CommandLine<typeof loginFlags>['flags']) {
  if (isPiped) {
    if (email === undefined)
      throw new UsageError('--password-stdin needs --email, because standard input contains only the password.')
    // `echo` adds a line break.
    const password = (await textOf(process.stdin)).replace(/\r?\n$/, '')
    if (password === '') throw new UsageError('There is no password on standard input.')
    return { email, password }
  }
  if (!process.stdin.isTTY) {
    throw new UsageError('There is no terminal to ask for a password. Use --email and --password-stdin.')
  }
  const prompt = openPrompt()
  try {
    return {
      email: email ?? (await prompt.ask('Email: ')).trim(),
      password: await prompt.ask('Password: ', true),
    }
  } finally {
    prompt.close()
  }
}

/**
 * Asks questions on the terminal. Secret input is not echoed. Questions go to standard error, so that standard output
 * holds only the result.
 */
function openPrompt() {
  // Muted between questions, too, because both answers may be pasted at once.
  let isMuted = true
  const output = new Writable({
    write(piece, _encoding, done) {
      if (!isMuted) process.stderr.write(piece)
      done()
    },
  })
  const lines = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 })
  const answers = lines[Symbol.asyncIterator]()
  lines.on('line', () => {
    isMuted = true
  })

  return {
    /** Rejects with a StartError when the user cancels (Ctrl-C, Ctrl-D). */
    async ask(question: string, isSecret = false): Promise<string> {
      isMuted = isSecret
      if (isSecret) process.stderr.write(question)
      // Unmuted input is redrawn on each key press, so readline has to know the question.
      lines.setPrompt(isSecret ? '' : question)
      lines.prompt()
      const { done, value = '' } = await answers.next()
      if (isSecret || done) process.stderr.write('\n')
      if (done) throw new StartError('Signing in was cancelled.')
      return value
    },
    close: () => lines.close(),
  }
}
